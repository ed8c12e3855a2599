"""Edited copies: the snapshot and the pod as they would be after some edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.snapshot import Snapshot
from app.scheduler.why.model import Edit, node_target, pod_target


@dataclass(frozen=True)
class World:
    """A snapshot and the pod that is to be placed in it."""

    snapshot: Snapshot
    pod: Object


def edited(world: World, edits: Iterable[Edit]) -> World:
    """The world after the edits; the given one stays as it is. What an edit does not find, it leaves out."""
    by_target: dict[str, list[Mapping[str, Any]]] = {}
    for edit in edits:
        by_target.setdefault(edit.target, []).extend(edit.patch)
    own = by_target.pop(pod_target(PodInfo.of(world.pod).key), ())
    pod = _object_after(world.pod, own) or world.pod
    if not by_target:
        return World(world.snapshot, pod)
    nodes = {name: _node_after(info, by_target) for name, info in world.snapshot.nodes.items()}
    nominated = {name: tuple(_pods_after(pods, by_target)) for name, pods in world.snapshot.nominated.items()}
    return World(replace(world.snapshot, nodes=nodes, nominated=nominated), pod)


def _node_after(info: NodeInfo, by_target: Mapping[str, Sequence[Mapping[str, Any]]]) -> NodeInfo:
    pods = _pods_after(info.pods, by_target)
    steps = by_target.get(node_target(info.name), ())
    if not steps and pods == info.pods:
        return info
    found = NodeInfo(_object_after(info.node, steps) or info.node)
    for pod in pods:
        found.add_pod(pod)
    return found


def _pods_after(pods: Sequence[PodInfo], by_target: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[PodInfo]:
    found = []
    for pod in pods:
        steps = by_target.get(pod_target(pod.key), ())
        after = _object_after(pod.pod, steps)
        if after is not None:
            found.append(PodInfo(after) if steps else pod)
    return found


def _object_after(obj: Object, steps: Sequence[Mapping[str, Any]]) -> Object | None:
    """The object after the steps, or None where it is deleted."""
    if not steps:
        return obj
    if any(step["op"] == "delete" for step in steps):
        return None
    copy: Object = meta.copied(obj)
    for step in steps:
        _apply(copy, step)
    return copy


def _apply(obj: Object, step: Mapping[str, Any]) -> None:
    *way, last = step["path"]
    parent: Any = obj
    for index, key in enumerate(way):
        if isinstance(parent, dict) and parent.get(key) is None:
            following = step["path"][index + 1]
            parent[key] = [] if isinstance(following, int) else {}
        parent = parent[key]
    match step["op"]:
        case "set":
            parent[last] = step["value"]
        case "unset":
            parent.pop(last, None)
        case "append":
            parent[last] = [*(parent.get(last) or ()), step["value"]]
        case "drop":
            parent[last] = [item for item in parent.get(last) or () if item != step["value"]]
