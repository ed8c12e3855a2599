"""Removes pods that nobody else will (pkg/controller/podgc/gc_controller.go).

Orphans of a node that is gone, after a quarantine; and pods that are being deleted but were never bound.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "pod-garbage-collector"
WATCHES = frozenset({"nodes", "pods"})
QUARANTINE: Micros = 40 * SECOND
"""How long a node must be missing before its pods are removed (quarantineTime)."""


def sync(context: Context) -> None:
    """Delete what is due (gcOrphaned, gcUnscheduledTerminating)."""
    nodes = {meta.name_of(node) for node in context.client.list("nodes")}
    missing = set()
    for pod in context.client.list("pods"):
        node = pod["spec"].get("nodeName") or ""
        if not node:
            if utils.is_terminating(pod):
                _remove(context, pod)
            continue
        if node in nodes:
            continue
        missing.add(node)
        since = context.state.setdefault(node, context.now)
        if context.now >= since + QUARANTINE:
            _fail(context, pod)
            _remove(context, pod)
        else:
            context.wake(node, since + QUARANTINE)
    for node in [node for node in context.state if node not in missing]:
        del context.state[node]
        context.cancel(node)


def _fail(context: Context, pod: Object) -> None:
    status = pod.get("status") or {}
    if status.get("phase") in {"Succeeded", "Failed"}:
        return
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
    }
    conditions = utils.with_condition(status.get("conditions") or [], marked, context.now)
    utils.write_status(context, pod, {**status, "phase": "Failed", "conditions": conditions})


def _remove(context: Context, pod: Object) -> None:
    try:
        context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod), grace_seconds=0)
    except NotFound:
        return
