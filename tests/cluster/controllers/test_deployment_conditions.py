"""What a Deployment says of its rollout, and how it shares out replicas, as upstream words and counts them."""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, SECOND, events, fresh, pods_of, workload

STUCK = "nginx:no-such-tag"


def deployed(**spec: object) -> Cluster:
    cluster = fresh()
    cluster.client.create(workload("Deployment", **{"replicas": 3, **spec}))
    cluster.settle()
    return cluster


def change(cluster: Cluster, **spec: object) -> None:
    cluster.client.patch("deployments", "web", "default", {"spec": spec})


def set_image(cluster: Cluster, image: str) -> None:
    change(cluster, template={"spec": {"containers": [{"name": "c", "image": image}]}})


def progressing(cluster: Cluster) -> Object:
    found = utils.condition(cluster.client.get("deployments", "web"), "Progressing")
    assert found is not None
    return found


def said(cluster: Cluster) -> tuple[str, str, str]:
    found = progressing(cluster)
    return found["status"], found["reason"], found["message"]


def sets(cluster: Cluster) -> list[Object]:
    return sorted(cluster.client.list("rs", "default"), key=revision)


def revision(obj: Object) -> int:
    return int(meta.annotations_of(obj)["deployment.kubernetes.io/revision"])


def sizes(cluster: Cluster) -> list[int]:
    return [rs["spec"]["replicas"] for rs in sets(cluster)]


def test_a_finished_rollout_names_its_set_after_the_availability() -> None:
    cluster = deployed()
    (only,) = sets(cluster)
    name = meta.name_of(only)
    assert said(cluster) == ("True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.')
    conditions = cluster.client.get("deployments", "web")["status"]["conditions"]
    assert [found["type"] for found in conditions] == ["Available", "Progressing"]


def test_pausing_and_resuming_are_conditions() -> None:
    cluster = deployed()
    change(cluster, paused=True)
    cluster.settle()
    assert said(cluster) == ("Unknown", "DeploymentPaused", "Deployment is paused")
    set_image(cluster, STUCK)
    cluster.settle()
    assert len(sets(cluster)) == 1
    change(cluster, paused=False)
    cluster.settle()
    assert len(sets(cluster)) == 2
    assert progressing(cluster)["status"] == "True"


def test_a_paused_deployment_still_scales() -> None:
    cluster = deployed(paused=False)
    change(cluster, paused=True, replicas=5)
    cluster.settle()
    assert len(pods_of(cluster, "web")) == 5
    assert len(sets(cluster)) == 1


def test_a_rollout_whose_pods_are_refused_is_late_after_its_deadline() -> None:
    cluster = deployed(progressDeadlineSeconds=60)
    quota = {"hard": {"pods": "3"}}
    metadata = {"name": "rq", "namespace": "default"}
    cluster.client.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": quota})
    begin = cluster.now
    change(cluster, strategy={"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}})
    set_image(cluster, "nginx:1.28")
    cluster.advance_to(begin + 59 * SECOND)
    new = meta.name_of(sets(cluster)[-1])
    assert said(cluster) == ("True", "NewReplicaSetCreated", f'Created new replica set "{new}"')
    cluster.advance_to(begin + 62 * SECOND)
    assert said(cluster) == ("False", "ProgressDeadlineExceeded", f'ReplicaSet "{new}" has timed out progressing.')
    failed = utils.condition(cluster.client.get("deployments", "web"), "ReplicaFailure")
    assert failed is not None
    assert "exceeded quota: rq, requested: pods=1, used: pods=3, limited: pods=3" in failed["message"]


def test_a_set_that_is_taken_up_again_remembers_its_revisions() -> None:
    cluster = deployed()
    for image in ("nginx:1.28", "nginx:1.27", "nginx:1.28"):
        set_image(cluster, image)
        cluster.settle()
    newest = sets(cluster)[-1]
    assert revision(newest) == 4
    assert meta.annotations_of(newest)["deployment.kubernetes.io/revision-history"] == "2"
    assert revision(cluster.client.get("deployments", "web")) == 4


def test_a_rollback_by_patch_brings_the_old_template_back() -> None:
    cluster = deployed()
    set_image(cluster, "nginx:1.28")
    cluster.settle()
    template = meta.copied(sets(cluster)[0]["spec"]["template"])
    del template["metadata"]["labels"]["pod-template-hash"]
    undo = [
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "replace", "path": "/metadata/annotations", "value": {}},
    ]
    cluster.client.patch("deployments", "web", "default", undo, "json")
    cluster.settle()
    assert {pod["spec"]["containers"][0]["image"] for pod in pods_of(cluster, "web")} == {"nginx:1.27"}
    assert revision(cluster.client.get("deployments", "web")) == 3


def test_growing_in_the_middle_of_a_rollout_is_shared_by_size() -> None:
    cluster = deployed(replicas=10, strategy={"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}})
    set_image(cluster, STUCK)
    cluster.advance_to(cluster.now + MINUTE)
    assert sizes(cluster) == [8, 5]
    change(cluster, replicas=15)
    cluster.advance_to(cluster.now + SECOND)
    assert sizes(cluster) == [11, 7], "the documentation's own example: 3 of 5 go to the larger set"


def test_scaling_to_nothing_in_the_middle_of_a_rollout_empties_all_sets() -> None:
    cluster = deployed()
    set_image(cluster, STUCK)
    cluster.advance_to(cluster.now + MINUTE)
    change(cluster, replicas=0)
    cluster.settle()
    assert sizes(cluster) == [0, 0]
    assert pods_of(cluster, "web") == []


def test_a_changed_waiting_time_reaches_the_set_without_a_rollout() -> None:
    cluster = deployed()
    change(cluster, minReadySeconds=7)
    cluster.settle()
    (only,) = sets(cluster)
    assert only["spec"]["minReadySeconds"] == 7


def test_a_taken_set_name_counts_as_a_collision() -> None:
    cluster = deployed()
    (own,) = sets(cluster)
    name = meta.name_of(own)
    cluster.client.delete("deployments", "web", "default", propagation="Orphan")
    cluster.settle()
    stranger = meta.copied(cluster.client.get("rs", name))
    stranger["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:1.28"
    cluster.client.update(stranger)
    cluster.client.create(workload("Deployment", replicas=1, selector={"matchLabels": {"app": "web"}}))
    cluster.settle()
    assert cluster.client.get("deployments", "web")["status"]["collisionCount"] == 1
    assert len(sets(cluster)) == 2


def test_every_step_of_a_rollout_is_an_event() -> None:
    cluster = deployed(replicas=2, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
    old = meta.name_of(sets(cluster)[0])
    set_image(cluster, "nginx:1.28")
    cluster.settle()
    new = meta.name_of(sets(cluster)[1])
    told = [message for reason, message in events(cluster, "web") if reason == "ScalingReplicaSet"]
    assert told == [
        f"Scaled up replica set {old} from 0 to 2",
        f"Scaled up replica set {new} from 0 to 1",
        f"Scaled down replica set {old} from 2 to 1",
        f"Scaled up replica set {new} from 1 to 2",
        f"Scaled down replica set {old} from 1 to 0",
    ]
