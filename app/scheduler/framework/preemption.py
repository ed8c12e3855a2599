"""Which pods would have to go, node by node (pkg/scheduler/framework/preemption/preemption.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock, labels, meta
from app.apimachinery.meta import Object
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import Handle
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Status, error, succeeded, unresolvable

_NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
_NEVER_STARTED = 2**62
_SHIFT = 2**31


@dataclass(frozen=True)
class Candidate:
    """A node, the pods to evict there (most important first), and how many evictions break a disruption budget."""

    node: str
    victims: tuple[PodInfo, ...]
    pdb_violations: int

    def ranking(self) -> tuple[int, ...]:
        """The columns of the tie-break in order; the larger is better in each (pickOneNodeForPreemption)."""
        return (
            -self.pdb_violations,
            -self.victims[0].priority,
            -sum(victim.priority + _SHIFT for victim in self.victims),
            -len(self.victims),
            self.earliest_start(),
        )

    def earliest_start(self) -> int:
        """When the longest running of the most important victims started (GetEarliestPodStartTime)."""
        top = max(victim.priority for victim in self.victims)
        return min(start_time(victim) for victim in self.victims if victim.priority == top)


@dataclass(frozen=True)
class Preemption:
    """All candidates, those that are equally good, and the chosen one."""

    candidates: tuple[Candidate, ...]
    best: tuple[str, ...]
    chosen: Candidate

    def to_json(self) -> dict[str, Any]:
        """The record: victims and the columns of the tie-break for each candidate."""
        columns = ("pdbViolations", "highestPriority", "sumOfPriorities", "victims", "latestStart")
        return {
            "candidates": {
                candidate.node: {
                    "victims": [victim.key for victim in candidate.victims],
                    "pdbViolations": candidate.pdb_violations,
                    "ranking": dict(zip(columns, candidate.ranking(), strict=True)),
                }
                for candidate in self.candidates
            },
            "best": list(self.best),
            "victims": [victim.key for victim in self.chosen.victims],
        }


def start_time(pod: PodInfo) -> int:
    """When the pod started, in microseconds; a pod that has not started counts as starting now."""
    text = (pod.pod.get("status") or {}).get("startTime")
    return clock.parse(text) if text else _NEVER_STARTED


def importance(pod: PodInfo) -> tuple[int, int]:
    """Sorts the most important pod first: higher priority, then longer running (util.MoreImportantPod)."""
    return (-pod.priority, start_time(pod))


def terminating_by_preemption(pod: PodInfo) -> bool:
    """Whether the pod is on its way out because of an earlier preemption."""
    conditions = (pod.pod.get("status") or {}).get("conditions") or ()
    return pod.terminating and any(
        condition.get("type") == "DisruptionTarget"
        and condition.get("status") == "True"
        and condition.get("reason") == "PreemptionByScheduler"
        for condition in conditions
    )


def dry_run(
    handle: Handle, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo], most: int
) -> tuple[list[Candidate], dict[str, Status]]:
    """Try each node without its less important pods (DryRunPreemption).

    Answers the candidates, those that break no budget first, and why the other nodes are none. Stops after `most`
    candidates, if one of them breaks no budget.
    """
    budgets = list(state.snapshot.list("PodDisruptionBudget").values())
    clean: list[Candidate] = []
    violating: list[Candidate] = []
    statuses: dict[str, Status] = {}
    for node in nodes:
        found = select_victims(handle, state.clone(), pod, node.clone(), budgets)
        if isinstance(found, Status):
            statuses[node.name] = found
        elif not found.victims:
            statuses[node.name] = error(f'expected at least one victim pod on node "{node.name}"')
        else:
            (violating if found.pdb_violations else clean).append(found)
            if clean and len(clean) + len(violating) >= most:
                break
    return [*clean, *violating], statuses


def select_victims(
    handle: Handle, state: CycleState, pod: PodInfo, node: NodeInfo, budgets: Sequence[Object]
) -> Candidate | Status:
    """The fewest pods that must leave the node (default_preemption.go: SelectVictimsOnNode); state and node are spent.

    All less important pods are taken off; then they are given back one by one as long as the pod still fits, those
    first whose eviction would break a budget, and the most important ones first.
    """
    potential = [other for other in node.pods if other.priority < pod.priority]
    if not potential:
        return _NO_VICTIMS
    for other in potential:
        _remove(handle, state, pod, other, node)
    status = handle.run_filters_with_nominated_pods(state, pod, node)
    if status is not None and not succeeded(status):
        return status
    potential.sort(key=importance)
    violating, others = split_by_budgets(potential, budgets)
    victims: list[PodInfo] = []
    violations = 0
    for group in (violating, others):
        for other in group:
            node.add_pod(other)
            handle.run_add_pod(state, pod, other, node)
            if succeeded(handle.run_filters_with_nominated_pods(state, pod, node)):
                continue
            _remove(handle, state, pod, other, node)
            victims.append(other)
            violations += group is violating
    victims.sort(key=importance)
    return Candidate(node.name, tuple(victims), violations)


def _remove(handle: Handle, state: CycleState, pod: PodInfo, other: PodInfo, node: NodeInfo) -> None:
    node.remove_pod(other)
    handle.run_remove_pod(state, pod, other, node)


def split_by_budgets(pods: Iterable[PodInfo], budgets: Sequence[Object]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Pods whose eviction breaks a disruption budget, and the others (filterPodsWithPDBViolation)."""
    allowed = [int((budget.get("status") or {}).get("disruptionsAllowed") or 0) for budget in budgets]
    selectors = [labels.from_label_selector((budget.get("spec") or {}).get("selector")) for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        breaks = False
        for index, budget in enumerate(budgets):
            if not pod.labels or meta.namespace_of(budget) != pod.namespace:
                continue
            if selectors[index].is_empty or not selectors[index].matches(pod.labels):
                continue
            if pod.name in ((budget.get("status") or {}).get("disruptedPods") or {}):
                continue
            allowed[index] -= 1
            breaks = breaks or allowed[index] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def select(candidates: Sequence[Candidate], pick: Callable[[Sequence[str]], str]) -> Preemption:
    """The best candidate; `pick` chooses among equally good nodes (SelectCandidate)."""
    top = max(candidate.ranking() for candidate in candidates)
    best = tuple(sorted(candidate.node for candidate in candidates if candidate.ranking() == top))
    chosen = pick(best)
    return Preemption(tuple(candidates), best, next(candidate for candidate in candidates if candidate.node == chosen))
