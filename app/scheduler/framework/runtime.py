"""One profile's plugins, run in order at each extension point (pkg/scheduler/framework/runtime/framework.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from app.scheduler.framework.cycle_state import CycleState, StateMissing
from app.scheduler.framework.events import NODE, Action, ClusterEvent, Hint
from app.scheduler.framework.interface import (
    BindPlugin,
    FilterPlugin,
    NodeStatuses,
    NormalizeScorePlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Scores,
)
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Code, Status, error, succeeded, unresolvable, unschedulable


@dataclass(frozen=True)
class PluginScore:
    """One score plugin's answers: as it gave them, brought to 0…100, and times its weight."""

    plugin: str
    weight: int
    raw: Scores
    normalized: Scores
    weighted: Scores


@dataclass(frozen=True)
class PreFilterOutcome:
    """`nodes` is None where every node is worth trying; `plugins` narrowed them."""

    nodes: set[str] | None
    plugins: tuple[str, ...]
    status: Status | None


@dataclass(frozen=True)
class Framework:
    """A built profile. `plugins` maps an extension point's name to its plugins in order of running.

    It holds no state: everything a cycle needs comes in with the CycleState, so one framework serves any number
    of clusters.
    """

    profile_name: str
    plugins: Mapping[str, Sequence[Plugin]]
    weights: Mapping[str, int]
    percentage_of_nodes_to_score: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def at(self, point: str) -> Sequence[Any]:
        """The plugins of an extension point."""
        return self.plugins.get(point, ())

    def sort_key(self, pod: PodInfo, queued: tuple[int, int]) -> tuple[int, ...]:
        """The active queue's order."""
        return cast("QueueSortPlugin", self.at("queueSort")[0]).sort_key(pod, queued)

    def run_pre_enqueue(self, pod: PodInfo) -> Status | None:
        """The first plugin that keeps the pod out of the active queue, or None."""
        for plugin in self.at("preEnqueue"):
            status = cast("PreEnqueuePlugin", plugin).pre_enqueue(pod)
            if status is not None and not succeeded(status):
                return status.named(plugin.NAME)
        return None

    def run_pre_filters(self, state: CycleState, pod: PodInfo) -> PreFilterOutcome:
        """All PreFilter plugins, until one turns the pod down or no node is left (RunPreFilterPlugins)."""
        nodes: set[str] | None = None
        narrowing: set[str] = set()
        for plugin in self.at("preFilter"):
            found, status = cast("PreFilterPlugin", plugin).pre_filter(state, pod)
            if status is not None and status.code is Code.SKIP:
                state.skip_filter.add(plugin.NAME)
                continue
            if status is not None and not succeeded(status):
                return PreFilterOutcome(None, (), status.named(plugin.NAME))
            if found is not None:
                narrowing.add(plugin.NAME)
                nodes = found if nodes is None else nodes & found
                if not nodes:
                    return PreFilterOutcome(nodes, tuple(sorted(narrowing)), _no_node_left(sorted(narrowing)))
        return PreFilterOutcome(nodes, tuple(sorted(narrowing)), None)

    def run_add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Tell the PreFilter plugins of a pod that is there now (RunPreFilterExtensionAddPod)."""
        for plugin in self._extensions:
            if plugin.NAME not in state.skip_filter:
                cast("PreFilterExtensions", plugin).add_pod(state, pod, added, node)

    def run_remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Tell the PreFilter plugins of a pod that is gone now (RunPreFilterExtensionRemovePod)."""
        for plugin in self._extensions:
            if plugin.NAME not in state.skip_filter:
                cast("PreFilterExtensions", plugin).remove_pod(state, pod, removed, node)

    @cached_property
    def _extensions(self) -> tuple[Plugin, ...]:
        return tuple(
            cast("Plugin", plugin) for plugin in self.at("preFilter") if isinstance(plugin, PreFilterExtensions)
        )

    def run_filters(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The first filter that turns the node down, or None (RunFilterPlugins)."""
        for plugin in self.at("filter"):
            if plugin.NAME in state.skip_filter:
                continue
            status = _filtered(plugin, state, pod, node)
            if status is not None and not succeeded(status):
                return status.named(plugin.NAME)
        return None

    def run_every_filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> dict[str, Status | None]:
        """Each filter's answer for a node, for whoever asks why; plugins without anything to do are left out."""
        found: dict[str, Status | None] = {}
        for plugin in self.at("filter"):
            if plugin.NAME not in state.skip_filter:
                status = _filtered(plugin, state, pod, node)
                found[plugin.NAME] = None if succeeded(status) else status
        return found

    def run_filters_with_nominated_pods(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """The filters with the pods nominated to the node, and if they pass, again without.

        Neither alone is enough: nominated pods take room, and pod affinity must not lean on pods that may never
        come (RunFilterPluginsWithNominatedPods).
        """
        nominated = self.nominated_to_count(state, pod, node)
        if nominated:
            status = self.run_filters(*self.with_nominated_pods(state, pod, node, nominated))
            if not succeeded(status):
                return status
        return self.run_filters(state, pod, node)

    def nominated_to_count(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> list[PodInfo]:
        """Pods nominated to the node that are at least as important as this one."""
        nominated = state.snapshot.nominated.get(node.name, ())
        return [other for other in nominated if other.priority >= pod.priority and other.uid != pod.uid]

    def with_nominated_pods(
        self, state: CycleState, pod: PodInfo, node: NodeInfo, nominated: Sequence[PodInfo]
    ) -> tuple[CycleState, PodInfo, NodeInfo]:
        """State and node as they would be if the nominated pods were there already."""
        state, node = state.clone(), node.clone()
        for other in nominated:
            node.add_pod(other)
            self.run_add_pod(state, pod, other, node)
        return state, pod, node

    def run_post_filters(
        self, state: CycleState, pod: PodInfo, rejected: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        """The PostFilter plugins until one nominates a node (RunPostFilterPlugins)."""
        result: PostFilterResult | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.at("postFilter"):
            found, status = cast("PostFilterPlugin", plugin).post_filter(self, state, pod, rejected)
            if succeeded(status):
                return found, None
            assert status is not None
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE or not status.is_rejected:
                return None, status.named(plugin.NAME)
            if found is not None:
                result = found
            reasons.extend(status.reasons)
            rejector = rejector or plugin.NAME
        return result, unschedulable(*reasons).named(rejector)

    def run_pre_scores(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """All PreScore plugins; those that skip do not score."""
        for plugin in self.at("preScore"):
            status = cast("PreScorePlugin", plugin).pre_score(state, pod, nodes)
            if status is not None and status.code is Code.SKIP:
                state.skip_score.add(plugin.NAME)
            elif status is not None and not succeeded(status):
                return status.named(plugin.NAME)
        return None

    def run_scores(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> list[PluginScore] | Status:
        """Each score plugin's answers for all nodes, or the error of the one that broke (RunScorePlugins)."""
        found = []
        for plugin in self.at("score"):
            if plugin.NAME in state.skip_score:
                continue
            scorer = cast("ScorePlugin", plugin)
            try:
                raw = {node.name: scorer.score(state, pod, node) for node in nodes}
            except StateMissing as missing:
                told = f'running Score plugins: plugin "{plugin.NAME}" failed with: {missing}'
                return error(told).named(plugin.NAME)
            normalized = dict(raw)
            if isinstance(plugin, NormalizeScorePlugin):
                plugin.normalize_score(state, pod, normalized)
            weight = self.weights[plugin.NAME]
            weighted = {name: score * weight for name, score in normalized.items()}
            found.append(PluginScore(plugin.NAME, weight, raw, normalized, weighted))
        return found

    def run_reserve(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """The Reserve plugins; when one fails, all give back in reverse order."""
        for plugin in self.at("reserve"):
            status = cast("ReservePlugin", plugin).reserve(state, pod, node)
            if status is not None and not succeeded(status):
                self.run_unreserve(state, pod, node)
                return status.named(plugin.NAME)
        return None

    def run_unreserve(self, state: CycleState, pod: PodInfo, node: str) -> None:
        """Give back, in reverse order."""
        for plugin in reversed(self.at("reserve")):
            cast("ReservePlugin", plugin).unreserve(state, pod, node)

    def run_permit(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """The first Permit plugin that does not let the pod go on, or None."""
        for plugin in self.at("permit"):
            status = cast("PermitPlugin", plugin).permit(state, pod, node)
            if status is not None and not succeeded(status):
                return status.named(plugin.NAME)
        return None

    def run_bind(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """PreBind, Bind (the first plugin that does not skip) and PostBind."""
        for plugin in self.at("preBind"):
            status = cast("PreBindPlugin", plugin).pre_bind(state, pod, node)
            if status is not None and not succeeded(status):
                return status.named(plugin.NAME)
        for plugin in self.at("bind"):
            status = cast("BindPlugin", plugin).bind(state, pod, node)
            if status is not None and status.code is Code.SKIP:
                continue
            if status is not None and not succeeded(status):
                return status.named(plugin.NAME)
            break
        for plugin in self.at("postBind"):
            cast("PostBindPlugin", plugin).post_bind(state, pod, node)
        return None

    @cached_property
    def hints(self) -> tuple[tuple[ClusterEvent, str, Hint | None], ...]:
        """(event, plugin, hint) of every plugin (pkg/scheduler/scheduler.go: buildQueueingHintMap).

        A plugin that waits for new nodes but not for their taints also gets every taint change: the event of a new
        node may come before the taint goes that a node is born with.
        """
        found: list[tuple[ClusterEvent, str, Hint | None]] = []
        for plugin in self._all:
            actions = Action(0)
            for registered in plugin.events_to_register():
                found.append((registered.event, plugin.NAME, registered.hint))
                if registered.event.resource == NODE:
                    actions |= registered.event.action
            if actions & Action.ADD and not actions & Action.UPDATE_NODE_TAINT:
                found.append((ClusterEvent(NODE, Action.UPDATE_NODE_TAINT), plugin.NAME, None))
        return tuple(found)

    @cached_property
    def _all(self) -> tuple[Plugin, ...]:
        found: dict[str, Plugin] = {}
        for plugins in self.plugins.values():
            for plugin in plugins:
                found.setdefault(plugin.NAME, plugin)
        return tuple(found.values())


def _filtered(plugin: Plugin, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
    try:
        return cast("FilterPlugin", plugin).filter(state, pod, node)
    except StateMissing as missing:
        return error(f'running "{plugin.NAME}" filter plugin: {missing}')


def _no_node_left(plugins: Sequence[str]) -> Status:
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {plugins[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously")
