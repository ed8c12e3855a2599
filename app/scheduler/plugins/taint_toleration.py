"""TaintToleration: taints keep pods away unless tolerated (plugins/tainttoleration/taint_toleration.go)."""

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
from app.scheduler.framework.interface import Plugin, Scores
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.release import Release
from app.scheduler.framework.status import Status, unresolvable

GATE = "TaintTolerationComparisonOperators"
_HARD = ("NoSchedule", "NoExecute")
_SOFT = "PreferNoSchedule"
_REJECTED = unresolvable("node(s) had untolerated taint(s)")
_SILENT_SINCE = Release(34, 2)
"""The first release whose message hides the taint."""
_SHORT_SINCE = Release(24, 0)


@dataclass(frozen=True)
class _PreScoreState:
    tolerations: Sequence[Mapping[str, Any]]

    def clone(self) -> _PreScoreState:
        return self


class TaintToleration(Plugin):
    """Filters by NoSchedule and NoExecute, scores by PreferNoSchedule."""

    NAME = "TaintToleration"
    LOCAL = True

    @property
    def _compare(self) -> bool:
        return GATE in self.gates

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a node with a hard taint that nothing tolerates."""
        if not node.taints:
            return None
        taint = helpers.find_untolerated_taint(node.taints, pod.tolerations, _HARD, compare=self._compare)
        return None if taint is None else self._rejection(taint)

    def _rejection(self, taint: Mapping[str, Any]) -> Status:
        """The answer in the words of the scheduler's release."""
        if self.release >= _SILENT_SINCE:
            return _REJECTED
        named = f"{{{taint.get('key') or ''}: {taint.get('value') or ''}}}"
        if self.release >= _SHORT_SINCE:
            return unresolvable(f"node(s) had untolerated taint {named}")
        return unresolvable(f"node(s) had taint {named}, that the pod didn't tolerate")

    def _untolerated(self, pod: PodInfo, taints: Sequence[Mapping[str, Any]]) -> bool:
        found = helpers.find_untolerated_taint(taints, pod.tolerations, _HARD, compare=self._compare)
        return found is not None

    def pre_score(self, state: CycleState, pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Keep the tolerations that speak of soft taints: those without effect, too."""
        kept = [toleration for toleration in pod.tolerations if toleration.get("effect") in {None, "", _SOFT}]
        state.write(f"PreScore{self.NAME}", _PreScoreState(kept))
        return None

    def score(self, state: CycleState, _pod: PodInfo, node: NodeInfo) -> int:
        """How many soft taints are not tolerated; fewer is better."""
        tolerations = state.require(f"PreScore{self.NAME}", _PreScoreState).tolerations
        return sum(
            taint.get("effect") == _SOFT
            and not any(helpers.tolerates(item, taint, compare=self._compare) for item in tolerations)
            for taint in node.taints
        )

    def normalize_score(self, _state: CycleState, _pod: PodInfo, scores: Scores) -> None:
        """Fewest taints become 100."""
        default_normalize_score(scores, reverse=True)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node whose taints are tolerated now, or a toleration that the pod was given."""
        return (
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), self._after_node),
            ClusterEventWithHint(ClusterEvent(events.POD, Action.UPDATE_POD_TOLERATION), _after_pod),
        )

    def _after_node(self, pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
        if new is None or self._untolerated(pod, _taints(new)):
            return False
        return old is None or self._untolerated(pod, _taints(old))


def _taints(node: Object) -> Sequence[Mapping[str, Any]]:
    return (node.get("spec") or {}).get("taints") or ()


def _after_pod(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return events.same_pod(pod, new)
