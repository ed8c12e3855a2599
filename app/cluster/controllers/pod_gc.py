"""Removes pods that nobody else will (pkg/controller/podgc/gc_controller.go).

Orphans of a node that is gone, after a quarantine; pods that are being deleted but were never bound; and those on a
node that somebody declared out of service.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "pod-garbage-collector"
WATCHES = frozenset({"nodes", "pods"})
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
QUARANTINE: Micros = 40 * SECOND
"""How long a node must be missing before its pods are removed (quarantineTime)."""


_ORPHANED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByPodGC",
    "message": "PodGC: node no longer exists",
}


def sync(context: Context) -> None:
    """Delete what is due (gcTerminating, gcOrphaned, gcUnscheduledTerminating)."""
    nodes = {meta.name_of(node): node for node in context.client.list("nodes")}
    if not _worth_a_look(context, nodes):
        return
    missing = set()
    for pod in context.client.list("pods"):
        node = pod["spec"].get("nodeName") or ""
        if not node:
            if utils.is_terminating(pod):
                _fail(context, pod)
                _remove(context, pod)
            continue
        if node in nodes:
            if utils.is_terminating(pod) and _is_out_of_service(nodes[node]):
                _fail(context, pod)
                _remove(context, pod)
            continue
        missing.add(node)
        since = context.state.setdefault(node, context.now)
        if context.now >= since + QUARANTINE:
            _fail(context, pod, _ORPHANED)
            _remove(context, pod)
        else:
            context.wake(node, since + QUARANTINE)
    for node in [node for node in context.state if node not in missing]:
        del context.state[node]
        context.cancel(node)


def _worth_a_look(context: Context, nodes: Mapping[str, Object]) -> bool:
    """Only a pod that is being deleted or has no node, or a change of the nodes, can leave anything to do."""
    if context.full or context.fired or context.state or context.changed("nodes"):
        return True
    return any(
        utils.is_terminating(change.object) or change.object["spec"].get("nodeName", "") not in {"", *nodes}
        for change in context.changes
    )


def _is_out_of_service(node: Object) -> bool:
    """A node that is not ready, and of which somebody has said that it will not be back soon."""
    taints = (node.get("spec") or {}).get("taints") or []
    ready = (utils.condition(node, "Ready") or {}).get("status") == "True"
    return not ready and any(taint.get("key") == OUT_OF_SERVICE for taint in taints)


def _fail(context: Context, pod: Object, mark: dict[str, str] | None = None) -> None:
    """No kubelet will say any more how the pod ended (markFailedAndDeletePodWithCondition)."""
    status = pod.get("status") or {}
    if status.get("phase") in {"Succeeded", "Failed"}:
        return
    changed = {**status, "phase": "Failed"}
    if mark:
        changed["conditions"] = utils.with_condition(status.get("conditions") or [], dict(mark), context.now)
    utils.write_status(context, pod, changed)


def _remove(context: Context, pod: Object) -> None:
    try:
        context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod), grace_seconds=0)
    except NotFound:
        return
