"""What ReplicaSets do when pods are refused: batches, events, a condition, and retries that grow apart."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, pods_of, workload

MILLISECOND = SECOND // 1000


def quota(pods: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "rq", "namespace": "default"},
        "spec": {"hard": {"pods": str(pods)}},
    }


def limited(pods: int, kind: str = "ReplicaSet", **spec: object) -> Cluster:
    cluster = fresh()
    cluster.client.create(quota(pods))
    cluster.settle()
    cluster.client.create(workload(kind, **spec))
    cluster.advance_to(NOW)
    return cluster


def refusals(cluster: Cluster) -> int:
    found = [event for event in cluster.client.list("events", "default") if event["reason"] == "FailedCreate"]
    return sum(int(event["count"]) for event in found)


def set_limit(cluster: Cluster, pods: int) -> None:
    cluster.client.patch("quota", "rq", "default", {"spec": {"hard": {"pods": str(pods)}}})


def test_the_first_refusal_is_the_condition_and_the_event() -> None:
    cluster = limited(2, replicas=3)
    assert len(pods_of(cluster, "web")) == 2
    (condition,) = cluster.client.get("replicasets", "web")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    words = "is forbidden: exceeded quota: rq, requested: pods=1, used: pods=2, limited: pods=2"
    assert condition["message"].startswith('pods "web-')
    assert condition["message"].endswith(words)
    said = [message for reason, message in events(cluster, "web") if reason == "FailedCreate"]
    assert said[0] == f"Error creating: {condition['message']}"


def test_one_pod_is_tried_before_many() -> None:
    cluster = limited(0, replicas=50)
    assert refusals(cluster) <= 2, "one a sync: the set's own status brings about a second one"


def test_retries_grow_apart() -> None:
    cluster = limited(0, replicas=1)
    counts = []
    for pause in (SECOND, 10 * SECOND, MINUTE, 10 * MINUTE):
        cluster.advance_to(NOW + pause)
        counts.append(refusals(cluster))
    assert counts[0] >= 7
    assert counts[3] - counts[0] <= 11


def test_a_raised_quota_is_noticed_at_the_next_retry() -> None:
    cluster = limited(1, replicas=3)
    cluster.advance_to(NOW + 2 * SECOND)
    set_limit(cluster, 5)
    cluster.advance_to(NOW + 2 * SECOND + MILLISECOND)
    assert len(pods_of(cluster, "web")) == 1, "nobody tells the controller of quotas"
    cluster.advance_to(NOW + 8 * SECOND)
    assert len(pods_of(cluster, "web")) == 3
    assert "conditions" not in cluster.client.get("replicasets", "web")["status"]


def test_the_failure_stands_on_the_deployment_too() -> None:
    cluster = limited(1, "Deployment", replicas=3)
    failed = utils.condition(cluster.client.get("deployments", "web"), "ReplicaFailure")
    assert failed is not None
    assert (failed["status"], failed["reason"]) == ("True", "FailedCreate")
    assert "exceeded quota: rq" in failed["message"]
    set_limit(cluster, 9)
    cluster.advance_to(NOW + MINUTE)
    assert utils.condition(cluster.client.get("deployments", "web"), "ReplicaFailure") is None


def test_terminating_pods_are_counted_apart() -> None:
    cluster = limited(9, replicas=2, spec={"terminationGracePeriodSeconds": 30})
    cluster.settle()
    cluster.client.patch("replicasets", "web", "default", {"spec": {"replicas": 0}})
    cluster.advance_to(cluster.now)
    status = cluster.client.get("replicasets", "web")["status"]
    assert (status["replicas"], status["terminatingReplicas"]) == (0, 2)
    cluster.settle()
    assert cluster.client.get("replicasets", "web")["status"]["terminatingReplicas"] == 0


def controller(replicas: int) -> Object:
    template = {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": "old"},
        "spec": {"replicas": replicas, "selector": {"app": "old"}, "template": template},
    }


def test_a_replication_controller_keeps_its_pods() -> None:
    cluster = fresh()
    cluster.client.create(controller(2))
    cluster.settle()
    pods = pods_of(cluster, "old")
    assert len(pods) == 2
    assert pods[0]["metadata"]["ownerReferences"][0]["kind"] == "ReplicationController"
    cluster.client.delete("pods", pods[0]["metadata"]["name"])
    cluster.client.patch("rc", "old", "default", {"spec": {"replicas": 3}})
    cluster.settle()
    assert len(pods_of(cluster, "old")) == 3
    status = cluster.client.get("rc", "old")["status"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (3, 3, 3)
    assert "terminatingReplicas" not in status
    cluster.client.patch("rc", "old", "default", {"spec": {"replicas": 0}})
    cluster.settle()
    assert pods_of(cluster, "old") == []
