"""InterPodAffinity: near or far from other pods (plugins/interpodaffinity: filtering.go, scoring.go, plugin.go)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.affinity_terms import AffinityTerm
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import MAX_NODE_SCORE, ArgsError, Plugin, Scores
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from app.scheduler.framework.tracking import Domains
from app.scheduler.snapshot import Snapshot

_AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
_ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules")
_EXISTING = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")

Counts = dict[tuple[str, str], int]
"""(topology key, value) → number of pods. Pairs without any pod are not in it."""


@dataclass(frozen=True)
class _FilterState:
    """`existing`: pods whose anti-affinity means this pod; the others: pods that this pod's own terms mean."""

    existing: Counts
    affinity: Counts
    anti_affinity: Counts

    def clone(self) -> _FilterState:
        return _FilterState(dict(self.existing), dict(self.affinity), dict(self.anti_affinity))


@dataclass
class _ScoreState:
    """Topology key → value → sum of weights, and how many terms were added up."""

    weights: dict[str, dict[str, int]] = field(default_factory=dict)
    terms: int = 0

    def clone(self) -> _ScoreState:
        return _ScoreState({key: dict(values) for key, values in self.weights.items()}, self.terms)

    def add(self, term: AffinityTerm, node: NodeInfo, weight: int, change: int) -> None:
        value = node.labels.get(term.topology_key)
        if value is not None:
            values = self.weights.setdefault(term.topology_key, {})
            values[value] = values.get(value, 0) + weight * change
            self.terms += change


class InterPodAffinity(Plugin):
    """Required terms of this pod and required anti-affinity of running pods filter; preferred terms score."""

    NAME = "InterPodAffinity"

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        self._hard_weight = int(args.get("hardPodAffinityWeight", 1))
        self._ignore_preferred = bool(args.get("ignorePreferredTermsOfExistingPods"))
        if not 0 <= self._hard_weight <= 100:
            raise ArgsError(f"hardPodAffinityWeight: Invalid value: {self._hard_weight}: not in valid range [0-100]")

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Count by topology what running pods and this pod mean of each other."""
        snapshot = state.snapshot
        found = _FilterState({}, {}, {})
        for node in snapshot.nodes.values():
            for other in node.pods_with_required_anti_affinity:
                _count_anti_affinity(found.existing, other.required_anti_affinity, pod, node, snapshot, 1)
        if pod.required_affinity or pod.required_anti_affinity:
            for node in snapshot.nodes.values():
                for other in node.pods:
                    _count_affinity(found.affinity, pod.required_affinity, other, node, snapshot, 1)
                    _count_anti_affinity(found.anti_affinity, pod.required_anti_affinity, other, node, snapshot, 1)
        elif not found.existing:
            return None, SKIP
        state.write(self.NAME, found)
        return None, None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Count a pod in."""
        self._update(state, pod, added, node, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Count a pod out."""
        self._update(state, pod, removed, node, -1)

    def _update(self, state: CycleState, pod: PodInfo, other: PodInfo, node: NodeInfo, change: int) -> None:
        found = state.read(self.NAME, _FilterState)
        if found is None:
            return
        snapshot = state.snapshot
        _count_anti_affinity(found.existing, other.required_anti_affinity, pod, node, snapshot, change)
        _count_affinity(found.affinity, pod.required_affinity, other, node, snapshot, change)
        _count_anti_affinity(found.anti_affinity, pod.required_anti_affinity, other, node, snapshot, change)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Affinity, then anti-affinity, then the anti-affinity of the pods that run there."""
        found = state.require(self.NAME, _FilterState)
        if not _satisfies_affinity(found, pod, node, state.snapshot):
            return _AFFINITY
        for term in pod.required_anti_affinity if found.anti_affinity else ():
            value = node.labels.get(term.topology_key)
            if value is not None and found.anti_affinity.get((term.topology_key, value), 0) > 0:
                return _ANTI_AFFINITY
        if found.existing and any(found.existing.get(pair, 0) > 0 for pair in node.labels.items()):
            return _EXISTING
        return None

    def pre_score(self, state: CycleState, pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Sum the weights by topology; skip only where no term matched at all."""
        speaks = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
        if self._ignore_preferred and not speaks:
            return SKIP
        found = _ScoreState()
        for node in state.snapshot.nodes.values():
            for other in node.pods if speaks else node.pods_with_affinity:
                self.weigh(found, pod, other, node, state.snapshot)
        if not found.terms:
            return SKIP
        state.write(f"PreScore{self.NAME}", found)
        return None

    def weigh(
        self,
        found: _ScoreState,
        pod: PodInfo,
        other: PodInfo,
        node: NodeInfo,
        snapshot: Snapshot,
        change: int = 1,
    ) -> None:
        """What one running pod adds: this pod's preferences of it, and its own of this pod (processExistingPod)."""
        for terms, sign in ((pod.preferred_affinity, 1), (pod.preferred_anti_affinity, -1)):
            for term in terms:
                if _means(term, other, snapshot):
                    found.add(term, node, sign * term.weight, change)
        if not other.has_affinity:
            return
        if self._hard_weight > 0:
            for term in other.required_affinity:
                if _means(term, pod, snapshot):
                    found.add(term, node, self._hard_weight, change)
        for terms, sign in ((other.preferred_affinity, 1), (other.preferred_anti_affinity, -1)):
            for term in terms:
                if _means(term, pod, snapshot):
                    found.add(term, node, sign * term.weight, change)

    def track(self, state: CycleState, pod: PodInfo, domains: Domains) -> _Tracker:
        """Follow the counts and weights by topology."""
        speaks = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
        return _Tracker(self, state, pod, domains, scores=speaks or not self._ignore_preferred)

    def score(self, state: CycleState, _pod: PodInfo, node: NodeInfo) -> int:
        """Sum over the node's topologies."""
        found = state.require(f"PreScore{self.NAME}", _ScoreState)
        return sum(values.get(node.labels[key], 0) for key, values in found.weights.items() if key in node.labels)

    def normalize_score(self, _state: CycleState, _pod: PodInfo, scores: Scores) -> None:
        """The smallest sum becomes 0 and the largest 100, in floating point as upstream."""
        least, most = min(scores.values()), max(scores.values())
        for node, score in scores.items():
            scores[node] = int(MAX_NODE_SCORE * ((score - least) / (most - least))) if most > least else 0

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that come, go or change their labels, and nodes that change their topology."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            ClusterEventWithHint(ClusterEvent(events.POD, pods), _after_pod),
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), _after_node),
        )


class _Tracker:
    """Counts and weights that pods are added to and taken from. `state` keeps the counts for the filter."""

    def __init__(
        self, plugin: InterPodAffinity, state: CycleState, pod: PodInfo, domains: Domains, *, scores: bool
    ) -> None:
        self._plugin, self._pod, self._snapshot, self._scores = plugin, pod, state.snapshot, scores
        found = state.read(plugin.NAME, _FilterState)
        self._counts = found if found is not None else _FilterState({}, {}, {})
        state.write(plugin.NAME, self._counts)
        self._weights = _ScoreState()
        for node in state.snapshot.nodes.values() if scores else ():
            for other in node.pods:
                plugin.weigh(self._weights, pod, other, node, state.snapshot)
        self._domains = domains
        required = (*pod.required_affinity, *pod.required_anti_affinity)
        own = (*required, *pod.preferred_affinity, *pod.preferred_anti_affinity)
        self._speaks = bool(required)
        self._keys = sorted(
            {term.topology_key for term in own}
            | {key for key, _ in self._counts.existing}
            | self._weights.weights.keys()
        )
        self._axes = [(key, domains.has_many(key)) for key in self._keys]

    @property
    def filters(self) -> bool:
        return self._speaks or bool(self._counts.existing)

    @property
    def places(self) -> bool:
        return bool(self._keys)

    def place(self, node: NodeInfo) -> Hashable:
        found: list[Hashable] = []
        labels, counts = node.labels, self._counts
        for key, many in self._axes:
            value = labels.get(key)
            if value is None or not many:
                found.append(value)
                continue
            pair = (key, value)
            weights = self._weights.weights.get(key)
            weight = weights.get(value, 0) if weights else 0
            found.append((pair in counts.existing, pair in counts.affinity, pair in counts.anti_affinity, weight))
        return tuple(found)

    def count(self, other: PodInfo, node: NodeInfo, sign: int) -> Iterable[str] | None:
        pod, snapshot, counts = self._pod, self._snapshot, self._counts
        _count_anti_affinity(counts.existing, other.required_anti_affinity, pod, node, snapshot, sign)
        _count_affinity(counts.affinity, pod.required_affinity, other, node, snapshot, sign)
        _count_anti_affinity(counts.anti_affinity, pod.required_anti_affinity, other, node, snapshot, sign)
        if self._scores:
            self._plugin.weigh(self._weights, pod, other, node, snapshot, sign)
        if other.has_affinity and self._has_new_key(other, node):
            return None
        return [name for key in self._keys for name in self._domains.neighbours(key, node)]

    def _has_new_key(self, other: PodInfo, node: NodeInfo) -> bool:
        """Whether the pod's terms brought in a topology that nodes are not told apart by yet."""
        terms = (*other.required_anti_affinity, *other.required_affinity)
        preferred = (*other.preferred_affinity, *other.preferred_anti_affinity)
        return any(
            key not in self._keys
            and ((key, node.labels.get(key)) in self._counts.existing or key in self._weights.weights)
            for key in (term.topology_key for term in (*terms, *preferred))
        )

    def prepare_scores(self, state: CycleState, _groups: Sequence[tuple[NodeInfo, int]]) -> bool:
        if not self._scores or not self._weights.terms:
            return False
        state.write(f"PreScore{self._plugin.NAME}", self._weights)
        return True


def _means(term: AffinityTerm, pod: PodInfo, snapshot: Snapshot) -> bool:
    return term.matches(pod.namespace, pod.labels, snapshot.namespace_labels(pod.namespace))


def _count(counts: Counts, term: AffinityTerm, node: NodeInfo, change: int) -> None:
    value = node.labels.get(term.topology_key)
    if value is None:
        return
    pair = (term.topology_key, value)
    counts[pair] = counts.get(pair, 0) + change
    if counts[pair] == 0:
        del counts[pair]


def _count_affinity(
    counts: Counts, terms: Sequence[AffinityTerm], pod: PodInfo, node: NodeInfo, snapshot: Snapshot, change: int
) -> None:
    """A pod counts for affinity only where all terms mean it."""
    if terms and all(_means(term, pod, snapshot) for term in terms):
        for term in terms:
            _count(counts, term, node, change)


def _count_anti_affinity(
    counts: Counts, terms: Iterable[AffinityTerm], pod: PodInfo, node: NodeInfo, snapshot: Snapshot, change: int
) -> None:
    """A pod counts for each anti-affinity term that means it."""
    for term in terms:
        if _means(term, pod, snapshot):
            _count(counts, term, node, change)


def _satisfies_affinity(found: _FilterState, pod: PodInfo, node: NodeInfo, snapshot: Snapshot) -> bool:
    """A pod that means only itself may be the first of its group, anywhere with the topology."""
    near = True
    for term in pod.required_affinity:
        value = node.labels.get(term.topology_key)
        if value is None:
            return False
        near = near and found.affinity.get((term.topology_key, value), 0) > 0
    if near:
        return True
    return not found.affinity and all(_means(term, pod, snapshot) for term in pod.required_affinity)


def _means_all(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, {}) for term in terms)


def _after_pod(pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
    before, after = (None if obj is None else PodInfo.of(obj) for obj in (old, new))
    if any(info is not None and not info.node_name for info in (before, after)):
        return False
    near, far = pod.required_affinity, pod.required_anti_affinity
    if before is not None and after is not None:
        return (_means_all(near, after) and not _means_all(near, before)) or (
            _means_all(far, before) and not _means_all(far, after)
        )
    if after is not None:
        return _means_all(near, after)
    assert before is not None
    return _means_all(far, before) or _means_all(before.required_anti_affinity, pod)


def _after_node(pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
    if new is None:
        return False
    now = meta.labels_of(new)
    was = meta.labels_of(old) if old is not None else {}
    near = [(was.get(term.topology_key), now.get(term.topology_key)) for term in pod.required_affinity]
    if any(after is not None and after != before for before, after in near):
        return True
    far = [(was.get(term.topology_key), now.get(term.topology_key)) for term in pod.required_anti_affinity]
    if old is None:
        return bool(far)
    return any(before is not None and before != after for before, after in far)
