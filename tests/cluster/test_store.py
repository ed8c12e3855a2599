"""The store: revisions, conflicts, the watch log, and going out and in as JSON."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.apimachinery import clock as clocks
from app.apimachinery.errors import AlreadyExists, Conflict, Expired, NotFound
from app.cluster import store as stores
from app.cluster.store import Store

NOW = clocks.parse("2026-03-01T09:00:00Z")


def fresh(seed: int = 1) -> Store:
    return Store(clocks.SimulatedClock(NOW), seed)


def thing(name: str, namespace: str = "default", **fields) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, **fields}


def test_a_new_object_gets_uid_time_and_version():
    store = fresh()
    given_object = thing("a")
    stored = store.create("pods", given_object)
    metadata = stored["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", metadata["uid"])
    assert metadata["creationTimestamp"] == "2026-03-01T09:00:00Z"
    assert metadata["resourceVersion"] == str(store.revision)
    assert given_object == thing("a")


def test_the_same_seed_draws_the_same_and_another_seed_does_not():
    drawn = [[store.draw_uid(), store.draw_suffix()] for store in (fresh(1), fresh(1), fresh(2))]
    assert drawn[0] == drawn[1] != drawn[2]
    assert re.fullmatch(r"[bcdfghjklmnpqrstvwxz2456789]{5}", drawn[0][1])


def test_a_taken_name_and_a_missing_object_are_refused_in_the_servers_words():
    store = fresh()
    store.create("pods", thing("a"))
    with pytest.raises(AlreadyExists, match=r'^pods "a" already exists$'):
        store.create("pods", thing("a"))
    with pytest.raises(NotFound, match=r'^pods "b" not found$') as caught:
        store.update("pods", thing("b"))
    assert caught.value.details == {"name": "b", "kind": "pods"}
    with pytest.raises(NotFound, match=r'^deployments.apps "b" not found$') as caught:
        store.delete("deployments", "default/b")
    assert caught.value.details == {"name": "b", "kind": "deployments", "group": "apps"}


def test_a_stale_version_is_a_conflict_and_none_wins():
    store = fresh()
    first = store.create("pods", thing("a"))
    store.update("pods", {**first, "spec": {"x": 1}})
    with pytest.raises(
        Conflict, match='Operation cannot be fulfilled on pods "a": the object has been modified; please'
    ):
        store.update("pods", {**first, "spec": {"x": 2}})
    assert store.update("pods", thing("a", spec={"x": 3}))["spec"] == {"x": 3}


def test_writing_what_is_there_writes_nothing():
    store = fresh()
    first = store.create("pods", thing("a"))
    revision = store.revision
    assert store.update("pods", json.loads(json.dumps(first))) is first
    assert store.revision == revision


def test_lists_are_in_key_order_and_by_namespace():
    store = fresh()
    for namespace, name in (("b", "x"), ("a", "z"), ("a", "y")):
        store.create("pods", thing(name, namespace))
    assert [obj["metadata"]["name"] for obj in store.list("pods")] == ["y", "z", "x"]
    assert [obj["metadata"]["name"] for obj in store.list("pods", "a")] == ["y", "z"]
    assert store.list("nodes") == []
    store.list("pods").clear()
    assert len(store.list("pods")) == 3
    assert list(store.resources()) == ["pods"]


def test_the_log_tells_each_write_with_what_was_before():
    store = fresh()
    added = store.create("pods", thing("a"))
    start = store.revision
    changed = store.update("pods", {**added, "spec": {"x": 1}})
    store.create("nodes", {**thing("n"), "metadata": {"name": "n"}})
    store.delete("pods", "default/a")
    events = store.events_since(start)
    assert [(event.type, event.resource) for event in events] == [
        ("MODIFIED", "pods"),
        ("ADDED", "nodes"),
        ("DELETED", "pods"),
    ]
    assert events[0].previous is added
    assert events[0].object is changed
    assert events[2].previous is changed
    assert events[2].object["metadata"]["resourceVersion"] == str(store.revision) == str(events[2].revision)
    assert [event.type for event in store.events_since(start, "pods")] == ["MODIFIED", "DELETED"]
    assert store.events_since(store.revision) == []


def test_a_revision_that_has_left_the_log_is_expired():
    store = fresh()
    obj = store.create("pods", thing("a"))
    start = store.revision
    for number in range(stores.LOG_LIMIT):
        obj = store.update("pods", {**obj, "spec": {"x": number}})
    assert len(store.events_since(start)) == stores.LOG_LIMIT
    store.update("pods", {**obj, "spec": {"x": -1}})
    with pytest.raises(Expired, match="too old resource version") as caught:
        store.events_since(start)
    assert caught.value.code == 410


def test_compaction_keeps_what_is_young_or_among_the_last():
    store = fresh()
    obj = store.create("pods", thing("a"))
    for number in range(10):
        store.clock.advance_to(NOW + number * 1000)
        obj = store.update("pods", {**obj, "spec": {"x": number}})
    young, last = store.fork(store.clock), store.fork(store.clock)
    young.compact_before(NOW + 7000, upto=store.revision, keep=0)
    assert [event.instant for event in young.events_since(young.revision - 3)] == [NOW + 7000, NOW + 8000, NOW + 9000]
    with pytest.raises(Expired, match="too old resource version"):
        young.events_since(young.revision - 4)
    last.compact_before(NOW + 7000, upto=store.revision, keep=5)
    assert len(last.events_since(last.revision - 5)) == 5
    store.compact_before(NOW + 9000, upto=store.revision - 8, keep=0)
    assert len(store.events_since(store.revision - 8)) == 8, "what a loop has not yet seen stays"
    back = Store.restore(json.loads(json.dumps(young.state())), clocks.SimulatedClock(NOW))
    assert back.state() == young.state()
    with pytest.raises(Expired):
        back.events_since(young.revision - 4)


def test_a_log_of_an_earlier_version_has_no_instants():
    store = fresh()
    store.create("pods", thing("a"))
    state = json.loads(json.dumps(store.state()))
    assert [len(row) for row in state["log"]] == [7]
    state["log"] = [row[:6] for row in state["log"]]
    back = Store.restore(state, clocks.SimulatedClock(NOW))
    assert [(event.type, event.instant) for event in back.events_since(1)] == [("ADDED", 0)]


def test_items_of_a_list_that_changed_are_told_apart():
    store = fresh()
    text = "long " * 200
    obj = store.create("pods", thing("a", status={"c": [{"n": "x", "t": text, "v": 0}, {"n": "y", "t": text}]}))
    plain = len(json.dumps(store.state()))
    for number in range(20):
        status = obj["status"]["c"]
        obj = store.update("pods", {**obj, "status": {"c": [{**status[0], "v": number + 1}, *status[1:]]}})
    store.update("pods", {**obj, "status": {"c": [{"n": "x"}, {"n": "y"}, {"n": "z"}]}})
    store.update("pods", {**store.get("pods", "default/a"), "status": {"c": ["a", "b", {"n": "z"}]}})
    assert len(json.dumps(store.state())) < plain + 5000
    back = Store.restore(json.loads(json.dumps(store.state())), clocks.SimulatedClock(NOW))
    assert back.events_since(1) == store.events_since(1)


def test_a_fork_goes_its_own_way():
    store = fresh()
    store.create("pods", thing("a"))
    fork = store.fork(clocks.SimulatedClock(NOW))
    assert fork.state() == store.state()
    fork.create("pods", thing("b"))
    assert store.get("pods", "default/b") is None
    assert store.create("pods", thing("b"))["metadata"]["uid"] == fork.get("pods", "default/b")["metadata"]["uid"]


STEPS = st.lists(st.tuples(st.sampled_from("cud"), st.sampled_from("xyz"), st.integers(0, 3)), max_size=40)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_any_history_survives_json(steps):
    store = fresh()
    for step, name, value in steps:
        key = f"default/{name}"
        if step == "c" and not store.get("pods", key):
            store.create(
                "pods", thing(name, spec={"v": value, "deep": {"a": [{"w": value}, {"w": 1}][: value or 1], "b": name}})
            )
        elif step == "u" and (obj := store.get("pods", key)):
            fields = (
                {
                    "spec": {"v": value, "deep": {"a": [{"w": value}, {"x": value}][: value or 2]}},
                    "status": {"n": value},
                }
                if value
                else {}
            )
            store.update("pods", {"apiVersion": "v1", "kind": "Pod", "metadata": obj["metadata"], **fields})
        elif step == "d" and store.get("pods", key):
            store.delete("pods", key)
    back = Store.restore(json.loads(json.dumps(store.state())), clocks.SimulatedClock(NOW))
    assert back.state() == store.state()
    assert back.events_since(1) == store.events_since(1)
    assert back.list("pods") == store.list("pods")
    assert back.draw_uid() == store.draw_uid()


def test_the_packed_log_does_not_repeat_what_did_not_change():
    store = fresh()
    obj = store.create("pods", thing("a", spec={"text": "long " * 1000}))
    plain = len(json.dumps(store.state()))
    for number in range(50):
        obj = store.update("pods", {**obj, "status": {"n": number}})
    assert len(json.dumps(store.state())) < plain + 50 * 200
