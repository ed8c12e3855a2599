from app.apimachinery import meta
from app.cluster import controller_utils as utils
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, events, fresh, phase, pod, pods_of, taint, workload


def with_set(**spec: object) -> Cluster:
    cluster = fresh()
    cluster.client.create(workload("ReplicaSet", **{"replicas": 2, **spec}))
    cluster.settle()
    return cluster


def test_a_missing_pod_is_replaced() -> None:
    cluster = with_set()
    gone = meta.name_of(pods_of(cluster, "web")[0])
    cluster.client.delete("pods", gone, "default")
    cluster.settle()
    names = {meta.name_of(p) for p in pods_of(cluster, "web")}
    assert len(names) == 2
    assert gone not in names
    assert ("SuccessfulCreate", f"Created pod: {gone}") in events(cluster, "web")


def test_pods_without_an_owner_are_adopted_and_surplus_ones_deleted() -> None:
    cluster = with_set()
    stray = pod("stray")
    stray["metadata"]["labels"] = {"app": "web"}
    cluster.client.create(stray)
    cluster.settle()
    assert len(pods_of(cluster, "web")) == 2
    assert cluster.client.find("pods", "stray", "default") is None, "the youngest goes first"
    assert ("SuccessfulDelete", "Deleted pod: stray") in events(cluster, "web")


def test_a_pod_whose_label_changes_is_let_go_and_replaced() -> None:
    cluster = with_set()
    name = meta.name_of(pods_of(cluster, "web")[0])
    cluster.client.patch("pods", name, "default", {"metadata": {"labels": {"app": "other"}}})
    cluster.settle()
    assert "ownerReferences" not in cluster.client.get("pods", name)["metadata"]
    assert len(pods_of(cluster, "web")) == 2


def test_pods_that_wait_are_deleted_before_pods_that_run() -> None:
    cluster = with_set(replicas=2)
    big = {"containers": [{"name": "c", "image": "nginx:nope"}]}
    current = cluster.client.get("replicasets", "web")
    template = {**current["spec"]["template"], "spec": big}
    cluster.client.update({**current, "spec": {**current["spec"], "replicas": 3, "template": template}})
    cluster.settle()
    cluster.client.patch("replicasets", "web", "default", {"spec": {"replicas": 2}})
    cluster.settle()
    assert [p["status"]["phase"] for p in pods_of(cluster, "web")] == ["Running", "Running"]


def test_a_lower_deletion_cost_goes_first() -> None:
    cluster = with_set(replicas=3)
    cheap = meta.name_of(pods_of(cluster, "web")[1])
    note = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}
    cluster.client.patch("pods", cheap, "default", note)
    cluster.client.patch("replicasets", "web", "default", {"spec": {"replicas": 2}})
    cluster.settle()
    assert cheap not in {meta.name_of(p) for p in pods_of(cluster, "web")}


def test_a_refused_pod_is_an_event_and_a_condition_and_is_tried_again() -> None:
    cluster = fresh()
    cluster.client.create(workload("ReplicaSet", replicas=1, spec={"priorityClassName": "urgent"}))
    cluster.advance_to(NOW + MINUTE)
    status = cluster.client.get("replicasets", "web")["status"]
    assert [(c["type"], c["reason"]) for c in status["conditions"]] == [("ReplicaFailure", "FailedCreate")]
    refusal = [message for reason, message in events(cluster, "web") if reason == "FailedCreate"]
    assert "no PriorityClass with name urgent was found" in refusal[0]

    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 7}
    cluster.client.create(made)
    cluster.advance_to(NOW + 10 * MINUTE)

    assert [p["spec"]["priority"] for p in pods_of(cluster, "web")] == [7]
    assert "conditions" not in cluster.client.get("replicasets", "web")["status"]


def test_pods_that_die_young_are_replaced_with_growing_pauses() -> None:
    cluster = fresh()
    greedy = {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "9"}}}]}
    cluster.client.create(workload("ReplicaSet", replicas=1, spec={**greedy, "nodeName": "node01"}))
    cluster.advance_to(NOW + 10 * MINUTE)
    made = pods_of(cluster, "web")
    assert {p["status"].get("reason") for p in made} <= {"OutOfcpu", None}
    assert 5 <= len(made) <= 15


def test_pods_that_a_taint_drives_off_at_once_are_replaced_with_growing_pauses() -> None:
    cluster = fresh()
    taint(cluster, "node01", {"key": "foo", "value": "foo", "effect": "NoExecute"})
    cluster.client.create(workload("ReplicaSet", replicas=1, spec={"nodeName": "node01"}))
    seen = set()
    for minute in range(11):
        cluster.advance_to(NOW + minute * MINUTE)
        seen.update(message for reason, message in events(cluster) if reason == "SuccessfulCreate")
    assert 5 <= len(seen) <= 15


def test_a_set_counts_pods_as_available_after_min_ready_seconds() -> None:
    cluster = fresh()
    cluster.client.create(workload("ReplicaSet", replicas=1, minReadySeconds=30))
    cluster.advance_to(NOW + 10 * 1_000_000)
    status = cluster.client.get("replicasets", "web")["status"]
    assert (status.get("readyReplicas"), status.get("availableReplicas")) == (1, None)
    cluster.settle()
    assert cluster.client.get("replicasets", "web")["status"]["availableReplicas"] == 1
    assert phase(cluster, meta.name_of(pods_of(cluster, "web")[0])) == "Running"


def test_a_slip_in_the_number_of_replicas_does_not_fill_the_cluster() -> None:
    cluster = fresh()
    cluster.client.create(workload("ReplicaSet", replicas=100_000, spec={"schedulerName": "nobody"}))
    cluster.advance_to(NOW + MINUTE)
    assert len(cluster.client.list("pods")) == utils.MAX_PODS
    (failed,) = cluster.client.get("replicasets", "web")["status"]["conditions"]
    assert "this cluster has room for 500 pods" in failed["message"]
