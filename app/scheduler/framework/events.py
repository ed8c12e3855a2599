"""What happens in a cluster, as far as it may make a pod schedulable (pkg/scheduler/framework/events.go).

A plugin registers the events that may undo its rejection, each with a hint: a function that looks at one event and
answers whether it is worth trying the pod again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

from app.apimachinery import meta, quantity
from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework.pod_info import PodInfo


class Action(IntFlag):
    """What was done to a resource. UPDATE is the change that none of the others names."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATION = 512
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1024
    UPDATE = 2048
    ALL = 4095


WILDCARD = "*"
POD, ASSIGNED_POD, UNSCHEDULED_POD = "Pod", "AssignedPod", "UnscheduledPod"
NODE = "Node"


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A resource and what was done to it. `Pod` stands for assigned and unscheduled pods alike."""

    resource: str
    action: Action

    def matches(self, other: ClusterEvent) -> bool:
        """Whether a registered event covers one that happened (framework/types.go: MatchClusterEvents)."""
        if self.resource not in {WILDCARD, other.resource} and not (
            self.resource == POD and other.resource in {ASSIGNED_POD, UNSCHEDULED_POD}
        ):
            return False
        return bool(self.action & other.action)


EVERYTHING = ClusterEvent(WILDCARD, Action.ALL)
ASSIGNED_POD_ADD = ClusterEvent(ASSIGNED_POD, Action.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(ASSIGNED_POD, Action.DELETE)

Lister = Callable[[str], Mapping[str, Object]]
"""Objects of a kind by `namespace/name`, as Snapshot.list gives them."""

Hint = Callable[[PodInfo, Object | None, Object | None, Lister], bool]
"""(the waiting pod, the object before, the object after, what else there is) → whether to try the pod again."""


def nothing_listed(_kind: str) -> Mapping[str, Object]:
    """A Lister that knows of no object."""
    return {}


@dataclass(frozen=True, slots=True)
class ClusterEventWithHint:
    """An event that a plugin waits for. Without a hint every such event is worth a try."""

    event: ClusterEvent
    hint: Hint | None = None


def node_changes(old: Object, new: Object) -> list[ClusterEvent]:
    """The events of a node's update (framework/events.go: NodeSchedulingPropertiesChange)."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    found: list[Action] = []
    if before.get("unschedulable") and not after.get("unschedulable"):
        found.append(Action.UPDATE_NODE_TAINT)
    if _allocatable(old) != _allocatable(new):
        found.append(Action.UPDATE_NODE_ALLOCATABLE)
    if meta.labels_of(old) != meta.labels_of(new):
        found.append(Action.UPDATE_NODE_LABEL)
    if (before.get("taints") or []) != (after.get("taints") or []):
        found.append(Action.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        found.append(Action.UPDATE_NODE_CONDITION)
    if meta.annotations_of(old) != meta.annotations_of(new):
        found.append(Action.UPDATE_NODE_ANNOTATION)
    return [ClusterEvent(NODE, action) for action in found]


def _allocatable(node: Mapping[str, Any]) -> dict[str, quantity.Quantity]:
    listed = (node.get("status") or {}).get("allocatable") or {}
    return {name: quantity.of(amount) for name, amount in listed.items()}


def _conditions(node: Mapping[str, Any]) -> dict[str, str]:
    listed = (node.get("status") or {}).get("conditions") or ()
    return {str(condition.get("type")): str(condition.get("status")) for condition in listed}


def pod_changes(old: Object, new: Object) -> list[ClusterEvent]:
    """The events of a pod's update (framework/events.go: PodSchedulingPropertiesChange); never empty."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    resource = ASSIGNED_POD if after.get("nodeName") else UNSCHEDULED_POD
    found: list[Action] = []
    if meta.labels_of(old) != meta.labels_of(new):
        found.append(Action.UPDATE_POD_LABEL)
    if scaled_down(old, new):
        found.append(Action.UPDATE_POD_SCALE_DOWN)
    if before.get("schedulingGates") and not after.get("schedulingGates"):
        found.append(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(before.get("tolerations") or ()) != len(after.get("tolerations") or ()):
        found.append(Action.UPDATE_POD_TOLERATION)
    return [ClusterEvent(resource, action) for action in found or [Action.UPDATE]]


def scaled_down(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the pod asks for less of anything than it did."""
    wanted = helpers.pod_requests(new)
    return any(
        name not in wanted or amount.milli_value() > wanted[name].milli_value()
        for name, amount in helpers.pod_requests(old).items()
    )


def same_pod(pod: PodInfo, obj: Object | None) -> bool:
    """Whether the event is about the waiting pod itself."""
    return obj is not None and PodInfo.of(obj).uid == pod.uid
