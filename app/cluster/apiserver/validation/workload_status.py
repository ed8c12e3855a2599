"""Rules for the status of workloads (pkg/apis/apps/validation/validation.go: Validate…StatusUpdate)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid
from app.cluster.apiserver.validation.templates import counts

_MORE = "cannot be greater than status.replicas"
_DEPLOYMENT = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "collisionCount",
)
_REPLICA_SET = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
_DAEMON_SET = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)
_STATEFUL_SET = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)


def deployment(new: Object, old: Object) -> list[FieldError]:
    """ValidateDeploymentStatusUpdate."""
    errors = _numbers(new, _DEPLOYMENT, ("updatedReplicas", "readyReplicas", "availableReplicas"))
    return errors + _available(new, "readyReplicas") + _collisions(new, old)


def replica_set(new: Object, old: Object) -> list[FieldError]:
    """ValidateReplicaSetStatusUpdate."""
    del old
    errors = _numbers(new, _REPLICA_SET, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"))
    return errors + _available(new, "readyReplicas")


def daemon_set(new: Object, old: Object) -> list[FieldError]:
    """ValidateDaemonSetStatusUpdate."""
    return _numbers(new, _DAEMON_SET, ()) + _collisions(new, old)


def stateful_set(new: Object, old: Object) -> list[FieldError]:
    """ValidateStatefulSetStatusUpdate."""
    bounded = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    return _numbers(new, _STATEFUL_SET, bounded) + _available(new, "status.readyReplicas") + _collisions(new, old)


def _numbers(obj: Object, names: tuple[str, ...], bounded: tuple[str, ...]) -> list[FieldError]:
    status = obj.get("status") or {}
    errors = counts(status, "status", *names)
    most = status.get("replicas") or 0
    return errors + [
        invalid(f"status.{name}", status[name], _MORE) for name in bounded if (status.get(name) or 0) > most
    ]


def _available(obj: Object, bound: str) -> list[FieldError]:
    status = obj.get("status") or {}
    available = status.get("availableReplicas") or 0
    if available <= (status.get("readyReplicas") or 0):
        return []
    return [invalid("status.availableReplicas", available, f"cannot be greater than {bound}")]


def _collisions(new: Object, old: Object) -> list[FieldError]:
    """Mirrors IsDecremented."""
    now, before = (obj.get("status") or {} for obj in (new, old))
    count, former = now.get("collisionCount"), before.get("collisionCount")
    if former is None or (count is not None and count >= former):
        return []
    return [invalid("status.collisionCount", count or 0, "cannot be decremented")]
