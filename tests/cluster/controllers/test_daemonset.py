import pytest

from app.apimachinery import meta
from tests.cluster.builders import ANYWHERE, MINUTE, NOW, fresh, nodes_of, pods_of, taint, workload

CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["node01", "node02"]),
        ({"tolerations": [CONTROL_PLANE]}, ["controlplane", "node01", "node02"]),
        ({"nodeSelector": {"kubernetes.io/hostname": "node02"}}, ["node02"]),
        ({"nodeSelector": {"disk": "ssd"}}, []),
        ({"tolerations": ANYWHERE, "nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}, ["controlplane"]),
    ],
)
def test_every_eligible_node_gets_one_pod(spec: dict[str, object], expected: list[str]) -> None:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent", spec=spec))
    cluster.settle()
    assert nodes_of(cluster, "agent") == expected
    status = cluster.client.get("daemonsets", "agent")["status"]
    assert status["desiredNumberScheduled"] == status["numberReady"] == len(expected)


def test_pods_are_aimed_at_their_node_and_left_to_the_scheduler() -> None:
    cluster = fresh()
    made = cluster.client.create(workload("DaemonSet", "agent"))
    cluster.settle()
    pod = pods_of(cluster, "agent")[0]
    terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms == {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pod["spec"]["nodeName"]]}]}
        ]
    }
    assert {t["key"] for t in pod["spec"]["tolerations"]} >= {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
    }
    assert meta.controller_of(pod)["uid"] == made["metadata"]["uid"]  # type: ignore[index]  # it has one


def test_a_cordoned_node_keeps_and_gets_its_daemon_pod() -> None:
    cluster = fresh()
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    cluster.client.create(workload("DaemonSet", "agent"))
    cluster.settle()
    assert nodes_of(cluster, "agent") == ["node01", "node02"]


def test_a_no_schedule_taint_leaves_running_pods_and_no_execute_ends_them() -> None:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent"))
    cluster.settle()
    taint(cluster, "node01", {"key": "a", "effect": "NoSchedule"})
    cluster.settle()
    assert nodes_of(cluster, "agent") == ["node01", "node02"]
    taint(cluster, "node01", {"key": "a", "effect": "NoExecute"})
    cluster.settle()
    assert nodes_of(cluster, "agent") == ["node02"]


def test_a_label_makes_a_node_eligible() -> None:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent", spec={"nodeSelector": {"disk": "ssd"}}))
    cluster.settle()
    cluster.client.patch("nodes", "node02", "", {"metadata": {"labels": {"disk": "ssd"}}})
    cluster.settle()
    assert nodes_of(cluster, "agent") == ["node02"]
    cluster.client.patch("nodes", "node02", "", {"metadata": {"labels": {"disk": None}}})
    cluster.settle()
    assert nodes_of(cluster, "agent") == []


def test_a_new_template_replaces_pods_one_at_a_time() -> None:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent"))
    cluster.settle()
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}
    cluster.client.patch("daemonsets", "agent", "default", patch)
    least = 2
    start = cluster.now
    for step in range(60):
        cluster.advance_to(start + step * 250_000)
        status = cluster.client.get("daemonsets", "agent")["status"]
        least = min(least, status["numberReady"])
    assert least == 1
    assert {p["spec"]["containers"][0]["image"] for p in pods_of(cluster, "agent")} == {"nginx:1.28"}


def test_on_delete_waits_for_somebody_to_delete() -> None:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent", updateStrategy={"type": "OnDelete"}))
    cluster.settle()
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}
    cluster.client.patch("daemonsets", "agent", "default", patch)
    cluster.settle()
    assert {p["spec"]["containers"][0]["image"] for p in pods_of(cluster, "agent")} == {"nginx:1.27"}


def test_daemon_pods_that_fail_are_replaced_with_growing_pauses() -> None:
    cluster = fresh()
    greedy = {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "9"}}}]}
    cluster.client.create(workload("DaemonSet", "agent", spec={**greedy, "nodeName": "node01"}))
    cluster.advance_to(NOW + 10 * MINUTE)
    failures = [e for e in cluster.client.list("events") if e["reason"] == "FailedDaemonPod"]
    assert 3 <= len(failures) <= 15
