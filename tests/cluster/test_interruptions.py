"""Time passes the same way however often somebody looks, saves and loads, whatever goes on in the cluster."""

import random
from collections.abc import Callable

import pytest

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import NOW, SECOND, command, cron_job, fresh, job, pod, workload
from tests.cluster.controllers.test_disruption import budget
from tests.cluster.controllers.test_endpoints import service
from tests.cluster.controllers.test_persistent_volume import claim, storage_class, volume

SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
NEWER = {"spec": {"containers": [{"name": "c", "image": "nginx:1.28"}]}}


def made(seed: int) -> Cluster:
    draw = random.Random(seed)
    user = pod("user", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    objects: list[Object] = [
        service(),
        budget(minAvailable=1),
        storage_class("disk", "example.com/disk", draw.choice(["Immediate", "WaitForFirstConsumer"])),
        claim("c", "disk"),
        volume("v", "1Gi"),
        claim("free", ""),
        workload("Deployment", replicas=draw.randint(1, 5)),
        workload("DaemonSet", "agent", updateStrategy=draw.choice([{"type": "RollingUpdate"}, SURGE])),
        workload("StatefulSet", "state", replicas=draw.randint(1, 3), minReadySeconds=draw.choice([0, 9])),
        job("once", "sh", "-c", draw.choice(["exit 1", "sleep 20"]), backoffLimit=draw.randint(0, 4)),
        job("many", completions=5, parallelism=2, completionMode="Indexed", backoffLimitPerIndex=1),
        job("late", "sleep", "500", activeDeadlineSeconds=draw.randint(5, 300), ttlSecondsAfterFinished=30),
        cron_job("tick", draw.choice(["* * * * *", "*/3 * * * *"]), concurrencyPolicy="Replace"),
        command("sh", "-c", "sleep 7; exit 1", name="crash"),
        *(pod(f"stuck{number}", nodeSelector={"no": "where"}) for number in range(3)),
        user,
    ]
    draw.shuffle(objects)
    cluster = fresh(seed)
    for obj in objects:
        cluster.client.create(obj)
    return cluster


def delete(kind: str, name: str, namespace: str = "default", **how: str) -> Callable[[Cluster], None]:
    def act(cluster: Cluster) -> None:
        if cluster.client.find(kind, name, namespace) is not None:
            cluster.client.delete(kind, name, namespace, **how)  # type: ignore[arg-type]  # propagation alone

    return act


def patch(kind: str, name: str, spec: Object) -> Callable[[Cluster], None]:
    def act(cluster: Cluster) -> None:
        if cluster.client.find(kind, name) is not None:
            cluster.client.patch(kind, name, "default", {"spec": spec})

    return act


ACTS: tuple[Callable[[Cluster], None], ...] = (
    lambda cluster: cluster.stop_kubelet("node01"),
    lambda cluster: cluster.start_kubelet("node01"),
    delete("pods", "user"),
    delete("deployments", "web", propagation="Foreground"),
    delete("persistentvolumeclaims", "c"),
    delete("services", "web"),
    delete("nodes", "node02", ""),
    delete("jobs", "many"),
    patch("cronjobs", "tick", {"suspend": True}),
    patch("cronjobs", "tick", {"suspend": False, "schedule": "*/2 * * * *"}),
    patch("jobs", "late", {"suspend": True}),
    patch("jobs", "late", {"suspend": False}),
    patch("daemonsets", "agent", {"template": NEWER}),
    patch("statefulsets", "state", {"template": NEWER}),
)


@pytest.mark.parametrize("seed", range(6))
def test_looking_saving_and_loading_change_nothing(seed: int) -> None:
    one, other = made(seed), made(seed)
    draw = random.Random(seed)
    now = NOW
    for _ in range(6):
        now += draw.randint(1, 900) * SECOND
        one.advance_to(now)
        while other.now < now:
            other.advance_to(min(now, other.now + draw.randint(1, 200) * SECOND))
            other = Cluster.load(other.dump()) if draw.random() < 0.5 else other.fork()
            other.client.list("nodes")
        assert one.dump() == other.dump()
        act = draw.choice(ACTS)
        act(one)
        act(other)
