"""The real kubectl empties a node, and waits for budgets while the cluster's time goes on."""

import contextlib
import json
import threading
import time

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.cluster.builders import workload
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster

DRAIN = "drain node01 --ignore-daemonsets --delete-emptydir-data"


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(workload("Deployment", "web", replicas=2, spec={"nodeSelector": {"role": "web"}}))
    for name in ("node01", "node02"):
        relabel(cluster, name, role="web" if name == "node01" else "spare")
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture(autouse=True)
def _as_it_was(backend):
    """Each test begins with two web pods on node01, which takes pods."""
    yield
    with backend.lock:
        client = backend.cluster.client
        for budget in client.list("poddisruptionbudgets", "default"):
            client.delete("poddisruptionbudgets", budget["metadata"]["name"], "default")
        for name in ("node01", "node02"):
            node = client.get("nodes", name)
            client.update(
                {**node, "spec": {key: value for key, value in node["spec"].items() if key != "unschedulable"}}
            )
        relabel(backend.cluster, "node02", role="spare")
        for found in client.list("pods", "default"):
            client.delete("pods", found["metadata"]["name"], "default", 0)
    backend.advance(60)


def relabel(cluster, name, **labels):
    node = cluster.client.get("nodes", name)
    metadata = {**node["metadata"], "labels": {**node["metadata"]["labels"], **labels}}
    cluster.client.update({**node, "metadata": metadata})


@contextlib.contextmanager
def passing(backend, pace=2.0):
    """Time passes: some seconds of the cluster in each tenth of a real one."""
    ended = threading.Event()

    def run():
        while not ended.wait(0.1):
            backend.advance(pace)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def on_node(backend, node="node01", namespace="default"):
    found = backend.cluster.client.list("pods", namespace)
    return [item["metadata"]["name"] for item in found if item["spec"].get("nodeName") == node]


def budget(backend, **spec):
    selector = {"matchLabels": {"app": "web"}}
    metadata = {"name": "web", "namespace": "default"}
    wanted = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata}
    backend.cluster.client.create({**wanted, "spec": {"selector": selector, **spec}})
    backend.advance(1)


def test_a_node_is_drained_and_its_pods_start_elsewhere(kubectl, backend):
    relabel(backend.cluster, "node02", role="web")
    names = on_node(backend)
    with passing(backend):
        told = kubectl.run(DRAIN)
    assert told.splitlines()[0] == "node/node01 cordoned"
    assert {f"evicting pod default/{name}" for name in names} < set(told.splitlines())
    assert {f"pod/{name} evicted" for name in names} < set(told.splitlines())
    assert told.splitlines()[-1] == "node/node01 drained"
    backend.advance(30)
    assert on_node(backend) == []
    assert len(on_node(backend, "node02")) == 2
    assert [name for name in on_node(backend, namespace="kube-system") if name.startswith("kube-proxy")]
    assert "SchedulingDisabled" in kubectl.run("get node node01")
    assert kubectl.run("uncordon node01") == "node/node01 uncordoned\n"
    assert "SchedulingDisabled" not in kubectl.run("get node node01")


def test_a_budget_holds_a_drain_up_until_there_is_room(kubectl, backend):
    budget(backend, minAvailable=2)
    with passing(backend), kubectl.start(DRAIN) as process:
        try:
            deadline, blocked = time.monotonic() + 20, ""
            while "will retry" not in blocked and time.monotonic() < deadline:
                blocked = process.stderr.readline()
            assert blocked.endswith(
                "(will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\n"
            )
            assert blocked.startswith('error when evicting pods/"web-')
            assert len(on_node(backend)) == 2
            with backend.lock:
                backend.cluster.client.delete("poddisruptionbudgets", "web", "default")
            out, _ = process.communicate(timeout=25)
        finally:
            process.kill()
    assert process.returncode == 0
    assert out.splitlines()[-1] == "node/node01 drained"


def test_a_budget_lets_one_after_the_other_go(kubectl, backend):
    relabel(backend.cluster, "node02", role="web")
    budget(backend, maxUnavailable=1)
    with passing(backend):
        told = kubectl.run(DRAIN)
    assert told.count(" evicted\n") >= 2
    assert on_node(backend) == []


def test_what_would_be_lost_is_only_deleted_by_force(kubectl, backend):
    lone = pod("lone", nodeName="node01")
    lone["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    backend.cluster.client.create(lone)
    backend.advance(20)
    told = kubectl.run("drain node01", code=1)
    assert "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/kube-proxy-" in told
    assert "use --delete-emptydir-data to override): default/lone" in told
    told = kubectl.run(DRAIN, code=1)
    assert "cannot delete Pods that declare no controller (use --force to override): default/lone" in told
    assert "lone" in on_node(backend)
    with passing(backend):
        told = kubectl.run(f"{DRAIN} --force")
    assert "pod/lone evicted" in told
    assert "lone" not in on_node(backend)


def test_an_eviction_is_a_dry_run_where_kubectl_asks_for_one(kubectl, backend):
    told = kubectl.run(f"{DRAIN} --dry-run=server")
    assert "node/node01 cordoned (server dry run)" in told
    assert "evicted (server dry run)" in told or "node/node01 drained (server dry run)" in told
    assert len(on_node(backend)) == 2


def test_the_budgets_own_answer_is_told(kubectl, backend):
    budget(backend, minAvailable=2)
    name = on_node(backend)[0]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    path = f"/api/v1/namespaces/default/pods/{name}/eviction"
    told = kubectl.run(f"create --raw {path} -f -", stdin=json.dumps(eviction), code=1)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in told
    assert name in on_node(backend)
