"""A Deployment's status (pkg/controller/deployment/sync.go: calculateStatus, progress.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils

TIMED_OUT = "ProgressDeadlineExceeded"
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
    progressing = _progressing(deployment, new, old, status, now)
    if progressing is not None:
        conditions = _put(conditions, progressing, now)
    failure = next((c for rs in everything for c in [utils.condition(rs, "ReplicaFailure")] if c), None)
    conditions = [found for found in conditions if found["type"] != "ReplicaFailure"]
    if failure is not None:
        old_failure = utils.condition(deployment, "ReplicaFailure")
        kept = old_failure if old_failure and old_failure["message"] == failure["message"] else None
        conditions.append(kept or {**failure, "lastUpdateTime": clock.rfc3339(now)})
    status["conditions"] = conditions
    return status


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
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    if not deadline:
        return None
    standing = utils.condition(deployment, "Progressing")
    if new is None:
        return None
    name = meta.name_of(new)
    if is_complete(deployment, new, old):
        return _progress("True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.')
    if standing is None:
        return _progress("True", "NewReplicaSetCreated", f'Created new replica set "{name}"')
    before = deployment.get("status") or {}
    if _moved(before, status):
        return _progress("True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.')
    if standing.get("reason") == "NewReplicaSetAvailable":
        return None
    if now >= clock.parse(standing["lastUpdateTime"]) + int(deadline) * SECOND:
        return _progress("False", TIMED_OUT, f'ReplicaSet "{name}" has timed out progressing.')
    return None


def _progress(status: str, reason: str, message: str) -> dict[str, Any]:
    return {"type": "Progressing", "status": status, "reason": reason, "message": message}


def _moved(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the rollout came closer to its end (util/deployment_util.go: DeploymentProgressing)."""

    def old_replicas(status: dict[str, Any]) -> int:
        return int(status.get("replicas", 0)) - int(status.get("updatedReplicas", 0))

    grown = any(
        int(after.get(name, 0)) > int(before.get(name, 0))
        for name in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )
    return grown or old_replicas(after) < old_replicas(before)


def _put(conditions: list[dict[str, Any]], new: dict[str, Any], now: Instant) -> list[dict[str, Any]]:
    """Set a condition with its two times; one that says the same stays (SetDeploymentCondition)."""
    for standing in conditions:
        if standing["type"] != new["type"]:
            continue
        if (
            all(standing.get(part) == new[part] for part in ("status", "reason"))
            and new["reason"] != "ReplicaSetUpdated"
        ):
            return conditions
        break
    return utils.with_condition(conditions, {**new, "lastUpdateTime": clock.rfc3339(now)}, now)
