"""What an autoscaler may change at once: stabilisation, policies, bounds.

Mirrors pkg/controller/podautoscaler/horizontal.go: normalizeDesiredReplicas, normalizeDesiredReplicasWithBehaviors and
below. The memory of one autoscaler is JSON: `recommendations`, `up` and `down` are lists of [number, instant]; of equal
recommendations in a row only the newest is kept, since a window is looked through for its highest or lowest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery.clock import SECOND, Instant

DOWNSCALE_STABILIZATION = 300
"""Seconds (--horizontal-pod-autoscaler-downscale-stabilization)."""
LONGEST_WINDOW = 3600
"""Seconds that a stabilization window may have."""

_INT32_MAX = 2**31 - 1
_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_UP_LIMIT = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_DOWN_LIMIT = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_READY = ("ReadyForNewScale", "recommended size matches current size")
_DOWN_STABILIZED = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)
_UP_STABILIZED = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)

Memory = dict[str, Any]
Words = tuple[str, str]


@dataclass(frozen=True)
class Bounds:
    """Where the replicas are, where they are to go, and between what they must stay."""

    current: int
    desired: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class Normalized:
    """The replicas to have, and the reason and message of AbleToScale and of ScalingLimited."""

    replicas: int
    able: Words
    limited: bool
    limit: Words


def begin(memory: Memory, replicas: int, now: Instant) -> None:
    """Remember the size found first (recordInitialRecommendation)."""
    if "recommendations" not in memory:
        memory["recommendations"] = [[replicas, now]]


def normalized(bounds: Bounds, behavior: Mapping[str, Any] | None, memory: Memory, now: Instant) -> Normalized:
    """What the desired size becomes under the rules."""
    if behavior is None:
        steady, able = _stabilized(bounds, memory, now)
        replicas, limit = _within_bounds(bounds, steady)
    else:
        steady, able = _stabilized_by(bounds, behavior, memory, now)
        replicas, limit = _within_rates(bounds, steady, behavior, memory, now)
    return Normalized(replicas, able, replicas != steady, limit)


def store_change(behavior: Mapping[str, Any] | None, memory: Memory, before: int, after: int, now: Instant) -> None:
    """Remember a change, for the policies that count changes (storeScaleEvent)."""
    if behavior is None:
        return
    kind, rules = ("up", behavior["scaleUp"]) if after > before else ("down", behavior["scaleDown"])
    longest = max((policy["periodSeconds"] for policy in rules.get("policies") or ()), default=0)
    cutoff = now - longest * SECOND
    kept = [event for event in memory.get(kind) or () if event[1] >= cutoff]
    memory[kind] = [*kept, [abs(after - before), now]]


def _recommend(memory: Memory, desired: int, now: Instant) -> None:
    """Add a recommendation; what no window reaches back to is dropped."""
    cutoff = now - LONGEST_WINDOW * SECOND
    kept = [event for event in memory.get("recommendations") or () if event[1] >= cutoff]
    if kept and kept[-1][0] == desired:
        kept.pop()
    memory["recommendations"] = [*kept, [desired, now]]


def _stabilized(bounds: Bounds, memory: Memory, now: Instant) -> tuple[int, Words]:
    """The highest recommendation of the last five minutes (stabilizeRecommendation)."""
    cutoff = now - DOWNSCALE_STABILIZATION * SECOND
    recent = [number for number, instant in memory.get("recommendations") or () if instant >= cutoff]
    steady = max([bounds.desired, *recent])
    _recommend(memory, bounds.desired, now)
    return steady, _READY if steady == bounds.desired else _DOWN_STABILIZED


def _stabilized_by(bounds: Bounds, behavior: Mapping[str, Any], memory: Memory, now: Instant) -> tuple[int, Words]:
    """The lowest or highest recommendation of the window (stabilizeRecommendationWithBehaviors)."""
    grows = bounds.desired >= bounds.current
    rules = behavior["scaleUp" if grows else "scaleDown"]
    window = rules.get("stabilizationWindowSeconds")
    cutoff = now - (DOWNSCALE_STABILIZATION if window is None else window) * SECOND
    recent = [number for number, instant in memory.get("recommendations") or () if instant > cutoff]
    steady = min([bounds.desired, *recent]) if grows else max([bounds.desired, *recent])
    _recommend(memory, bounds.desired, now)
    if steady == bounds.desired:
        return steady, _READY
    return steady, _UP_STABILIZED if grows else _DOWN_STABILIZED


def _within_bounds(bounds: Bounds, desired: int) -> tuple[int, Words]:
    """Bounds, and at most a doubling at once (convertDesiredReplicasWithRules)."""
    doubled = max(2 * bounds.current, 4)
    highest, words = (doubled, _UP_LIMIT) if bounds.highest > doubled else (bounds.highest, _TOO_MANY)
    if desired < bounds.lowest:
        return bounds.lowest, _TOO_FEW
    return (highest, words) if desired > highest else (desired, _WITHIN)


def _within_rates(
    bounds: Bounds, desired: int, behavior: Mapping[str, Any], memory: Memory, now: Instant
) -> tuple[int, Words]:
    """Bounds, and the rates of the policies (convertDesiredReplicasWithBehaviorRate)."""
    if desired > bounds.current:
        rate = max(_highest(bounds.current, behavior["scaleUp"], memory.get("up") or (), now), bounds.current)
        highest, words = (rate, _UP_LIMIT) if bounds.highest > rate else (bounds.highest, _TOO_MANY)
        if desired > highest:
            return highest, words
    elif desired < bounds.current:
        rate = min(_lowest(bounds.current, behavior["scaleDown"], memory.get("down") or (), now), bounds.current)
        lowest, words = (rate, _DOWN_LIMIT) if bounds.lowest < rate else (bounds.lowest, _TOO_FEW)
        if desired < lowest:
            return lowest, words
    return desired, _WITHIN


def _changed(seconds: int, events: Sequence[Sequence[int]], now: Instant) -> int:
    """The changes within a policy's period (getReplicasChangePerPeriod)."""
    cutoff = now - seconds * SECOND
    return sum(number for number, instant in events if instant > cutoff)


def _highest(current: int, rules: Mapping[str, Any], events: Sequence[Sequence[int]], now: Instant) -> int:
    """The most replicas that the policies allow (calculateScaleUpLimitWithScalingRules)."""
    if rules["selectPolicy"] == "Disabled":
        return current
    proposals: list[int] = []
    for policy in rules.get("policies") or ():
        start = current - _changed(policy["periodSeconds"], events, now)
        if policy["type"] == "Pods":
            proposals.append(start + policy["value"])
        else:
            proposals.append(math.ceil(start * (1 + policy["value"] / 100)))
    if rules["selectPolicy"] == "Min":
        return min([_INT32_MAX, *proposals])
    return max([0, *proposals])


def _lowest(current: int, rules: Mapping[str, Any], events: Sequence[Sequence[int]], now: Instant) -> int:
    """The fewest replicas that the policies allow (calculateScaleDownLimitWithBehaviors)."""
    if rules["selectPolicy"] == "Disabled":
        return current
    proposals: list[int] = []
    for policy in rules.get("policies") or ():
        start = current + _changed(policy["periodSeconds"], events, now)
        if policy["type"] == "Pods":
            proposals.append(start - policy["value"])
        else:
            proposals.append(int(start * (1 - policy["value"] / 100)))
    if rules["selectPolicy"] == "Min":
        return max([-_INT32_MAX, *proposals])
    return min([_INT32_MAX, *proposals])
