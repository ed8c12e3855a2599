"""The controllers that need only a few sentences each."""

import pytest

from app.apimachinery import meta
from app.apimachinery.errors import NotFound
from tests.cluster.builders import MINUTE, NOW, SECOND, config_map, fresh, phase, pod, taint, workload

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def taints(cluster: object, node: str) -> list[dict[str, str]]:
    found = cluster.client.get("nodes", node)["spec"].get("taints") or []  # type: ignore[attr-defined]  # a Cluster
    return [{key: value for key, value in t.items() if key != "timeAdded"} for t in found]


def test_a_new_namespace_gets_its_default_service_account() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    assert cluster.client.get("serviceaccounts", "default", "lab")
    cluster.client.delete("serviceaccounts", "default", "lab")
    cluster.advance_to(NOW)
    assert cluster.client.get("serviceaccounts", "default", "lab"), "it comes back"


def test_every_namespace_has_the_certificate_of_the_api_server() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    here = cluster.client.get("configmaps", "kube-root-ca.crt", "default")
    assert cluster.client.get("configmaps", "kube-root-ca.crt", "lab")["data"] == here["data"]
    assert here["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    cluster.client.delete("configmaps", "kube-root-ca.crt", "lab")
    cluster.advance_to(NOW)
    back = cluster.client.get("configmaps", "kube-root-ca.crt", "lab")
    cluster.client.update({**back, "data": {"ca.crt": "mine"}})
    cluster.advance_to(NOW)
    assert cluster.client.get("configmaps", "kube-root-ca.crt", "lab")["data"] == here["data"]


def test_a_deleted_namespace_is_emptied_and_goes() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    deployment = workload("Deployment", replicas=2)
    cluster.client.create(deployment, "lab")
    cluster.client.create(config_map("c", "lab"))
    cluster.settle()
    cluster.client.delete("namespaces", "lab")
    cluster.advance_to(cluster.now)
    assert cluster.client.get("namespaces", "lab")["status"]["phase"] == "Terminating"
    cluster.settle()
    with pytest.raises(NotFound):
        cluster.client.get("namespaces", "lab")
    left = [r for r in cluster.store.resources() if any(meta.namespace_of(o) == "lab" for o in cluster.store.list(r))]
    assert left == []


def test_cordoning_taints_a_node_and_uncordoning_takes_the_taint_off() -> None:
    cluster = fresh()
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    cluster.advance_to(NOW)
    assert taints(cluster, "node01") == [UNSCHEDULABLE]
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": None}})
    cluster.advance_to(NOW)
    assert taints(cluster, "node01") == []


def test_other_taints_are_left_alone() -> None:
    cluster = fresh()
    taint(cluster, "node01", {"key": "mine", "effect": "NoSchedule"})
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    cluster.advance_to(NOW)
    assert taints(cluster, "node01") == [{"key": "mine", "effect": "NoSchedule"}, UNSCHEDULABLE]


def test_a_node_without_a_kubelet_becomes_unreachable() -> None:
    cluster = fresh()
    cluster.client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ghost"}})
    cluster.settle()
    ready = next(c for c in cluster.client.get("nodes", "ghost")["status"]["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusNeverUpdated")
    assert {t["key"] for t in taints(cluster, "ghost")} == {"node.kubernetes.io/unreachable"}


def test_a_node_that_is_not_ready_is_tainted() -> None:
    cluster = fresh()
    node = cluster.client.get("nodes", "node01")
    conditions = [{**c, "status": "False"} if c["type"] == "Ready" else c for c in node["status"]["conditions"]]
    cluster.client.update_status({**node, "status": {**node["status"], "conditions": conditions}})
    cluster.advance_to(NOW)
    assert taints(cluster, "node01") == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    ]


def test_a_pod_for_an_unknown_node_waits_and_is_then_collected() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node77"))
    cluster.advance_to(NOW + 30 * SECOND)
    assert phase(cluster) == "Pending"
    cluster.settle()
    assert cluster.client.list("pods", "default") == []
    assert cluster.now <= NOW + MINUTE


def test_a_removed_nodes_pods_are_collected() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node02"))
    cluster.settle()
    cluster.client.delete("nodes", "node02")
    cluster.settle()
    assert [p for p in cluster.client.list("pods") if p["spec"].get("nodeName") == "node02"] == []


def test_orphaning_lets_dependents_live() -> None:
    cluster = fresh()
    cluster.client.create(workload("ReplicaSet", replicas=1))
    cluster.settle()
    cluster.client.delete("replicasets", "web", "default", propagation="Orphan")
    cluster.settle()
    assert cluster.client.list("replicasets", "default") == []
    (left,) = cluster.client.list("pods", "default")
    assert "ownerReferences" not in left["metadata"]


def test_foreground_deletion_keeps_the_owner_until_its_dependents_are_gone() -> None:
    cluster = fresh()
    cluster.client.create(workload("Deployment", replicas=1))
    cluster.settle()
    cluster.client.delete("deployments", "web", "default", propagation="Foreground")
    cluster.advance_to(cluster.now)
    assert cluster.client.find("deployments", "web", "default") is not None
    assert [p for p in cluster.client.list("pods", "default") if p["metadata"].get("deletionTimestamp")]
    cluster.settle()
    assert cluster.client.list("deployments", "default") == []
    assert cluster.client.list("pods", "default") == []


def test_events_expire_after_an_hour() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.settle()
    assert cluster.client.list("events")
    cluster.advance_to(NOW + 59 * MINUTE)
    assert cluster.client.list("events")
    cluster.advance_to(NOW + 63 * MINUTE)
    assert cluster.client.list("events") == []
    assert cluster.next_event() is None
