"""The states that a lab keeps to step back to, and what becomes of the oldest."""

import pytest

from app.progress import labs, states
from app.progress.models import LabState
from tests.progress.conftest import command, lab_of, person

BOUND = states.Bound(steps=6, size=1000)


def commit(session, lab, number, *, size=10, bound=BOUND, whole=False):
    data = bytes([number]) * size
    change = labs.NewState(b"whole" + data, 1, 1, b"" if whole else data)
    return labs.commit_interaction(
        session, lab.id, expected_revision=number - 1, change=change, command=command(), bound=bound
    )


def kept(session, lab):
    return sorted(step.seq for step in states.steps(session, lab.id, limit=10_000))


@pytest.fixture
def lab(session, monkeypatch):
    monkeypatch.setattr(states, "KEYFRAME_EVERY", 2)
    return lab_of(session, person(session))


def test_the_oldest_segment_goes_first_and_whole(session, lab):
    for number in range(1, 9):
        commit(session, lab, number)
    assert kept(session, lab) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert states.reach_back(session, lab)
    commit(session, lab, 9)  # a keyframe: eight before it are two more than may be kept
    assert kept(session, lab) == [3, 4, 5, 6, 7, 8, 9]
    assert not states.reach_back(session, lab)
    now = labs.get(session, lab.id, lab.user_id)
    assert states.find(session, now, 2) is None
    assert states.find(session, now, 4) == (b"whole" + bytes([3]) * 10, [bytes([4]) * 10])
    assert states.find(session, now, 0) == (b"start", [])


def test_many_bytes_go_as_many_steps_do(session, lab):
    for number in range(1, 7):
        commit(session, lab, number, size=400)
    assert kept(session, lab) == [6], "the three before would take 1,200 bytes"


def test_the_newest_state_stays_whatever_its_size(session, lab):
    for number in range(1, 4):
        commit(session, lab, number, size=5000)
    assert kept(session, lab) == [3]


def test_another_labs_states_are_not_counted(session, lab):
    other = lab_of(session, person(session, "eve"))
    for number in range(1, 10):
        commit(session, lab, number)
        commit(session, other, number, size=1)
    assert len(kept(session, other)) == len(kept(session, lab)) == 7


def test_a_lab_that_nobody_changed_lacks_nothing(session, lab):
    assert states.reach_back(session, lab)
    states.forget(session, lab.updated_at)
    commit(session, lab, 1)
    assert states.reach_back(session, labs.get(session, lab.id, lab.user_id))


def test_an_empty_keyframe_is_the_start(session, lab):
    session.add(LabState(lab_id=lab.id, seq=1, depth=0, data=b""))
    session.add(LabState(lab_id=lab.id, seq=2, depth=1, data=b"on"))
    assert states.find(session, lab, 2) == (b"start", [b"on"])


def test_a_state_without_a_difference_begins_a_segment(session, lab):
    commit(session, lab, 1)
    commit(session, lab, 2, whole=True)
    now = labs.get(session, lab.id, lab.user_id)
    assert states.find(session, now, 2) == (b"whole" + bytes([2]) * 10, [])
