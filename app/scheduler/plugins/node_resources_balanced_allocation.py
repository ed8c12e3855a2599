"""NodeResourcesBalancedAllocation: prefer even use of resources (plugins/noderesources/balanced_allocation.go)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.scheduler.framework import amounts
from app.scheduler.framework.amounts import Amounts
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import MAX_NODE_SCORE, Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.resource_scoring import Usage, read_resources, usages
from app.scheduler.framework.status import SKIP, Status


class NodeResourcesBalancedAllocation(Plugin):
    """100 where all resources would be used alike; true requests count."""

    NAME = "NodeResourcesBalancedAllocation"
    LOCAL = True

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        super().__init__(args, gates)
        self._resources = read_resources(args.get("resources"), "resources")

    def pre_score(self, state: CycleState, pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip pods that ask for none of the resources: they change no balance."""
        wanted = amounts.scoring_amounts(pod.pod, true_requests=True)
        if not any(wanted.get(name) for name, _ in self._resources):
            return SKIP
        state.write(self.NAME, _Wanted(wanted))
        return None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """How even the node's use would be; works without PreScore, too, as upstream does."""
        kept = state.read(self.NAME, _Wanted)
        if kept is None:
            kept = _Wanted(amounts.scoring_amounts(pod.pod, true_requests=True))
        return balance(usages(node, kept.amounts, self._resources, true_requests=True))


def balance(found: Sequence[Usage]) -> int:
    """100 where fractions are alike, less by half the difference of two or the standard deviation of more."""
    fractions = [min(usage.requested / usage.allocatable, 1.0) for usage in found]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        squares = 0.0
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        deviation = math.sqrt(squares / len(fractions))
    return int((1 - deviation) * MAX_NODE_SCORE)


@dataclass(frozen=True)
class _Wanted:
    amounts: Amounts

    def clone(self) -> _Wanted:
        return self
