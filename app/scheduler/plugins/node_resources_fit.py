"""NodeResourcesFit: is there room, and how much is left (plugins/noderesources/fit.go and the strategies beside it)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler.framework import amounts, events
from app.scheduler.framework.amounts import Amounts
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.helpers import shape_score
from app.scheduler.framework.interface import MAX_NODE_SCORE, ArgsError, Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.resource_scoring import Usage, is_extended, read_resources, usages
from app.scheduler.framework.status import Status, unresolvable, unschedulable

_ORDER = ("cpu", "memory", "ephemeral-storage")
_MAX_SHAPE_SCORE = 10
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


@dataclass(frozen=True)
class Lack:
    """One resource that a node has too little of. `hopeless`: even the empty node has too little."""

    reason: str
    hopeless: bool = False


class NodeResourcesFit(Plugin):
    """Filters by requests against what is left of allocatable; scores by the profile's strategy."""

    NAME = "NodeResourcesFit"
    LOCAL = True

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        self._ignored = frozenset(args.get("ignoredResources") or ())
        self._ignored_groups = frozenset(args.get("ignoredResourceGroups") or ())
        strategy = args.get("scoringStrategy") or {}
        self._resources = read_resources(strategy.get("resources"), "scoringStrategy.resources")
        self._scorer = _scorer(strategy)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Sum up the pod's requests."""
        state.write(self.NAME, _Wanted(pod.requests))
        return None, None

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a node with too little of anything, naming each resource."""
        lacks = self.lacks(pod.requests, node)
        if not lacks:
            return None
        reasons = [lack.reason for lack in lacks]
        return (unresolvable if any(lack.hopeless for lack in lacks) else unschedulable)(*reasons)

    def lacks(self, wanted: Amounts, node: NodeInfo) -> list[Lack]:
        """Every resource that is short (fitsRequest)."""
        found = []
        if len(node.pods) + 1 > node.allowed_pods:
            found.append(Lack("Too many pods"))
        for name in (*_ORDER, *sorted(set(wanted) - set(_ORDER))):
            amount = wanted.get(name, 0)
            if amount <= 0 or self._is_ignored(name):
                continue
            capacity = node.allocatable.get(name, 0)
            if amount > capacity - node.requested.get(name, 0):
                found.append(Lack(f"Insufficient {name}", hopeless=amount > capacity))
        return found

    def _is_ignored(self, name: str) -> bool:
        if not is_extended(name):
            return False
        return name in self._ignored or name.partition("/")[0] in self._ignored_groups

    def pre_score(self, state: CycleState, pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Sum up what scoring counts of the pod."""
        state.write(f"PreScore{self.NAME}", _Wanted(amounts.scoring_amounts(pod.pod, true_requests=False)))
        return None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The strategy's score of the node with the pod on it; works without PreScore, too, as upstream does."""
        kept = state.read(f"PreScore{self.NAME}", _Wanted)
        if kept is None:
            kept = _Wanted(amounts.scoring_amounts(pod.pod, true_requests=False))
        return self._scorer(usages(node, kept.amounts, self._resources, true_requests=False))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that frees resources, a node that has enough of them, or the pod asking for less."""
        return (
            ClusterEventWithHint(
                ClusterEvent(events.POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN), self._after_pod
            ),
            ClusterEventWithHint(
                ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE), self._after_node
            ),
        )

    def _after_pod(self, pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
        if old is None:
            return False
        before = PodInfo.of(old)
        if new is None:
            return bool(before.node_name or before.nominated_node)
        if not before.node_name and not events.same_pod(pod, new):
            return False
        wanted = pod.requests
        after = PodInfo.of(new).requests
        if events.same_pod(pod, new):
            return events.scaled_down(old, new)
        return any(after.get(name, 0) < amount for name, amount in before.requests.items() if wanted.get(name))

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
        if new is None or self.lacks(pod.requests, NodeInfo(new)):
            return False
        if old is None:
            return True
        before, after = amounts.allocatable(old), amounts.allocatable(new)
        names = [*(name for name, amount in pod.requests.items() if amount), amounts.PODS]
        return any(after.get(name, 0) > before.get(name, 0) for name in names)


@dataclass(frozen=True)
class _Wanted:
    amounts: Amounts

    def clone(self) -> _Wanted:
        return self


def _scorer(strategy: Mapping[str, Any]) -> Callable[[Sequence[Usage]], int]:
    kind = strategy.get("type") or "LeastAllocated"
    if kind == "LeastAllocated":
        return least_allocated
    if kind == "MostAllocated":
        return most_allocated
    if kind == "RequestedToCapacityRatio":
        shape = _read_shape((strategy.get("requestedToCapacityRatio") or {}).get("shape") or ())
        return lambda found: requested_to_capacity_ratio(shape, found)
    listed = ", ".join(f'"{name}"' for name in _STRATEGIES)
    raise ArgsError(f'scoringStrategy.type: Unsupported value: "{kind}": supported values: {listed}')


def _read_shape(points: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, int], ...]:
    """(utilization, score times 10) points. Raises ArgsError as the validation does."""
    path = "scoringStrategy.requestedToCapacityRatio.shape"
    if not points:
        raise ArgsError(f"{path}: Required value: at least one point must be specified")
    shape = [(int(point.get("utilization") or 0), int(point.get("score") or 0)) for point in points]
    for index, (x, y) in enumerate(shape):
        if not 0 <= x <= 100:
            raise ArgsError(f"{path}[{index}].utilization: Invalid value: {x}: not in valid range [0-100]")
        if not 0 <= y <= _MAX_SHAPE_SCORE:
            raise ArgsError(f"{path}[{index}].score: Invalid value: {y}: not in valid range [0-{_MAX_SHAPE_SCORE}]")
        if index and x <= shape[index - 1][0]:
            raise ArgsError(
                f"{path}[{index}].utilization: Invalid value: {x}: "
                "utilization values must be sorted in increasing order"
            )
    return tuple((x, y * (MAX_NODE_SCORE // _MAX_SHAPE_SCORE)) for x, y in shape)


def least_allocated(found: Sequence[Usage]) -> int:
    """Mean over resources of the share that is left (least_allocated.go)."""
    weights = sum(usage.weight for usage in found)
    if not weights:
        return 0
    total = 0
    for usage in found:
        left = usage.allocatable - usage.requested
        total += usage.weight * (left * MAX_NODE_SCORE // usage.allocatable if left >= 0 else 0)
    return total // weights


def most_allocated(found: Sequence[Usage]) -> int:
    """Mean over resources of the share in use (most_allocated.go); what is over-used counts as full."""
    weights = sum(usage.weight for usage in found)
    if not weights:
        return 0
    total = 0
    for usage in found:
        used = min(usage.requested, usage.allocatable)
        total += usage.weight * (used * MAX_NODE_SCORE // usage.allocatable)
    return total // weights


def requested_to_capacity_ratio(shape: Sequence[tuple[int, int]], found: Sequence[Usage]) -> int:
    """Mean of the shape's scores, leaving out resources that score nothing (requested_to_capacity_ratio.go)."""
    total = weights = 0
    for usage in found:
        full = usage.allocatable == 0 or usage.requested > usage.allocatable
        utilization = 100 if full else usage.requested * 100 // usage.allocatable
        score = shape_score(shape, utilization)
        if score > 0:
            total += score * usage.weight
            weights += usage.weight
    return (2 * total + weights) // (2 * weights) if weights else 0
