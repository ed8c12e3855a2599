"""The record of an attempt: what a learner may ask of it."""

import json

from tests.scheduler.builders import attempt, node, pod

SPRAY = [{"key": "spray", "value": "mortein", "effect": "NoSchedule"}]


def test_every_failing_filter_of_a_node_is_kept_and_the_reported_one_marked():
    result = attempt([node("a", cpu="1", taints=SPRAY), node("b")], pod("big", cpu="2", nodeSelector={"disk": "ssd"}))
    found = result.attempt["nodes"]["a"]
    failing = {plugin: status["reasons"] for plugin, status in found["filters"].items() if status}
    assert failing == {
        "TaintToleration": ["node(s) had untolerated taint(s)"],
        "NodeAffinity": ["node(s) didn't match Pod's node affinity/selector"],
        "NodeResourcesFit": ["Insufficient cpu"],
    }
    assert (found["reported"], found["status"]) == ("TaintToleration", "rejected")
    assert found["filters"]["NodeResourcesFit"]["code"] == "UnschedulableAndUnresolvable"
    assert result.attempt["message"] == result.message


def test_scores_are_kept_raw_normalised_and_weighted():
    soft = [{"key": "k", "effect": "PreferNoSchedule"}]
    record = attempt([node("a", taints=soft), node("b")], pod("bee")).attempt
    scores = {score["plugin"]: score for score in record["scores"]}
    assert scores["TaintToleration"]["weight"] == 3
    assert scores["TaintToleration"]["raw"] == {"a": 1, "b": 0}
    assert scores["TaintToleration"]["normalized"] == {"a": 0, "b": 100}
    assert scores["TaintToleration"]["weighted"] == {"a": 0, "b": 300}
    assert record["totals"]["b"] - record["totals"]["a"] == 300
    assert (record["best"], record["tieBreak"], record["node"]) == (["b"], False, "b")


def test_a_tie_is_said():
    record = attempt([node("a"), node("b")], pod("bee")).attempt
    assert (record["best"], record["tieBreak"]) == (["a", "b"], True)


def test_the_columns_of_a_preemption_are_kept():
    objects = [node("a", cpu="1"), pod("old", cpu="1", on="a", priority=5)]
    record = attempt(objects, pod("vip", cpu="1", priority=10)).attempt
    assert record["postFilter"]["nominatedNode"] == "a"
    assert record["postFilter"]["candidates"]["a"]["victims"] == ["default/old"]
    assert record["postFilter"]["candidates"]["a"]["ranking"]["highestPriority"] == -5


def test_nodes_cut_off_before_filtering_are_told_apart():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    record = attempt([node("a"), node("b")], pod("bee", affinity={"nodeAffinity": required})).attempt
    assert record["preFilter"]["nodes"] == ["b"]
    assert record["nodes"]["a"]["status"] == "excluded"
    assert record["nodes"]["b"]["status"] == "feasible"


def test_a_pod_turned_down_before_filtering_says_by_whom():
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "ghost"}}]
    record = attempt([node("a")], pod("bee", volumes=volumes)).attempt
    assert record["preFilter"]["reasons"] == ['persistentvolumeclaim "ghost" not found']
    assert record["nodes"]["a"] == {"filters": {}, "reported": "VolumeRestrictions", "status": "rejected"}


def test_a_nominated_pod_shows_in_the_record():
    waiting = pod("vip", cpu="1", priority=10, status={"nominatedNodeName": "a"})
    record = attempt([node("a", cpu="1"), waiting], pod("bee", cpu="1")).attempt
    assert record["nodes"]["a"]["filters"]["NodeResourcesFit"]["reasons"] == ["Insufficient cpu"]


def test_the_record_is_json():
    for objects, wanted in (([], pod("a")), ([node("a")], pod("a")), ([node("a")], pod("b", cpu="9"))):
        record = attempt(objects, wanted).attempt
        assert json.loads(json.dumps(record)) == record
