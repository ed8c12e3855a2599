"""What would have to change for a pod to fit a node, or for a node to win.

Every answer has been tried on an edited copy of the cluster, by the engine, and so has every part of it: the whole
does it, no part does. A question costs at most `MOST_RUNS` runs of the engine, and the same question gets the same
answer.
"""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.scheduler.framework.runtime import Framework
from app.scheduler.snapshot import Snapshot
from app.scheduler.why.edits import World
from app.scheduler.why.fit_search import Budget, FitSearch
from app.scheduler.why.model import Change
from app.scheduler.why.win_search import WINS, WinSearch

MOST_RUNS = 64
MOST_CHANGES = 3


def to_fit(framework: Framework, snapshot: Snapshot, pod: Object, node: str) -> list[Change]:
    """The smallest changes with which the pod passes all filters on the node, at most three.

    Fewest edits come first, edits of the pod before others. Empty where the pod passes already, and where nothing
    that is known helps. KeyError for an unknown node.
    """
    return FitSearch(framework, World(snapshot, pod), node, Budget(MOST_RUNS)).changes(MOST_CHANGES)


def to_win(framework: Framework, snapshot: Snapshot, pod: Object, node: str) -> list[Change]:
    """The smallest changes with which the node gets the best total, jointly (`ties`) or alone (`wins`).

    At most three, in the order of to_fit, and one that wins among them if one was found. Empty where the node wins
    already alone. KeyError for an unknown node.
    """
    world, budget = World(snapshot, pod), Budget(MOST_RUNS)
    race = WinSearch(framework, world, node, budget)
    if race.outcome(()) == WINS:
        return []
    fit = FitSearch(framework, world, node, Budget(MOST_RUNS // 2))
    bases = [change.edits for change in fit.changes(MOST_CHANGES)] if fit.blockers(()) else [()]
    budget.left -= MOST_RUNS // 2 - fit.runs_left
    return race.changes(bases, MOST_CHANGES)
