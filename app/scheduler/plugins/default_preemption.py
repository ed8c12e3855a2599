"""DefaultPreemption: make room by evicting less important pods (plugins/defaultpreemption/default_preemption.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler import diagnosis
from app.scheduler.framework import events, preemption
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import ClusterEventWithHint, Lister
from app.scheduler.framework.interface import ArgsError, Handle, NodeStatuses, Plugin, PostFilterResult
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable

_NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


class DefaultPreemption(Plugin):
    """Nominates the node where the least is lost, and evicts its victims."""

    NAME = "DefaultPreemption"

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        self._percentage = int(args.get("minCandidateNodesPercentage", 10))
        self._absolute = int(args.get("minCandidateNodesAbsolute", 100))
        if not 0 <= self._percentage <= 100:
            raise ArgsError(
                f"minCandidateNodesPercentage: Invalid value: {self._percentage}: not in valid range [0, 100]"
            )
        if self._absolute < 0:
            raise ArgsError(f"minCandidateNodesAbsolute: Invalid value: {self._absolute}: not in valid range [0, inf)")
        if not self._percentage and not self._absolute:
            raise ArgsError("minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time")

    def post_filter(
        self, handle: Handle, state: CycleState, pod: PodInfo, rejected: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Success with the nominated node, or why there is none. Evictions are left as effects."""
        result, status = self._preempt(handle, state, pod, rejected)
        if status is not None and status.reasons:
            return result, Status(status.code, (f"preemption: {status.message}",))
        return result, status

    def _preempt(
        self, handle: Handle, state: CycleState, pod: PodInfo, rejected: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        reason = _not_eligible(state, pod, rejected)
        if reason:
            return None, unschedulable(reason)
        nodes = state.snapshot.nodes
        if not nodes:
            return None, error("no nodes available")
        potential = [node for name, node in nodes.items() if rejected[name].code is Code.UNSCHEDULABLE]
        candidates, statuses = preemption.dry_run(handle, state, pod, potential, self._enough(len(potential)))
        if not candidates:
            found = diagnosis.Diagnosis(nodes=statuses, absent=_NOT_HELPFUL)
            return PostFilterResult(""), unschedulable(diagnosis.fit_message(found, len(nodes)))
        best = preemption.select(candidates, state.pick)
        self._prepare(state, pod, best.chosen)
        return PostFilterResult(best.chosen.node, best), None

    def _enough(self, nodes: int) -> int:
        """How many candidates the dry run looks for (calculateNumCandidates)."""
        return min(max(nodes * self._percentage // 100, self._absolute), nodes)

    def _prepare(self, state: CycleState, pod: PodInfo, chosen: preemption.Candidate) -> None:
        """Evict the victims, and take the node from less important pods that waited for it (prepareCandidate)."""
        state.effects.extend(
            {"effect": "evict", "pod": victim.key, "node": chosen.node, "preemptor": pod.key}
            for victim in chosen.victims
        )
        state.effects.extend(
            {"effect": "clearNomination", "pod": other.key}
            for other in state.snapshot.nominated.get(chosen.node, ())
            if other.priority < pod.priority
        )

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Victims' deletion un-gates the preemptor; other plugins decide whether to try it again."""
        return (ClusterEventWithHint(events.ASSIGNED_POD_DELETE, _never),)


def _never(_pod: PodInfo, _old: Object | None, _new: Object | None, _listed: Lister) -> bool:
    return False


def _not_eligible(state: CycleState, pod: PodInfo, rejected: NodeStatuses) -> str:
    """Why the pod may not preempt now, or an empty string (PodEligibleToPreemptOthers)."""
    if pod.spec.get("preemptionPolicy") == "Never":
        return "not eligible due to preemptionPolicy=Never."
    node = state.snapshot.nodes.get(pod.nominated_node)
    if node is None or rejected[node.name].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    if any(other.priority < pod.priority and preemption.terminating_by_preemption(other) for other in node.pods):
        return "not eligible due to a terminating pod on the nominated node."
    return ""
