"""SchedulingGates: a pod with gates is not tried (plugins/schedulinggates/scheduling_gates.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Status, unresolvable


class SchedulingGates(Plugin):
    """Waits until the last gate is taken off."""

    NAME = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Turn the pod away while it has gates."""
        gates = [str(gate.get("name")) for gate in pod.spec.get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The pod's own update that takes the last gate off."""
        event = ClusterEvent(events.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (ClusterEventWithHint(event, _after_update),)


def _after_update(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return events.same_pod(pod, new)
