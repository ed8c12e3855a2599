"""PodTopologySpread: even numbers over domains (plugins/podtopologyspread: filtering.go, scoring.go, plugin.go)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events, spread
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import MAX_NODE_SCORE, ArgsError, Plugin, Scores
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.spread import Constraint
from app.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from app.scheduler.framework.tracking import Domains

_NO_MATCH = unschedulable("node(s) didn't match pod topology spread constraints")
_NO_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"
_NO_DOMAIN = 2**31 - 1


@dataclass(frozen=True)
class _FilterState:
    """For each constraint the number of matching pods by domain. `known` keeps minima until a count changes."""

    constraints: Sequence[Constraint]
    counts: tuple[dict[str, int], ...]
    known: dict[int, int] = field(default_factory=dict)

    def clone(self) -> _FilterState:
        return _FilterState(self.constraints, tuple(dict(counts) for counts in self.counts))

    def least(self, index: int) -> int:
        """The global minimum; 0 where there are fewer domains than asked for (minMatchNum)."""
        found = self.known.get(index)
        if found is None:
            counts = self.counts[index]
            enough = len(counts) >= self.constraints[index].min_domains
            found = self.known[index] = min(counts.values(), default=_NO_DOMAIN) if enough else 0
        return found

    def add(self, index: int, domain: str, change: int) -> None:
        """Count in a domain."""
        counts = self.counts[index]
        counts[domain] = counts.get(domain, 0) + change
        self.known.pop(index, None)


@dataclass(frozen=True)
class _ScoreState:
    constraints: Sequence[Constraint]
    ignored: frozenset[str]
    counts: tuple[dict[str, int], ...]
    weights: tuple[float, ...]

    def clone(self) -> _ScoreState:
        return self


class PodTopologySpread(Plugin):
    """DoNotSchedule constraints filter, ScheduleAnyway ones score; pods without any get the profile's defaults."""

    NAME = "PodTopologySpread"

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        self._system_defaulted = (args.get("defaultingType") or "System") == "System"
        self._defaults: Sequence[Mapping[str, Any]] = args.get("defaultConstraints") or ()
        _check(self._defaults, args.get("defaultingType") or "System")
        if self._system_defaulted:
            self._defaults = spread.SYSTEM_DEFAULTS

    def _constraints(self, pod: PodInfo, action: str, listed: Lister) -> list[Constraint]:
        if pod.spec.get("topologySpreadConstraints"):
            return spread.own_constraints(pod, action)
        return spread.default_constraints(pod, self._defaults, action, listed)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Count matching pods by domain, over the nodes that are in a domain of every constraint."""
        constraints = self._constraints(pod, _HARD, state.snapshot.list)
        if not constraints:
            return None, SKIP
        counts: tuple[dict[str, int], ...] = tuple({} for _ in constraints)
        for node in state.snapshot.nodes.values():
            if not spread.has_all_keys(node.labels, constraints):
                continue
            for constraint, by_domain in zip(constraints, counts, strict=True):
                if constraint.includes(pod, node.node):
                    domain = node.labels[constraint.topology_key]
                    found = spread.matching_pods(node, constraint.selector, pod.namespace)
                    by_domain[domain] = by_domain.get(domain, 0) + found
        state.write(self.NAME, _FilterState(constraints, counts))
        return None, None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Count a pod in."""
        self._update(state, pod, added, node, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Count a pod out."""
        self._update(state, pod, removed, node, -1)

    def _update(self, state: CycleState, pod: PodInfo, other: PodInfo, node: NodeInfo, change: int) -> None:
        found = state.read(self.NAME, _FilterState)
        if found is None or other.namespace != pod.namespace:
            return
        if not spread.has_all_keys(node.labels, found.constraints):
            return
        for index, constraint in enumerate(found.constraints):
            if constraint.selector.matches(other.labels) and constraint.includes(pod, node.node):
                found.add(index, node.labels[constraint.topology_key], change)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a node where the pod would make a domain too full."""
        found = state.require(self.NAME, _FilterState)
        for index, constraint in enumerate(found.constraints):
            domain = node.labels.get(constraint.topology_key)
            if domain is None:
                return _NO_LABEL
            itself = int(constraint.selector.matches(pod.labels))
            if found.counts[index].get(domain, 0) + itself - found.least(index) > constraint.max_skew:
                return _NO_MATCH
        return None

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """Count matching pods by the domains of the nodes that passed."""
        constraints = self._constraints(pod, _SOFT, state.snapshot.list)
        if not constraints:
            return SKIP
        strict = self._is_strict(pod)
        ignored = frozenset(node.name for node in nodes if strict and not spread.has_all_keys(node.labels, constraints))
        counts = _domains(nodes, constraints, ignored)
        for node in state.snapshot.nodes.values():
            if strict and not spread.has_all_keys(node.labels, constraints):
                continue
            for constraint, by_domain in zip(constraints, counts, strict=True):
                domain = node.labels.get(constraint.topology_key, "")
                if domain in by_domain and constraint.includes(pod, node.node):
                    by_domain[domain] += spread.matching_pods(node, constraint.selector, pod.namespace)
        sizes = [
            len(nodes) - len(ignored) if constraint.topology_key == spread.HOSTNAME else len(by_domain)
            for constraint, by_domain in zip(constraints, counts, strict=True)
        ]
        weights = _weights(sizes)
        state.write(f"PreScore{self.NAME}", _ScoreState(constraints, ignored, counts, weights))
        return None

    def _is_strict(self, pod: PodInfo) -> bool:
        """Whether only nodes with all topology keys count; the system's defaults are milder."""
        return bool(pod.spec.get("topologySpreadConstraints")) or not self._system_defaulted

    def track(self, state: CycleState, pod: PodInfo, domains: Domains) -> _Tracker:
        """Follow the counts by domain."""
        soft = self._constraints(pod, _SOFT, state.snapshot.list)
        return _Tracker(state, pod, soft, domains, strict=self._is_strict(pod))

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """Matching pods in the node's domains, weighed by the number of domains; fewer is better."""
        found = state.require(f"PreScore{self.NAME}", _ScoreState)
        if node.name in found.ignored:
            return 0
        total = 0.0
        for index, constraint in enumerate(found.constraints):
            domain = node.labels.get(constraint.topology_key)
            if domain is None:
                continue
            if constraint.topology_key == spread.HOSTNAME:
                count = spread.matching_pods(node, constraint.selector, pod.namespace)
            else:
                count = found.counts[index][domain]
            total += count * found.weights[index] + (constraint.max_skew - 1)
        return math.floor(total + 0.5)

    def normalize_score(self, state: CycleState, _pod: PodInfo, scores: Scores) -> None:
        """Turn round, so that the emptiest becomes 100; nodes outside the domains get 0."""
        found = state.require(f"PreScore{self.NAME}", _ScoreState)
        counted = [score for node, score in scores.items() if node not in found.ignored]
        least, most = min(counted, default=0), max(counted, default=0)
        for node, score in scores.items():
            if node in found.ignored:
                scores[node] = 0
            else:
                scores[node] = MAX_NODE_SCORE * (most + least - score) // most if most else MAX_NODE_SCORE

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that come, go or change their labels, and nodes that come, go or change their topology."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        nodes = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return (
            ClusterEventWithHint(ClusterEvent(events.POD, pods), self._after_pod),
            ClusterEventWithHint(ClusterEvent(events.NODE, nodes), self._after_node),
        )

    def _after_pod(self, pod: PodInfo, old: Object | None, new: Object | None, listed: Lister) -> bool:
        constraints = self._constraints(pod, _HARD, listed)
        before, after = (None if obj is None else PodInfo.of(obj) for obj in (old, new))
        if before is not None and after is not None and after.uid == pod.uid:
            return before.labels != after.labels
        if any(info and (not info.node_name or info.namespace != pod.namespace) for info in (before, after)):
            return False
        if before is not None and after is not None:
            return any(
                item.selector.matches(before.labels) != item.selector.matches(after.labels) for item in constraints
            )
        changed = after or before
        return changed is not None and any(item.selector.matches(changed.labels) for item in constraints)

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None, listed: Lister) -> bool:
        constraints = self._constraints(pod, _HARD, listed)
        was, now = (obj is not None and spread.has_all_keys(meta.labels_of(obj), constraints) for obj in (old, new))
        if old is None or new is None:
            return was or now
        if was != now:
            return True
        before, after = meta.labels_of(old), meta.labels_of(new)
        if now and any(before.get(item.topology_key) != after.get(item.topology_key) for item in constraints):
            return True
        return now and any(item.includes(pod, old) != item.includes(pod, new) for item in constraints)


def _weights(sizes: Iterable[int]) -> tuple[float, ...]:
    """The more domains, the more a pod in one of them weighs (topologyNormalizingWeight)."""
    return tuple(math.log(size + 2) for size in sizes)


class _Tracker:
    """Counts of both kinds of constraints; those of hosts are taken from the node itself, as `score` does."""

    def __init__(
        self, state: CycleState, pod: PodInfo, soft: Sequence[Constraint], domains: Domains, *, strict: bool
    ) -> None:
        self._pod, self._soft, self._domains, self._strict = pod, soft, domains, strict
        self._hard = state.read(PodTopologySpread.NAME, _FilterState)
        self._soft_counts: tuple[dict[str, int], ...] = tuple({} for _ in soft)
        nodes = state.snapshot.nodes
        for node in nodes.values() if soft else ():
            self._count_soft(node, node.pods, 1)

    @property
    def filters(self) -> bool:
        return self._hard is not None

    @property
    def places(self) -> bool:
        return self._hard is not None or bool(self._soft)

    def place(self, node: NodeInfo) -> Hashable:
        found: list[Hashable] = []
        for index, constraint in enumerate(self._hard.constraints if self._hard else ()):
            value = node.labels.get(constraint.topology_key)
            if value is not None and self._hard and self._domains.has_many(constraint.topology_key):
                found.append(self._hard.counts[index].get(value, 0))
            else:
                found.append(value)
        for constraint in self._soft:
            value = node.labels.get(constraint.topology_key)
            if constraint.topology_key == spread.HOSTNAME:
                found.append(value is not None)
                found.append(spread.matching_pods(node, constraint.selector, self._pod.namespace))
            else:
                found.append(value)
        return tuple(found)

    def count(self, other: PodInfo, node: NodeInfo, sign: int) -> Iterable[str]:
        if other.namespace != self._pod.namespace or other.terminating:
            return ()
        self._count_soft(node, (other,), sign)
        hard = self._hard
        if hard is None or not spread.has_all_keys(node.labels, hard.constraints):
            return ()
        changed: list[str] = []
        for index, constraint in enumerate(hard.constraints):
            if _counts(constraint, other) and constraint.includes(self._pod, node.node):
                hard.add(index, node.labels[constraint.topology_key], sign)
                changed.extend(self._domains.neighbours(constraint.topology_key, node))
        return changed

    def _count_soft(self, node: NodeInfo, pods: Iterable[PodInfo], sign: int) -> None:
        if self._strict and not spread.has_all_keys(node.labels, self._soft):
            return
        for constraint, by_domain in zip(self._soft, self._soft_counts, strict=True):
            if constraint.topology_key != spread.HOSTNAME and constraint.includes(self._pod, node.node):
                found = sum(
                    other.namespace == self._pod.namespace and not other.terminating and _counts(constraint, other)
                    for other in pods
                )
                domain = node.labels.get(constraint.topology_key, "")
                by_domain[domain] = by_domain.get(domain, 0) + sign * found

    def prepare_scores(self, state: CycleState, groups: Sequence[tuple[NodeInfo, int]]) -> bool:
        if not self._soft:
            return False
        counted = [
            (node, size) for node, size in groups if not self._strict or spread.has_all_keys(node.labels, self._soft)
        ]
        names = {node.name for node, _ in counted}
        ignored = frozenset(node.name for node, _ in groups if node.name not in names)
        hosts = sum(size for _, size in counted)
        sizes = [
            hosts if key == spread.HOSTNAME else len({node.labels.get(key, "") for node, _ in counted})
            for key in (constraint.topology_key for constraint in self._soft)
        ]
        counts = tuple(
            {node.labels.get(constraint.topology_key, ""): 0 for node, _ in counted} | by_domain
            for constraint, by_domain in zip(self._soft, self._soft_counts, strict=True)
        )
        key = f"PreScore{PodTopologySpread.NAME}"
        state.write(key, _ScoreState(self._soft, ignored, counts, _weights(sizes)))
        return True


def _counts(constraint: Constraint, other: PodInfo) -> bool:
    """Whether the constraint means the pod; an empty selector means none."""
    return not constraint.selector.is_empty and constraint.selector.matches(other.labels)


def _domains(
    nodes: Sequence[NodeInfo], constraints: Sequence[Constraint], ignored: frozenset[str]
) -> tuple[dict[str, int], ...]:
    """For each constraint an empty count of each domain that passing nodes are in; hosts are counted while scoring."""
    return tuple(
        {}
        if constraint.topology_key == spread.HOSTNAME
        else {node.labels.get(constraint.topology_key, ""): 0 for node in nodes if node.name not in ignored}
        for constraint in constraints
    )


def _check(defaults: Sequence[Mapping[str, Any]], kind: str) -> None:
    """The profile's default constraints (apis/config/validation/validation_pluginargs.go)."""
    if kind not in {"System", "List"}:
        raise ArgsError(f'defaultingType: Unsupported value: "{kind}": supported values: "System", "List"')
    if kind == "System" and defaults:
        raise ArgsError('defaultingType: Invalid value: "System": when .defaultConstraints are not empty')
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(defaults):
        path = f"defaultConstraints[{index}]"
        key, action = str(item.get("topologyKey") or ""), str(item.get("whenUnsatisfiable") or "")
        if int(item.get("maxSkew") or 0) <= 0:
            raise ArgsError(f"{path}.maxSkew: Invalid value: {item.get('maxSkew')}: not in valid range (0, inf)")
        if not key:
            raise ArgsError(f"{path}.topologyKey: Required value: can not be empty")
        if action not in {_HARD, _SOFT}:
            raise ArgsError(f'{path}.whenUnsatisfiable: Unsupported value: "{action}"')
        if item.get("labelSelector") is not None:
            raise ArgsError(
                f"{path}.labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod"
            )
        if (key, action) in seen:
            raise ArgsError(f'{path}: Duplicate value: "{{{key}, {action}}}"')
        seen.add((key, action))
