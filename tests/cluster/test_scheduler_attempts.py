"""Attempts are kept small and told in full."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.cluster import scheduler_attempts as attempts
from app.cluster.cluster import Cluster
from app.scheduler.replay import vectors, world
from app.scheduler.schedule_one import ScheduleResult
from tests.cluster.builders import MINUTE, NOW, fresh, pod, workload
from tests.scheduler.test_conformance import COVERED


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The whole records of what is replayed."""
    found: list[dict[str, Any]] = []
    recorded = world.recorded_attempt

    def recording(result: ScheduleResult) -> dict[str, Any]:
        found.append(result.attempt)
        return recorded(result)

    monkeypatch.setattr(world, "recorded_attempt", recording)
    return found


def test_nothing_of_a_record_is_lost(seen: list[dict[str, Any]]) -> None:
    for vector in COVERED[::15]:
        vectors.replay(vector)
    assert {record["result"] for record in seen} == {"scheduled", "unschedulable"}
    for record in seen:
        kept = json.loads(json.dumps(attempts.packed(record)))
        assert attempts.unpacked(kept, record["pod"]) == record
    whole = sum(len(json.dumps(record)) for record in seen)
    assert sum(len(json.dumps(attempts.packed(record))) for record in seen) < whole / 2


def record(node: str = "", nodes: int = 2) -> dict[str, Any]:
    status = "feasible" if node else "rejected"
    answers = {f"n{number}": {"filters": {}, "reported": None, "status": status} for number in range(nodes)}
    kept = {"profile": "default-scheduler", "nodes": [["status", None, [], {}, sorted(answers)]]}
    return {**attempts.unpacked(kept, ""), "node": node or None, "nodes": answers, "best": [node] if node else []}


def test_attempts_that_came_out_alike_share_a_record() -> None:
    table: attempts.Table = {}
    for now in range(7):
        attempts.keep(table, "default/bee", now, "u", record())
    attempts.keep(table, "default/bee", 7, "u", record("n1"))
    assert [attempt["time"] for attempt in attempts.told(table, "default/bee")] == [3, 4, 5, 6, 7]
    assert len(table["default/bee"]) == 2
    assert [attempt["result"] for attempt in attempts.told(table, "default/bee")][-2:] == ["unschedulable", "scheduled"]


def test_another_pod_of_the_same_name_has_a_record_of_its_own() -> None:
    table: attempts.Table = {}
    for uid in ("one", "two"):
        attempts.keep(table, "default/bee", 1, uid, record())
    assert [attempt["uid"] for attempt in attempts.told(table, "default/bee")] == ["one", "two"]


def test_pods_placed_long_ago_are_forgotten_before_pods_that_wait() -> None:
    table: attempts.Table = {}
    for number in range(attempts.KEPT_PODS):
        attempts.keep(table, f"default/p{number}", number, "u", record("n1" if number % 2 else ""))
    attempts.keep(table, "default/more", 1000, "u", record())
    attempts.keep(table, "default/most", 1001, "u", record())
    assert len(table) == attempts.KEPT_PODS
    assert "default/p0" in table
    assert {"default/p1", "default/p3"}.isdisjoint(table)


def test_of_many_nodes_few_pods_are_kept() -> None:
    table: attempts.Table = {}
    for number in range(20):
        attempts.keep(table, f"default/p{number}", number, "u", record("n1", nodes=1000))
    assert sorted(table) == ["default/p15", "default/p16", "default/p17", "default/p18", "default/p19"]


def test_what_an_earlier_version_kept_whole_is_told_as_it_was() -> None:
    old = {"time": 5, "uid": "u", **record("n1")}
    assert attempts.told({"default/bee": [old]}, "default/bee") == [old]
    table: attempts.Table = {"default/bee": [old]}
    attempts.keep(table, "default/bee", 6, "u", record("n1"))
    assert [attempt["time"] for attempt in attempts.told(table, "default/bee")] == [5, 6]


def test_the_attempts_of_a_busy_cluster_take_little_room() -> None:
    cluster = fresh()
    cluster.client.create(workload("Deployment", replicas=20))
    for number in range(20):
        cluster.client.create(pod(f"stuck{number}", nodeSelector={"no": "where"}))
    cluster.advance_to(NOW + 60 * MINUTE)
    document = json.loads(cluster.dump())
    assert len(json.dumps(document["memory"]["kube-scheduler"]["attempts"])) < 50_000
    assert len(Cluster.load(cluster.dump()).attempts("default", "stuck7")) == attempts.KEPT
