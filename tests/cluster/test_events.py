import pytest

from app.apimachinery.clock import SimulatedClock
from app.apimachinery.meta import Object
from app.cluster import events
from app.cluster.client import Client
from app.cluster.events import Recorder
from tests.cluster.builders import MINUTE, NOW, SECOND, fresh, pod


class World:
    """A recorder over a real cluster's API, with a clock to move."""

    def __init__(self) -> None:
        cluster = fresh()
        self.client: Client = cluster.client
        self.clock: SimulatedClock = cluster._clock
        self.recorder = Recorder(self.client, self.clock)
        self.pod: Object = self.client.create(pod())

    def record(self, message: str = "went well") -> None:
        self.recorder.record(self.pod, events.NORMAL, "Done", message, component="kubelet", host="node01")

    def record_series(self, subject: Object | None = None) -> None:
        self.recorder.record_series(
            subject or self.pod,
            events.WARNING,
            "FailedScheduling",
            "Scheduling",
            "no",
            controller="mine",
            instance="mine-x",
        )

    def all(self) -> list[Object]:
        return self.client.list("events", "default")


def test_a_component_writes_who_saw_what_and_when() -> None:
    world = World()
    world.record()
    (event,) = world.all()
    assert event["metadata"]["name"] == f"bee.{NOW * 1000:x}"
    assert event["involvedObject"]["uid"] == world.pod["metadata"]["uid"]
    assert event["source"] == {"component": "kubelet", "host": "node01"}
    assert (event["count"], event["firstTimestamp"]) == (1, "2026-03-01T09:00:00Z")
    assert (event["reportingComponent"], event["reportingInstance"]) == ("kubelet", "node01")


def test_a_repeated_event_raises_the_count() -> None:
    world = World()
    world.record()
    world.clock.advance_to(NOW + 5 * SECOND)
    world.record()
    world.record("went better")
    first, second = world.all()
    assert (first["count"], first["lastTimestamp"]) == (2, "2026-03-01T09:00:05Z")
    assert (second["count"], second["message"]) == (1, "went better")


def test_a_recorder_goes_on_after_a_restart_and_after_an_event_was_deleted() -> None:
    world = World()
    world.record()
    world.recorder = Recorder(world.client, world.clock)
    world.record()
    (event,) = world.all()
    assert event["count"] == 2
    world.client.delete("events", event["metadata"]["name"], "default")
    world.record()
    assert [event["count"] for event in world.all()] == [1]


def test_a_scheduler_writes_the_newer_form() -> None:
    world = World()
    world.record_series()
    (event,) = world.all()
    assert event["source"] == {}
    assert event["eventTime"] == "2026-03-01T09:00:00.000000Z"
    assert event["firstTimestamp"] is None
    assert (event["action"], event["reportingComponent"], event["reportingInstance"]) == (
        "Scheduling",
        "mine",
        "mine-x",
    )


def test_repeats_become_a_series_until_the_object_changes() -> None:
    world = World()
    world.record_series()
    assert "series" not in world.all()[0]
    world.record_series()
    (event,) = world.all()
    assert event["series"]["count"] == 2
    world.record_series(world.client.patch("pods", "bee", "default", {"metadata": {"labels": {"a": "b"}}}))
    assert len(world.all()) == 2


def test_from_the_third_on_a_series_is_written_when_it_ends_or_every_half_hour() -> None:
    world = World()
    for _ in range(5):
        world.record_series()
    assert world.all()[0]["series"]["count"] == 2
    world.clock.advance_to(NOW + 12 * MINUTE)
    world.recorder.flush()
    assert world.all()[0]["series"] == {"count": 5, "lastObservedTime": "2026-03-01T09:00:00.000000Z"}


def test_a_running_series_is_written_every_half_hour() -> None:
    world = World()
    for minute in range(0, 30, 5):
        world.clock.advance_to(NOW + minute * MINUTE)
        world.record_series()
        world.recorder.flush()
    assert world.all()[0]["series"]["count"] == 2
    world.clock.advance_to(NOW + 30 * MINUTE)
    world.recorder.flush()
    assert world.all()[0]["series"]["count"] == 6


def test_after_a_pause_a_repeated_event_is_one_of_its_own() -> None:
    world = World()
    world.record_series()
    world.clock.advance_to(NOW + 13 * MINUTE)
    world.record_series()
    assert ["series" in event for event in world.all()] == [False, False]


def test_a_cluster_writes_the_counts_that_it_owes() -> None:
    cluster = fresh()
    for number in range(1, 4):
        cluster.client.create({**pod(f"big{number}"), "spec": {**pod()["spec"], "nodeSelector": {"no": "where"}}})
    cluster.advance_to(NOW + 40 * MINUTE)
    counts = [(e.get("series") or {}).get("count", 1) for e in cluster.client.list("events", "default")]
    assert counts == [1, 5] * 3, "each is tried every five minutes, and told of every half hour"


def test_similar_events_are_combined_from_the_tenth_message_on() -> None:
    world = World()
    for number in range(12):
        world.record(f"message {number}")
    found = {event["message"]: event["count"] for event in world.all()}
    assert len(found) == 10
    assert found["(combined from similar events): message 11"] == 3
    assert "message 9" not in found
    world.record("message 0")
    assert {event["message"]: event["count"] for event in world.all()}["message 0"] == 2


def test_held_back_events_of_a_combined_one_are_counted_also_after_a_restart() -> None:
    counts = []
    for restarts in (False, True):
        world, memory = World(), {}
        world.recorder = Recorder(world.client, world.clock, lambda memory=memory: memory)
        for number in range(30):
            world.record(f"message {number}")
            if restarts:
                world.recorder = Recorder(world.client, world.clock, lambda memory=memory: memory)
        world.clock.advance_to(NOW + 5 * MINUTE)
        world.record("message 30")
        counts.append({event["message"]: event["count"] for event in world.all()})
    assert counts[0] == counts[1]
    assert counts[0]["(combined from similar events): message 30"] == 22


def test_similar_events_with_long_pauses_stay_apart() -> None:
    world = World()
    for number in range(5):
        world.record(f"early {number}")
    world.clock.advance_to(NOW + 11 * MINUTE)
    for number in range(8):
        world.record(f"late {number}")
    assert not [event for event in world.all() if event["message"].startswith("(combined")]


def test_a_source_may_say_25_things_of_an_object_and_then_one_every_five_minutes() -> None:
    world = World()
    for _ in range(30):
        world.record()
    assert [event["count"] for event in world.all()] == [25]
    world.clock.advance_to(NOW + 5 * MINUTE)
    world.record()
    assert [event["count"] for event in world.all()] == [31], "those that were held back are counted"
    world.record()
    assert [event["count"] for event in world.all()] == [31]


def test_a_long_note_is_cut() -> None:
    assert events.shortened("x" * 1024) == "x" * 1024
    cut = events.shortened("é" * 2000)
    assert cut.endswith("é ...")
    assert len(cut.encode()) <= 1024


def test_events_of_cluster_scoped_objects_are_in_the_default_namespace() -> None:
    world = World()
    node = world.client.get("nodes", "node01")
    world.recorder.record(node, events.NORMAL, "Registered", "seen", component="node-controller")
    assert [event["involvedObject"]["kind"] for event in world.all()] == ["Node"]


@pytest.mark.parametrize("gone", ["missing", "terminating"])
def test_an_event_for_a_namespace_that_goes_is_dropped(gone: str) -> None:
    world = World()
    if gone == "terminating":
        world.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": gone}})
        world.client.delete("namespaces", gone)
    stranger = {**world.pod, "metadata": {**world.pod["metadata"], "namespace": gone}}
    world.recorder.record(stranger, events.NORMAL, "Done", "x", component="kubelet")
    assert world.client.list("events") == []
