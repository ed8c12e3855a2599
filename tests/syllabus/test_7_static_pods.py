"""Chapter 7: static pods."""

import pytest

from app.apimachinery import meta
from app.cluster.nodes import systemctl
from tests.cluster.builders import MINUTE, SECOND, phase, pod
from tests.syllabus.steps import lab, put

MANIFESTS = "/etc/kubernetes/manifests"
SYSTEM = "kube-system"


def manifest(name="static-web", image="nginx"):
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n  - name: c\n    image: {image}\n"
    )


def write(cluster, host, path, text, seconds=10):
    cluster.machine(host).files.write(path, text)
    cluster.advance_to(cluster.now + seconds * SECOND)


def container(cluster, name="static-web-node01", namespace="default"):
    (status,) = cluster.client.get("pods", name, namespace)["status"]["containerStatuses"]
    return status


def unit(cluster, host, line):
    output = systemctl.run(cluster.machine(host).systemd, line.split())
    cluster.advance_to(cluster.now + 10 * SECOND)
    return output


def test_a_file_in_the_folder_becomes_a_pod_without_a_scheduler():
    cluster = lab()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    made = cluster.client.get("pods", "static-web-node01")
    assert (phase(cluster, "static-web-node01"), made["spec"]["nodeName"]) == ("Running", "node01")
    events = [event["reason"] for event in cluster.client.list("events", "default")]
    assert events.count("Scheduled") == 0
    assert events.count("Started") == 1


def test_an_edited_file_restarts_the_pod():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    before = cluster.client.get("pods", "static-web-node01")
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest(image="nginx:1.27"))
    after = cluster.client.get("pods", "static-web-node01")
    assert container(cluster)["image"] == "docker.io/library/nginx:1.27"
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    hashes = [meta.annotations_of(found)["kubernetes.io/config.hash"] for found in (before, after)]
    assert hashes[0] != hashes[1]


def test_a_removed_file_ends_the_pod():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    cluster.machine("node01").files.remove(f"{MANIFESTS}/web.yaml")
    cluster.advance_to(cluster.now + 200_000)
    assert cluster.client.find("pods", "static-web-node01", "default") is not None, "its containers stop first"
    cluster.settle()
    assert cluster.client.find("pods", "static-web-node01", "default") is None


@pytest.mark.parametrize("way", ["file", "flag"])
def test_a_changed_path_counts_after_the_kubelet_was_restarted(way):
    cluster = lab()
    files = cluster.machine("node01").files
    files.make_directory("/etc/mine")
    if way == "file":
        config = files.read("/var/lib/kubelet/config.yaml")
        files.write("/var/lib/kubelet/config.yaml", config.replace(MANIFESTS, "/etc/mine"))
    else:
        files.write("/etc/default/kubelet", 'KUBELET_EXTRA_ARGS="--pod-manifest-path=/etc/mine"\n')
    write(cluster, "node01", "/etc/mine/web.yaml", manifest())
    assert cluster.client.find("pods", "static-web-node01", "default") is None
    assert unit(cluster, "node01", "restart kubelet").code == 0
    assert phase(cluster, "static-web-node01") == "Running"


def test_a_changed_unit_needs_a_reload_first():
    cluster = lab()
    files = cluster.machine("node01").files
    drop_in = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
    files.make_directory("/etc/mine")
    files.write("/etc/mine/web.yaml", manifest())
    files.write(drop_in, files.read(drop_in).replace("$KUBELET_EXTRA_ARGS", "--pod-manifest-path=/etc/mine"))
    assert "Run 'systemctl daemon-reload' to reload units." in unit(cluster, "node01", "restart kubelet").stderr
    assert cluster.client.find("pods", "static-web-node01", "default") is None
    unit(cluster, "node01", "daemon-reload")
    unit(cluster, "node01", "restart kubelet")
    assert phase(cluster, "static-web-node01") == "Running"


def test_the_mirror_is_named_owned_and_annotated_for_its_node():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    mirror = cluster.client.get("pods", "static-web-node01")
    (owner,) = mirror["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Node", "node01")
    assert owner["uid"] == cluster.client.get("nodes", "node01")["metadata"]["uid"]
    annotations = meta.annotations_of(mirror)
    assert annotations["kubernetes.io/config.source"] == "file"
    assert annotations["kubernetes.io/config.hash"] == annotations["kubernetes.io/config.mirror"]
    assert annotations["kubernetes.io/config.seen"] == "2026-03-01T09:00:00Z"
    assert {"operator": "Exists", "effect": "NoExecute"} in mirror["spec"]["tolerations"]


def test_a_deleted_mirror_comes_back_and_its_containers_run_on():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    before = cluster.client.get("pods", "static-web-node01")
    cluster.client.delete("pods", "static-web-node01", "default")
    cluster.settle()
    after = cluster.client.get("pods", "static-web-node01")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]


def test_the_control_plane_lies_in_files_on_its_machine():
    cluster = lab()
    assert cluster.machine("controlplane").files.names(MANIFESTS) == [
        "etcd.yaml", "kube-apiserver.yaml", "kube-controller-manager.yaml", "kube-scheduler.yaml",
    ]  # fmt: skip
    assert cluster.machine("node01").files.names(MANIFESTS) == []


def test_a_manifest_moved_away_stops_its_component_and_moved_back_starts_it():
    cluster = lab()
    files = cluster.machine("controlplane").files
    files.rename(f"{MANIFESTS}/kube-scheduler.yaml", "/tmp/kube-scheduler.yaml")
    cluster.settle()
    assert cluster.client.find("pods", "kube-scheduler-controlplane", SYSTEM) is None
    put(cluster, pod())
    cluster.advance_to(cluster.now + MINUTE)
    assert phase(cluster) == "Pending"
    cluster.machine("controlplane").files.rename("/tmp/kube-scheduler.yaml", f"{MANIFESTS}/kube-scheduler.yaml")
    cluster.advance_to(cluster.now + MINUTE)
    assert phase(cluster) == "Running"


def test_a_kubelet_that_is_stopped_leaves_containers_running_and_sees_files_when_it_is_back():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    unit(cluster, "node01", "stop kubelet")
    write(cluster, "node01", f"{MANIFESTS}/other.yaml", manifest("other"))
    cluster.machine("node01").files.remove(f"{MANIFESTS}/web.yaml")
    cluster.advance_to(cluster.now + MINUTE)
    assert "running" in container(cluster)["state"]
    assert cluster.client.find("pods", "other-node01", "default") is None
    unit(cluster, "node01", "start kubelet")
    cluster.settle()
    assert phase(cluster, "other-node01") == "Running"
    assert cluster.client.find("pods", "static-web-node01", "default") is None


def test_a_wrong_kubelet_configuration_shows_in_its_journal_and_its_node():
    cluster = lab()
    files = cluster.machine("node01").files
    config = files.read("/var/lib/kubelet/config.yaml")
    files.write("/var/lib/kubelet/config.yaml", config.replace("pki/ca.crt", "pki/WRONG-CA-FILE.crt"))
    unit(cluster, "node01", "restart kubelet")
    shown = unit(cluster, "node01", "status kubelet").stdout
    assert "Active: activating (auto-restart) (Result: exit-code)" in shown
    assert "unable to load client CA file /etc/kubernetes/pki/WRONG-CA-FILE.crt" in shown
    cluster.advance_to(cluster.now + MINUTE)
    conditions = {c["type"]: c["status"] for c in cluster.client.get("nodes", "node01")["status"]["conditions"]}
    assert conditions["Ready"] == "Unknown"
    cluster.machine("node01").files.write("/var/lib/kubelet/config.yaml", config)
    cluster.advance_to(cluster.now + MINUTE)
    conditions = {c["type"]: c["status"] for c in cluster.client.get("nodes", "node01")["status"]["conditions"]}
    assert conditions["Ready"] == "True", "systemd goes on trying, so nobody has to start it"


def test_a_file_that_is_no_pod_is_told_in_the_kubelets_journal():
    cluster = lab()
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest().replace("containers", "continers"))
    assert cluster.client.find("pods", "static-web-node01", "default") is None
    shown = unit(cluster, "node01", "status kubelet").stdout
    assert '"Could not process manifest file" err="/etc/kubernetes/manifests/web.yaml: couldn\'t parse as pod(' in shown
    write(cluster, "node01", f"{MANIFESTS}/web.yaml", manifest())
    assert phase(cluster, "static-web-node01") == "Running"
