"""Decisions of the real scheduler, replayed whole.

The set is computed from the data: every vector whose expected result names only plugins that are implemented. Where
PostFilter ran, DynamicResources and DefaultPreemption count as named.
"""

import json
from pathlib import Path

import pytest

from app.scheduler import registry
from app.scheduler.replay import vectors

FOLDER = Path(__file__).parent / "vectors"
REACHED = 1061
"""How many vectors the implemented plugins cover. It only grows."""


def _named(result):
    """Every plugin that an expected result names."""
    found = set()
    for step in result["steps"]:
        for attempt in step["attempts"]:
            found.update(status["plugin"] for status in attempt.get("rejected", {}).values())
            found.update(plugin for scores in attempt.get("scores", {}).values() for plugin in scores)
            if "preFilter" in attempt:
                found.add(attempt["preFilter"]["plugin"])
            if "postFilter" in attempt:
                found.update({"DynamicResources", "DefaultPreemption"})
    return found


ALL = [vector for path in sorted(FOLDER.glob("*.json")) for vector in vectors.read(path)]
COVERED = [vector for vector in ALL if _named(vector["expected"]) <= registry.PLUGINS.keys()]


def test_the_covered_set_never_shrinks():
    assert len(COVERED) >= REACHED
    assert len({vector["name"] for vector in ALL}) == len(ALL)


@pytest.mark.parametrize("vector", COVERED, ids=[vector["name"] for vector in COVERED])
def test_it_decides_as_the_real_scheduler(vector):
    expected = vectors.comparable(vector["expected"])
    actual = vectors.comparable(vectors.replay(vector))
    assert list(vectors.differences(expected, actual)) == []
    assert actual == expected


def test_a_replay_is_the_same_each_time():
    vector = next(vector for vector in ALL if vector["group"] == "preemption-mixed")
    assert vectors.replay(vector) == vectors.replay(json.loads(json.dumps(vector)))


def test_differences_are_told_by_their_place():
    expected = {"steps": [{"node": "a", "best": ["a"]}], "final": {}}
    actual = {"steps": [{"node": "b", "extra": 1}], "final": {}}
    assert list(vectors.differences(expected, actual)) == [
        'steps[0].best: missing, expected ["a"]',
        "steps[0].extra: not expected, got 1",
        'steps[0].node: expected "a", got "b"',
    ]
