"""NodeAffinity: nodeSelector and node affinity, plus what the profile adds (plugins/nodeaffinity/node_affinity.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework import events
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.helpers import default_normalize_score
from app.scheduler.framework.interface import ArgsError, Plugin, Scores
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_POD = unresolvable("node(s) didn't match Pod's node affinity/selector")
_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_CONFLICT = unresolvable("pod affinity terms conflict")


class NodeAffinity(Plugin):
    """Required terms and nodeSelector filter, preferred terms score; `addedAffinity` does both for all pods."""

    NAME = "NodeAffinity"
    LOCAL = True
    READS_LABELS = True

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        added = args.get("addedAffinity") or {}
        self._added_required: Mapping[str, Any] | None = added.get(_REQUIRED)
        self._added_preferred: Sequence[Mapping[str, Any]] = added.get(_PREFERRED) or ()
        for index, term in enumerate(self._added_preferred):
            if not 1 <= int(term.get("weight") or 0) <= 100:
                path = f"addedAffinity.{_PREFERRED}[{index}].weight"
                raise ArgsError(f"{path}: Invalid value: {term.get('weight')}: must be in the range 1-100")

    def pre_filter(self, _state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Narrow to the nodes that every required term names by metadata.name; terms are alternatives."""
        required = _required(pod)
        if not self._added_required and required is None and not pod.spec.get("nodeSelector"):
            return None, SKIP
        terms = (required or {}).get("nodeSelectorTerms") or ()
        if not terms:
            return None, None
        nodes: set[str] = set()
        for term in terms:
            named = _named_nodes(term)
            if named is None:
                return None, None
            nodes |= named
        return (nodes, None) if nodes else (None, _CONFLICT)

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a node that the profile's or the pod's affinity excludes."""
        if self._added_required and not helpers.node_selector_matches(self._added_required, node.node):
            return _ENFORCED
        return None if helpers.node_affinity_matches(pod.pod, node.node) else _POD

    def pre_score(self, state: CycleState, pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip where nothing is preferred."""
        terms = self._preferred(pod)
        if not terms:
            return SKIP
        state.write(self.NAME, _PreScoreState(terms))
        return None

    def _preferred(self, pod: PodInfo) -> tuple[Any, ...]:
        return (*self._added_preferred, *(_affinity(pod).get(_PREFERRED) or ()))

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """Sum of the weights of the preferred terms that hold; works without PreScore, too, as upstream does."""
        kept = state.read(self.NAME, _PreScoreState)
        return sum(
            int(term.get("weight") or 0)
            for term in (kept.terms if kept else self._preferred(pod))
            if helpers.node_selector_term_matches(term.get("preference") or {}, node.node)
        )

    def normalize_score(self, _state: CycleState, _pod: PodInfo, scores: Scores) -> None:
        """The largest sum becomes 100."""
        default_normalize_score(scores)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that matches now and did not before."""
        event = ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(event, self._after_node),)

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
        return new is not None and self._matches(pod, new) and not (old is not None and self._matches(pod, old))

    def _matches(self, pod: PodInfo, node: Object) -> bool:
        if self._added_required and not helpers.node_selector_matches(self._added_required, node):
            return False
        return helpers.node_affinity_matches(pod.pod, node)


@dataclass(frozen=True)
class _PreScoreState:
    terms: tuple[Mapping[str, Any], ...]

    def clone(self) -> _PreScoreState:
        return self


def _affinity(pod: PodInfo) -> Mapping[str, Any]:
    return (pod.spec.get("affinity") or {}).get("nodeAffinity") or {}


def _required(pod: PodInfo) -> Mapping[str, Any] | None:
    return _affinity(pod).get(_REQUIRED)


def _named_nodes(term: Mapping[str, Any]) -> set[str] | None:
    """The nodes that a term's matchFields leave, or None where it names none."""
    named: set[str] | None = None
    for field in term.get("matchFields") or ():
        if field.get("key") == "metadata.name" and field.get("operator") == "In":
            values = set(field.get("values") or ())
            named = values if named is None else named & values
    return named
