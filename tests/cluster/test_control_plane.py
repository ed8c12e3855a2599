"""A control plane whose parts really matter: what stands still without each, and why each may not start."""

from __future__ import annotations

import pytest

from app.apimachinery.meta import Object
from app.cluster import control_plane
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.apiserver.watch import ENDED
from app.cluster.cluster import Cluster
from app.exercises import answers
from tests.cluster.builders import MINUTE, SECOND, fresh, phase, pod

MANIFESTS = "/etc/kubernetes/manifests"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
"""


def edit(cluster: Cluster, component: str, old: str, new: str, seconds: int = 60) -> None:
    files = cluster.machine("controlplane").files
    path = f"{MANIFESTS}/{component}.yaml"
    assert old in files.read(path)
    files.write(path, files.read(path).replace(old, new))
    cluster.advance_to(cluster.now + seconds * SECOND)


def move_away(cluster: Cluster, component: str, seconds: int = 60) -> None:
    cluster.machine("controlplane").files.rename(f"{MANIFESTS}/{component}.yaml", f"/root/{component}.yaml")
    cluster.advance_to(cluster.now + seconds * SECOND)


def move_back(cluster: Cluster, component: str, seconds: int = 60) -> None:
    cluster.machine("controlplane").files.rename(f"/root/{component}.yaml", f"{MANIFESTS}/{component}.yaml")
    cluster.advance_to(cluster.now + seconds * SECOND)


def container(cluster: Cluster, component: str) -> Object:
    """The kubelet's own record, which `crictl` would show: the API may have nothing to say."""
    records = cluster._memory["kubelet"]["pods"].values()
    (record,) = [r for r in records if r["key"] == f"kube-system/{component}-controlplane"]
    return record["containers"][component]


def printed(cluster: Cluster, component: str) -> str:
    uids = [u for u, r in cluster._memory["kubelet"]["pods"].items() if component in r["containers"]]
    return "\n".join(cluster._logs.read(uids[-1], component))


def asked(cluster: Cluster, path: str = "/api/v1/nodes"):
    return dispatch.handle(cluster, ApiRequest("GET", path))


def test_without_a_controller_manager_nothing_replicates():
    cluster = fresh()
    move_away(cluster, "kube-controller-manager")
    assert answers.carry_out(cluster, DEPLOYMENT) == ""
    cluster.client.create(pod())
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert phase(cluster) == "Running", "the scheduler and the kubelets go on"
    assert cluster.client.list("replicasets", "default") == []
    move_back(cluster, "kube-controller-manager")
    assert len(cluster.client.list("replicasets", "default")) == 1
    assert cluster.client.get("deployments", "web")["status"]["readyReplicas"] == 2


def test_without_an_api_server_clients_are_refused_and_containers_run():
    cluster = fresh()
    cluster.client.create(pod())
    cluster.settle()
    move_away(cluster, "kube-apiserver")
    assert cluster.unreachable() == "refused"
    words = "The connection to the server 172.30.1.2:6443 was refused - did you specify the right host or port?"
    assert answers.carry_out(cluster, DEPLOYMENT) == words
    answer = asked(cluster)
    assert (answer.code, b"the connection was refused" in answer.body) == (503, True)
    records = cluster._memory["kubelet"]["pods"].values()
    assert [r["containers"]["c"]["state"] for r in records if r["key"] == "default/bee"] == ["running"]


def test_an_open_watch_ends_with_the_api_server():
    cluster = fresh()
    request = ApiRequest("GET", "/api/v1/pods", (("watch", "true"),))
    move_away(cluster, "kube-apiserver")
    assert dispatch.watch(cluster, request, cluster.client.revision) == ([], ENDED)


def test_an_api_server_that_is_back_finds_everything_as_it_was_and_the_loops_catch_up():
    cluster = fresh()
    move_away(cluster, "kube-apiserver")
    cluster.client.create(pod())
    answers._VERBS["apply"](cluster.client, answers.resource_builder.documents(DEPLOYMENT))
    before = cluster.client.revision
    cluster.advance_to(cluster.now + 30 * MINUTE)
    assert cluster.client.revision == before, "nobody can write"
    assert phase(cluster) == "Pending"
    move_back(cluster, "kube-apiserver", 120)
    assert (cluster.unreachable(), phase(cluster)) == ("", "Running")
    assert cluster.client.get("deployments", "web")["status"]["readyReplicas"] == 2
    assert all(
        condition["status"] == "True"
        for node in cluster.client.list("nodes")
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    ), "a server that was away is no reason to call nodes lost"


def test_what_containers_did_meanwhile_is_told_when_the_api_server_is_back():
    cluster = fresh()
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["sleep", "90"]}]}
    cluster.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nap"}, "spec": spec})
    cluster.advance_to(cluster.now + 20 * SECOND)
    move_away(cluster, "kube-apiserver", 300)
    assert phase(cluster, "nap") == "Running"
    move_back(cluster, "kube-apiserver")
    assert phase(cluster, "nap") == "Succeeded"


def test_a_static_pod_can_be_made_while_there_is_no_api_server():
    cluster = fresh()
    move_away(cluster, "kube-apiserver")
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: c, image: nginx}]}\n"
    cluster.machine("node01").files.write(f"{MANIFESTS}/alone.yaml", text)
    cluster.advance_to(cluster.now + MINUTE)
    records = cluster._memory["kubelet"]["pods"].values()
    assert [r["containers"]["c"]["state"] for r in records if r["key"] == "default/alone-node01"] == ["running"]
    move_back(cluster, "kube-apiserver")
    assert phase(cluster, "alone-node01") == "Running"


def test_without_etcd_clients_time_out_and_are_then_refused():
    cluster = fresh()
    move_away(cluster, "etcd", 30)
    assert cluster.unreachable() == "timeout"
    assert "(Timeout)" in answers.carry_out(cluster, DEPLOYMENT)
    cluster.advance_to(cluster.now + 3 * MINUTE)
    assert cluster.unreachable() == "refused"
    assert "dial tcp 127.0.0.1:2379: connect: connection refused" in printed(cluster, "kube-apiserver")
    move_back(cluster, "etcd", 10 * 60)
    assert cluster.unreachable() == ""


def test_a_store_that_comes_back_in_time_leaves_the_api_server_alone():
    cluster = fresh()
    started = container(cluster, "kube-apiserver")["since"]
    move_away(cluster, "etcd", 30)
    move_back(cluster, "etcd", 5 * 60)
    assert cluster.unreachable() == ""
    assert container(cluster, "kube-apiserver")["since"] == started


@pytest.mark.parametrize(
    ("component", "old", "new", "says"),
    [
        ("kube-apiserver", "--secure-port=", "--secure-prt=", "Error: unknown flag: --secure-prt"),
        ("kube-apiserver", "--client-ca-file=/etc/kubernetes/pki/ca.crt", "--client-ca-file=/etc/kubernetes/pki/no.crt",
         "open /etc/kubernetes/pki/no.crt: no such file or directory"),
        ("kube-apiserver", "127.0.0.1:2379", "127.0.0.1:2378", "dial tcp 127.0.0.1:2378: connect: connection refused"),
        ("kube-controller-manager", "--root-ca-file=", "--root-ca=", "Error: unknown flag: --root-ca"),
        ("kube-controller-manager", "controller-manager.conf", "controller-manager-XXXX.conf",
         "invalid configuration: no configuration has been provided"),
        ("etcd", "--data-dir=", "--data-dr=", "flag provided but not defined: -data-dr"),
        ("etcd", "/etc/kubernetes/pki/etcd/server.crt", "/etc/kubernetes/pki/etcd/srv.crt",
         "open /etc/kubernetes/pki/etcd/srv.crt: no such file or directory"),
        ("kube-scheduler", "--kubeconfig=", "--kubecfg=", "unknown flag: --kubecfg"),
    ],
)  # fmt: skip
def test_a_wrong_manifest_crashes_its_component_with_a_reason_in_its_log(component, old, new, says):
    cluster = fresh()
    edit(cluster, component, old, new)
    assert says in printed(cluster, component)
    assert component not in control_plane.running(cluster._memory["kubelet"])
    edit(cluster, component, new, old, 10 * 60)
    assert component in control_plane.running(cluster._memory["kubelet"])
    assert cluster.unreachable() == ""


def test_an_api_server_at_another_port_is_not_found():
    cluster = fresh()
    edit(cluster, "kube-apiserver", "--secure-port=6443", "--secure-port=6444")
    assert cluster.unreachable() == "refused"
    assert "Serving securely on [::]:6444" in printed(cluster, "kube-apiserver")


@pytest.mark.parametrize("component", ["kube-apiserver", "etcd", "kube-controller-manager"])
def test_time_may_jump_while_a_component_is_away(component):
    one, other = fresh(), fresh()
    for cluster in (one, other):
        cluster.client.create(pod())
        move_away(cluster, component, 0)
    one.advance_to(one.now + 20 * MINUTE)
    for _ in range(20):
        other.advance_to(other.now + MINUTE)
        other = Cluster.load(other.dump())
    assert one.dump() == other.dump()
    one.settle()
    assert one.next_event() is None or one.next_event() > one.now
