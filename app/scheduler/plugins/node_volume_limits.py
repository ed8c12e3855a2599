"""NodeVolumeLimits: how many volumes a CSI driver attaches to a node (plugins/nodevolumelimits/csi.go)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events, volumes
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from app.scheduler.snapshot import Snapshot

_EXCEEDED = unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(Plugin):
    """Counts volumes by driver against the node's CSINode."""

    NAME = "NodeVolumeLimits"

    def pre_filter(self, _state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Skip pods without claims."""
        return None, None if pod.claims or pod.ephemeral_claims else SKIP

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a node whose driver would hold too many; a volume that is attached already is not new."""
        snapshot = state.snapshot
        listed = snapshot.list("PersistentVolumeClaim")
        for name in pod.claims:
            if f"{pod.namespace}/{name}" not in listed:
                return unresolvable(f'persistentvolumeclaim "{name}" not found')
        limits = _limits(snapshot.list("CSINode").get(node.name))
        if not limits:
            return None
        attached: dict[str, str] = {}
        for other in node.pods:
            attached.update(_attachable(other, snapshot))
        new = {handle: driver for handle, driver in _attachable(pod, snapshot).items() if handle not in attached}
        used = Counter(attached.values())
        wanted = Counter(new.values())
        exceeded = any(driver in limits and used[driver] + count > limits[driver] for driver, count in wanted.items())
        return _EXCEEDED if exceeded else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node's limits, a pod with claims that goes, or the pod's claim that appears."""
        return (
            ClusterEventWithHint(ClusterEvent("CSINode", Action.ADD | Action.UPDATE), _after_csi_node),
            ClusterEventWithHint(events.ASSIGNED_POD_DELETE, _after_pod_deleted),
            ClusterEventWithHint(ClusterEvent("PersistentVolumeClaim", Action.ADD), _after_claim),
        )


def _limits(csi_node: Object | None) -> Mapping[str, int]:
    """Attachable volumes by driver, as far as the node says."""
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    return {
        str(driver.get("name")): int(driver["allocatable"]["count"])
        for driver in drivers
        if (driver.get("allocatable") or {}).get("count") is not None
    }


def _attachable(pod: PodInfo, snapshot: Snapshot) -> dict[str, str]:
    """Unique volume name → driver, for each claim of the pod that a CSI driver serves (filterAttachableVolumes)."""
    found = {}
    for name in (*pod.claims, *pod.ephemeral_claims):
        claim = snapshot.list("PersistentVolumeClaim").get(f"{pod.namespace}/{name}")
        if claim is None:
            continue
        driver, handle = _driver(claim, snapshot)
        if driver:
            found[f"{driver}/{handle}"] = driver
    return found


def _driver(claim: Object, snapshot: Snapshot) -> tuple[str, str]:
    """(driver, handle): of the bound volume, else what the class would provision; empty where no driver is known."""
    volume = snapshot.list("PersistentVolume").get(volumes.volume_name(claim))
    if volume is not None:
        source = (volume.get("spec") or {}).get("csi")
        return (str(source.get("driver")), str(source.get("volumeHandle"))) if source else ("", "")
    storage_class = snapshot.list("StorageClass").get(volumes.class_of(claim))
    if storage_class is None:
        return "", ""
    return str(storage_class.get("provisioner") or ""), f"claim-{meta.key_of(claim)}"


def _after_csi_node(_pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
    before, after = _limits(old), _limits(new)
    return old is None or any(after.get(driver, limit) > limit for driver, limit in before.items())


def _after_pod_deleted(_pod: PodInfo, old: Object | None, _new: Object | None, _listed: Lister) -> bool:
    if old is None:
        return False
    gone = PodInfo.of(old)
    return bool(gone.node_name and (gone.claims or gone.ephemeral_claims))


def _after_claim(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    if new is None or meta.namespace_of(new) != pod.namespace:
        return False
    return meta.name_of(new) in (*pod.claims, *pod.ephemeral_claims)
