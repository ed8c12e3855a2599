"""Changes of nodes and pods, and which registered events cover them."""

import pytest

from app.scheduler.framework import events
from app.scheduler.framework.events import Action, ClusterEvent
from tests.scheduler.builders import node, pod


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (node("a"), node("a"), []),
        (node("a"), node("a", cpu="8"), [Action.UPDATE_NODE_ALLOCATABLE]),
        (node("a", cpu="1"), node("a", cpu="1000m"), []),
        (node("a"), node("a", labels={"x": "y"}), [Action.UPDATE_NODE_LABEL]),
        (node("a"), node("a", taints=[{"key": "k", "effect": "NoSchedule"}]), [Action.UPDATE_NODE_TAINT]),
        (node("a", unschedulable=True), node("a"), [Action.UPDATE_NODE_TAINT]),
        (node("a"), node("a", unschedulable=True), []),
        (node("a", unschedulable=True), node("a", cpu="8", labels={"x": "y"}), [
            Action.UPDATE_NODE_TAINT, Action.UPDATE_NODE_ALLOCATABLE, Action.UPDATE_NODE_LABEL,
        ]),
    ],
)  # fmt: skip
def test_a_node_change_is_told_by_its_kind(old, new, actions):
    assert [event.action for event in events.node_changes(old, new)] == actions


def test_conditions_and_annotations_of_nodes_are_changes_too():
    ready = node("a")
    ready["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "x"}]
    beat = node("a")
    beat["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "y"}]
    noted = node("a")
    noted["metadata"]["annotations"] = {"x": "y"}
    assert events.node_changes(ready, beat) == []
    assert [event.action for event in events.node_changes(node("a"), ready)] == [Action.UPDATE_NODE_CONDITION]
    assert [event.action for event in events.node_changes(node("a"), noted)] == [Action.UPDATE_NODE_ANNOTATION]


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (pod("a"), pod("a"), [Action.UPDATE]),
        (pod("a"), pod("a", labels={"x": "y"}), [Action.UPDATE_POD_LABEL]),
        (pod("a", cpu="2"), pod("a", cpu="1"), [Action.UPDATE_POD_SCALE_DOWN]),
        (pod("a", cpu="1"), pod("a", cpu="2"), [Action.UPDATE]),
        (pod("a", schedulingGates=[{"name": "g"}]), pod("a"), [Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED]),
        (pod("a"), pod("a", tolerations=[{"operator": "Exists"}]), [Action.UPDATE_POD_TOLERATION]),
    ],
)
def test_a_pod_change_is_told_by_its_kind(old, new, actions):
    assert [event.action for event in events.pod_changes(old, new)] == actions
    assert {event.resource for event in events.pod_changes(old, new)} == {events.UNSCHEDULED_POD}


@pytest.mark.parametrize(
    ("registered", "happened", "covered"),
    [
        (ClusterEvent(events.POD, Action.DELETE), events.ASSIGNED_POD_DELETE, True),
        (events.ASSIGNED_POD_DELETE, ClusterEvent(events.UNSCHEDULED_POD, Action.DELETE), False),
        (ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), ClusterEvent(events.NODE, Action.ADD), True),
        (ClusterEvent(events.NODE, Action.ADD), ClusterEvent(events.NODE, Action.UPDATE_NODE_LABEL), False),
        (events.EVERYTHING, ClusterEvent("ConfigMap", Action.UPDATE), True),
        (ClusterEvent(events.NODE, Action.ALL), ClusterEvent("PersistentVolume", Action.ADD), False),
    ],
)
def test_a_registered_event_covers_what_happened(registered, happened, covered):
    assert registered.matches(happened) is covered
