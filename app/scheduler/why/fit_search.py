"""The search for edits with which a pod passes all filters on a node.

It goes from what is in the way to what would take it away, cheapest first, and asks the engine after every step: what
the plugins then say decides where it goes on. Only what the engine has accepted is an answer.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.scheduler.diagnosis import Diagnosis
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework
from app.scheduler.recorder import Attempt
from app.scheduler.why import facts, node_facts, remedies
from app.scheduler.why.edits import World, edited
from app.scheduler.why.model import Blocker, Change, Edit, Situation

MOST_EDITS = 5
"""Longer answers help nobody, and it could not be shown that no part of them is enough."""


class OutOfRuns(Exception):
    """The question has cost as many runs of the engine as it may."""


@dataclass
class Budget:
    """How many runs of the engine are left."""

    left: int

    def spend(self) -> None:
        """One run. Raises OutOfRuns when none is left."""
        if self.left <= 0:
            raise OutOfRuns
        self.left -= 1


EditKeys = frozenset[str]


def keys_of(edits: Iterable[Edit]) -> EditKeys:
    """What makes two sets of edits the same."""
    return frozenset(edit.key for edit in edits)


def union(left: Sequence[Edit], right: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """Both, each edit once; None where they contradict each other, so that their order would matter."""
    found = {edit.key: edit for edit in (*left, *right)}
    values: dict[str, str] = {}
    for edit in found.values():
        for step in edit.patch:
            if step["op"] in {"set", "unset"}:
                place = f"{edit.target} {step['path']}"
                if values.setdefault(place, str(step.get("value"))) != str(step.get("value")):
                    return None
    return tuple(found.values())


def proper_parts(edits: Sequence[Edit]) -> Iterator[tuple[Edit, ...]]:
    """Every proper subset, the empty one first."""
    for size in range(len(edits)):
        yield from itertools.combinations(edits, size)


def rank(edits: Sequence[Edit]) -> tuple[int, int]:
    """Fewest edits first, then edits of the pod before those of nodes and of other pods."""
    return len(edits), sum(edit.cost for edit in edits)


class FitSearch:
    """What is in the way of a node after some edits; remembered, so that no set of edits is run twice."""

    def __init__(self, framework: Framework, world: World, node: str, budget: Budget) -> None:
        self._framework, self._world, self._node, self._budget = framework, world, node, budget
        self._seen: dict[EditKeys, list[Blocker]] = {}

    @property
    def runs_left(self) -> int:
        """What is left of the budget."""
        return self._budget.left

    def blockers(self, edits: Sequence[Edit]) -> list[Blocker]:
        """Run the filters on the edited copy; none is left where the pod fits. Raises OutOfRuns."""
        keys = keys_of(edits)
        if keys not in self._seen:
            self._budget.spend()
            self._seen[keys] = self._run(edited(self._world, edits))
        return self._seen[keys]

    def _run(self, world: World) -> list[Blocker]:
        state, pod = CycleState(world.snapshot), PodInfo(world.pod)
        outcome = self._framework.run_pre_filters(state, pod)
        node = world.snapshot.nodes[self._node]
        if outcome.status is not None:
            here = Situation(self._framework, state, pod, node)
            known = node_facts.node_affinity(here) if outcome.status.plugin == "NodeAffinity" else []
            return remedies.blockers(here, known) or [Blocker(outcome.status.plugin)]
        attempt = Attempt(self._framework, state, pod, Diagnosis())
        found: list[Blocker] = []
        for here, name, status in facts.rejections(attempt, node):
            found += remedies.blockers(here, facts.of_plugin(here, name, status))
        return found

    def changes(self, most: int) -> list[Change]:
        """Up to `most` smallest changes; as far as the budget goes."""
        found: list[tuple[Edit, ...]] = []
        try:
            for edits in self._candidates(found):
                if self._is_minimal(edits):
                    found.append(edits)
                if len(found) == most:
                    break
        except OutOfRuns:
            pass  # what has been found is proven; what has not been asked stays unsaid
        return [Change(edits, "fits") for edits in sorted(found, key=rank)]

    def _is_minimal(self, edits: Sequence[Edit]) -> bool:
        return all(self.blockers(part) for part in proper_parts(edits))

    def _candidates(self, found: Sequence[Sequence[Edit]]) -> Iterator[tuple[Edit, ...]]:
        """Sets of edits that fit, the smallest first; what contains one of `found` is left out."""
        serial = itertools.count()
        heap: list[tuple[int, int, int, tuple[Edit, ...]]] = [(0, 0, next(serial), ())]
        pushed: set[EditKeys] = {frozenset()}
        while heap:
            *_, edits = heapq.heappop(heap)
            keys = keys_of(edits)
            if any(keys_of(known) <= keys for known in found):
                continue
            blockers = self.blockers(edits)
            if not blockers:
                if edits:
                    yield edits
                continue
            if not all(blocker.alternatives for blocker in blockers):
                continue
            for alternative in blockers[0].alternatives:
                more = union(edits, alternative)
                if more is None or len(more) > MOST_EDITS or keys_of(more) in pushed:
                    continue
                pushed.add(keys_of(more))
                estimate = len(more) + _least_left(blockers[1:], keys_of(more))
                heapq.heappush(heap, (estimate, rank(more)[1], next(serial), more))


def _least_left(blockers: Iterable[Blocker], done: EditKeys) -> int:
    """How many edits the other blockers still need at least, as far as each needs its own."""
    return sum(min(len(keys_of(alternative) - done) for alternative in blocker.alternatives) for blocker in blockers)
