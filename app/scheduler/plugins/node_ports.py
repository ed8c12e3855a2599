"""NodePorts: host ports must be free (plugins/nodeports/node_ports.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.host_ports import HostPortInfo
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unschedulable

_REJECTED = unschedulable("node(s) didn't have free ports for the requested pod ports")


class NodePorts(Plugin):
    """Turns down nodes where a wanted host port is taken."""

    NAME = "NodePorts"
    LOCAL = True

    def pre_filter(self, _state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Skip pods without host ports."""
        return None, None if pod.host_ports else SKIP

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn the node down where any wanted port is taken (Fits)."""
        return _REJECTED if any(node.used_ports.conflicts(port) for port in pod.host_ports) else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that gives up a wanted port, or a new node."""
        return (
            ClusterEventWithHint(events.ASSIGNED_POD_DELETE, _after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD)),
        )


def _after_pod_deleted(pod: PodInfo, old: Object | None, _new: Object | None, _listed: Lister) -> bool:
    if old is None:
        return False
    gone = PodInfo.of(old)
    if not gone.node_name and not gone.nominated_node:
        return False
    freed = HostPortInfo()
    freed.add(gone.host_ports)
    return any(freed.conflicts(port) for port in pod.host_ports)
