"""A Deployment's status (pkg/controller/deployment/sync.go: calculateStatus, progress.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils

PROGRESSING = "Progressing"
FAILURE = "ReplicaFailure"
TIMED_OUT = "ProgressDeadlineExceeded"
COMPLETE = "NewReplicaSetAvailable"
_NEVER = 2**31 - 1
_COUNTS = ("replicas", "readyReplicas", "availableReplicas", "terminatingReplicas")


def _count(sets: list[Object], name: str) -> int:
    return sum(int((rs.get("status") or {}).get(name, 0)) for rs in sets)


def is_complete(deployment: Object, new: Object, old: list[Object]) -> bool:
    """Whether all replicas are of the new set, and available (DeploymentComplete)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    updated = _count([new], "replicas")
    everything = [new, *old]
    return updated == replicas == _count(everything, "replicas") == _count(everything, "availableReplicas")


def calculate(
    deployment: Object, new: Object | None, old: list[Object], max_unavailable: int, now: Instant
) -> dict[str, Any]:
    """The status that the sets add up to at `now`."""
    everything = [*old, *([new] if new is not None else [])]
    before = deployment.get("status") or {}
    replicas = int(deployment["spec"].get("replicas", 1))
    counts = {name: _count(everything, name) for name in _COUNTS}
    counts["updatedReplicas"] = _count([new], "replicas") if new is not None else 0
    counts["unavailableReplicas"] = max(0, counts["replicas"] - counts["availableReplicas"])
    status: dict[str, Any] = {name: count for name, count in counts.items() if count}
    status["terminatingReplicas"] = counts["terminatingReplicas"]
    status["observedGeneration"] = deployment["metadata"].get("generation", 1)
    if before.get("collisionCount"):
        status["collisionCount"] = before["collisionCount"]
    conditions = list(before.get("conditions") or [])
    conditions = _put(conditions, _available(counts["availableReplicas"] >= replicas - max_unavailable), now)
    if deployment["spec"].get("paused"):
        status["conditions"] = conditions
        return status
    if not has_deadline(deployment):
        conditions = [found for found in conditions if found["type"] != PROGRESSING]
    progressing = _progressing(deployment, new, old, status, now)
    if progressing is not None:
        if progressing["reason"] == "ReplicaSetUpdated":
            conditions = _renewed(conditions, progressing, now)
        else:
            conditions = _put(conditions, progressing, now)
    status["conditions"] = _with_failure(conditions, [*([new] if new is not None else []), *old], now)
    return status


def _with_failure(conditions: list[dict[str, Any]], sets: list[Object], now: Instant) -> list[dict[str, Any]]:
    """The first set's failure, the new set's before all others' (getReplicaFailures)."""
    failure = next((found for rs in sets for found in [utils.condition(rs, FAILURE)] if found), None)
    if failure is None:
        return [found for found in conditions if found["type"] != FAILURE]
    stamp = failure["lastTransitionTime"]
    return _put(conditions, {**failure, "lastUpdateTime": stamp}, now, stamp)


def _available(enough: bool) -> dict[str, Any]:
    if enough:
        return {
            "type": "Available",
            "status": "True",
            "reason": "MinimumReplicasAvailable",
            "message": "Deployment has minimum availability.",
        }
    return {
        "type": "Available",
        "status": "False",
        "reason": "MinimumReplicasUnavailable",
        "message": "Deployment does not have minimum availability.",
    }


def _progressing(
    deployment: Object, new: Object | None, old: list[Object], status: dict[str, Any], now: Instant
) -> dict[str, Any] | None:
    """The Progressing condition to set, or None to leave it (progress.go: syncRolloutStatus)."""
    if not has_deadline(deployment):
        return None
    standing = utils.condition(deployment, PROGRESSING) or {}
    whole = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    if whole and standing.get("reason") == COMPLETE:
        return None
    subject = f'ReplicaSet "{meta.name_of(new)}"' if new is not None else f'Deployment "{meta.name_of(deployment)}"'
    if new is not None and is_complete(deployment, new, old):
        return progress("True", COMPLETE, f"{subject} has successfully progressed.")
    if _moved(deployment.get("status") or {}, status):
        return progress("True", "ReplicaSetUpdated", f"{subject} is progressing.")
    if standing.get("reason") == TIMED_OUT or _is_late(deployment, standing, now):
        return progress("False", TIMED_OUT, f"{subject} has timed out progressing.")
    return None


def _is_late(deployment: Object, standing: dict[str, Any], now: Instant) -> bool:
    """Whether nothing moved for the deadline's time (util/deployment_util.go: DeploymentTimedOut)."""
    if not standing or standing.get("reason") == COMPLETE:
        return False
    allowed = int(deployment["spec"]["progressDeadlineSeconds"]) * SECOND
    return now > clock.parse(standing["lastUpdateTime"]) + allowed


def deadline(deployment: Object, status: dict[str, Any]) -> Instant | None:
    """When to look whether the rollout is late, if at all (progress.go: requeueStuckDeployment)."""
    if not has_deadline(deployment) or deployment["spec"].get("paused"):
        return None
    standing = next((found for found in status.get("conditions") or () if found["type"] == PROGRESSING), None)
    if standing is None or standing.get("reason") in {COMPLETE, TIMED_OUT}:
        return None
    allowed = int(deployment["spec"]["progressDeadlineSeconds"]) * SECOND
    return clock.parse(standing["lastUpdateTime"]) + allowed + SECOND


def has_deadline(deployment: Object) -> bool:
    """Whether progress is watched (HasProgressDeadline); the largest int32 means never."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return seconds is not None and int(seconds) != _NEVER


def paused_or_resumed(deployment: Object) -> dict[str, Any] | None:
    """The condition of a Deployment that was paused or resumed since (progress: checkPausedConditions)."""
    if not has_deadline(deployment):
        return None
    reason = (utils.condition(deployment, PROGRESSING) or {}).get("reason")
    paused = bool(deployment["spec"].get("paused"))
    if reason == TIMED_OUT or paused == (reason == "DeploymentPaused"):
        return None
    if paused:
        return progress("Unknown", "DeploymentPaused", "Deployment is paused")
    return progress("Unknown", "DeploymentResumed", "Deployment is resumed")


def noted(deployment: Object, condition: dict[str, Any], now: Instant) -> dict[str, Any]:
    """The status with one condition set."""
    status = deployment.get("status") or {}
    return {**status, "conditions": _put(list(status.get("conditions") or []), condition, now)}


def progress(status: str, reason: str, message: str) -> dict[str, Any]:
    """A Progressing condition without its times."""
    return {"type": PROGRESSING, "status": status, "reason": reason, "message": message}


def _moved(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the rollout came closer to its end (util/deployment_util.go: DeploymentProgressing)."""

    def old_replicas(status: dict[str, Any]) -> int:
        return int(status.get("replicas", 0)) - int(status.get("updatedReplicas", 0))

    grown = any(
        int(after.get(name, 0)) > int(before.get(name, 0))
        for name in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )
    return grown or old_replicas(after) < old_replicas(before)


def _put(conditions: list[dict[str, Any]], new: dict[str, Any], now: Instant, stamp: str = "") -> list[dict[str, Any]]:
    """Set a condition with its two times, last; one that says the same stays (SetDeploymentCondition)."""
    standing = next((found for found in conditions if found["type"] == new["type"]), None)
    if standing is not None and all(standing.get(part) == new[part] for part in ("status", "reason")):
        return conditions
    return _renewed(conditions, new, now, stamp)


def _renewed(
    conditions: list[dict[str, Any]], new: dict[str, Any], now: Instant, stamp: str = ""
) -> list[dict[str, Any]]:
    """The same for a condition that counts as new although it says the same."""
    stamp = stamp or clock.rfc3339(now)
    standing = next((found for found in conditions if found["type"] == new["type"]), None)
    same = standing is not None and standing.get("status") == new["status"]
    changed = standing["lastTransitionTime"] if standing is not None and same else stamp
    rest = [found for found in conditions if found["type"] != new["type"]]
    return [*rest, {**new, "lastUpdateTime": stamp, "lastTransitionTime": changed}]
