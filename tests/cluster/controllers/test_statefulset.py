from typing import Any

import pytest

from app.apimachinery import clock, meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, pods_of, workload

CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.example",
}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
NEWER = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}}}


def with_set(**spec: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(CLASS)
    cluster.client.create(workload("StatefulSet", "web", **{"serviceName": "web", "replicas": 3, **spec}))
    cluster.settle()
    return cluster


def names(cluster: Cluster) -> list[str]:
    return [meta.name_of(pod) for pod in pods_of(cluster, "web")]


def images(cluster: Cluster) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in pods_of(cluster, "web")]


def status(cluster: Cluster) -> Object:
    return dict(cluster.client.get("statefulsets", "web")["status"])


def change(cluster: Cluster, patch: Object) -> None:
    cluster.client.patch("statefulsets", "web", "default", patch)
    cluster.settle()


def seen(cluster: Cluster, prefix: str) -> list[str]:
    return [message for _, message in events(cluster, "web") if message.startswith(prefix)]


def test_pods_are_made_in_order_each_when_the_one_before_is_ready() -> None:
    cluster = with_set()
    assert names(cluster) == ["web-0", "web-1", "web-2"]
    assert events(cluster, "web") == [
        ("SuccessfulCreate", f"create Pod web-{number} in StatefulSet web successful") for number in range(3)
    ]
    first, second, _ = pods_of(cluster, "web")
    ready = next(c for c in first["status"]["conditions"] if c["type"] == "Ready")
    assert second["metadata"]["creationTimestamp"] >= ready["lastTransitionTime"]


def test_a_pod_knows_its_name_its_index_and_its_service() -> None:
    pod = pods_of(with_set(), "web")[1]
    labels = pod["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-1"
    assert labels["apps.kubernetes.io/pod-index"] == "1"
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-1", "web")
    assert pod["metadata"]["generateName"] == "web-"


def test_the_status_counts_and_names_revisions() -> None:
    cluster = with_set()
    revision = cluster.client.list("controllerrevisions", "default")[0]
    name = meta.name_of(revision)
    assert pods_of(cluster, "web")[0]["metadata"]["labels"]["controller-revision-hash"] == name
    assert status(cluster) == {
        "availableReplicas": 3,
        "collisionCount": 0,
        "currentReplicas": 3,
        "currentRevision": name,
        "observedGeneration": 1,
        "readyReplicas": 3,
        "replicas": 3,
        "updateRevision": name,
        "updatedReplicas": 3,
    }


def test_a_pod_that_never_gets_ready_holds_the_next_ones_back() -> None:
    cluster = fresh()
    spec = {"nodeSelector": {"disk": "ssd"}}
    cluster.client.create(workload("StatefulSet", "web", replicas=3, serviceName="web", spec=spec))
    cluster.settle()
    assert names(cluster) == ["web-0"]


def test_parallel_sets_wait_for_nobody() -> None:
    cluster = fresh()
    spec = {"nodeSelector": {"disk": "ssd"}}
    cluster.client.create(workload("StatefulSet", "web", replicas=3, podManagementPolicy="Parallel", spec=spec))
    cluster.settle()
    assert names(cluster) == ["web-0", "web-1", "web-2"]


def test_ordinals_may_start_elsewhere() -> None:
    cluster = with_set(replicas=2, ordinals={"start": 5})
    assert names(cluster) == ["web-5", "web-6"]


def test_scaling_down_takes_the_highest_first_one_at_a_time() -> None:
    cluster = with_set()
    cluster.client.patch("statefulsets", "web", "default", {"spec": {"replicas": 1}})
    most = 0
    start = cluster.now
    for step in range(80):
        cluster.advance_to(start + step * SECOND // 4)
        most = max(most, sum("deletionTimestamp" in pod["metadata"] for pod in pods_of(cluster, "web")))
    assert names(cluster) == ["web-0"]
    assert most == 1
    assert seen(cluster, "delete") == [
        "delete Pod web-2 in StatefulSet web successful",
        "delete Pod web-1 in StatefulSet web successful",
    ]


def test_a_deleted_pod_comes_back_under_its_name() -> None:
    cluster = with_set()
    before = cluster.client.get("pods", "web-1")["metadata"]["uid"]
    cluster.client.delete("pods", "web-1", "default")
    cluster.settle()
    assert names(cluster) == ["web-0", "web-1", "web-2"]
    assert cluster.client.get("pods", "web-1")["metadata"]["uid"] != before


def test_a_new_template_goes_from_the_highest_to_the_lowest() -> None:
    cluster = with_set()
    change(cluster, NEWER)
    assert images(cluster) == ["nginx:1.28"] * 3
    assert seen(cluster, "delete") == [f"delete Pod web-{number} in StatefulSet web successful" for number in (2, 1, 0)]
    found = status(cluster)
    assert found["currentRevision"] == found["updateRevision"]
    assert [r["revision"] for r in cluster.client.list("controllerrevisions", "default")].count(2) == 1


def test_pods_below_the_partition_keep_the_old_template_even_when_they_are_made_anew() -> None:
    cluster = with_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    change(cluster, NEWER)
    assert images(cluster) == ["nginx:1.27", "nginx:1.27", "nginx:1.28"]
    cluster.client.delete("pods", "web-0", "default")
    cluster.settle()
    assert images(cluster) == ["nginx:1.27", "nginx:1.27", "nginx:1.28"]
    found = status(cluster)
    assert found["currentRevision"] != found["updateRevision"]
    assert (found["currentReplicas"], found["updatedReplicas"]) == (2, 1)


def test_on_delete_changes_a_pod_only_when_somebody_deletes_it() -> None:
    cluster = with_set(updateStrategy={"type": "OnDelete"})
    change(cluster, NEWER)
    assert images(cluster) == ["nginx:1.27"] * 3
    cluster.client.delete("pods", "web-1", "default")
    cluster.settle()
    assert images(cluster) == ["nginx:1.27", "nginx:1.28", "nginx:1.27"]


def test_an_update_takes_one_pod_at_a_time_whatever_max_unavailable_says() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    cluster = with_set(podManagementPolicy="Parallel", updateStrategy=strategy)
    found = cluster.client.get("statefulsets", "web")["spec"]["updateStrategy"]
    assert found == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    cluster.client.patch("statefulsets", "web", "default", NEWER)
    start, most = cluster.now, 0
    for step in range(80):
        cluster.advance_to(start + step * SECOND // 4)
        most = max(most, sum("deletionTimestamp" in pod["metadata"] for pod in pods_of(cluster, "web")))
    assert (most, images(cluster)) == (1, ["nginx:1.28"] * 3)


def test_a_parallel_set_gets_away_from_a_broken_revision_by_itself() -> None:
    cluster = with_set(replicas=2, podManagementPolicy="Parallel")
    change(cluster, {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:no-such-tag"}]}}}})
    assert images(cluster) == ["nginx:1.27", "nginx:no-such-tag"]
    change(cluster, NEWER)
    assert images(cluster) == ["nginx:1.28"] * 2


def test_an_ordered_set_stays_at_a_broken_revision_until_somebody_deletes_its_pod() -> None:
    cluster = with_set(replicas=2)
    change(cluster, {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:no-such-tag"}]}}}})
    change(cluster, NEWER)
    assert images(cluster) == ["nginx:1.27", "nginx:no-such-tag"]
    cluster.client.delete("pods", "web-1", "default")
    cluster.settle()
    assert images(cluster) == ["nginx:1.28"] * 2


def test_going_back_renumbers_the_old_revision() -> None:
    cluster = with_set(replicas=1)
    first = status(cluster)["updateRevision"]
    change(cluster, NEWER)
    change(cluster, {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}}})
    assert status(cluster)["updateRevision"] == first
    numbers = {meta.name_of(r): r["revision"] for r in cluster.client.list("controllerrevisions", "default")}
    assert numbers[first] == 3
    assert sorted(numbers.values()) == [2, 3]


def test_old_revisions_go_beyond_the_history_limit() -> None:
    cluster = with_set(replicas=1, revisionHistoryLimit=1)
    for minor in (28, 29, 30):
        template = {"spec": {"containers": [{"name": "c", "image": f"nginx:1.{minor}"}]}}
        change(cluster, {"spec": {"template": template}})
    assert sorted(r["revision"] for r in cluster.client.list("controllerrevisions", "default")) == [3, 4]


def test_min_ready_seconds_delays_the_next_pod() -> None:
    cluster = with_set(replicas=2, minReadySeconds=30)
    first, second = pods_of(cluster, "web")
    assert made_at(second) - ready_at(first) == 30 * SECOND
    assert cluster.now >= ready_at(second) + 30 * SECOND
    assert (status(cluster)["readyReplicas"], status(cluster)["availableReplicas"]) == (2, 2)


def test_a_pod_is_ready_before_it_is_available() -> None:
    cluster = fresh()
    cluster.client.create(workload("StatefulSet", "web", serviceName="web", replicas=2, minReadySeconds=30))
    cluster.advance_to(NOW + 20 * SECOND)
    assert names(cluster) == ["web-0"]
    assert (status(cluster)["readyReplicas"], status(cluster)["availableReplicas"]) == (1, 0)


def test_min_ready_seconds_slows_an_update_down() -> None:
    cluster = with_set(replicas=2, minReadySeconds=30)
    change(cluster, NEWER)
    first, second = pods_of(cluster, "web")
    assert images(cluster) == ["nginx:1.28"] * 2
    assert made_at(first) - ready_at(second) >= 30 * SECOND


def test_min_ready_seconds_slows_scaling_down_too() -> None:
    cluster = with_set(replicas=3, minReadySeconds=60)
    cluster.client.delete("pods", "web-0", "default")
    cluster.client.patch("statefulsets", "web", "default", {"spec": {"replicas": 1}})
    start = cluster.now
    cluster.advance_to(start + 30 * SECOND)
    assert len(names(cluster)) == 3
    cluster.settle()
    assert names(cluster) == ["web-0"]


def made_at(pod: Object) -> int:
    return clock.parse(pod["metadata"]["creationTimestamp"])


def ready_at(pod: Object) -> int:
    return clock.parse(next(c for c in pod["status"]["conditions"] if c["type"] == "Ready")["lastTransitionTime"])


def test_each_pod_has_its_own_claims_and_keeps_them() -> None:
    cluster = with_set(replicas=2, volumeClaimTemplates=[CLAIM])
    claims = cluster.client.list("persistentvolumeclaims")
    assert [meta.name_of(claim) for claim in claims] == ["data-web-0", "data-web-1"]
    assert meta.labels_of(claims[0]) == {"app": "web"}
    volumes = cluster.client.get("pods", "web-0")["spec"]["volumes"]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}} in volumes
    assert seen(cluster, "create Claim")[0] == "create Claim data-web-0 Pod web-0 in StatefulSet web success"
    change(cluster, {"spec": {"replicas": 0}})
    cluster.client.delete("statefulsets", "web", "default")
    cluster.settle()
    assert len(cluster.client.list("persistentvolumeclaims")) == 2


def claims(cluster: Cluster) -> dict[str, list[str]]:
    """The owners of each claim: `Kind/name`."""
    found = cluster.client.list("persistentvolumeclaims")
    return {
        meta.name_of(claim): [f"{o['kind']}/{o['name']}" for o in claim["metadata"].get("ownerReferences") or []]
        for claim in found
    }


def with_claims(when_scaled: str, when_deleted: str) -> Cluster:
    policy = {"whenScaled": when_scaled, "whenDeleted": when_deleted}
    return with_set(replicas=2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)


POLICIES = [(scaled, deleted) for scaled in ("Retain", "Delete") for deleted in ("Retain", "Delete")]


@pytest.mark.parametrize(("when_scaled", "when_deleted"), POLICIES)
def test_claims_belong_to_the_set_where_they_go_with_it(when_scaled: str, when_deleted: str) -> None:
    owners = ["StatefulSet/web"] if when_deleted == "Delete" else []
    assert claims(with_claims(when_scaled, when_deleted)) == {"data-web-0": owners, "data-web-1": owners}


@pytest.mark.parametrize(("when_scaled", "when_deleted"), POLICIES)
def test_a_claim_belongs_to_a_pod_that_is_scaled_away_and_goes_with_it(when_scaled: str, when_deleted: str) -> None:
    cluster = with_claims(when_scaled, when_deleted)
    cluster.client.patch("statefulsets", "web", "default", {"spec": {"replicas": 1}})
    cluster.advance_to(cluster.now)
    kept = ["StatefulSet/web"] if when_deleted == "Delete" else []
    leaving = ["Pod/web-1"] if when_scaled == "Delete" else kept
    assert claims(cluster) == {"data-web-0": kept, "data-web-1": leaving}
    assert names(cluster) == ["web-0", "web-1"]
    cluster.settle()
    assert names(cluster) == ["web-0"]
    gone = when_scaled == "Delete"
    assert claims(cluster) == ({"data-web-0": kept} if gone else {"data-web-0": kept, "data-web-1": kept})


@pytest.mark.parametrize(("when_scaled", "when_deleted"), POLICIES)
def test_claims_outlive_the_set_or_go_with_it(when_scaled: str, when_deleted: str) -> None:
    cluster = with_claims(when_scaled, when_deleted)
    cluster.client.delete("statefulsets", "web", "default")
    cluster.settle()
    assert names(cluster) == []
    assert claims(cluster) == ({} if when_deleted == "Delete" else {"data-web-0": [], "data-web-1": []})


@pytest.mark.parametrize("when_scaled", ["Retain", "Delete"])
def test_scaling_up_again_finds_the_claim_that_was_kept(when_scaled: str) -> None:
    cluster = with_claims(when_scaled, "Retain")
    before = cluster.client.get("persistentvolumeclaims", "data-web-1")["metadata"]["uid"]
    change(cluster, {"spec": {"replicas": 1}})
    change(cluster, {"spec": {"replicas": 2}})
    after = cluster.client.get("persistentvolumeclaims", "data-web-1")["metadata"]["uid"]
    assert (after == before) == (when_scaled == "Retain")
    assert names(cluster) == ["web-0", "web-1"]


def test_a_pod_that_somebody_deletes_keeps_its_claim_under_any_policy() -> None:
    cluster = with_claims("Delete", "Delete")
    before = cluster.client.get("persistentvolumeclaims", "data-web-1")["metadata"]["uid"]
    cluster.client.delete("pods", "web-1", "default")
    cluster.settle()
    assert cluster.client.get("persistentvolumeclaims", "data-web-1")["metadata"]["uid"] == before
    assert names(cluster) == ["web-0", "web-1"]


def test_a_new_policy_holds_for_claims_that_are_there() -> None:
    cluster = with_claims("Retain", "Retain")
    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    change(cluster, {"spec": {"persistentVolumeClaimRetentionPolicy": policy}})
    assert claims(cluster) == {"data-web-0": ["StatefulSet/web"], "data-web-1": ["StatefulSet/web"]}
    change(cluster, {"spec": {"persistentVolumeClaimRetentionPolicy": {**policy, "whenDeleted": "Retain"}}})
    assert claims(cluster) == {"data-web-0": [], "data-web-1": []}


def test_pods_that_a_node_refuses_are_made_again_with_growing_pauses() -> None:
    cluster = fresh()
    greedy = {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "9"}}}]}
    cluster.client.create(workload("StatefulSet", "web", replicas=1, spec={**greedy, "nodeName": "node01"}))
    cluster.advance_to(NOW + 10 * MINUTE)
    created = [e for e in cluster.client.list("events") if e["reason"] == "SuccessfulCreate"]
    assert 3 <= sum(e.get("count", 1) for e in created if e["involvedObject"]["name"] == "web") <= 15


@pytest.mark.parametrize("how", ["Background", "Foreground", "Orphan"])
def test_a_deleted_set_goes_and_so_do_its_revisions(how: Any) -> None:
    cluster = with_set()
    cluster.client.delete("statefulsets", "web", "default", propagation=how)
    cluster.settle()
    assert cluster.client.find("statefulsets", "web", "default") is None
    assert names(cluster) == (["web-0", "web-1", "web-2"] if how == "Orphan" else [])
    left = [meta.name_of(found) for found in cluster.client.list("controllerrevisions", "default")]
    assert bool(left) == (how == "Orphan")
