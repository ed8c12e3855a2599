from app.apimachinery import meta
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, nodes_of, phase, pod, pods_of, taint, workload

FORBIDDING = {"key": "spray", "value": "mortein", "effect": "NoExecute"}


def tolerant(seconds: int | None = None) -> dict[str, object]:
    toleration = {"key": "spray", "operator": "Exists", "effect": "NoExecute"}
    return {**toleration, **({} if seconds is None else {"tolerationSeconds": seconds})}


def three_pods() -> Cluster:
    cluster = fresh()
    for name, tolerations in (("none", []), ("some", [tolerant(30)]), ("ever", [tolerant()])):
        cluster.client.create(pod(name, nodeName="node01", tolerations=tolerations))
    cluster.advance_to(NOW + 5 * SECOND)
    taint(cluster, "node01", FORBIDDING)
    cluster.advance_to(cluster.now + 5 * SECOND)
    return cluster


def names(cluster: Cluster) -> list[str]:
    return [meta.name_of(p) for p in cluster.client.list("pods", "default")]


def test_pods_go_at_once_after_their_patience_or_never() -> None:
    cluster = three_pods()
    assert names(cluster) == ["ever", "some"]
    assert events(cluster, "none")[-2:] == [
        ("TaintManagerEviction", "Marking for deletion Pod default/none"),
        ("Killing", "Stopping container c"),
    ]
    cluster.advance_to(NOW + 34 * SECOND)
    assert names(cluster) == ["ever", "some"]
    cluster.settle()
    assert names(cluster) == ["ever"]


def test_a_taint_that_is_taken_off_stops_the_countdown() -> None:
    cluster = three_pods()
    taint(cluster, "node01")
    cluster.settle()
    assert names(cluster) == ["ever", "some"]
    assert events(cluster, "some")[-1] == ("TaintManagerEviction", "Cancelling deletion of Pod default/some")


def test_no_schedule_evicts_nobody() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.settle()
    taint(cluster, "node01", {"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "PreferNoSchedule"})
    cluster.settle()
    assert phase(cluster) == "Running"


def test_the_least_patient_toleration_counts() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01", tolerations=[tolerant(500), tolerant(20)]))
    cluster.settle()
    taint(cluster, "node01", FORBIDDING)
    cluster.advance_to(cluster.now + 25 * SECOND)
    assert names(cluster) == []


def test_a_deployments_pods_move_to_another_node() -> None:
    cluster = fresh()
    cluster.client.create(workload("Deployment", replicas=2, spec={"nodeSelector": {}}))
    cluster.settle()
    for node in set(nodes_of(cluster, "web")):
        other = {"node01": "node02", "node02": "node01"}[node]
        taint(cluster, node, FORBIDDING)
        cluster.settle()
        assert set(nodes_of(cluster, "web")) == {other}
        break


def test_create_and_evict_without_end_is_slowed_down() -> None:
    cluster = fresh()
    taint(cluster, "node01", FORBIDDING)
    spec = {"nodeName": "node01", "tolerations": [tolerant(1)]}
    cluster.client.create(workload("Deployment", replicas=1, spec=spec))
    cluster.advance_to(NOW + 10 * MINUTE)
    evictions = [e for e in cluster.client.list("events") if e["reason"] == "TaintManagerEviction"]
    assert 3 <= len(evictions) <= 20
    assert len(pods_of(cluster, "web")) <= 2
