"""Chapter 1: manual scheduling."""

import pytest

from app.apimachinery.errors import Invalid
from tests.cluster.builders import MINUTE, phase, pod
from tests.syllabus.steps import call, change, lab, node_of, put, reasons, taint_node, wait

PATH = "/api/v1/namespaces/default/pods/bee/binding"
HUNGRY = {"resources": {"requests": {"cpu": "3"}}}


def without_scheduler():
    cluster = lab()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.settle()
    put(cluster, pod())
    return cluster


def binding(node="node02"):
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "bee"}, "target": target}


def test_without_a_scheduler_pods_stay_pending_with_no_event():
    cluster = without_scheduler()
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert (phase(cluster), reasons(cluster, "bee")) == ("Pending", [])
    assert "conditions" not in cluster.client.get("pods", "bee")["status"], "nobody even said that it waits"
    names = [p["metadata"]["name"] for p in cluster.client.list("pods", "kube-system")]
    assert "kube-scheduler-controlplane" not in names, "the learner finds out why"


def test_a_node_name_at_creation_binds_without_a_scheduler():
    cluster = without_scheduler()
    put(cluster, pod("placed", nodeName="node02"))
    assert (phase(cluster, "placed"), node_of(cluster, "placed")) == ("Running", "node02")
    assert "Scheduled" not in reasons(cluster, "placed")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [({"container": HUNGRY}, "OutOfcpu"), ({"nodeSelector": {"disk": "ssd"}}, "NodeAffinity")],
)
def test_only_the_kubelet_checks_a_pod_with_a_node_name(spec, reason):
    cluster = lab(pod(nodeName="node01", **spec))
    status = cluster.client.get("pods", "bee")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", reason)


def test_no_schedule_is_not_looked_at_for_a_pod_with_a_node_name_and_no_execute_is():
    cluster = lab()
    taint_node(cluster, "node01", "a=b:NoSchedule")
    taint_node(cluster, "node02", "a=b:NoExecute")
    put(cluster, pod("kept", nodeName="node01"))
    cluster.client.create(pod("sent-off", nodeName="node02"))
    wait(cluster, 60)
    assert phase(cluster, "kept") == "Running"
    gone = cluster.client.find("pods", "sent-off")
    assert gone is None or gone["status"]["phase"] == "Failed"


def test_an_unknown_node_leaves_the_pod_pending_and_pod_gc_removes_it():
    cluster = lab()
    cluster.client.create(pod(nodeName="node99"))
    wait(cluster, 5)
    assert phase(cluster) == "Pending"
    wait(cluster, 180)
    assert cluster.client.find("pods", "bee") is None


def test_the_node_name_cannot_change_on_a_live_pod():
    cluster = lab(pod(nodeName="node01"))
    with pytest.raises(Invalid) as caught:
        change(cluster, "pods", "bee", {"nodeName": "node02"})
    assert 'Pod "bee" is invalid: spec: Forbidden: pod updates may not change fields other than' in caught.value.message
    stored = cluster.client.get("pods", "bee")
    cluster.client.delete("pods", "bee", grace_seconds=0)
    put(cluster, pod(nodeName="node02"))
    again = cluster.client.get("pods", "bee")
    assert again["metadata"]["uid"] != stored["metadata"]["uid"]
    assert (phase(cluster), node_of(cluster)) == ("Running", "node02"), "delete and recreate"


@pytest.mark.parametrize("path", [PATH, f"{PATH}/", "/api/v1/namespaces/default/bindings"])
def test_a_binding_that_is_posted_places_the_pod(path):
    cluster = without_scheduler()
    code, status = call(cluster, "POST", path, binding())
    assert (code, status["status"]) == (201, "Success")
    cluster.settle()
    assert (phase(cluster), node_of(cluster)) == ("Running", "node02")


def test_a_binding_manifest_places_the_pod():
    cluster = without_scheduler()
    put(cluster, binding())
    assert (phase(cluster), node_of(cluster)) == ("Running", "node02")


def test_binding_a_bound_pod_is_a_conflict():
    cluster = without_scheduler()
    call(cluster, "POST", PATH, binding())
    code, status = call(cluster, "POST", PATH, binding("node01"))
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == (
        'Operation cannot be fulfilled on pods/binding "bee": pod bee is already assigned to node "node02"'
    )
