"""VolumeZone: a volume's zone labels must match the node's (plugins/volumezone/volume_zone.go)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events, volumes
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable
from app.scheduler.snapshot import Snapshot

_REJECTED = unresolvable("node(s) had no available volume zone")
_CURRENT = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_KEYS = (*_CURRENT, *_CURRENT.values())
_SEPARATOR = "__"
Topology = tuple[str, frozenset[str]]
"""A label key and the values that will do."""


@dataclass(frozen=True)
class _State:
    topologies: tuple[Topology, ...]

    def clone(self) -> _State:
        return self


class VolumeZone(Plugin):
    """Compares zone and region labels of bound volumes with the node's."""

    NAME = "VolumeZone"

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Collect the labels of the bound volumes."""
        found: list[Topology] = []
        for name in pod.claims:
            topologies = _of_claim(pod, name, state.snapshot)
            if isinstance(topologies, Status):
                return None, topologies
            found.extend(topologies)
        if not found:
            return None, SKIP
        state.write(self.NAME, _State(tuple(found)))
        return None, None

    def filter(self, state: CycleState, _pod: PodInfo, node: NodeInfo) -> Status | None:
        """A node without any zone label takes every volume."""
        kept = state.read(self.NAME, _State)
        if kept is None or not any(key in node.labels for key in _KEYS):
            return None
        for key, values in kept.topologies:
            if node.labels.get(key, node.labels.get(_CURRENT.get(key, key))) not in values:
                return _REJECTED
        return None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Classes, nodes and claims that appear, labels of nodes and volumes that change."""
        changed = Action.ADD | Action.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent("StorageClass", Action.ADD), _after_class),
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent("PersistentVolumeClaim", changed), _after_claim),
            ClusterEventWithHint(ClusterEvent("PersistentVolume", changed), _after_volume),
        )


def _of_claim(pod: PodInfo, name: str, snapshot: Snapshot) -> list[Topology] | Status:
    claim = snapshot.list("PersistentVolumeClaim").get(f"{pod.namespace}/{name}")
    if claim is None:
        return unresolvable(f'persistentvolumeclaim "{name}" not found')
    volume_name = volumes.volume_name(claim)
    if not volume_name:
        return _of_unbound(claim, snapshot)
    volume = snapshot.list("PersistentVolume").get(volume_name)
    if volume is None:
        return unresolvable(f'persistentvolume "{volume_name}" not found')
    return _topologies(volume)


def _of_unbound(claim: Object, snapshot: Snapshot) -> list[Topology] | Status:
    """Nothing to compare while the claim waits for its pod; any other unbound claim is an obstacle."""
    named = volumes.class_of(claim)
    if not named:
        return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
    if named not in snapshot.list("StorageClass"):
        return unresolvable(f'storageclass.storage.k8s.io "{named}" not found')
    return [] if volumes.waits_for_consumer(claim, snapshot) else unresolvable("PersistentVolume had no name")


def _topologies(volume: Object) -> list[Topology]:
    labels = meta.labels_of(volume)
    return [(key, frozenset(labels[key].split(_SEPARATOR))) for key in _KEYS if key in labels]


def _after_class(_pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and new.get("volumeBindingMode") == volumes.WAIT_FOR_FIRST_CONSUMER


def _after_claim(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and meta.namespace_of(new) == pod.namespace and meta.name_of(new) in pod.claims


def _after_volume(_pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and (old is None or _topologies(old) != _topologies(new))
