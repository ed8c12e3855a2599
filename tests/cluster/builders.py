"""Short ways to make what the cluster's tests start from."""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster

NOW = clock.parse("2026-03-01T09:00:00Z")
SECOND = clock.SECOND
MINUTE = clock.MINUTE
ANYWHERE = [{"operator": "Exists"}]


def fresh(seed: int = 1, **more: Any) -> Cluster:
    return Cluster.new(seed=seed, now=NOW, **more)


def pod(name: str = "bee", *, image: str = "nginx", container: Object | None = None, **spec: Any) -> Object:
    one = {"name": "c", "image": image, **(container or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [one], **spec}}


def command(*argv: str, name: str = "bee", **spec: Any) -> Object:
    return pod(name, image="busybox", container={"command": list(argv)}, **spec)


def workload(
    kind: str, name: str = "web", *, image: str = "nginx:1.27", spec: Object | None = None, **more: Any
) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}], **(spec or {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **more},
    }


def job(name: str = "pi", *argv: str, spec: Object | None = None, **more: Any) -> Object:
    """A Job of one busybox; `spec` is added to the pod's, the rest to the job's."""
    container = {"name": "c", "image": "busybox", "command": list(argv or ("sleep", "5"))}
    template = {"spec": {"restartPolicy": "Never", "containers": [container], **(spec or {})}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **more}}


def cron_job(
    name: str = "tick", schedule: str = "*/5 * * * *", *argv: str, job_spec: Object | None = None, **more: Any
) -> Object:
    """A CronJob of such jobs; `job_spec` is added to the job's spec, the rest to its own."""
    template = {"spec": {**job(name, *argv)["spec"], **(job_spec or {})}}
    spec = {"schedule": schedule, "jobTemplate": template, **more}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": spec}


def config_map(name: str, namespace: str = "default", **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def taint(cluster: Cluster, node: str, *taints: Object) -> None:
    current = cluster.client.get("nodes", node)
    cluster.client.update({**current, "spec": {**current["spec"], "taints": list(taints)}})


def events(cluster: Cluster, name: str = "", namespace: str | None = None) -> list[tuple[str, str]]:
    """(reason, message) of every event, or of the object's, oldest first."""
    found = [
        event
        for event in cluster.client.list("events", namespace)
        if not name or event["involvedObject"].get("name") == name
    ]
    found.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [(event["reason"], event["message"]) for event in found]


def phase(cluster: Cluster, name: str = "bee", namespace: str = "default") -> str:
    return str(cluster.client.get("pods", name, namespace)["status"]["phase"])


def state(cluster: Cluster, name: str = "bee") -> Object:
    return dict(cluster.client.get("pods", name)["status"]["containerStatuses"][0]["state"])


def pods_of(cluster: Cluster, app: str) -> list[Object]:
    return cluster.client.list("pods", "default", f"app={app}")


def nodes_of(cluster: Cluster, app: str) -> list[str]:
    return sorted(str(p["spec"].get("nodeName", "")) for p in pods_of(cluster, app))
