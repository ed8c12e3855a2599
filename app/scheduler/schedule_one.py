"""One pod, one cycle: find the nodes that fit, choose the best, bind; or say why not (pkg/scheduler/schedule_one.go).

`schedule_one(framework, snapshot, pod)` changes nothing. What is to be done comes back as effects, in order:

- `{"effect": "bind", "pod", "node"}`
- `{"effect": "bindVolume", "volume", "claim"}` and `{"effect": "provision", "claim", "node"}` before a binding
- `{"effect": "evict", "pod", "node", "preemptor"}` for each victim of a preemption
- `{"effect": "clearNomination", "pod"}` for less important pods that waited for the same node

`ScheduleResult.nominated_node` is the value that status.nominatedNodeName is to get, or None to leave it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler.diagnosis import NO_NODES, Diagnosis, event_note, fit_message
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework
from app.scheduler.framework.status import Code, Status, error, succeeded, unresolvable
from app.scheduler.recorder import Attempt
from app.scheduler.snapshot import Snapshot

UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"
_FEWEST_NODES = 100
_LEAST_PERCENTAGE = 5

Pick = Callable[[Sequence[str]], str]
"""Chooses one of several equally good nodes; they come sorted by name."""


@dataclass(frozen=True)
class ScheduleResult:
    """What came of a cycle. `node` is empty where the pod was not placed; then `reason` and `message` say why."""

    pod: PodInfo
    node: str
    status: Status | None
    reason: str
    message: str
    nominated_node: str | None
    effects: tuple[Mapping[str, Any], ...]
    record: Attempt = field(repr=False)

    @cached_property
    def attempt(self) -> dict[str, Any]:
        """The recorder's account as JSON; worked out at the first look (`recorder.Attempt.to_json`)."""
        return self.record.to_json()

    @property
    def unschedulable_plugins(self) -> frozenset[str]:
        """Who turned the pod down: the queue waits for their events."""
        return frozenset(self.record.diagnosis.unschedulable_plugins)

    @property
    def pending_plugins(self) -> frozenset[str]:
        """Who asked the pod to wait."""
        return frozenset(self.record.diagnosis.pending_plugins)

    def event(self) -> dict[str, str]:
        """type, reason, action and note of the event that the scheduler writes about the pod."""
        if self.node:
            note = f"Successfully assigned {self.pod.key} to {self.node}"
            return {"type": "Normal", "reason": "Scheduled", "action": "Binding", "note": note}
        note = event_note(self.message)
        return {"type": "Warning", "reason": "FailedScheduling", "action": "Scheduling", "note": note}


def preempted_event(preemptor: PodInfo, node: str) -> dict[str, str]:
    """type, reason, action and note of the event about a victim."""
    note = f"Preempted by pod {preemptor.uid} on node {node}"
    return {"type": "Normal", "reason": "Preempted", "action": "Preempting", "note": note}


def schedule_one(
    framework: Framework,
    snapshot: Snapshot,
    pod: Object,
    *,
    nominated: Iterable[Object] | None = None,
    pick: Pick = min,
) -> ScheduleResult:
    """Run scheduling and binding cycle for a pod.

    `nominated` replaces the snapshot's nominated pods; `pick` chooses among equally good nodes (the default takes
    the smallest name; upstream takes any).
    """
    if nominated is not None:
        snapshot = replace(snapshot, nominated=_by_nominated_node(nominated))
    info = PodInfo.of(pod)
    cycle = _Cycle(framework, CycleState(snapshot, pick), info)
    return cycle.run()


def _by_nominated_node(pods: Iterable[Object]) -> dict[str, tuple[PodInfo, ...]]:
    found: dict[str, tuple[PodInfo, ...]] = {}
    for pod in pods:
        info = PodInfo.of(pod)
        found[info.nominated_node] = (*found.get(info.nominated_node, ()), info)
    return found


class _Cycle:
    """The steps of one cycle, with the record that they fill."""

    def __init__(self, framework: Framework, state: CycleState, pod: PodInfo) -> None:
        self._framework, self._state, self._pod = framework, state, pod
        self._nodes = state.snapshot.nodes
        self._record = Attempt(framework, state, pod, Diagnosis())

    def run(self) -> ScheduleResult:
        if not self._nodes:
            status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (NO_NODES,))
            return self._failed(status, NO_NODES, "")
        problem = self._find_feasible()
        if problem is not None:
            return self._failed(problem, problem.message, "")
        if not self._record.feasible:
            return self._no_node_fits()
        problem = self._choose()
        if problem is not None:
            return self._failed(problem, problem.message, "")
        return self._bind(self._record.node)

    def _find_feasible(self) -> Status | None:
        """Fill in the nodes that pass; an error ends the cycle (findNodesThatFitPod)."""
        record, diagnosis = self._record, self._record.diagnosis
        outcome = self._framework.run_pre_filters(self._state, self._pod)
        record.pre_filter_status = outcome.status
        record.pre_filter_plugins = outcome.plugins
        diagnosis.unschedulable_plugins.update(outcome.plugins)
        if outcome.status is not None:
            if not outcome.status.is_rejected:
                return outcome.status
            diagnosis.absent = outcome.status
            diagnosis.pre_filter_message = outcome.status.message
            diagnosis.add_plugin_status(outcome.status)
            return None
        record.pre_filter_nodes = outcome.nodes
        nominated = self._nodes.get(self._pod.nominated_node)
        if nominated is not None:
            problem = self._filter([nominated])
            if problem is not None or record.feasible:
                return problem
        nodes = list(self._nodes.values())
        if outcome.nodes is not None:
            nodes = [node for node in nodes if node.name in outcome.nodes]
            diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(outcome.plugins)}]")
        return self._filter(nodes)

    def _filter(self, nodes: Sequence[NodeInfo]) -> Status | None:
        """Run the filters until enough nodes pass (findNodesThatPassFilters)."""
        record, diagnosis = self._record, self._record.diagnosis
        enough = nodes_to_find(len(nodes), self._framework.percentage_of_nodes_to_score)
        for node in nodes:
            record.evaluated.append(node.name)
            status = self._framework.run_filters_with_nominated_pods(self._state, self._pod, node)
            if status is None or succeeded(status):
                record.feasible.append(node.name)
                if len(record.feasible) >= enough:
                    break
            elif not status.is_rejected:
                return status
            else:
                diagnosis.nodes[node.name] = status
                diagnosis.add_plugin_status(status)
        return None

    def _choose(self) -> Status | None:
        """Score the nodes that passed and pick one of the best (prioritizeNodes, selectHost)."""
        record = self._record
        best = record.feasible
        if len(record.feasible) > 1:
            nodes = [self._nodes[name] for name in record.feasible]
            problem = self._framework.run_pre_scores(self._state, self._pod, nodes)
            if problem is not None:
                return problem
            scores = self._framework.run_scores(self._state, self._pod, nodes)
            if isinstance(scores, Status):
                return scores
            record.scores = scores
            totals = record.totals
            if totals:
                top = max(totals.values())
                best = [name for name, total in totals.items() if total == top]
        record.best = sorted(best)
        record.node = self._state.pick(record.best)
        return None

    def _no_node_fits(self) -> ScheduleResult:
        """Let the PostFilter plugins try, and put the FailedScheduling text together."""
        diagnosis = self._record.diagnosis
        nominated_node: str | None = ""
        if self._framework.at("postFilter"):
            rejected = diagnosis.every_node(self._nodes)
            result, status = self._framework.run_post_filters(self._state, self._pod, rejected)
            self._record.post_filter = (result, status)
            diagnosis.post_filter_message = status.message if status is not None else ""
            nominated_node = None if result is None else result.nominated_node
        message = fit_message(diagnosis, len(self._nodes))
        return self._failed(Status(Code.UNSCHEDULABLE, (message,)), message, nominated_node)

    def _bind(self, node: str) -> ScheduleResult:
        """Reserve, Permit, PreBind, Bind, PostBind (schedulingCycle's end, bindingCycle)."""
        framework, state, pod = self._framework, self._state, self._pod
        status = framework.run_reserve(state, pod, node)
        if status is None:
            status = framework.run_permit(state, pod, node)
            if status is None:
                status = framework.run_bind(state, pod, node)
            if status is not None:
                framework.run_unreserve(state, pod, node)
        if status is None:
            return ScheduleResult(pod, node, None, "", "", None, tuple(state.effects), self._record)
        state.effects.clear()
        self._record.node = ""
        diagnosis = self._record.diagnosis = Diagnosis(nodes={node: status})
        diagnosis.add_plugin_status(status)
        if status.is_rejected:
            return self._failed(status, fit_message(diagnosis, 1), "")
        return self._failed(error(*status.reasons).named(status.plugin), status.message, "")

    def _failed(self, status: Status, message: str, nominated_node: str | None) -> ScheduleResult:
        reason = UNSCHEDULABLE if status.is_rejected else SCHEDULER_ERROR
        self._record.reason, self._record.message = reason, message
        before = self._pod.nominated_node
        changed = nominated_node if nominated_node is not None and nominated_node != before else None
        return ScheduleResult(self._pod, "", status, reason, message, changed, tuple(self._state.effects), self._record)


def nodes_to_find(total: int, percentage: int) -> int:
    """How many passing nodes are enough (numFeasibleNodesToFind): all below 100 nodes, then a shrinking share."""
    if total < _FEWEST_NODES:
        return total
    if percentage == 0:
        percentage = max(50 - total // 125, _LEAST_PERCENTAGE)
    return max(total * percentage // 100, _FEWEST_NODES)
