"""What a learner may ask of an attempt: every filter and every score, on every node.

Recording costs a cycle nothing: it keeps references to what the cycle looked at, and the record is worked out when
someone looks (`to_json`). All filters are run again on all nodes then, so that a node shows each reason it has, not
only the first, which is the one that the scheduler reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.scheduler.diagnosis import Diagnosis
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import PostFilterResult
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework, PluginScore
from app.scheduler.framework.status import Status


@dataclass
class Attempt:
    """One scheduling cycle. `state` is as PreFilter left it; `evaluated` are the nodes that filters were run on."""

    framework: Framework
    state: CycleState
    pod: PodInfo
    diagnosis: Diagnosis
    pre_filter_nodes: set[str] | None = None
    pre_filter_plugins: Sequence[str] = ()
    pre_filter_status: Status | None = None
    evaluated: list[str] = field(default_factory=list)
    feasible: list[str] = field(default_factory=list)
    scores: list[PluginScore] = field(default_factory=list)
    best: list[str] = field(default_factory=list)
    node: str = ""
    post_filter: tuple[PostFilterResult | None, Status | None] | None = None
    reason: str = ""
    message: str = ""

    @property
    def totals(self) -> dict[str, int]:
        """Sum of the weighted scores by node; empty where nothing was scored."""
        if not self.scores:
            return {}
        return {name: sum(score.weighted[name] for score in self.scores) for name in sorted(self.feasible)}

    def to_json(self) -> dict[str, Any]:
        """The record as JSON.

        `nodes` has for each node `filters` (plugin → code and reasons, null where it passed), `reported` (the
        plugin that the scheduler names) and `status`. `scores` has for each plugin its weight and per node raw,
        normalised and weighted values. `tieBreak` says that more than one node was best.
        """
        found: dict[str, Any] = {
            "pod": self.pod.key,
            "profile": self.framework.profile_name,
            "result": "scheduled" if self.node else "unschedulable",
            "node": self.node or None,
            "nominatedNodeNameBefore": self.pod.nominated_node or None,
            "preFilter": self._pre_filter(),
            "nodes": {name: self._node(info) for name, info in self.state.snapshot.nodes.items()},
            "feasible": sorted(self.feasible),
            "scores": [_score(score) for score in self.scores],
            "totals": self.totals,
            "best": list(self.best),
            "tieBreak": len(self.best) > 1,
            "postFilter": self._post_filter(),
            "reason": self.reason or None,
            "message": self.message or None,
        }
        return found

    def _pre_filter(self) -> dict[str, Any] | None:
        if self.pre_filter_status is None and self.pre_filter_nodes is None:
            return None
        nodes = None if self.pre_filter_nodes is None else sorted(self.pre_filter_nodes)
        return {"plugins": list(self.pre_filter_plugins), "nodes": nodes, **(_status(self.pre_filter_status) or {})}

    def _node(self, node: NodeInfo) -> dict[str, Any]:
        reported = self.diagnosis.nodes.get(node.name)
        if self.pre_filter_status is not None:
            return {"filters": {}, "reported": self.pre_filter_status.plugin, "status": "rejected"}
        filters = self._filters(node)
        if node.name in self.feasible:
            return {"filters": filters, "reported": None, "status": "feasible"}
        if reported is not None:
            return {"filters": filters, "reported": reported.plugin, "status": "rejected"}
        if self.pre_filter_nodes is not None and node.name not in self.pre_filter_nodes:
            return {"filters": filters, "reported": None, "status": "excluded"}
        return {"filters": filters, "reported": None, "status": "notTried"}

    def _filters(self, node: NodeInfo) -> dict[str, Any]:
        """Each filter's answer, with the pods counted in that are nominated to the node."""
        framework, state = self.framework, self.state
        found = framework.run_every_filter(state, self.pod, node)
        nominated = framework.nominated_to_count(state, self.pod, node)
        if nominated:
            given = framework.with_nominated_pods(state, self.pod, node, nominated)
            for plugin, status in framework.run_every_filter(*given).items():
                found[plugin] = found[plugin] or status
        return {plugin: _status(status) for plugin, status in found.items()}

    def _post_filter(self) -> dict[str, Any] | None:
        if self.post_filter is None:
            return None
        result, status = self.post_filter
        found: dict[str, Any] = {"code": "Success", "message": ""}
        if status is not None:
            found = {"code": status.code.value, "message": status.message}
        if result is not None and result.nominated_node:
            found["nominatedNode"] = result.nominated_node
        if result is not None and result.preemption is not None:
            found.update(result.preemption.to_json())
        return found


def _status(status: Status | None) -> dict[str, Any] | None:
    return None if status is None else {"code": status.code.value, "reasons": list(status.reasons)}


def _score(score: PluginScore) -> dict[str, Any]:
    return {
        "plugin": score.plugin,
        "weight": score.weight,
        "raw": score.raw,
        "normalized": score.normalized,
        "weighted": score.weighted,
    }
