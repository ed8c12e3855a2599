"""How a node that falls silent is noticed, and what becomes of its pods."""

from typing import Any

from app.apimachinery import clock
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, command, events, fresh, phase, pod, workload

UNREACHABLE = "node.kubernetes.io/unreachable"


def conditions(cluster: Cluster, node: str = "node01") -> dict[str, Any]:
    return {found["type"]: found for found in cluster.client.get("nodes", node)["status"]["conditions"]}


def taints(cluster: Cluster, node: str = "node01") -> list[tuple[str, str]]:
    found = cluster.client.get("nodes", node)["spec"].get("taints") or []
    return [(taint["key"], taint["effect"]) for taint in found]


def ready(cluster: Cluster, name: str = "bee") -> str:
    found = cluster.client.get("pods", name)["status"]["conditions"]
    return str(next(c["status"] for c in found if c["type"] == "Ready"))


def silent(*objects: Object, after: int = 0) -> Cluster:
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    cluster.advance_to(NOW + MINUTE)
    cluster.stop_kubelet("node01")
    cluster.advance_to(NOW + MINUTE + after)
    return cluster


def test_a_silent_node_becomes_unknown_within_fifty_seconds() -> None:
    cluster = silent(after=39 * SECOND)
    assert conditions(cluster)["Ready"]["status"] == "True"
    cluster.advance_to(NOW + MINUTE + 50 * SECOND)
    for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"):
        found = conditions(cluster)[kind]
        assert (found["status"], found["reason"]) == ("Unknown", "NodeStatusUnknown")
        assert found["message"] == "Kubelet stopped posting node status."
    assert ("NodeNotReady", "Node node01 status is now: NodeNotReady") in events(cluster, "node01")
    assert taints(cluster) == [(UNREACHABLE, "NoSchedule")]


def test_the_taint_that_evicts_comes_one_look_later() -> None:
    cluster = silent(after=55 * SECOND)
    assert taints(cluster) == [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]


def test_pods_of_a_silent_node_are_no_longer_ready_but_run_on() -> None:
    cluster = silent(pod(nodeName="node01"), after=55 * SECOND)
    assert (ready(cluster), phase(cluster)) == ("False", "Running")
    assert ("NodeNotReady", "Node is not ready") in events(cluster, "bee")


def test_pods_are_evicted_after_five_minutes_and_end_when_the_kubelet_is_back() -> None:
    cluster = silent(pod(nodeName="node01"), after=5 * MINUTE + 40 * SECOND)
    assert "deletionTimestamp" not in cluster.client.get("pods", "bee")["metadata"]
    cluster.advance_to(NOW + 7 * MINUTE)
    assert "deletionTimestamp" in cluster.client.get("pods", "bee")["metadata"]
    cluster.advance_to(NOW + 30 * MINUTE)
    assert "deletionTimestamp" in cluster.client.get("pods", "bee")["metadata"], "nobody is there to end it"
    cluster.start_kubelet("node01")
    cluster.settle()
    assert cluster.client.list("pods", "default") == []


def test_a_deployments_pods_move_to_another_node() -> None:
    cluster = silent(workload("Deployment", replicas=2), after=8 * MINUTE)
    alive = [p for p in cluster.client.list("pods", "default") if "deletionTimestamp" not in p["metadata"]]
    assert [p["spec"]["nodeName"] for p in alive] == ["node02", "node02"]


def test_a_node_whose_kubelet_is_back_is_as_before() -> None:
    cluster = silent(pod(nodeName="node01"), after=2 * MINUTE)
    cluster.start_kubelet("node01")
    cluster.advance_to(cluster.now)
    found = conditions(cluster)["Ready"]
    assert (found["status"], found["reason"]) == ("True", "KubeletReady")
    assert found["lastTransitionTime"] == clock.rfc3339(cluster.now)
    assert taints(cluster) == []
    assert ready(cluster) == "True"
    said = [reason for reason, _ in events(cluster, "node01")]
    assert said[-6:-4] == ["Starting", "NodeAllocatableEnforced"]
    assert said[-1] == "NodeReady"
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert taints(cluster) == [], "and stays so"
    assert phase(cluster) == "Running"


def test_what_was_due_while_the_kubelet_was_stopped_is_noticed_when_it_is_back() -> None:
    cluster = silent(command("sleep", "90", nodeName="node01", restartPolicy="Never"), after=2 * MINUTE)
    assert phase(cluster) == "Running"
    cluster.start_kubelet("node01")
    cluster.settle()
    assert phase(cluster) == "Succeeded"


def test_a_pod_bound_to_a_silent_node_waits_for_its_kubelet() -> None:
    cluster = silent(after=MINUTE)
    cluster.client.create(pod(nodeName="node01"))
    cluster.advance_to(NOW + 3 * MINUTE)
    assert phase(cluster) == "Pending"
    cluster.start_kubelet("node01")
    cluster.settle()
    assert phase(cluster) == "Running"


def test_where_every_node_is_silent_nobody_is_evicted() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.settle()
    for node in ("controlplane", "node01", "node02"):
        cluster.stop_kubelet(node)
    cluster.advance_to(NOW + 30 * MINUTE)
    assert (UNREACHABLE, "NoExecute") not in taints(cluster)
    assert "deletionTimestamp" not in cluster.client.get("pods", "bee")["metadata"]


def test_nodes_of_a_zone_are_tainted_ten_seconds_apart() -> None:
    cluster = fresh()
    for node in ("node01", "node02"):
        cluster.stop_kubelet(node)
    cluster.advance_to(NOW + 80 * SECOND)
    times = [
        next(t["timeAdded"] for t in cluster.client.get("nodes", node)["spec"]["taints"] if t["effect"] == "NoExecute")
        for node in ("node01", "node02")
    ]
    assert clock.parse(times[1]) - clock.parse(times[0]) == 10 * SECOND


def test_a_node_under_pressure_is_tainted_for_each_pressure() -> None:
    cluster = fresh()
    node = cluster.client.get("nodes", "node01")
    changed = [
        {**c, "status": "True"} if c["type"] in {"MemoryPressure", "DiskPressure"} else c
        for c in node["status"]["conditions"]
    ]
    cluster.client.update_status({**node, "status": {**node["status"], "conditions": changed}})
    cluster.advance_to(NOW)
    assert taints(cluster) == [
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ]


def test_nodes_that_come_and_go_are_events() -> None:
    cluster = fresh()
    cluster.client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ghost"}})
    cluster.advance_to(NOW)
    cluster.client.delete("nodes", "ghost")
    cluster.advance_to(NOW)
    assert events(cluster, "ghost") == [
        ("RegisteredNode", "Node ghost event: Registered Node ghost in Controller"),
        ("RemovingNode", "Node ghost event: Removing Node ghost from Controller"),
    ]


def test_a_cordon_is_an_event_of_the_kubelet() -> None:
    cluster = fresh()
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    cluster.advance_to(NOW)
    assert ("NodeNotSchedulable", "Node node01 status is now: NodeNotSchedulable") in events(cluster, "node01")


def test_silence_passes_the_same_way_however_often_somebody_looks() -> None:
    one, other = silent(pod(nodeName="node01")), silent(pod(nodeName="node01"))
    one.advance_to(NOW + 20 * MINUTE)
    for step in range(2, 21):
        other.advance_to(NOW + step * MINUTE)
        other = Cluster.load(other.dump())
    assert one.dump() == other.dump()


def test_older_labels_of_a_node_follow_the_newer_ones() -> None:
    cluster = fresh()
    cluster.client.patch("nodes", "node01", "", {"metadata": {"labels": {"kubernetes.io/arch": "arm64"}}})
    cluster.advance_to(NOW)
    assert cluster.client.get("nodes", "node01")["metadata"]["labels"]["beta.kubernetes.io/arch"] == "arm64"
