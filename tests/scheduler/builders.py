"""Short ways to write nodes and pods; everything has been through the API server's defaults."""

from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.profile import build_profiles
from app.scheduler.replay.admission import admitted
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot

CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def node(name, *, cpu="4", memory="8Gi", pods="110", labels=None, taints=None, images=None, **more):
    resources = {"cpu": cpu, "memory": memory, "pods": pods, **more.pop("resources", {})}
    status = {"capacity": resources, "allocatable": resources}
    if images:
        status["images"] = [{"names": [image], "sizeBytes": size} for image, size in images.items()]
    spec = dict(more)
    if taints:
        spec["taints"] = taints
    labels = {"kubernetes.io/hostname": name, **(labels or {})}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def pod(name, *, cpu=None, memory=None, on=None, labels=None, status=None, ports=None, **spec):
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": requests}}
    if ports:
        container["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    spec.setdefault("containers", [container])
    if on:
        spec["nodeName"] = on
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    found = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if status:
        found["status"] = status
    return admitted(found, [])


def config(*profiles, **more):
    return {**CONFIG, **more, "profiles": list(profiles)}


def attempt(objects, wanted, configuration=None, *, framework=None, **more):
    """The result of one cycle with the configuration's only profile, or with a profile that is built already."""
    if framework is None:
        (framework,) = build_profiles(configuration).values()
    return schedule_one(framework, Snapshot.of(objects), wanted, **more)


def info(obj):
    return PodInfo.of(obj)
