"""The world, kept up to date change by change (pkg/scheduler/backend/cache/cache.go).

`Snapshot.of` reads everything anew; a `Cache` is told of each change (`change`) and works out only the node that it
touches. `snapshot()` answers what `Snapshot.of` would answer for the same objects in the same order, and what it gave
out is never changed: a node with other pods is a new NodeInfo.

`log` lists the pods that came to nodes and left them, since `log_start` changes; `epoch` is another number after any
other change. Together they tell whoever keeps sums over nodes what to add, and when to begin again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo, with_node
from app.scheduler.framework.tracking import Domains
from app.scheduler.snapshot import LISTED, ImageState, Snapshot, image_states

Change = tuple[PodInfo, str, int]
"""A pod, its node, and 1 where it came or -1 where it left."""

Key = tuple[str, str]
"""(kind, `namespace/name`)."""

_KEPT_CHANGES = 4096


class Cache:
    """Nodes with their pods, nominated pods and the other objects that plugins ask about."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.log: list[Change] = []
        self.log_start = 0
        self.epoch = 0
        self._objects: dict[Key, Object] = {}
        self._node_of: dict[str, str] = {}
        self._bound: dict[str, dict[str, PodInfo]] = {}
        self._nominated: dict[str, PodInfo] = {}
        self._listed: dict[str, dict[str, Object]] = {kind: {} for kind in LISTED}
        self._images: Mapping[str, Mapping[str, ImageState]] | None = None
        self._arrivals: dict[str, int] = {}
        self._arrived = 0
        self._shapes: dict[str, Hashable] = {}
        self._domains: tuple[int, Domains] | None = None
        for obj in objects:
            self.change(None, obj)

    # Changes

    def change(self, old: Object | None, new: Object | None) -> None:
        """An object appeared (no `old`), changed, or went (no `new`)."""
        obj = new if new is not None else old
        if obj is None:
            return
        kind = str(obj.get("kind"))
        if kind == "Pod":
            self._change_pod(meta.key_of(obj), new)
        elif kind == "Node":
            self._change_node(meta.name_of(obj), new)
        elif kind in LISTED:
            self._change_listed(kind, meta.key_of(obj), new)

    def assume(self, pod: Object, node: str) -> Object:
        """Count the pod as bound to the node from now on; answers the pod as it will be (AssumePod)."""
        bound = with_node(pod, node)
        PodInfo.of(bound).adopt(PodInfo.of(pod))
        self.change(pod, bound)
        return bound

    def sync(self, objects: Mapping[Key, Object]) -> None:
        """Bring up to date with all objects there are; one that is the same dict as before costs a look only."""
        for key in [key for key in self._objects if key not in objects]:
            self.change(self._objects.pop(key), None)
        for key, obj in objects.items():
            before = self._objects.get(key)
            if before is not obj:
                self.change(before, obj)
                self._objects[key] = obj

    def _change_pod(self, key: str, new: Object | None) -> None:
        self._nominated.pop(key, None)
        before = self._node_of.pop(key, "")
        if before:
            self._take_off(before, key)
        if new is None:
            self._arrivals.pop(key, None)
            return
        if key not in self._arrivals:
            self._arrived += 1
            self._arrivals[key] = self._arrived
        info = PodInfo.of(new)
        if info.ended:
            return
        if info.node_name:
            self._put_on(info.node_name, key, info)
        elif info.nominated_node:
            self._nominated[key] = info

    def _put_on(self, name: str, key: str, pod: PodInfo) -> None:
        """Count a pod in, at the place among the node's pods that its arrival gives it."""
        self._node_of[key] = name
        pods = self._bound.setdefault(name, {})
        late = bool(pods) and self._arrivals[next(reversed(pods))] > self._arrivals[key]
        pods[key] = pod
        if late:
            pods = self._bound[name] = dict(sorted(pods.items(), key=lambda item: self._arrivals[item[0]]))
        node = self.nodes.get(name)
        if node is None:
            return
        if late:
            node = NodeInfo.with_pods(node.node, pods.values())
        else:
            node = node.clone()
            node.add_pod(pod)
        self._touched(node, pod, 1)

    def _take_off(self, name: str, key: str) -> None:
        pod = self._bound[name].pop(key)
        node = self.nodes.get(name)
        if node is not None:
            node = node.clone()
            node.remove_pod(pod)
            self._touched(node, pod, -1)

    def _touched(self, node: NodeInfo, pod: PodInfo, sign: int) -> None:
        self.nodes[node.name] = node
        self._shapes.pop(node.name, None)
        self.log.append((pod, node.name, sign))
        if len(self.log) > 2 * _KEPT_CHANGES:
            del self.log[:_KEPT_CHANGES]
            self.log_start += _KEPT_CHANGES

    def _change_node(self, name: str, new: Object | None) -> None:
        self.epoch += 1
        self._images = None
        self._shapes.clear()
        if new is None:
            self.nodes.pop(name, None)
        else:
            self.nodes[name] = NodeInfo.with_pods(new, self._bound.get(name, {}).values())

    def _change_listed(self, kind: str, key: str, new: Object | None) -> None:
        self.epoch += 1
        listed = self._listed[kind] = dict(self._listed[kind])
        if new is None:
            listed.pop(key, None)
        else:
            listed[key] = new

    # Questions

    @property
    def position(self) -> int:
        """How many changes there have been."""
        return self.log_start + len(self.log)

    def changes_since(self, position: int) -> list[Change] | None:
        """The changes after a position, or None where they are not known any more."""
        return self.log[position - self.log_start :] if position >= self.log_start else None

    def snapshot(self) -> Snapshot:
        """The world as it is now."""
        nominated: dict[str, tuple[PodInfo, ...]] = {}
        for key in sorted(self._nominated, key=self._arrivals.__getitem__):
            pod = self._nominated[key]
            nominated[pod.nominated_node] = (*nominated.get(pod.nominated_node, ()), pod)
        return Snapshot(dict(self.nodes), nominated, dict(self._listed), self.images)

    @property
    def images(self) -> Mapping[str, Mapping[str, ImageState]]:
        """Image states by node and name."""
        if self._images is None:
            self._images = image_states(self.nodes.values())
        return self._images

    @property
    def domains(self) -> Domains:
        """Which nodes share a topology."""
        if self._domains is None or self._domains[0] != self.epoch:
            self._domains = (self.epoch, Domains(self.nodes))
        return self._domains[1]

    def waits_before(self, pod: PodInfo) -> bool:
        """Whether a pod is nominated to some node that counts for this one: at least as important, and another."""
        return any(
            other.priority >= pod.priority and other.key != pod.key and other.nominated_node in self.nodes
            for other in self._nominated.values()
        )

    def shape(self, name: str) -> Hashable:
        """All that plugins see of a node alone, save name and labels; None where it is not worth comparing."""
        found = self._shapes.get(name)
        if found is None:
            found = self._shapes[name] = _shape(self.nodes[name], self.images.get(name) or {})
        return found or None


def _shape(node: NodeInfo, images: Mapping[str, Any]) -> Hashable:
    if not node.used_ports.is_empty:
        return ()
    return (
        node.unschedulable,
        tuple(tuple(sorted(taint.items())) for taint in node.taints),
        len(node.pods),
        node.non_zero,
        tuple(sorted(node.allocatable.items())),
        tuple(sorted(item for item in node.requested.items() if item[1])),
        frozenset(images),
    )
