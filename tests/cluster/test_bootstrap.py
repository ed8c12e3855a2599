import zlib

import pytest

from app.apimachinery import meta
from app.apis import schema
from app.cluster import bootstrap
from app.cluster.cluster import Cluster
from tests.cluster.builders import NOW, fresh


def test_a_kubeadm_cluster_has_its_nodes_and_system_pods() -> None:
    cluster = fresh()
    nodes = {meta.name_of(node): node for node in cluster.client.list("nodes")}
    assert sorted(nodes) == ["controlplane", "node01", "node02"]
    assert nodes["controlplane"]["spec"]["taints"] == [
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    ]
    assert "taints" not in nodes["node01"]["spec"]
    pods = cluster.client.list("pods", "kube-system")
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    names = {meta.name_of(pod) for pod in pods}
    components = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
    assert {f"{component}-controlplane" for component in components} <= names
    assert sum(name.startswith("kube-proxy-") for name in names) == 3
    assert sum(name.startswith("coredns-") for name in names) == 2


@pytest.mark.parametrize("template", sorted(bootstrap.TEMPLATES))
def test_a_fresh_cluster_is_settled_and_stays_as_it_is(template: str) -> None:
    cluster = fresh(template=template)
    revision = cluster.store.revision
    before = cluster.dump()
    cluster.advance_to(NOW)
    assert cluster.dump() == before
    cluster.settle()
    cluster.advance_to(NOW + 3600 * 1_000_000)
    assert cluster.store.revision == revision
    assert cluster.client.list("events") == []


def test_every_object_of_a_template_is_one_that_the_api_would_decode() -> None:
    cluster = fresh()
    for resource in cluster.store.resources():
        for obj in cluster.store.list(resource):
            assert schema.check(obj) == [], meta.key_of(obj)


def test_uids_come_from_the_seed() -> None:
    one, same, other = fresh(1), fresh(1), fresh(2)
    assert one.dump() == same.dump()
    assert (
        one.client.get("nodes", "node01")["metadata"]["uid"] != other.client.get("nodes", "node01")["metadata"]["uid"]
    )


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(KeyError, match="kops-7"):
        fresh(template="kops-7")


def test_a_snapshot_of_a_fresh_cluster_is_small() -> None:
    assert len(zlib.compress(fresh().dump(), 3)) < 40_000


def test_further_nodes_get_a_kubelet_and_keep_their_own_status() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "gpu01", "labels": {"gpu": "yes"}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10"}},
    }
    cluster = fresh(objects=[node])
    cluster.settle()
    stored = cluster.client.get("nodes", "gpu01")
    assert stored["status"]["allocatable"]["cpu"] == "8"
    assert stored["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]
    assert stored["metadata"]["labels"]["kubernetes.io/hostname"] == "gpu01"
    on_it = [p for p in cluster.client.list("pods", "kube-system") if p["spec"]["nodeName"] == "gpu01"]
    assert [pod["status"]["phase"] for pod in on_it] == ["Running"], "kube-proxy runs on it"


def test_nodes_are_as_old_as_the_cluster() -> None:
    cluster = Cluster.new(seed=1, now=NOW)
    assert cluster.client.get("nodes", "node01")["metadata"]["creationTimestamp"] == "2026-03-01T07:50:00Z"
