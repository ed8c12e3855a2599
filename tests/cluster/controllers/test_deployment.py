from app.apimachinery import meta
from app.cluster import controller_utils as utils
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, pods_of, workload


def deployed(**spec: object) -> Cluster:
    cluster = fresh()
    cluster.client.create(workload("Deployment", **{"replicas": 3, **spec}))
    cluster.settle()
    return cluster


def set_image(cluster: Cluster, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}
    cluster.client.patch("deployments", "web", "default", patch)


def status(cluster: Cluster) -> dict[str, object]:
    return dict(cluster.client.get("deployments", "web")["status"])


def condition(cluster: Cluster, kind: str) -> tuple[str, str]:
    found = utils.condition(cluster.client.get("deployments", "web"), kind)
    assert found is not None
    return found["status"], found["reason"]


def test_a_deployment_makes_a_replica_set_and_its_pods() -> None:
    cluster = deployed()
    (replicaset,) = cluster.client.list("replicasets", "default")
    suffix = meta.labels_of(replicaset)["pod-template-hash"]
    assert meta.name_of(replicaset) == f"web-{suffix}"
    pods = pods_of(cluster, "web")
    assert len(pods) == 3
    assert all(meta.name_of(pod).startswith(f"web-{suffix}-") for pod in pods)
    assert {key: status(cluster)[key] for key in ("replicas", "readyReplicas", "availableReplicas")} == {
        "replicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
    }
    assert condition(cluster, "Available") == ("True", "MinimumReplicasAvailable")
    assert condition(cluster, "Progressing") == ("True", "NewReplicaSetAvailable")
    assert events(cluster, "web") == [("ScalingReplicaSet", f"Scaled up replica set web-{suffix} from 0 to 3")]


def test_the_hash_depends_on_the_template_alone() -> None:
    one, two = deployed(), deployed(replicas=1)
    assert [meta.name_of(rs) for rs in one.client.list("replicasets", "default")] == [
        meta.name_of(rs) for rs in two.client.list("replicasets", "default")
    ]


def test_scaling_keeps_the_replica_set() -> None:
    cluster = deployed()
    for replicas in (5, 1, 0):
        cluster.client.patch("deployments", "web", "default", {"spec": {"replicas": replicas}})
        cluster.settle()
        assert len(pods_of(cluster, "web")) == replicas
    assert len(cluster.client.list("replicasets", "default")) == 1


def test_a_new_image_rolls_within_the_limits() -> None:
    cluster = deployed(replicas=4)
    start = cluster.now
    set_image(cluster, "nginx:1.28")
    seen = []
    for step in range(200):
        cluster.advance_to(start + step * SECOND // 4)
        pods = [pod for pod in pods_of(cluster, "web") if utils.is_active(pod)]
        seen.append((len(pods), sum(utils.is_ready(pod) for pod in pods)))
    assert max(count for count, _ in seen) == 5, "maxSurge 25% of 4"
    assert min(ready for _, ready in seen) >= 3, "maxUnavailable 25% of 4"
    assert {pod["spec"]["containers"][0]["image"] for pod in pods_of(cluster, "web")} == {"nginx:1.28"}
    old, new = sorted(cluster.client.list("replicasets", "default"), key=lambda rs: rs["spec"]["replicas"])
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (0, 4)
    assert meta.annotations_of(new)["deployment.kubernetes.io/revision"] == "2"
    assert meta.annotations_of(cluster.client.get("deployments", "web"))["deployment.kubernetes.io/revision"] == "2"


def test_going_back_takes_up_the_old_replica_set_with_a_new_revision() -> None:
    cluster = deployed()
    for image in ("nginx:1.28", "nginx:1.27"):
        set_image(cluster, image)
        cluster.settle()
    sets = cluster.client.list("replicasets", "default")
    assert sorted(meta.annotations_of(rs)["deployment.kubernetes.io/revision"] for rs in sets) == ["2", "3"]


def test_recreate_ends_all_old_pods_first() -> None:
    cluster = deployed(strategy={"type": "Recreate"})
    set_image(cluster, "nginx:1.28")
    cluster.advance_to(cluster.now)
    assert all(utils.is_terminating(pod) for pod in pods_of(cluster, "web"))
    cluster.settle()
    assert {pod["spec"]["containers"][0]["image"] for pod in pods_of(cluster, "web")} == {"nginx:1.28"}


def test_a_rollout_that_gets_nowhere_times_out() -> None:
    cluster = deployed(progressDeadlineSeconds=60)
    set_image(cluster, "nginx:nope")
    cluster.advance_to(cluster.now + 2 * MINUTE)
    assert condition(cluster, "Progressing") == ("False", "ProgressDeadlineExceeded")
    assert sum(utils.is_ready(pod) for pod in pods_of(cluster, "web")) >= 2


def test_a_paused_deployment_does_not_roll() -> None:
    cluster = deployed(paused=False)
    cluster.client.patch("deployments", "web", "default", {"spec": {"paused": True}})
    set_image(cluster, "nginx:1.28")
    cluster.settle()
    assert len(cluster.client.list("replicasets", "default")) == 1


def test_scaling_in_the_middle_of_a_rollout_keeps_the_proportions() -> None:
    cluster = deployed(replicas=4)
    set_image(cluster, "nginx:nope")
    cluster.settle()
    cluster.client.patch("deployments", "web", "default", {"spec": {"replicas": 8}})
    cluster.settle()
    sizes = sorted(rs["spec"]["replicas"] for rs in cluster.client.list("replicasets", "default"))
    assert sum(sizes) == 10, "8 and a surge of 2"
    assert sizes[0] >= 2
    assert sum(utils.is_ready(pod) for pod in pods_of(cluster, "web")) >= 6


def test_old_replica_sets_go_beyond_the_history_limit() -> None:
    cluster = deployed(revisionHistoryLimit=1)
    for image in ("nginx:1.26", "nginx:1.28", "nginx:1.29"):
        set_image(cluster, image)
        cluster.settle()
    assert len(cluster.client.list("replicasets", "default")) == 2


def test_deleting_a_deployment_takes_everything_with_it() -> None:
    cluster = deployed()
    cluster.client.delete("deployments", "web", "default")
    cluster.settle()
    assert cluster.client.list("replicasets", "default") == []
    assert pods_of(cluster, "web") == []


def test_progress_deadlines_are_in_simulated_time() -> None:
    cluster = deployed(progressDeadlineSeconds=60)
    cluster.advance_to(NOW + 30 * MINUTE)
    assert condition(cluster, "Progressing") == ("True", "NewReplicaSetAvailable")
