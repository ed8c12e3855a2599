"""The learner's picture of a cluster: nodes with what is free, pods with why they wait, events, as plain views.

Everything is computed from a loaded cluster at its own instant and nothing is written. Runs in the worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta, quantity
from app.apis import helpers
from app.cluster.apiserver.printers import base, pods
from app.cluster.cluster import Cluster
from app.lab import waiting
from app.lab.views import EventView, Gauge, NodeView, PodView

MAX_EVENTS = 100
"""The newest events that a page shows."""

_ROLE = "node-role.kubernetes.io/"


@dataclass(frozen=True)
class Picture:
    """What one page shows of a cluster."""

    nodes: tuple[NodeView, ...]
    pods: tuple[PodView, ...]
    events: tuple[EventView, ...]


def draw(cluster: Cluster) -> Picture:
    """The picture at the cluster's own instant."""
    listed = cluster.client.list("pods")
    return Picture(
        nodes=tuple(_node(node, listed) for node in cluster.client.list("nodes")),
        pods=tuple(_pod(cluster, pod) for pod in listed),
        events=tuple(_events(cluster)),
    )


def _node(node: meta.Object, listed: Iterable[meta.Object]) -> NodeView:
    name = meta.name_of(node)
    mine = [pod for pod in listed if (pod.get("spec") or {}).get("nodeName") == name and not helpers.is_terminal(pod)]
    labels = meta.labels_of(node)
    spec, status = node.get("spec") or {}, node.get("status") or {}
    allocatable = status.get("allocatable") or status.get("capacity") or {}
    roles = sorted(label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE))
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or [])
    return NodeView(
        name=name,
        roles=tuple(roles),
        ready=ready,
        unschedulable=bool(spec.get("unschedulable")),
        taints=tuple(_taint(taint) for taint in spec.get("taints") or []),
        labels=labels,
        cpu=_gauge("cpu", allocatable, mine),
        memory=_gauge("memory", allocatable, mine),
        pods=Gauge(len(mine), _value(allocatable, "pods"), str(len(mine)), str(allocatable.get("pods", "0"))),
    )


def _gauge(resource: str, allocatable: Mapping[str, Any], mine: Iterable[meta.Object]) -> Gauge:
    zero = quantity.parse("0")
    total = zero
    for pod in mine:
        total = total + helpers.pod_requests(pod).get(resource, zero)
    capacity = quantity.parse(str(allocatable.get(resource, "0")))
    if resource == "cpu":
        return Gauge(
            total.milli_value(),
            capacity.milli_value(),
            f"{total.milli_value()}m",
            f"{capacity.milli_value()}m",
        )
    return Gauge(total.value(), capacity.value(), _mebibytes(total.value()), _mebibytes(capacity.value()))


def _mebibytes(amount: int) -> str:
    return f"{amount // (1024 * 1024)}Mi"


def _value(amounts: Mapping[str, Any], resource: str) -> int:
    return quantity.parse(str(amounts.get(resource, "0"))).value()


def _taint(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _pod(cluster: Cluster, pod: meta.Object) -> PodView:
    spec = pod.get("spec") or {}
    namespace = meta.namespace_of(pod)
    return PodView(
        namespace=namespace,
        name=meta.name_of(pod),
        node=str(spec.get("nodeName") or ""),
        phase=pods.status_of(pod),
        scheduler=str(spec.get("schedulerName") or ""),
        age=base.age(pod, cluster.now),
        why=waiting.why(cluster, pod),
        attempts=len(cluster.attempts(namespace, meta.name_of(pod))),
        system=namespace == "kube-system" and is_platform(pod),
    )


def is_platform(pod: meta.Object) -> bool:
    """Whether the pod is part of a kubeadm cluster as it comes: control plane, kube-proxy, CoreDNS."""
    labels = meta.labels_of(pod)
    return labels.get("tier") == "control-plane" or labels.get("k8s-app") in {"kube-proxy", "kube-dns"}


def _events(cluster: Cluster) -> list[EventView]:
    events = sorted(cluster.client.list("events"), key=_seen)[-MAX_EVENTS:]
    return [_event(cluster, event) for event in events]


def _seen(event: meta.Object) -> tuple[str, int]:
    series = event.get("series") or {}
    seen = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or ""
    return str(seen)[:19], int((event.get("metadata") or {}).get("resourceVersion") or 0)


def _event(cluster: Cluster, event: meta.Object) -> EventView:
    involved = event.get("involvedObject") or {}
    source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
    return EventView(
        age=base.since(_seen(event)[0] + "Z", cluster.now),
        type=str(event.get("type", "")),
        reason=str(event.get("reason", "")),
        object=f"{str(involved.get('kind', '')).lower()}/{involved.get('name', '')}",
        message=str(event.get("message", "")),
        source=str(source),
        count=int((event.get("series") or {}).get("count") or event.get("count") or 1),
        namespace=meta.namespace_of(event),
    )
