"""Pods of one template share what was found out about nodes, and nodes that are alike are decided on as one.

A template is all of a pod that plugins look at: its namespace, labels, spec, owner, and what its status says of
resources. For each template nodes are kept in groups. Two nodes are in one group when the LOCAL plugins answer the
same for both and they stand in the same place in the sums of the tracked plugins (`framework/tracking.py`); every
filter and every score then agrees for both, so the real plugins are run on one node of each group. A pod that comes
to a node or leaves it moves that node, and those that share a small domain with it, to another group.

What cannot be followed this way (a plugin that is neither LOCAL nor tracked and has something to do) is refused by
`build` with None, and the caller takes the plain path.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from heapq import heapify, heappop, heappush

from app.apimachinery import meta
from app.scheduler.cache import Cache
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import NormalizeScorePlugin, Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework
from app.scheduler.framework.status import Code, Status, succeeded
from app.scheduler.framework.tracking import TrackedPlugin, Tracker

_STATUS = ("containerStatuses", "initContainerStatuses", "resources", "allocatedResources", "resize")
LocalAnswers = tuple[Status | None, tuple[int, ...]]
"""The first rejection by a LOCAL filter, and the raw scores of the LOCAL score plugins."""


def template_key(pod: PodInfo) -> str:
    """The same for pods that every plugin answers the same for."""
    owner = meta.controller_of(pod.pod)
    status = pod.pod.get("status") or {}
    return json.dumps(
        [pod.namespace, pod.labels, pod.spec, owner, [status[name] for name in _STATUS if name in status]]
    )


class Group:
    """Nodes that get the same answers. `fixed` is the weighted sum of the scores that are not normalised."""

    __slots__ = ("_heap", "fixed", "key", "local", "names")

    def __init__(self, key: Hashable, local: LocalAnswers, fixed: int) -> None:
        self.key, self.local, self.fixed = key, local, fixed
        self.names: set[str] = set()
        self._heap: list[str] = []

    def fill(self, names: list[str]) -> None:
        """Take in the first nodes."""
        self.names.update(names)
        self._heap = names
        heapify(self._heap)

    def add(self, name: str) -> None:
        """Take in a node."""
        self.names.add(name)
        heappush(self._heap, name)

    @property
    def smallest(self) -> str:
        """The first of its names in order, and the node that plugins are asked about."""
        heap = self._heap
        while heap[0] not in self.names:
            heappop(heap)
        return heap[0]


class Template:
    """One template's groups. `state` is a cycle's state that is kept up to date from cycle to cycle."""

    def __init__(self, framework: Framework, cache: Cache, pod: PodInfo, state: CycleState) -> None:
        self.pod, self.state = pod, state
        self.framework, self._cache = framework, cache
        self.epoch, self._position = cache.epoch, cache.position
        filters = [plugin for plugin in framework.at("filter") if plugin.NAME not in state.skip_filter]
        self._local_filters: list[Plugin] = [plugin for plugin in filters if plugin.LOCAL]
        self.scorers: list[Plugin] = [plugin for plugin in framework.at("score") if plugin.NAME not in state.skip_score]
        self.local_scorers = [plugin for plugin in self.scorers if plugin.LOCAL]
        self.trackers: dict[str, Tracker] = {}
        others: list[Plugin] = [plugin for plugin in (*framework.at("filter"), *self.scorers) if not plugin.LOCAL]
        for plugin in dict.fromkeys(others):
            name = plugin.NAME
            if isinstance(plugin, TrackedPlugin):
                self.trackers[name] = plugin.track(state, pod, cache.domains)
        self._placing = [tracker for tracker in self.trackers.values() if tracker.places]
        self._skipped = frozenset(state.skip_filter - self.trackers.keys())
        self._shared_filters: list[Plugin] = [
            plugin for plugin in framework.at("filter") if plugin.NAME in self.trackers
        ]
        self.normalizing = frozenset(plugin.NAME for plugin in self.scorers if _normalizes(plugin))
        self.normalized = [index for index, plugin in enumerate(self.local_scorers) if plugin.NAME in self.normalizing]
        self._fixed = [
            (index, framework.weights[plugin.NAME])
            for index, plugin in enumerate(self.local_scorers)
            if index not in self.normalized
        ]
        labels_matter = any(plugin.READS_LABELS for plugin in (*filters, *self.scorers))
        self._by_shape: dict[Hashable, LocalAnswers] | None = None if labels_matter else {}
        self.group_of: dict[str, Group] = {}
        self.groups: dict[Hashable, Group] = {}
        self._begin()
        self._note_idle()

    @staticmethod
    def build(framework: Framework, cache: Cache, pod: PodInfo) -> Template | None:
        """The groups as the nodes are now, or None where the pod takes something that is not followed."""
        if pod.claims or pod.ephemeral_claims or pod.node_name:
            return None
        state = CycleState(cache.snapshot())
        outcome = framework.run_pre_filters(state, pod)
        if outcome.status is not None or outcome.nodes is not None:
            return None
        if not _all_followed(framework, "filter", "preFilter", state.skip_filter):
            return None
        for plugin in framework.at("preScore"):
            if isinstance(plugin, TrackedPlugin):
                continue
            status = plugin.pre_score(state, pod, ())
            if status is not None and status.code is Code.SKIP:
                state.skip_score.add(plugin.NAME)
            elif not succeeded(status):
                return None
        if not _all_followed(framework, "score", "preScore", state.skip_score):
            return None
        return Template(framework, cache, pod, state)

    @property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """The nodes as they are now."""
        return self._cache.nodes

    def _begin(self) -> None:
        members: dict[Group, list[str]] = {}
        for name, node in self._cache.nodes.items():
            local = self._local(node)
            key = self._key(node, local)
            group = self.groups.get(key)
            if group is None:
                group = self._group(key, local)
                members[group] = []
            members[group].append(name)
            self.group_of[name] = group
        for group, names in members.items():
            group.fill(names)

    def _group(self, key: Hashable, local: LocalAnswers) -> Group:
        fixed = sum(local[1][index] * weight for index, weight in self._fixed) if local[1] else 0
        group = self.groups[key] = Group(key, local, fixed)
        return group

    def _local(self, node: NodeInfo) -> LocalAnswers:
        """What the LOCAL plugins answer; nodes of one shape share it."""
        known = self._by_shape
        shape = None if known is None else self._cache.shape(node.name)
        if known is not None and shape is not None and shape in known:
            return known[shape]
        status: Status | None = None
        for plugin in self._local_filters:
            found: Status | None = plugin.filter(self.state, self.pod, node)  # type: ignore[attr-defined]  # it stood at filter
            if not succeeded(found):
                assert found is not None
                status = found.named(plugin.NAME)
                break
        scores: tuple[int, ...] = ()
        if status is None:
            scores = tuple(plugin.score(self.state, self.pod, node) for plugin in self.local_scorers)  # type: ignore[attr-defined]  # they stood at score
        if known is not None and shape is not None:
            known[shape] = (status, scores)
        return status, scores

    def _key(self, node: NodeInfo, local: LocalAnswers) -> Hashable:
        return (local, *[tracker.place(node) for tracker in self._placing])

    def catch_up(self) -> bool:
        """Count what came to nodes and left them since the last look. False: begin anew."""
        changes = self._cache.changes_since(self._position)
        if self.epoch != self._cache.epoch or changes is None:
            return False
        self._position = self._cache.position
        touched: dict[str, None] = {}
        for pod, name, sign in changes:
            touched[name] = None
            node = self._cache.nodes[name]
            for tracker in self.trackers.values():
                others = tracker.count(pod, node, sign)
                if others is None:
                    return False
                touched.update(dict.fromkeys(others))
        self._regroup(touched)
        self._note_idle()
        return True

    def _note_idle(self) -> None:
        """Tracked filters come and go: the first pod with anti-affinity gives one something to do."""
        idle = {name for name, tracker in self.trackers.items() if not tracker.filters}
        self.state.skip_filter = {*self._skipped, *idle}
        self.shared_filters = [plugin for plugin in self._shared_filters if plugin.NAME not in idle]

    def _regroup(self, names: Iterable[str]) -> None:
        for name in names:
            node = self._cache.nodes[name]
            local = self._local(node)
            key = self._key(node, local)
            before = self.group_of[name]
            if before.key == key:
                continue
            before.names.discard(name)
            if not before.names:
                del self.groups[before.key]
            group = self.groups.get(key)
            if group is None:
                group = self._group(key, local)
            group.add(name)
            self.group_of[name] = group


def _all_followed(framework: Framework, point: str, before: str, skipped: set[str]) -> bool:
    """Whether each plugin of a point has nothing to do, is LOCAL, or is tracked and would have been prepared."""
    prepared = set(framework.at(before))
    return all(
        plugin.NAME in skipped or plugin.LOCAL or (plugin in prepared and isinstance(plugin, TrackedPlugin))
        for plugin in framework.at(point)
    )


def _normalizes(plugin: Plugin) -> bool:
    return isinstance(plugin, NormalizeScorePlugin)
