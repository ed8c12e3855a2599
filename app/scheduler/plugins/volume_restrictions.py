"""VolumeRestrictions: disks and claims that one pod alone may use (plugins/volumerestrictions)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable

_DISK = unschedulable("node(s) had no available disk")
_IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


@dataclass
class _State:
    """`conflicts`: how many times running pods use a claim that this pod wants for itself alone."""

    exclusive: frozenset[str]
    conflicts: int

    def clone(self) -> _State:
        return _State(self.exclusive, self.conflicts)

    def update(self, pod: PodInfo, other: PodInfo, change: int) -> None:
        if pod.namespace == other.namespace:
            self.conflicts += change * sum(name in self.exclusive for name in other.claims)


class VolumeRestrictions(Plugin):
    """Turns down nodes where a disk is in use, and every node while an exclusive claim is."""

    NAME = "VolumeRestrictions"

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Find claims with ReadWriteOncePod, and who uses them already."""
        exclusive = set()
        listed = state.snapshot.list("PersistentVolumeClaim")
        for name in pod.claims:
            claim = listed.get(f"{pod.namespace}/{name}")
            if claim is None:
                return None, unresolvable(f'persistentvolumeclaim "{name}" not found')
            if "ReadWriteOncePod" in ((claim.get("spec") or {}).get("accessModes") or ()):
                exclusive.add(name)
        keys = {f"{pod.namespace}/{name}" for name in exclusive}
        nodes = state.snapshot.nodes.values()
        conflicts = sum(node.claims.get(key, 0) > 0 for node in nodes for key in keys)
        if not conflicts and not any(_is_disk(volume) for volume in _volumes(pod)):
            return None, SKIP
        state.write(self.NAME, _State(frozenset(exclusive), conflicts))
        return None, None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, _node: NodeInfo) -> None:
        """Count a pod in."""
        kept = state.read(self.NAME, _State)
        if kept is not None:
            kept.update(pod, added, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, _node: NodeInfo) -> None:
        """Count a pod out."""
        kept = state.read(self.NAME, _State)
        if kept is not None:
            kept.update(pod, removed, -1)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Disks of the node first, then exclusive claims."""
        if _disks_conflict(pod, node.pods):
            return _DISK
        kept = state.read(self.NAME, _State)
        return _IN_USE if kept is not None and kept.conflicts > 0 else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that shares a volume goes, a node comes, or the pod's claim appears or changes."""
        return (
            ClusterEventWithHint(events.ASSIGNED_POD_DELETE, _after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD)),
            ClusterEventWithHint(ClusterEvent("PersistentVolumeClaim", Action.ADD | Action.UPDATE), _after_claim),
        )


def _volumes(pod: PodInfo) -> Sequence[Mapping[str, Any]]:
    return pod.spec.get("volumes") or ()


def _is_disk(volume: Mapping[str, Any]) -> bool:
    return any(volume.get(kind) for kind in _DISKS)


def _disks_conflict(pod: PodInfo, others: Iterable[PodInfo]) -> bool:
    mine = [volume for volume in _volumes(pod) if _is_disk(volume)]
    return bool(mine) and any(_conflict(a, b) for other in others for a in mine for b in _volumes(other))


def _conflict(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """The same disk twice, unless both mount it read-only; an EBS volume never twice (isVolumeConflict)."""
    for kind in _DISKS:
        left, right = a.get(kind), b.get(kind)
        if not left or not right:
            continue
        if kind == "awsElasticBlockStore":
            if left.get("volumeID") == right.get("volumeID"):
                return True
        elif _same_disk(kind, left, right) and not (left.get("readOnly") and right.get("readOnly")):
            return True
    return False


def _same_disk(kind: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    if kind == "gcePersistentDisk":
        return bool(left.get("pdName") == right.get("pdName"))
    if kind == "iscsi":
        return bool(left.get("iqn") == right.get("iqn"))
    if not set(left.get("monitors") or ()) & set(right.get("monitors") or ()):
        return False
    pools = (left.get("pool") or "rbd", right.get("pool") or "rbd")
    return pools[0] == pools[1] and left.get("image") == right.get("image")


def _after_pod_deleted(pod: PodInfo, old: Object | None, _new: Object | None, _listed: Lister) -> bool:
    if old is None:
        return False
    gone = PodInfo.of(old)
    if gone.namespace != pod.namespace:
        return False
    return _disks_conflict(pod, [gone]) or bool(set(gone.claims) & set(pod.claims))


def _after_claim(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and meta.namespace_of(new) == pod.namespace and meta.name_of(new) in pod.claims
