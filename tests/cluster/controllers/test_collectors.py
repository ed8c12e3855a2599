"""What the garbage collector, the pod collector and the namespace controller take away, and what they leave."""

from typing import Any

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, config_map, events, fresh, pod, workload
from tests.cluster.controllers.test_small_controllers import namespace


def owned(name: str, *owners: Object, namespace: str = "default", **more: Any) -> Object:
    made = config_map(name, namespace)
    made["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **more,
        }
        for owner in owners
    ]
    return made


def left(cluster: Cluster, namespace: str = "default") -> list[str]:
    found = [obj["metadata"]["name"] for obj in cluster.client.list("configmaps", namespace)]
    return [name for name in found if name != "kube-root-ca.crt"]


def test_an_object_of_several_owners_stays_until_the_last_is_gone() -> None:
    cluster = fresh()
    one, other = (cluster.client.create(config_map(name)) for name in ("one", "other"))
    cluster.client.create(owned("child", one, other))
    cluster.client.delete("configmaps", "one", "default")
    cluster.settle()
    (reference,) = cluster.client.get("configmaps", "child")["metadata"]["ownerReferences"]
    assert reference["name"] == "other"
    cluster.client.delete("configmaps", "other", "default")
    cluster.settle()
    assert left(cluster) == []


def test_an_owner_in_another_namespace_is_no_owner() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    owner = cluster.client.create(config_map("owner"))
    cluster.client.create(owned("child", owner, namespace="lab"))
    cluster.settle()
    assert left(cluster, "lab") == []
    uid = owner["metadata"]["uid"]
    message = f'ownerRef [v1/ConfigMap, namespace: lab, name: owner, uid: {uid}] does not exist in namespace "lab"'
    assert ("OwnerRefInvalidNamespace", message) in events(cluster, "child")


def test_an_owner_of_the_same_name_and_another_uid_is_no_owner() -> None:
    cluster = fresh()
    owner = cluster.client.create(config_map("owner"))
    stranger = {**owner, "metadata": {**owner["metadata"], "uid": "0" * 8}}
    cluster.client.create(owned("child", stranger))
    cluster.settle()
    assert left(cluster) == ["owner"]


def test_an_owner_of_an_unknown_kind_keeps_its_dependents() -> None:
    cluster = fresh()
    stranger = {"apiVersion": "example.com/v1", "kind": "Bee", "metadata": {"name": "b", "uid": "u"}}
    cluster.client.create(owned("child", stranger))
    cluster.settle()
    assert left(cluster) == ["child"]


def test_what_does_not_block_its_owner_is_deleted_without_being_waited_for() -> None:
    cluster = fresh()
    owner = cluster.client.create(config_map("owner"))
    child = owned("child", owner)
    child["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.client.create(child)
    cluster.client.delete("configmaps", "owner", "default", propagation="Foreground")
    cluster.settle()
    assert left(cluster) == ["child"]


def test_what_blocks_its_owner_is_waited_for() -> None:
    cluster = fresh()
    owner = cluster.client.create(config_map("owner"))
    child = owned("child", owner, blockOwnerDeletion=True)
    child["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.client.create(child)
    cluster.client.delete("configmaps", "owner", "default", propagation="Foreground")
    cluster.settle()
    assert left(cluster) == ["child", "owner"]
    cluster.client.patch("configmaps", "child", "default", {"metadata": {"finalizers": None}}, "merge")
    cluster.settle()
    assert left(cluster) == []


def test_pods_of_a_node_out_of_service_are_removed_without_their_kubelet() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.settle()
    cluster.stop_kubelet("node01")
    cluster.advance_to(NOW + 3 * MINUTE)
    node = cluster.client.get("nodes", "node01")
    taints = [*node["spec"]["taints"], {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]
    cluster.client.update({**node, "spec": {**node["spec"], "taints": taints}})
    cluster.advance_to(NOW + 4 * MINUTE)
    assert cluster.client.list("pods", "default") == []


def test_a_namespace_says_what_keeps_it() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    held = config_map("held", "lab")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.client.create(held)
    cluster.client.delete("namespaces", "lab")
    cluster.settle()
    found = {c["type"]: c for c in cluster.client.get("namespaces", "lab")["status"]["conditions"]}
    assert {kind: c["status"] for kind, c in found.items()} == {
        "NamespaceDeletionDiscoveryFailure": "False",
        "NamespaceDeletionGroupVersionParsingFailure": "False",
        "NamespaceDeletionContentFailure": "False",
        "NamespaceContentRemaining": "True",
        "NamespaceFinalizersRemaining": "True",
    }
    assert found["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert found["NamespaceFinalizersRemaining"]["message"] == (
        "Some finalizers are remaining: example.com/hold in 1 resource instances"
    )
    assert found["NamespaceDeletionContentFailure"]["message"] == (
        "All content successfully deleted, may be waiting on finalization"
    )
    cluster.client.patch("configmaps", "held", "lab", {"metadata": {"finalizers": None}}, "merge")
    cluster.settle()
    assert cluster.client.find("namespaces", "lab") is None


def test_the_pods_of_a_namespace_go_first() -> None:
    cluster = fresh()
    cluster.client.create(namespace("lab"))
    cluster.advance_to(NOW)
    cluster.client.create(workload("Deployment", replicas=1), "lab")
    cluster.client.create(config_map("c", "lab"))
    cluster.settle()
    cluster.client.delete("namespaces", "lab")
    cluster.advance_to(cluster.now)
    assert left(cluster, "lab") == ["c"]
    remaining = {c["type"]: c for c in cluster.client.get("namespaces", "lab")["status"]["conditions"]}
    message = remaining["NamespaceContentRemaining"]["message"]
    assert message == "Some resources are remaining: pods. has 1 resource instances"
    cluster.settle()
    assert cluster.client.find("namespaces", "lab") is None
