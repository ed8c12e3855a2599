"""How DaemonSets follow their template: revisions, making do without pods, surging."""

from typing import Any

import pytest

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, SECOND, events, fresh, pods_of, workload

GENERATION = "deprecated.daemonset.template.generation"
SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def with_set(**spec: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(workload("DaemonSet", "agent", **spec))
    cluster.settle()
    return cluster


def newer(image: str = "nginx:1.28") -> Object:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}


def change(cluster: Cluster, patch: Object | None = None) -> None:
    cluster.client.patch("daemonsets", "agent", "default", patch or newer())


def images(cluster: Cluster) -> list[str]:
    return sorted(pod["spec"]["containers"][0]["image"] for pod in pods_of(cluster, "agent"))


def revisions(cluster: Cluster) -> list[Object]:
    found = cluster.client.list("controllerrevisions", "default")
    return sorted(found, key=lambda revision: int(revision["revision"]))


def status(cluster: Cluster) -> Object:
    return dict(cluster.client.get("daemonsets", "agent")["status"])


def test_a_revision_holds_the_template_and_names_the_pods() -> None:
    cluster = with_set()
    (revision,) = revisions(cluster)
    code = revision["metadata"]["labels"]["controller-revision-hash"]
    assert meta.name_of(revision) == f"agent-{code}"
    assert {meta.labels_of(pod)["controller-revision-hash"] for pod in pods_of(cluster, "agent")} == {code}
    assert revision["data"]["spec"]["template"]["$patch"] == "replace"
    assert (meta.controller_of(revision) or {})["name"] == "agent"
    assert revision["metadata"]["labels"]["app"] == "agent"


def test_the_templates_generation_counts_changes_of_the_template_only() -> None:
    cluster = with_set()
    assert cluster.client.get("daemonsets", "agent")["metadata"]["annotations"] == {GENERATION: "1"}
    assert {meta.labels_of(pod)["pod-template-generation"] for pod in pods_of(cluster, "agent")} == {"1"}
    change(cluster, {"spec": {"minReadySeconds": 1}})
    found = cluster.client.get("daemonsets", "agent")["metadata"]
    assert (found["generation"], found["annotations"][GENERATION]) == (2, "1")
    change(cluster)
    found = cluster.client.get("daemonsets", "agent")["metadata"]
    assert (found["generation"], found["annotations"][GENERATION]) == (3, "2")


def test_going_back_gives_the_old_revision_a_new_number() -> None:
    cluster = with_set()
    (first,) = revisions(cluster)
    change(cluster)
    cluster.settle()
    change(cluster, newer("nginx:1.27"))
    cluster.settle()
    assert [(found["revision"], meta.name_of(found) == meta.name_of(first)) for found in revisions(cluster)] == [
        (2, False),
        (3, True),
    ]
    assert images(cluster) == ["nginx:1.27"] * 2


def test_old_revisions_go_beyond_the_limit() -> None:
    cluster = with_set(revisionHistoryLimit=1)
    for minor in (28, 29, 30):
        change(cluster, newer(f"nginx:1.{minor}"))
        cluster.settle()
    assert [found["revision"] for found in revisions(cluster)] == [3, 4]


def test_on_delete_keeps_the_revisions_of_living_pods() -> None:
    cluster = with_set(updateStrategy={"type": "OnDelete"}, revisionHistoryLimit=0)
    change(cluster)
    cluster.settle()
    assert [found["revision"] for found in revisions(cluster)] == [1, 2]
    assert status(cluster).get("updatedNumberScheduled") is None
    for pod in pods_of(cluster, "agent"):
        cluster.client.delete("pods", meta.name_of(pod), "default")
    cluster.settle()
    assert images(cluster) == ["nginx:1.28"] * 2
    assert [found["revision"] for found in revisions(cluster)] == [2]


@pytest.mark.parametrize(("most", "together"), [(1, 1), (2, 2), ("50%", 1), ("51%", 2), ("100%", 2)])
def test_max_unavailable_bounds_how_many_are_missing(most: int | str, together: int) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}
    cluster = with_set(updateStrategy=strategy)
    change(cluster)
    start, least = cluster.now, 2
    for step in range(60):
        cluster.advance_to(start + step * SECOND // 4)
        least = min(least, status(cluster).get("numberAvailable", 0))
    assert (2 - least, images(cluster)) == (together, ["nginx:1.28"] * 2)


def test_a_surge_has_the_new_pod_ready_before_the_old_one_goes() -> None:
    cluster = with_set(updateStrategy=SURGE)
    change(cluster)
    start, most = cluster.now, 0
    for step in range(80):
        cluster.advance_to(start + step * SECOND // 4)
        found = pods_of(cluster, "agent")
        assert sum(_is_ready(pod) for pod in found if "deletionTimestamp" not in pod["metadata"]) >= 2
        most = max(most, sum("deletionTimestamp" not in pod["metadata"] for pod in found))
    assert (most, images(cluster)) == (3, ["nginx:1.28"] * 2)
    assert status(cluster)["updatedNumberScheduled"] == 2


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def test_a_surge_waits_where_the_new_pod_never_gets_ready() -> None:
    cluster = with_set(updateStrategy=SURGE)
    change(cluster, newer("nginx:no-such-tag"))
    cluster.advance_to(cluster.now + 5 * MINUTE)
    assert images(cluster) == ["nginx:1.27", "nginx:1.27", "nginx:no-such-tag"]
    assert status(cluster)["numberAvailable"] == 2


def test_a_surge_replaces_a_pod_that_serves_nobody_at_once() -> None:
    cluster = with_set(updateStrategy=SURGE)
    change(cluster, newer("nginx:no-such-tag"))
    cluster.advance_to(cluster.now + MINUTE)
    change(cluster, newer("nginx:1.29"))
    cluster.settle()
    assert images(cluster) == ["nginx:1.29"] * 2


def test_min_ready_seconds_slows_an_update_down() -> None:
    cluster = with_set(minReadySeconds=60)
    assert status(cluster)["numberAvailable"] == 2
    change(cluster)
    start = cluster.now
    cluster.advance_to(start + 50 * SECOND)
    assert images(cluster).count("nginx:1.28") == 1
    assert (status(cluster)["numberReady"], status(cluster)["numberAvailable"]) == (2, 1)
    cluster.settle()
    assert images(cluster) == ["nginx:1.28"] * 2
    assert cluster.now >= start + 120 * SECOND


def test_a_succeeded_pod_is_deleted_and_made_again() -> None:
    cluster = with_set()
    pod = pods_of(cluster, "agent")[0]
    cluster.client.update_status({**pod, "status": {**pod["status"], "phase": "Succeeded"}})
    cluster.settle()
    name = f"default/{meta.name_of(pod)} on node {pod['spec']['nodeName']}"
    assert ("SucceededDaemonPod", f"Found succeeded daemon pod {name}, will try to delete it") in events(
        cluster, "agent"
    )
    assert len({meta.name_of(found) for found in pods_of(cluster, "agent")} - {meta.name_of(pod)}) == 2


def test_pods_of_an_older_snapshot_are_not_replaced() -> None:
    cluster = with_set()
    before = {meta.name_of(pod) for pod in pods_of(cluster, "agent")}
    for revision in revisions(cluster):
        cluster.store.delete("controllerrevisions", meta.key_of(revision))
    found = cluster.client.get("daemonsets", "agent")
    metadata = {key: value for key, value in found["metadata"].items() if key != "annotations"}
    cluster.store.update("daemonsets", {**found, "metadata": metadata})
    cluster.advance_to(cluster.now + MINUTE)
    assert {meta.name_of(pod) for pod in pods_of(cluster, "agent")} == before
    assert (len(revisions(cluster)), status(cluster)["updatedNumberScheduled"]) == (1, 2)


def test_kube_proxy_has_its_revision_from_the_beginning() -> None:
    cluster = fresh()
    (revision,) = cluster.client.list("controllerrevisions", "kube-system")
    before = cluster.client.revision
    cluster.advance_to(cluster.now + MINUTE)
    assert cluster.client.revision == before
    pods = cluster.client.list("pods", "kube-system", "k8s-app=kube-proxy")
    code = revision["metadata"]["labels"]["controller-revision-hash"]
    assert {meta.labels_of(pod)["controller-revision-hash"] for pod in pods} == {code}


def test_an_update_goes_on_in_a_loaded_cluster_as_in_the_saved_one() -> None:
    cluster = with_set(updateStrategy=SURGE, minReadySeconds=10)
    change(cluster)
    cluster.advance_to(cluster.now + 5 * SECOND)
    other = Cluster.load(cluster.dump())
    end = cluster.now + 2 * MINUTE
    other.advance_to(end)
    for step in range(12):
        cluster.advance_to(end - (11 - step) * 10 * SECOND)
    assert other.dump() == cluster.dump()
