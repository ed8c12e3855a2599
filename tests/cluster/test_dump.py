"""A cluster that is made of another cluster's dump goes on where that one was."""

from __future__ import annotations

from typing import Any

from app.apimachinery import manifests
from app.apimachinery.meta import Object
from app.cli import bench_cluster
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, command, fresh, phase, pod, workload


def dumped(cluster: Cluster, *kinds: str) -> list[Object]:
    """What `kubectl get nodes,pods -A -o yaml` prints, read again."""
    items = [obj for kind in kinds for obj in cluster.client.list(kind)]
    text = bench_cluster.as_yaml({"apiVersion": "v1", "kind": "List", "items": items})
    return [document.object for document in manifests.parse(text, bench_cluster.LIMITS)]


def running(name: str = "old", **more: Any) -> Object:
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "creationTimestamp": "2026-03-01T08:00:00Z"}
    made = pod(name, container={"resources": {"requests": {"cpu": "900m"}}})
    spec = {**made["spec"], "nodeName": "node01"}
    status = {"phase": "Running", "podIP": "10.9.9.9", "startTime": "2026-03-01T08:00:05Z"}
    return {**made, "metadata": {**metadata, **more}, "spec": spec, "status": status}


def loaded(*objects: Object) -> Cluster:
    cluster = Cluster.new(seed=1, now=NOW, objects=objects)
    cluster.advance_to(NOW + MINUTE)
    return cluster


def test_running_pods_are_taken_over_and_not_started_again() -> None:
    cluster = loaded(running())
    found = cluster.client.get("pods", "old", "team")
    assert (found["metadata"]["uid"], found["metadata"]["creationTimestamp"]) == ("uid-old", "2026-03-01T08:00:00Z")
    assert (found["status"]["podIP"], found["status"]["startTime"]) == ("10.9.9.9", "2026-03-01T08:00:05Z")
    assert found["status"]["containerStatuses"][0]["restartCount"] == 0
    assert {c["type"]: c["status"] for c in found["status"]["conditions"]}["Ready"] == "True"
    assert cluster.client.list("events", "team") == []
    assert cluster.client.find("serviceaccounts", "default", "team"), "its namespace was made, and lives"


def test_what_they_ask_for_counts() -> None:
    cluster = loaded(running("one"), running("two"))
    for number in range(2):
        cluster.client.create(pod(f"new{number}", container={"resources": {"requests": {"cpu": "800m"}}}))
    cluster.settle()
    nodes = {cluster.client.get("pods", f"new{number}")["spec"]["nodeName"] for number in range(2)}
    assert nodes == {"node02"}


def test_they_end_as_others_do() -> None:
    cluster = loaded(running("one"), running("two"))
    cluster.client.delete("pods", "one", "team")
    cluster.settle()
    assert cluster.client.find("pods", "one", "team") is None
    cluster.stop_kubelet("node01")
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert cluster.client.get("pods", "two", "team")["metadata"].get("deletionTimestamp")


def test_owners_that_the_dump_lacks_are_not_named() -> None:
    lost = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "gone", "controller": True}
    cluster = loaded(running(ownerReferences=[lost]))
    assert "ownerReferences" not in cluster.client.get("pods", "old", "team")["metadata"], "else it were collected"


def test_static_pods_and_what_is_there_already_are_left_out() -> None:
    mirror = running("etcd-elsewhere", annotations={"kubernetes.io/config.mirror": "x"})
    own = fresh().client.get("pods", "etcd-controlplane", "kube-system")
    cluster = loaded(mirror, {**own, "metadata": {**own["metadata"], "uid": "another"}})
    assert cluster.client.find("pods", "etcd-elsewhere", "team") is None
    assert cluster.client.get("pods", "etcd-controlplane", "kube-system")["metadata"]["uid"] != "another"


def test_a_pod_that_does_not_run_yet_is_created_and_placed() -> None:
    waiting = {**pod("waiting"), "status": {"phase": "Pending"}}
    cluster = loaded(waiting, {**running(namespace="default"), "status": {"phase": "Pending"}})
    assert phase(cluster, "waiting") == phase(cluster, "old") == "Running"
    assert [e["reason"] for e in cluster.client.list("events", "default") if e["involvedObject"]["name"] == "old"]


def test_a_lab_of_a_dump_is_saved_and_goes_on() -> None:
    source = fresh()
    source.client.create(workload("Deployment", replicas=4))
    source.client.create(command("sh", "-c", "sleep 30; exit 1", name="crash"))
    source.advance_to(NOW + 10 * SECOND)
    there = {p["metadata"]["name"]: p["spec"]["nodeName"] for p in source.client.list("pods", "default")}
    cluster = loaded(*dumped(source, "nodes", "pods"))
    again = Cluster.load(cluster.dump())
    for one in (cluster, again):
        one.advance_to(NOW + 30 * MINUTE)
    assert cluster.dump() == again.dump()
    here = {p["metadata"]["name"]: p["spec"]["nodeName"] for p in cluster.client.list("pods", "default")}
    assert here == there


def test_a_hundred_nodes_are_read_and_a_pod_is_placed() -> None:
    text = bench_cluster.dump_text(nodes=100, pods=300)
    objects = [document.object for document in manifests.parse(text, bench_cluster.LIMITS)]
    cluster = loaded(*objects)
    cluster.client.create(pod("new"))
    cluster.settle()
    assert phase(cluster, "new") == "Running"
    assert len(cluster.client.list("nodes")) == 103
    assert all(p["status"]["phase"] == "Running" for p in cluster.client.list("pods"))
