"""Situations that people met on real clusters, decided by the engine and compared with what they should have seen.

Every key of a case's `expected` is either checked here or is prose (`PROSE`); a key that is neither fails.
"""

import copy
import re

import pytest

from app.scheduler.profile import build_profiles
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot
from tests.cases import play, reader
from tests.scheduler.builders import attempt as tried

REACHED = 30
"""How many cases the engine decides. It only grows."""

PROSE = {
    "k8s": "which release the scores were taken from",
    "order": "the columns of the tie-break, explained",
    "contrast": "what eviction through the API would do",
    "fix": "tried below, where it is an edit",
    "fixes": "advice",
    "grade": "what a checker should say of the outcome",
    "peer_grade": "what a checker that reads fields would have said",
    "target_node": "which node a daemon's pod is meant for; its rejection is checked",
}


def _nodes(case):
    return [obj["metadata"]["name"] for obj in reader.objects(case["cluster"]) if obj["kind"] == "Node"]


def _outcome(case, found, wanted):
    placed = sum(bool(node) for node in found.nodes.values())
    numbers = [int(number) for number in re.findall(r"\d+", wanted)]
    if numbers:
        assert placed == numbers[0]
        assert len(found.pods) - placed == (numbers[1] if len(numbers) > 1 else 0)
    elif wanted == "Pending":
        assert placed == 0
    else:
        assert placed == len(found.pods)
        assert bool(found.victims) == (wanted == "Preempts then Scheduled")


def _pods(case, found, wanted):
    for name, expectation in wanted.items():
        if isinstance(expectation, str):
            other = expectation.removeprefix("same node as ")
            assert other != expectation
            assert found.nodes[found.of(name)[0]] == found.nodes[found.of(other)[0]]
            continue
        assert set(expectation) <= {"feasible", "rejected", "selected"}
        assert found.of(name)
        for pod in found.of(name):
            last = found.attempts[pod][-1]
            assert sorted(last.get("feasible", [])) == sorted(expectation["feasible"])
            assert play.rejected(last, _nodes(case)) == expectation.get("rejected", {})
            if "selected" in expectation:
                assert found.nodes[pod] == expectation["selected"]


def _rejected(case, found, wanted):
    (pod,) = found.pods
    assert play.rejected(found.attempts[pod][-1], _nodes(case)) == wanted


def _scheduled(case, found, wanted):
    assert sum(bool(node) for node in found.nodes.values()) == wanted


def _accept_any_of(case, found, wanted):
    (pod,) = found.pods
    assert found.attempts[pod][-1]["best"] == sorted(wanted)


def _all_on(case, found, wanted):
    assert set(found.nodes.values()) == {wanted}


def _victims(case, found, wanted):
    assert found.victims == wanted


def _messages(found):
    """What the last failure of each pod that still waits says; of each that had one where all were placed."""
    waiting = [pod for pod, node in found.nodes.items() if not node]
    messages = [found.failures[pod][-1] for pod in waiting]
    assert messages
    return messages


def _event_starts_with(case, found, wanted):
    assert all(message.startswith(wanted) for message in _messages(found))


def _event_contains(case, found, wanted):
    assert all(wanted in message for message in _messages(found))


def _event_by_version(case, found, wanted):
    cluster, (pod,) = play.scheduled_objects(case)
    for said_of, text in wanted.items():
        version = re.search(r"v1\.\d+(\.\d+)?", said_of)[0]
        framework = build_profiles(None, version=version)["default-scheduler"]
        assert schedule_one(framework, Snapshot.of(cluster), pod).message.startswith(text)


def _score_table(case, found, wanted):
    cluster, (pod,) = play.scheduled_objects(case)
    scores = {score["plugin"]: score for score in tried(cluster, pod).attempt["scores"]}
    for plugin, nodes in wanted.items():
        for node, values in nodes.items():
            assert scores[plugin]["raw"][node] == values["raw"]
            assert scores[plugin]["weighted"][node] == values["final"]


def _second_pod_totals(case, found, wanted):
    last = found.attempts[found.pods[1]][-1]
    for node, expected in wanted.items():
        assert last["totals"][node] == expected["total"]
        for plugin in expected.keys() - {"total"}:
            assert last["scores"][node][plugin] == expected[plugin]


def _plugins_skipped_in_score(case, found, wanted):
    for pod in found.pods:
        for scores in found.attempts[pod][-1]["scores"].values():
            assert not scores.keys() & set(wanted)


def _pdb_violated(case, found, wanted):
    chosen = [attempt["postFilter"] for attempt in found.attempts[found.pods[0]] if "postFilter" in attempt]
    (preemption,) = [item for item in chosen if item.get("nominatedNode")]
    violations = preemption["candidates"][preemption["nominatedNode"]]["pdbViolations"]
    assert (violations > 0) == wanted


def _spread_ignoring_affinity(case, found, wanted):
    _outcome(case, play.play(_edited(case, "maxSkew: 1", "maxSkew: 1\n        nodeAffinityPolicy: Ignore")), wanted)


def _untainted_variant(case, found, wanted):
    count, node = re.fullmatch(r"(\d+) Scheduled on (\w+)", wanted).groups()
    cluster = re.sub(r"spec:\n  taints:\n(  .*\n)+", "spec: {}\n", case["cluster"])
    assert "taints" not in cluster
    assert list(play.play({**case, "cluster": cluster}).nodes.values()) == [node] * int(count)


CHECKS = {
    "outcome": _outcome,
    "pods": _pods,
    "rejected": _rejected,
    "scheduled": _scheduled,
    "accept_any_of": _accept_any_of,
    "node": _all_on,
    "both_on": _all_on,
    "selected_both": _all_on,
    "victims": _victims,
    "event_starts_with": _event_starts_with,
    "event_contains": _event_contains,
    "event_starts_with_by_version": _event_by_version,
    "score_table": _score_table,
    "second_pod_totals": _second_pod_totals,
    "plugins_skipped_in_score": _plugins_skipped_in_score,
    "pdb_violated": _pdb_violated,
    "with nodeAffinityPolicy: Ignore": _spread_ignoring_affinity,
    "untainted_variant": _untainted_variant,
}


def _edited(case, old, new):
    assert old in case["input"]
    return {**copy.deepcopy(case), "input": case["input"].replace(old, new)}


def test_the_decided_set_never_shrinks():
    assert len(reader.DECIDED) >= REACHED


def test_every_case_seen_on_a_real_scheduler_is_decided_unless_no_scheduler_takes_part():
    left = {name for name, case in reader.ALL.items() if case["seen_on_real_scheduler"] and name not in reader.DECIDED}
    assert {reader.ALL[name]["topic"] for name in left} <= {"manual-scheduling", "static-pods", "volumes"}


@pytest.mark.parametrize("case", reader.DECIDED.values(), ids=reader.DECIDED)
def test_it_decides_as_expected(case):
    found = play.play(case)
    checked = [key for key in case["expected"] if key not in PROSE]
    assert checked
    for key in checked:
        CHECKS[key](case, found, case["expected"][key])


@pytest.mark.parametrize(
    ("name", "old", "new", "placed"),
    [
        ("PC02", "operator: Equal\n    value: 'true'", "operator: Exists", 1),
        ("PC02", "value: 'true'", "value: ''", 1),
        ("PC25", "topology.kubernetes.io/zone", "kubernetes.io/hostname", 2),
        ("PC26", "maxSkew: 1", "maxSkew: 1\n        nodeTaintsPolicy: Honor", 7),
    ],
)
def test_the_fix_that_a_case_names_places_its_pods(name, old, new, placed):
    found = play.play(_edited(reader.DECIDED[name], old, new))
    assert sum(bool(node) for node in found.nodes.values()) == placed
