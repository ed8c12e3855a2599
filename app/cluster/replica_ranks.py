"""Which pods of a set go first (pkg/controller/controller_utils.go: ActivePodsWithRanks; replica_set.go: ranking)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cmp_to_key

from app.apimachinery import meta
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils

COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def related(owner: Object, sets: Iterable[Object], pods: Iterable[Object]) -> list[Object]:
    """Active pods of every set of the same owner (getIndirectlyRelatedPods); of a set without an owner, none."""
    reference = meta.controller_of(owner)
    if reference is None:
        return []
    uids = {
        other["metadata"]["uid"]
        for other in sets
        if (above := meta.controller_of(other)) is not None and above.get("uid") == reference.get("uid")
    }
    found = []
    for pod in pods:
        above = meta.controller_of(pod)
        if above is not None and above.get("uid") in uids and utils.is_active(pod):
            found.append(pod)
    return found


def ranked(active: list[Object], neighbours: Iterable[Object], now: Instant) -> list[Object]:
    """The pods, those to delete first in front; `neighbours` are the pods whose crowding on a node counts."""
    crowd: dict[str, int] = {}
    for pod in neighbours:
        node = pod["spec"].get("nodeName") or ""
        crowd[node] = crowd.get(node, 0) + 1

    def compare(left: Object, right: Object) -> int:
        first, second = _first(left, crowd), _first(right, crowd)
        if first != second:
            return -1 if first < second else 1
        return _by_age(left, right, now)

    return sorted(active, key=cmp_to_key(compare))


def _first(pod: Object, crowd: dict[str, int]) -> tuple[bool, int, bool, int, int]:
    """Unassigned, pending, not ready, cheap, crowded pods go first."""
    node = pod["spec"].get("nodeName") or ""
    phase = _PHASES.get(str((pod.get("status") or {}).get("phase")), 0)
    return bool(node), phase, utils.is_ready(pod), _cost(pod), -crowd.get(node, 0)


def _by_age(left: Object, right: Object, now: Instant) -> int:
    """Then those that were ready for less long, restarted more often, are younger: by magnitudes of age."""
    ready = utils.ready_since(left), utils.ready_since(right)
    if ready[0] is not None and ready[1] is not None and ready[0] != ready[1]:
        return _by_magnitude(left, right, (now - ready[0], now - ready[1]))
    restarts = _restarts(right) - _restarts(left)
    if restarts:
        return restarts
    made = utils.created(left), utils.created(right)
    if made[0] != made[1]:
        return _by_magnitude(left, right, (now - made[0], now - made[1]))
    return 0


def _by_magnitude(left: Object, right: Object, ages: tuple[int, int]) -> int:
    """The lower power of two of the age first; within one, by uid (logarithmicRankDiff)."""
    ranks = [int(math.log2(age * 1000)) if age > 0 else -1 for age in ages]
    if ranks[0] != ranks[1]:
        return ranks[0] - ranks[1]
    return -1 if left["metadata"]["uid"] < right["metadata"]["uid"] else 1


def _restarts(pod: Object) -> int:
    return max((s.get("restartCount", 0) for s in (pod.get("status") or {}).get("containerStatuses") or ()), default=0)


def _cost(pod: Object) -> int:
    cost = meta.annotations_of(pod).get(COST, "0")
    try:
        return int(cost) if len(cost) <= 11 else 0
    except ValueError:
        return 0
