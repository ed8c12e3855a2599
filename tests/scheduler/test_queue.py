"""The scheduling queue on a clock that the tests move."""

import json

import pytest

from app.apimachinery.clock import MINUTE, SECOND
from app.scheduler import event_handlers
from app.scheduler.framework.events import EVERYTHING, Action, ClusterEvent
from app.scheduler.profile import build_profiles
from app.scheduler.queue import SchedulingQueue
from tests.scheduler.builders import config, node, pod

PROFILES = build_profiles(None)
FIT = {"NodeResourcesFit"}


def _queue(*pods, now=0):
    queue = SchedulingQueue(PROFILES)
    for item in pods:
        queue.add(item, now)
    return queue


def _fail(queue, now, plugins=FIT, pending=()):
    entry = queue.pop(now)
    assert entry is not None
    return entry, queue.add_unschedulable(entry, plugins, pending, now)


def _place(queue, key):
    found = queue.describe(key)
    return found["queue"] if found else None


def _pop(queue, now):
    entry = queue.pop(now)
    if entry is None:
        return None
    queue.done(entry.pod.key)
    return entry.pod.name


def test_higher_priority_comes_first_then_the_earlier():
    queue = _queue(pod("low"), pod("high", priority=5), pod("late"))
    assert [_pop(queue, 0) for _ in range(4)] == ["high", "low", "late", None]


def test_a_change_of_a_waiting_pod_moves_it_in_the_order():
    first, second = pod("first"), pod("second")
    queue = _queue(first, second)
    queue.update(second, pod("second", priority=5), 0)
    again = SchedulingQueue.load(queue.dump(), PROFILES, [first, pod("second", priority=5)])
    for found in (queue, again):
        assert [_pop(found, 0) for _ in range(3)] == ["second", "first", None]


def test_a_pod_that_left_and_came_back_is_popped_once():
    first, second = pod("first"), pod("second")
    queue = _queue(first, second)
    queue.delete(first)
    queue.add(first, 1)
    assert [_pop(queue, 1) for _ in range(3)] == ["second", "first", None]


def test_a_pod_that_no_event_helps_is_tried_again_after_five_minutes():
    queue = _queue(pod("a", cpu="9"))
    entry, place = _fail(queue, 0)
    assert (place, entry.attempts) == ("unschedulable", 1)
    assert queue.next_instant(SECOND) == 5 * MINUTE
    assert queue.pop(5 * MINUTE - 1) is None
    assert queue.pop(5 * MINUTE).attempts == 2


def test_an_event_wakes_only_pods_that_it_may_help():
    queue = _queue(pod("fits", cpu="2"), pod("big", cpu="9"), pod("blue", nodeSelector={"color": "blue"}))
    _fail(queue, 0)
    _fail(queue, 0)
    _fail(queue, 0, {"NodeAffinity"})
    event_handlers.handle(queue, None, node("a", cpu="4"), 10 * SECOND)
    assert [_place(queue, f"default/{name}") for name in ("fits", "big", "blue")] == [
        "active",
        "unschedulable",
        "unschedulable",
    ]


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (9, 10)])
def test_back_off_doubles_up_to_ten_seconds(failures, seconds):
    queue = _queue(pod("a"))
    now = 0
    for _ in range(failures):
        _fail(queue, now, ())
        now = queue.describe("default/a")["backoffUntil"]
    assert queue.describe("default/a")["backoffUntil"] - queue.describe("default/a")["timestamp"] == seconds * SECOND


def test_an_error_waits_its_time_even_when_nothing_else_is_to_do():
    queue = _queue(pod("a"))
    _, place = _fail(queue, 0, ())
    assert place == "backoff"
    assert queue.pop(SECOND - 1) is None
    assert queue.next_instant(0) == SECOND
    assert _pop(queue, SECOND) == "a"


def test_a_rejected_pod_is_taken_from_back_off_when_nothing_is_active():
    queue = _queue(pod("a", cpu="2"))
    _fail(queue, 0)
    event_handlers.handle(queue, None, node("n"), 1)
    assert _place(queue, "default/a") == "backoff"
    assert queue.next_instant(1) == 1
    assert _pop(queue, 1) == "a"


def test_an_event_in_flight_counts_for_the_pod_that_fails():
    queue = _queue(pod("a", cpu="2"))
    entry = queue.pop(0)
    event_handlers.handle(queue, None, node("n"), 0)
    assert queue.add_unschedulable(entry, FIT, (), 0) == "backoff"


def test_a_pending_plugin_lets_the_pod_skip_back_off():
    queue = _queue(pod("a", cpu="2"))
    _fail(queue, 0, (), FIT)
    event_handlers.handle(queue, None, node("n"), 1)
    assert _place(queue, "default/a") == "active"


def test_a_gated_pod_waits_until_its_last_gate_is_taken_off():
    gated = pod("a", schedulingGates=[{"name": "one"}, {"name": "two"}])
    queue = _queue(gated)
    assert _place(queue, "default/a") == "unschedulable"
    assert queue.next_instant(0) is None
    assert queue.pop(10 * MINUTE) is None
    half = {**gated, "spec": {**gated["spec"], "schedulingGates": [{"name": "two"}]}}
    free = {**gated, "spec": {**gated["spec"], "schedulingGates": []}}
    event_handlers.handle(queue, gated, half, 1)
    assert _place(queue, "default/a") == "unschedulable"
    event_handlers.handle(queue, half, free, 2)
    assert _pop(queue, 2) == "a"


def test_a_new_toleration_brings_the_pod_back():
    before = pod("a")
    after = {**before, "spec": {**before["spec"], "tolerations": [{"key": "k", "operator": "Exists"}]}}
    queue = _queue(before)
    _fail(queue, 0, {"TaintToleration"})
    event_handlers.handle(queue, before, {**before, "status": {"phase": "Pending"}}, 20 * SECOND)
    assert _place(queue, "default/a") == "unschedulable"
    event_handlers.handle(queue, before, after, 20 * SECOND)
    assert _place(queue, "default/a") == "active"


def test_a_placed_pod_wakes_those_that_want_to_be_near_it():
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    queue = _queue(pod("near", affinity=near), pod("far"))
    _fail(queue, 0, {"InterPodAffinity"})
    _fail(queue, 0, {"InterPodAffinity"})
    unbound, bound = pod("db", labels={"app": "db"}), pod("db", labels={"app": "db"}, on="n")
    event_handlers.handle(queue, unbound, bound, 20 * SECOND)
    assert _place(queue, "default/near") == "active"
    assert _place(queue, "default/far") == "unschedulable"


def test_a_pod_that_ends_is_as_good_as_deleted():
    running = pod("old", cpu="1", on="n", status={"phase": "Running"})
    queue = _queue(pod("a", cpu="1"))
    _fail(queue, 0)
    event_handlers.handle(queue, running, {**running, "status": {"phase": "Succeeded"}}, 20 * SECOND)
    assert _place(queue, "default/a") == "active"


def test_a_deleted_pod_leaves_the_queue():
    waiting = pod("a")
    queue = _queue(waiting)
    event_handlers.handle(queue, waiting, None, 0)
    assert queue.describe("default/a") is None
    assert queue.pop(0) is None


def test_a_pod_of_another_scheduler_never_enters():
    queue = SchedulingQueue(PROFILES)
    event_handlers.handle(queue, None, pod("a", schedulerName="my-scheduler"), 0)
    assert queue.pop(0) is None


def test_a_pod_made_anew_under_its_name_is_another_pod():
    first, second = pod("a"), pod("a")
    second["metadata"]["uid"] = "another"
    queue = _queue(first)
    _fail(queue, 0)
    event_handlers.handle(queue, first, second, 1)
    assert queue.pop(1).attempts == 1


def test_activated_pods_are_tried_at_once():
    queue = _queue(pod("a"))
    _fail(queue, 0)
    queue.activate(["default/a", "default/unknown"], 1)
    assert _place(queue, "default/a") == "active"


def test_an_event_for_everyone_wakes_everyone():
    queue = _queue(pod("a"), pod("b"))
    _fail(queue, 0)
    _fail(queue, 0, {"NodeAffinity"})
    queue.move_all(EVERYTHING, None, None, 20 * SECOND)
    assert [_place(queue, "default/a"), _place(queue, "default/b")] == ["active", "active"]


def test_an_event_that_no_plugin_waits_for_moves_nobody():
    queue = _queue(pod("a"))
    _fail(queue, 0, ())
    queue.move_all(ClusterEvent("ConfigMap", Action.ADD), None, None, 0)
    assert _place(queue, "default/a") == "backoff"


def test_it_goes_through_json_and_keeps_everything():
    pods = [
        pod("active"),
        pod("failed", priority=3),
        pod("error", priority=2),
        pod("gated", schedulingGates=[{"name": "g"}]),
    ]
    queue = _queue(*pods)
    _fail(queue, 0)
    _fail(queue, 0, ())
    data = json.loads(json.dumps(queue.dump()))
    again = SchedulingQueue.load(data, PROFILES, pods)
    assert again.dump() == queue.dump()
    assert [_pop(again, now) for now in (0, SECOND, SECOND)] == ["active", "error", None]
    event_handlers.handle(again, None, node("n"), MINUTE)
    assert _pop(again, MINUTE) == "failed"


def test_pods_that_are_gone_are_dropped_on_load():
    queue = _queue(pod("a"), pod("b"))
    other = pod("b")
    other["metadata"]["uid"] = "another"
    again = SchedulingQueue.load(queue.dump(), PROFILES, [pod("a"), other])
    assert [_pop(again, 0), _pop(again, 0)] == ["a", None]


def test_pods_whose_profile_is_gone_are_dropped_on_load():
    both = build_profiles(config({"schedulerName": "default-scheduler"}, {"schedulerName": "mine"}))
    queue = SchedulingQueue(both)
    pods = [pod("a", schedulerName="mine"), pod("b")]
    for item in pods:
        queue.add(item, 0)
    again = SchedulingQueue.load(queue.dump(), PROFILES, pods)
    assert [_pop(again, 0), _pop(again, 0)] == ["b", None]


def test_it_cannot_be_dumped_with_a_pod_in_flight():
    queue = _queue(pod("a"))
    queue.pop(0)
    with pytest.raises(RuntimeError, match="default/a"):
        queue.dump()


def test_the_backoff_of_the_configuration_can_be_given():
    profiles = build_profiles(config({}))
    queue = SchedulingQueue(profiles, initial_backoff=3 * SECOND, max_backoff=4 * SECOND)
    queue.add(pod("a"), 0)
    _fail(queue, 0, ())
    assert queue.describe("default/a")["backoffUntil"] == 3 * SECOND
    _fail(queue, 3 * SECOND, ())
    assert queue.describe("default/a")["backoffUntil"] == 7 * SECOND


def test_a_cleared_nomination_frees_its_room_for_equal_and_lower_pods():
    nominated = pod("vip", cpu="1", priority=10, status={"nominatedNodeName": "n"})
    cleared = {**nominated, "status": {}}
    queue = _queue(pod("low", cpu="1", priority=1), pod("higher", cpu="1", priority=20), nominated)
    for _ in range(3):
        _fail(queue, 0)
    event_handlers.handle(queue, nominated, cleared, 20 * SECOND)
    assert _place(queue, "default/low") == "active"
    assert _place(queue, "default/higher") == "unschedulable"
