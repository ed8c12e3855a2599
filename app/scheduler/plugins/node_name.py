"""NodeName: a pod that names its node runs there or nowhere (plugins/nodename/node_name.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.scheduler.framework import events
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Status, unresolvable

_REJECTED = unresolvable("node(s) didn't match the requested node name")


class NodeName(Plugin):
    """Compares spec.nodeName."""

    NAME = "NodeName"
    LOCAL = True

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down every node but the named one."""
        return _REJECTED if pod.node_name and pod.node_name != node.name else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A new node may have the name."""
        return (ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD)),)
