"""Explanations of everything that the recorded decisions hold: they never disagree with the decision."""

from pathlib import Path

import pytest

from app.scheduler import schedule_one
from app.scheduler.replay import vectors
from app.scheduler.why import facts, scores

FILES = sorted((Path(__file__).parents[1] / "vectors").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recorded_attempt_is_explained(path, monkeypatch):
    results = []
    run = schedule_one.schedule_one

    def remembered(*args, **more):
        results.append(run(*args, **more))
        must_agree(results[-1])
        return results[-1]

    monkeypatch.setattr(schedule_one, "schedule_one", remembered)
    for vector in vectors.read(path):
        vectors.replay(vector)
    assert results


def must_agree(result):
    """Fail where an explanation and the decision differ."""
    record = result.attempt
    for name, found in facts.explain(result.record).items():
        node = record["nodes"][name]
        failing = [plugin for plugin, status in node["filters"].items() if status]
        if record["preFilter"] and "code" in record["preFilter"]:
            failing = [node["reported"]]
        assert list(dict.fromkeys(fact.plugin for fact in found)) == failing
    for found in scores.explain(result.record).values():
        assert [fact.data["raw"] for fact in found] == [fact.data["computed"] for fact in found]
