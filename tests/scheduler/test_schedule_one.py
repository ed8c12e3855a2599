"""One cycle: the decision, the words, the effects."""

import json

import pytest

from app.scheduler.schedule_one import nodes_to_find, schedule_one
from app.scheduler.snapshot import Snapshot
from tests.scheduler.builders import attempt, config, node, pod

SPRAY = [{"key": "spray", "value": "mortein", "effect": "NoSchedule"}]
EMPTY = "no new claims to deallocate, preemption: "


def test_a_pod_goes_to_the_only_node_that_fits():
    result = attempt([node("controlplane", taints=SPRAY), node("node01")], pod("bee"))
    assert result.node == "node01"
    assert result.effects == ({"effect": "bind", "pod": "default/bee", "node": "node01"},)
    assert result.event() == {
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": "Successfully assigned default/bee to node01",
    }
    assert (result.reason, result.message, result.nominated_node) == ("", "", None)


def test_a_pod_that_fits_nowhere_is_told_why():
    objects = [node("a", taints=SPRAY), node("b", cpu="1"), node("c", labels={"disk": "hdd"})]
    wanted = pod("big", cpu="2", nodeSelector={"disk": "hdd"}, tolerations=[{"key": "other", "operator": "Exists"}])
    objects[2]["spec"]["unschedulable"] = True
    result = attempt(objects, wanted)
    assert result.node == ""
    assert result.reason == "Unschedulable"
    assert result.message == (
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. "
        f"{EMPTY}0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    assert result.event()["note"] == result.message
    assert result.unschedulable_plugins == {"NodeAffinity", "TaintToleration", "NodeUnschedulable"}


def test_without_nodes_there_is_a_sentence_of_its_own():
    result = attempt([], pod("bee"))
    assert (result.reason, result.message) == ("Unschedulable", "no nodes available to schedule pods")
    assert result.unschedulable_plugins == frozenset()


def test_the_note_of_a_long_message_is_cut_and_the_message_is_not():
    names = [f"example.com/{'x' * 40}-{number}" for number in range(40)]
    requests = dict.fromkeys(names, "1")
    container = {"name": "c", "image": "nginx", "resources": {"requests": requests, "limits": requests}}
    result = attempt([node("a")], pod("greedy", containers=[container]))
    assert len(result.event()["note"].encode()) == 1024
    assert result.event()["note"].endswith(" ...")
    assert result.message.endswith("Preemption is not helpful for scheduling.")


def test_ties_go_to_the_smallest_name_or_to_who_is_picked():
    nodes = [node("c"), node("a"), node("b")]
    assert attempt(nodes, pod("bee")).node == "a"
    result = attempt(nodes, pod("bee"), pick=lambda names: names[-1])
    assert (result.node, result.record.best) == ("c", ["a", "b", "c"])


def test_a_preemption_names_victims_and_node():
    objects = [node("a", cpu="1"), node("b", cpu="1")]
    objects += [pod("old", cpu="1", on="a", priority=5), pod("new", cpu="1", on="b", priority=3)]
    result = attempt(objects, pod("vip", cpu="1", priority=10))
    assert result.node == ""
    assert result.nominated_node == "b"
    assert result.effects == ({"effect": "evict", "pod": "default/new", "node": "b", "preemptor": "default/vip"},)
    assert result.message == "0/2 nodes are available: 2 Insufficient cpu."


def test_a_nomination_is_cleared_when_preemption_does_not_help_any_more():
    objects = [node("a", cpu="1")]
    wanted = pod("vip", cpu="2", priority=10, status={"nominatedNodeName": "a"})
    assert attempt(objects, wanted).nominated_node == ""
    assert attempt(objects, pod("vip", cpu="2")).nominated_node is None


def test_pods_nominated_to_a_node_take_its_room():
    objects = [node("a", cpu="1")]
    waiting = pod("vip", cpu="1", priority=10, status={"nominatedNodeName": "a"})
    assert attempt([*objects, waiting], pod("bee", cpu="1")).node == ""
    assert attempt([*objects, waiting], pod("queen", cpu="1", priority=11)).node == "a"
    assert attempt([*objects, waiting], waiting).node == "a"
    assert attempt(objects, pod("bee", cpu="1"), nominated=[waiting]).node == ""
    assert attempt([*objects, waiting], pod("bee", cpu="1"), nominated=[]).node == "a"


def test_a_profile_without_preemption_says_nothing_of_it():
    quiet = config({"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}})
    result = attempt([node("a", cpu="1")], pod("big", cpu="2"), quiet)
    assert result.message == "0/1 nodes are available: 1 Insufficient cpu."


def test_an_assumed_pod_takes_room_in_the_next_cycle():
    snapshot = Snapshot.of([node("a", cpu="1"), node("b", cpu="1")])
    first = pod("one", cpu="1")
    after = snapshot.assume(first, "a")
    assert attempt([], first).node == ""
    framework = attempt([node("a")], first).record.framework
    assert schedule_one(framework, after, pod("two", cpu="1")).node == "b"
    assert schedule_one(framework, snapshot, pod("two", cpu="1")).node == "a"


def test_a_cycle_changes_nothing_that_it_was_given():
    objects = [node("a", cpu="1", taints=SPRAY), node("b", cpu="1"), pod("old", cpu="1", on="b")]
    wanted = pod("vip", cpu="1", priority=10)
    before = json.dumps([objects, wanted])
    assert attempt(objects, wanted).effects
    assert attempt(objects, wanted).attempt
    assert json.dumps([objects, wanted]) == before


@pytest.mark.parametrize(
    ("total", "percentage", "enough"),
    [(99, 10, 99), (100, 0, 100), (1000, 0, 420), (1000, 5, 100), (5000, 0, 500), (6000, 0, 300), (1000, 100, 1000)],
)
def test_large_clusters_are_not_searched_to_the_end(total, percentage, enough):
    assert nodes_to_find(total, percentage) == enough
