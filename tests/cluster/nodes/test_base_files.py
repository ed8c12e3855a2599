"""The files of a kubeadm machine: what a learner looks for is there, and the control plane's manifests are pods."""

import pytest

from app.apimachinery import manifests
from app.apimachinery.clock import SECOND
from app.apis import decode, defaults, scheme
from app.cluster import kubeadm
from app.cluster.apiserver.strategies_table import strategy_for
from app.cluster.nodes import base_files, kubelet_options, unit_files
from app.cluster.nodes.filesystem import FileSystem

NOON = 1_772_366_400 * SECOND


def machine(*, control_plane):
    name, address = ("controlplane", "172.30.1.2") if control_plane else ("node01", "172.30.1.3")
    return FileSystem(base_files.of(name, address, "172.30.1.2", NOON, control_plane=control_plane), {}, NOON)


def test_every_file_lies_in_a_directory():
    for control_plane in (True, False):
        files = machine(control_plane=control_plane)
        seen = dict(files.walk("/"))
        assert seen.keys() == base_files.of(
            *(("controlplane", "172.30.1.2") if control_plane else ("node01", "172.30.1.3")),
            "172.30.1.2", NOON, control_plane=control_plane,
        ).keys()  # fmt: skip


def test_the_control_plane_has_four_manifests_and_a_worker_none():
    assert machine(control_plane=True).names(kubeadm.MANIFESTS) == [
        "etcd.yaml", "kube-apiserver.yaml", "kube-controller-manager.yaml", "kube-scheduler.yaml",
    ]  # fmt: skip
    assert machine(control_plane=False).names(kubeadm.MANIFESTS) == []
    assert not machine(control_plane=False).exists("/etc/kubernetes/admin.conf")


@pytest.mark.parametrize("component", kubeadm.COMPONENTS)
def test_a_manifest_is_a_pod_that_the_api_server_would_take(component):
    text = machine(control_plane=True).read(f"{kubeadm.MANIFESTS}/{component}.yaml")
    (document,) = manifests.parse(text)
    assert decode.problems(document.object) == []
    assert strategy_for(scheme.of(document.object)).validate(defaults.apply(document.object)) == []
    (container,) = document.object["spec"]["containers"]
    assert container["command"][0] == document.object["metadata"]["labels"]["component"] == component


def test_the_kubelets_unit_starts_it_with_its_files():
    files = machine(control_plane=False)
    unit = unit_files.load(files, "kubelet.service")
    assert unit.remarks == ()
    variables, problem = unit_files.environment(unit, files)
    argv = unit_files.command(unit.value("ExecStart"), variables)
    assert (problem, argv[0]) == ("", "/usr/bin/kubelet")
    options = kubelet_options.read(argv, files)
    assert options == kubelet_options.Options(
        static_pod_path=kubeadm.MANIFESTS,
        kubeconfig="/etc/kubernetes/kubelet.conf",
        server="https://172.30.1.2:6443",
    )
    assert files.exists("/etc/systemd/system/multi-user.target.wants/kubelet.service")


def test_private_files_are_private():
    files = machine(control_plane=True)
    for path in ("/etc/kubernetes/admin.conf", f"{kubeadm.PKI}/ca.key", f"{kubeadm.MANIFESTS}/etcd.yaml"):
        assert files.stat(path).mode == 0o600
    assert files.stat(f"{kubeadm.PKI}/ca.crt").mode == 0o644
