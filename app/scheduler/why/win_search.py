"""The search for edits with which a node gets the best total."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.scheduler.framework.runtime import Framework
from app.scheduler.schedule_one import ScheduleResult, schedule_one
from app.scheduler.why import preferences
from app.scheduler.why.edits import World, edited
from app.scheduler.why.fit_search import (
    MOST_EDITS,
    Budget,
    EditKeys,
    OutOfRuns,
    keys_of,
    proper_parts,
    rank,
    union,
)
from app.scheduler.why.model import Change, Edit, Situation

TIES, WINS = "ties", "wins"
_MOST_PREFERENCES = 8


class WinSearch:
    """Who wins after some edits; remembered, so that no set of edits is run twice."""

    def __init__(self, framework: Framework, world: World, node: str, budget: Budget) -> None:
        self._framework = replace(framework, percentage_of_nodes_to_score=100)
        self._world, self._node, self._budget = world, node, budget
        self._seen: dict[EditKeys, str] = {}
        self._found: list[Change] = []

    def outcome(self, edits: Sequence[Edit]) -> str:
        """`wins`, `ties` or nothing, by a whole cycle on the edited copy. Raises OutOfRuns."""
        keys = keys_of(edits)
        if keys not in self._seen:
            result = self._run(edits)
            best = result.record.best
            self._seen[keys] = "" if self._node not in best else TIES if len(best) > 1 else WINS
        return self._seen[keys]

    def _run(self, edits: Sequence[Edit]) -> ScheduleResult:
        self._budget.spend()
        world = edited(self._world, edits)
        return schedule_one(self._framework, world.snapshot, world.pod)

    def changes(self, bases: Sequence[Sequence[Edit]], most: int) -> list[Change]:
        """Up to `most` smallest changes that contain one of the bases, with which the node passes the filters."""
        try:
            for edits in self._candidates(bases):
                self._consider(edits)
                if len(self._found) >= most and any(change.outcome == WINS for change in self._found):
                    break
        except OutOfRuns:
            pass  # what has been found is proven; what has not been asked stays unsaid
        return self._best(most)

    def _best(self, most: int) -> list[Change]:
        """The smallest, with at least one that wins if there is any."""
        found = sorted(self._found, key=lambda change: (*rank(change.edits), change.outcome))
        winning = [change for change in found if change.outcome == WINS]
        if winning and not any(change.outcome == WINS for change in found[:most]):
            return [*found[: most - 1], winning[0]]
        return found[:most]

    def _consider(self, edits: Sequence[Edit]) -> None:
        """Keep the edits if they do it and no part of them does."""
        outcome = self.outcome(edits)
        keys = keys_of(edits)
        if not edits or not outcome or any(keys_of(change.edits) == keys for change in self._found):
            return
        enough = {WINS} if outcome == WINS else {WINS, TIES}
        if all(self.outcome(part) not in enough for part in proper_parts(edits)):
            self._found.append(Change(tuple(edits), outcome))

    def _candidates(self, bases: Sequence[Sequence[Edit]]) -> Iterator[tuple[Edit, ...]]:
        """The bases, then each with one preference more, the last resort, and two preferences more."""
        yield from (tuple(base) for base in bases)
        sets: list[tuple[bool, tuple[Edit, ...]]] = []
        for base in bases:
            listed, pin = self._preferences(base)
            singles = [(edit,) for edit in listed]
            pairs = list(itertools.combinations(listed, 2))
            more = [(False, given) for given in (*singles, *pairs)] + ([(True, (pin,))] if pin is not None else [])
            for last, given in more:
                together = union(base, given)
                if together is not None and len(base) < len(together) <= MOST_EDITS:
                    sets.append((last, together))
        sets.sort(key=lambda item: (len(item[1]), item[0], rank(item[1])))
        yield from (edits for _, edits in sets)

    def _preferences(self, base: Sequence[Edit]) -> tuple[list[Edit], Edit | None]:
        result = self._run(base)
        state = result.record.state
        here = Situation(self._framework, state, result.pod, state.snapshot.nodes[self._node])
        rivals = [state.snapshot.nodes[name] for name in result.record.feasible if name != self._node]
        return preferences.edits(here, rivals)[:_MOST_PREFERENCES], preferences.pin(here)
