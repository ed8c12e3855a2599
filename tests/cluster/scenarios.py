"""Random clusters and what people do to them, as data: a scenario can be played again, cut anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from hypothesis import strategies as st

from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster.apiserver import dispatch
from app.cluster.cluster import Cluster
from tests.cluster.builders import NOW, SECOND, command, pod, workload
from tests.cluster.controllers.test_disruption import budget
from tests.cluster.controllers.test_persistent_volume import claim, storage_class, volume

NODES = ("controlplane", "node01", "node02")
NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Step:
    """Something done to a cluster, and how long time passes then; `looks` are instants at which somebody looks."""

    act: str
    name: str
    number: int
    node: str
    gap: int
    looks: tuple[tuple[float, str], ...]


def play(cluster: Cluster, step: Step) -> None:
    """Do it. What the API server refuses, it refuses each time."""
    try:
        ACTS[step.act](cluster, step)
    except StatusError:
        return


def pass_time(cluster: Cluster, step: Step, *, looking: bool) -> Cluster:
    """Let the step's time pass: at once, or with somebody who looks, saves, loads and copies on the way."""
    begin, end = cluster.now, cluster.now + step.gap
    for share, how in step.looks if looking else ():
        cluster.advance_to(max(cluster.now, begin + int(step.gap * share)))
        if how == "load":
            cluster = Cluster.load(cluster.dump())
        elif how == "fork":
            cluster = cluster.fork()
        else:
            dispatch.handle(cluster, dispatch.ApiRequest("GET", "/api/v1/nodes", (), {}, b""))
    cluster.advance_to(end)
    return cluster


def _update(cluster: Cluster, kind: str, name: str, namespace: str | None, **spec: Any) -> None:
    found = cluster.client.get(kind, name, namespace) if namespace else cluster.client.get(kind, name)
    cluster.client.update({**found, "spec": {**found["spec"], **spec}})


def _app(name: str, number: int) -> Object:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
    }
    anti = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}}
    return (
        {},
        {"tolerations": [{"key": "t", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 40}]},
        {"topologySpreadConstraints": [spread]},
        {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}}},
        {"terminationGracePeriodSeconds": 5},
    )[number]


def _deploy(kind: str, **more: Any) -> Callable[[Cluster, Step], None]:
    def act(cluster: Cluster, step: Step) -> None:
        image = "nginx:no-such-tag" if step.number == 4 else "nginx:1.27"
        made = workload(kind, step.name, image=image, spec=_app(step.name, step.number), **more)
        if kind != "DaemonSet":
            made["spec"]["replicas"] = step.number
        cluster.client.create(made)

    return act


def _scale(cluster: Cluster, step: Step) -> None:
    _update(cluster, "deployments", step.name, "default", replicas=step.number)


def _roll(cluster: Cluster, step: Step) -> None:
    found = cluster.client.get("deployments", step.name, "default")
    container = {"name": "c", "image": f"nginx:1.{25 + step.number}"}
    template = {**found["spec"]["template"]}
    template["spec"] = {**template["spec"], "containers": [container]}
    cluster.client.update({**found, "spec": {**found["spec"], "template": template}})


def _job(cluster: Cluster, step: Step) -> None:
    template = {
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {"name": "c", "image": "busybox", "command": ["sh", "-c", f"sleep 9; exit {step.number % 2}"]}
            ],
        }
    }
    spec = {"completions": step.number, "parallelism": 2, "backoffLimit": 2, "template": template}
    if step.number == 3:
        spec["ttlSecondsAfterFinished"] = 30
    cluster.client.create(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": step.name}, "spec": spec}, "default"
    )


def _cron(cluster: Cluster, step: Step) -> None:
    template = {
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "c", "image": "busybox", "command": ["true"]}],
                }
            }
        }
    }
    spec = {"schedule": f"*/{step.number + 1} * * * *", "jobTemplate": template}
    cluster.client.create(
        {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": step.name}, "spec": spec}, "default"
    )


def _pod(cluster: Cluster, step: Step) -> None:
    """Programs that end, crash, never fit, ask for a lot, and serve."""
    name = f"pod-{step.name}{step.number}"
    made = (
        command("sh", "-c", "sleep 7; exit 1", name=name),
        command("sh", "-c", "sleep 20", name=name, restartPolicy="Never"),
        pod(name, nodeSelector={"no": "where"}),
        pod(name, container={"resources": {"requests": {"cpu": "900m", "memory": "1Gi"}}}),
        pod(name, container={"resources": {"requests": {"cpu": "1"}}}, priorityClassName="vip"),
    )[step.number]
    cluster.client.create(made)


def _claim(cluster: Cluster, step: Step) -> None:
    cluster.client.create(claim(f"claim-{step.name}", "disk"))
    user = {"name": "v", "persistentVolumeClaim": {"claimName": f"claim-{step.name}"}}
    cluster.client.create(pod(f"user-{step.name}", volumes=[user]))


def _quota(cluster: Cluster, step: Step) -> None:
    spec = {"hard": {"pods": str(3 + step.number), "requests.cpu": "3"}}
    made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": step.name}, "spec": spec}
    cluster.client.create(made, "default")


def _taint(cluster: Cluster, step: Step) -> None:
    effect = ("NoSchedule", "NoExecute", "PreferNoSchedule", "NoExecute", "")[step.number]
    taints = [{"key": "t", "effect": effect}] if effect else []
    _update(cluster, "nodes", step.node, None, taints=taints)


def _drain(cluster: Cluster, step: Step) -> None:
    _update(cluster, "nodes", step.node, None, unschedulable=True)
    for found in cluster.client.list("pods", "default"):
        if found["spec"].get("nodeName") == step.node:
            name = found["metadata"]["name"]
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
            path = f"/api/v1/namespaces/default/pods/{name}/eviction"
            headers = {"content-type": "application/json"}
            dispatch.handle(cluster, dispatch.ApiRequest("POST", path, (), headers, orjson.dumps(body)))


def _delete_pod(cluster: Cluster, step: Step) -> None:
    found = cluster.client.list("pods", "default")
    if found:
        name = found[step.number % len(found)]["metadata"]["name"]
        cluster.client.delete("pods", name, "default", grace_seconds=0 if step.number == 4 else None)


def _delete(kind: str) -> Callable[[Cluster, Step], None]:
    def act(cluster: Cluster, step: Step) -> None:
        how = ("Background", "Foreground", "Orphan")[step.number % 3]
        cluster.client.delete(kind, step.name, "default", propagation=how)  # type: ignore[arg-type]  # one of three

    return act


def _namespace(cluster: Cluster, step: Step) -> None:
    name = f"ns-{step.name}"
    if cluster.client.find("namespaces", name):
        cluster.client.delete("namespaces", name)
    else:
        cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        cluster.client.create(workload("Deployment", step.name, replicas=1), name)


ACTS: dict[str, Callable[[Cluster, Step], None]] = {
    "deployment": _deploy("Deployment"),
    "statefulset": _deploy("StatefulSet", serviceName="none"),
    "daemonset": _deploy("DaemonSet"),
    "scale": _scale,
    "roll": _roll,
    "job": _job,
    "cronjob": _cron,
    "pod": _pod,
    "claim": _claim,
    "quota": _quota,
    "taint": _taint,
    "drain": _drain,
    "uncordon": lambda cluster, step: _update(cluster, "nodes", step.node, None, unschedulable=False),
    "stop": lambda cluster, step: cluster.stop_kubelet(step.node),
    "start": lambda cluster, step: cluster.start_kubelet(step.node),
    "lose": lambda cluster, step: cluster.client.delete("nodes", step.node) and None,
    "budget": lambda cluster, step: cluster.client.create(budget(minAvailable=step.number)) and None,
    "delete pod": _delete_pod,
    "delete deployment": _delete("deployments"),
    "delete statefulset": _delete("statefulsets"),
    "delete job": _delete("jobs"),
    "delete claim": lambda cluster, step: (
        cluster.client.delete("persistentvolumeclaims", f"claim-{step.name}", "default") and None
    ),
    "namespace": _namespace,
    "no scheduler": lambda cluster, _: cluster.remove_static_pod("kube-scheduler-controlplane"),
}
_ONCE = {"no scheduler", "lose"}


def fresh(seed: int) -> Cluster:
    """The cluster that scenarios begin with."""
    vip = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "vip"}, "value": 1000}
    start = [vip, storage_class("disk", "example.com/disk", "WaitForFirstConsumer"), volume("v", "1Gi")]
    return Cluster.new(seed=seed, now=NOW, objects=start)


LOOKS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["load", "fork", "read"])), max_size=4).map(
    lambda looks: tuple(sorted(looks))
)
STEPS = st.builds(
    Step,
    act=st.sampled_from(sorted(set(ACTS) - _ONCE) * 3 + sorted(_ONCE)),
    name=st.sampled_from(NAMES),
    number=st.integers(0, 4),
    node=st.sampled_from(NODES),
    gap=st.one_of(st.just(0), st.integers(1, 90 * SECOND), st.integers(1, 900).map(lambda seconds: seconds * SECOND)),
    looks=LOOKS,
)
SCENARIOS = st.tuples(st.integers(0, 2**31), st.lists(STEPS, min_size=4, max_size=14))
