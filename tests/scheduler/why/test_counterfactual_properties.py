"""Every change that is shown does what it says, and no part of it does; explanation and decision never disagree."""

import itertools
import json

from hypothesis import given, settings

from app.scheduler.profile import build_profiles
from app.scheduler.snapshot import Snapshot
from app.scheduler.why import counterfactuals, facts, scores
from tests.scheduler.builders import attempt
from tests.scheduler.why.clusters import applied, clusters

(FRAMEWORK,) = build_profiles(None).values()


def names(objects):
    return [item["metadata"]["name"] for item in objects if item["kind"] == "Node"]


def parts(edits):
    return itertools.chain.from_iterable(itertools.combinations(edits, size) for size in range(len(edits)))


def fits(objects, wanted, edits, name):
    return name in attempt(*applied(objects, wanted, edits)).record.feasible


def outcome(objects, wanted, edits, name):
    best = attempt(*applied(objects, wanted, edits)).record.best
    return "" if name not in best else "ties" if len(best) > 1 else "wins"


@settings(max_examples=100, deadline=None)
@given(clusters())
def test_explanation_and_decision_never_disagree(cluster):
    objects, wanted = cluster
    result = attempt(objects, wanted)
    explained = facts.explain(result.record)
    assert {name for name, found in explained.items() if not found} == set(result.record.feasible)
    for name, found in explained.items():
        failing = [plugin for plugin, status in result.attempt["nodes"][name]["filters"].items() if status]
        assert list(dict.fromkeys(fact.plugin for fact in found)) == failing
        for fact in found:
            assert "{" not in str(fact.message)
            assert json.loads(json.dumps(fact.data)) == fact.data
    for name, found in scores.explain(result.record).items():
        assert [fact.data["raw"] for fact in found] == [fact.data["computed"] for fact in found]
        assert sum(fact.data["weighted"] for fact in found) == result.record.totals[name]


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_what_would_make_a_pod_fit_does_and_no_part_of_it(cluster):
    objects, wanted = cluster
    snapshot = Snapshot.of(objects)
    for name in names(objects):
        changes = counterfactuals.to_fit(FRAMEWORK, snapshot, wanted, name)
        assert len(changes) <= 3
        assert [len(change.edits) for change in changes] == sorted(len(change.edits) for change in changes)
        for change in changes:
            assert fits(objects, wanted, change.edits, name)
            assert fits(objects, wanted, reversed(change.edits), name)
            assert not any(fits(objects, wanted, part, name) for part in parts(change.edits))


@settings(max_examples=30, deadline=None)
@given(clusters())
def test_what_would_make_a_node_win_does_and_no_part_of_it(cluster):
    objects, wanted = cluster
    snapshot = Snapshot.of(objects)
    for name in names(objects):
        changes = counterfactuals.to_win(FRAMEWORK, snapshot, wanted, name)
        assert len(changes) <= 3
        for change in changes:
            assert outcome(objects, wanted, change.edits, name) == change.outcome
            less = {outcome(objects, wanted, part, name) for part in parts(change.edits)}
            assert change.outcome not in less
            assert "wins" not in less


@settings(max_examples=20, deadline=None)
@given(clusters())
def test_the_same_question_gets_the_same_answer(cluster):
    objects, wanted = cluster
    for ask in (counterfactuals.to_fit, counterfactuals.to_win):
        for name in names(objects):
            answers = [ask(FRAMEWORK, Snapshot.of(objects), wanted, name) for _ in range(2)]
            assert [change.to_json() for change in answers[0]] == [change.to_json() for change in answers[1]]
