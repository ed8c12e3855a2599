"""Evicts pods from nodes with NoExecute taints that they do not tolerate, or no longer.

Mirrors pkg/controller/tainteviction/taint_eviction.go.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import Conflict, NotFound
from app.apimachinery.meta import Object
from app.apis import helpers
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

NAME = "taint-eviction-controller"
WATCHES = frozenset({"nodes", "pods"})


def sync(context: Context) -> None:
    """Delete what is due and set timers for the rest (taint_eviction.go: processPodOnNode)."""
    tainted = {meta.name_of(node): _no_execute(node) for node in context.client.list("nodes")}
    if not context.state and not any(tainted.values()):
        return
    due = set(context.fired)
    standing = set(context.state)
    for pod in context.client.list("pods"):
        if utils.is_terminating(pod):
            continue
        uid = pod["metadata"]["uid"]
        taints = tainted.get(pod["spec"].get("nodeName") or "")
        delay = _delay(pod, taints) if taints else None
        if delay is None:
            if uid in standing:
                _cancel(context, pod)
            continue
        standing.discard(uid)
        if delay == 0 or uid in due:
            _evict(context, pod)
        elif uid not in context.state:
            # The countdown runs from the first taint; another one with more patience does not restart it.
            context.state[uid] = context.now
            context.wake(uid, context.now + delay)
        elif context.state[uid] + delay < (context.timers.get(NAME, uid) or 0):
            context.wake(uid, max(context.now, context.state[uid] + delay))
    _forget_gone(context)


def _no_execute(node: Object) -> list[dict[str, Any]]:
    return [taint for taint in (node.get("spec") or {}).get("taints") or [] if taint.get("effect") == "NoExecute"]


def _delay(pod: Object, taints: list[dict[str, Any]]) -> Micros | None:
    """How long the pod may stay: 0 for not at all, None for ever (getMatchingTolerations, getMinTolerationTime)."""
    tolerations = pod["spec"].get("tolerations") or []
    used = []
    for taint in taints:
        matching = [toleration for toleration in tolerations if helpers.tolerates(toleration, taint)]
        if not matching:
            return 0
        used += matching
    limits = [toleration["tolerationSeconds"] for toleration in used if toleration.get("tolerationSeconds") is not None]
    return max(0, min(limits)) * SECOND if limits else None


def _evict(context: Context, pod: Object) -> None:
    """Mark, record and delete (taint_eviction.go: addConditionAndDeletePod)."""
    uid = pod["metadata"]["uid"]
    context.state.pop(uid, None)
    context.cancel(uid)
    message = f"Marking for deletion Pod {meta.key_of(pod)}"
    context.recorder.record(pod, events.NORMAL, "TaintManagerEviction", message, component=NAME)
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    }
    status = pod.get("status") or {}
    conditions = utils.with_condition(status.get("conditions") or [], marked, context.now)
    utils.write_status(context, pod, {**status, "conditions": conditions})
    try:
        context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod))
    except (NotFound, Conflict):
        context.wake(uid, context.now)


def _cancel(context: Context, pod: Object) -> None:
    """Stop the countdown of a pod that may stay after all (cancelWorkWithEvent)."""
    uid = pod["metadata"]["uid"]
    context.state.pop(uid, None)
    context.cancel(uid)
    message = f"Cancelling deletion of Pod {meta.key_of(pod)}"
    context.recorder.record(pod, events.NORMAL, "TaintManagerEviction", message, component=NAME)


def _forget_gone(context: Context) -> None:
    if not context.state:
        return
    alive = {pod["metadata"]["uid"] for pod in context.client.list("pods") if not utils.is_terminating(pod)}
    for uid in [uid for uid in context.state if uid not in alive]:
        del context.state[uid]
        context.cancel(uid)
