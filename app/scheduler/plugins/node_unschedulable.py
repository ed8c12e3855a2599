"""NodeUnschedulable: stay away from cordoned nodes (plugins/nodeunschedulable/node_unschedulable.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework import events
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Status, unresolvable

_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_REJECTED = unresolvable("node(s) were unschedulable")


class NodeUnschedulable(Plugin):
    """spec.unschedulable keeps pods away that do not tolerate its taint."""

    NAME = "NodeUnschedulable"
    LOCAL = True

    def filter(self, _state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Turn down a cordoned node."""
        return _REJECTED if node.unschedulable and not self._tolerated(pod) else None

    def _tolerated(self, pod: PodInfo) -> bool:
        return any(helpers.tolerates(toleration, _TAINT) for toleration in pod.tolerations)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is not cordoned, or a toleration that the pod was given."""
        return (
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), _after_node),
            ClusterEventWithHint(ClusterEvent(events.POD, Action.UPDATE_POD_TOLERATION), self._after_pod),
        )

    def _after_pod(self, pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
        return new is not None and events.same_pod(pod, new) and self._tolerated(PodInfo.of(new))


def _after_node(_pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and not (new.get("spec") or {}).get("unschedulable")
