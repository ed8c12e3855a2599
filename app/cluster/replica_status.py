"""A set's status (pkg/controller/replicaset/replica_set_utils.go: calculateStatus)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

FAILURE = "ReplicaFailure"


def update(context: Context, owner: Object, claimed: list[Object], failure: StatusError | None) -> None:
    """Write the counts and what failed; `claimed` are the set's pods before this sync's writes."""
    active = [pod for pod in claimed if utils.is_active(pod)]
    ready = [pod for pod in active if utils.is_ready(pod)]
    wait = int(owner["spec"].get("minReadySeconds") or 0)
    available = [pod for pod in ready if utils.is_available(pod, wait, context.now)]
    _look_again(context, owner, ready, wait)
    template_labels = ((owner["spec"].get("template") or {}).get("metadata") or {}).get("labels") or {}
    counts = {
        "fullyLabeledReplicas": sum(template_labels.items() <= meta.labels_of(pod).items() for pod in active),
        "readyReplicas": len(ready),
        "availableReplicas": len(available),
    }
    status: dict[str, Any] = {"replicas": len(active)}
    status.update({name: count for name, count in counts.items() if count})
    if owner["kind"] == "ReplicaSet":
        status["terminatingReplicas"] = sum(utils.is_terminating(pod) for pod in claimed)
    status["observedGeneration"] = owner["metadata"].get("generation", 1)
    if conditions := _conditions(context, owner, failure):
        status["conditions"] = conditions
    utils.write_status(context, owner, status)


def _look_again(context: Context, owner: Object, ready: list[Object], wait: int) -> None:
    """Come back when the next pod has been ready for long enough (findMinNextPodAvailabilityCheck)."""
    due = [since + wait * SECOND for pod in ready if (since := utils.ready_since(pod)) is not None]
    coming = min((instant for instant in due if instant > context.now), default=None)
    if coming is not None:
        context.wake(f"available:{owner['metadata']['uid']}", coming)


def _conditions(context: Context, owner: Object, failure: StatusError | None) -> list[dict[str, Any]]:
    """The first failure stays until a sync succeeds."""
    old = (owner.get("status") or {}).get("conditions") or []
    if failure is None:
        return [found for found in old if found["type"] != FAILURE]
    if any(found["type"] == FAILURE for found in old):
        return list(old)
    failed = {
        "type": FAILURE,
        "status": "True",
        "lastTransitionTime": clock.rfc3339(context.now),
        "reason": "FailedCreate",
        "message": failure.message,
    }
    return [*old, failed]
