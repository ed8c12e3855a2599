"""What graders see."""

import time

import pytest
from sqlalchemy import insert

from app.progress import accounts, gradebook, groups
from app.progress.exporters import csv_scores
from app.progress.gradebook import Filter
from app.progress.models import ExerciseVersion, Lab, LearnerGroup, Membership, Origin, Result, ResultKind, User
from tests.progress.conftest import graded, lab_of, person


@pytest.fixture
def school(session):
    """Ada and eve in Monday, bob in no group, a guest in Monday, a guest in none; dan did nothing."""
    made = {name: person(session, name) for name in ("eve", "Ada", "bob", "dan")}
    made["guest"], made["stranger"] = accounts.create_guest(session), accounts.create_guest(session)
    monday = groups.create(session, "Monday")
    for name in ("eve", "Ada", "guest", "dan"):
        groups.join(session, made[name].id, monday.join_code)
    groups.join(session, made["Ada"].id, groups.create(session, "Extra").join_code)
    for name, exercise, points in (
        ("Ada", "one", 1),
        ("Ada", "one", 3),
        ("Ada", "two", 2),
        ("eve", "one", 3),
        ("bob", "two", 0),
        ("guest", "one", 2),
        ("stranger", "one", 1),
    ):
        graded(session, lab_of(session, made[name], exercise), points)
    made["monday"] = monday
    return made


def listed(session, **asked):
    return [
        (row.name, {exercise: scores.best.points for exercise, scores in row.cells.items()})
        for row in gradebook.table(session, Filter(**asked))
    ]


def test_everybody_with_results_is_listed_by_name_but_guests_of_no_group(session, school):
    assert listed(session) == [
        ("Ada", {"one": 3, "two": 2}),
        ("bob", {"two": 0}),
        ("eve", {"one": 3}),
        (None, {"one": 2}),
    ]
    assert len(listed(session, guests=True)) == 5


def test_a_group_is_listed_whole(session, school):
    assert listed(session, group_id=school["monday"].id) == [
        ("Ada", {"one": 3, "two": 2}),
        ("dan", {}),
        ("eve", {"one": 3}),
        (None, {"one": 2}),
    ]
    assert listed(session, group_id=4711) == []


def test_one_exercise_or_a_part_of_a_name_is_picked_out(session, school):
    assert listed(session, exercise="two") == [("Ada", {"two": 2}), ("bob", {"two": 0})]
    assert listed(session, exercise="three") == []
    assert listed(session, text="AD") == [("Ada", {"one": 3, "two": 2})]
    assert listed(session, text="%") == listed(session, text="\x00") == []
    accounts.update_profile(session, school["bob"].id, display_name="Robert Ad.", language=None)
    assert [name for name, _ in listed(session, text="ad")] == ["Ada", "bob"]


def test_a_row_sums_up(session, school):
    ada, bob, eve, guest = gradebook.table(session)
    assert (ada.shown, ada.groups, ada.points, ada.attempts) == ("Ada", ("Extra", "Monday"), 5, 3)
    assert ada.last_at == ada.cells["two"].last.at
    assert ada.cells["one"].first.points == 1
    assert (bob.groups, bob.points) == ((), 0)
    assert (guest.shown, guest.name) == ("", None)
    assert gradebook.row(session, eve.user_id) == eve
    assert gradebook.row(session, 4711) is None
    nothing = gradebook.row(session, school["dan"].id)
    assert (nothing.cells, nothing.points, nothing.last_at) == ({}, 0, None)


def test_a_guest_who_signed_in_is_part_of_the_account(session, school):
    accounts.adopt_guest(session, guest_id=school["stranger"].id, user_id=school["eve"].id)
    eve = gradebook.row(session, school["stranger"].id)
    assert (eve.user_id, eve.cells["one"].attempts, eve.cells["one"].best.points) == (school["eve"].id, 2, 3)
    assert [row.name for row in gradebook.table(session, Filter(guests=True))] == ["Ada", "bob", "eve", None]


def test_exercises_with_results_are_named(session, school):
    assert gradebook.exercises(session) == ["one", "two"]


def fill(session, now, learners, exercises, tries):
    """A class in which everybody has that many results of every exercise; the last one is full."""

    def add(table, rows):
        session.execute(insert(table), list(rows))

    numbers = range(1, learners + 1)
    add(LearnerGroup, [{"id": 1, "name": "All", "join_code": "AAAA-AAAA", "created_at": now}])
    seen = {"created_at": now, "last_seen_at": now}
    add(User, ({"id": n, "name": f"u{n}", "name_key": f"u{n}", **seen} for n in numbers))
    add(Membership, ({"user_id": n, "group_id": 1, "created_at": now} for n in numbers))
    text = {"version": 1, "source": "", "origin": Origin.FOLDER, "created_at": now}
    add(ExerciseVersion, ({"digest": f"d{e}", "name": f"e{e}", **text} for e in range(exercises)))
    of_lab = [
        {
            "user_id": n,
            "exercise_name": f"e{e}",
            "exercise_digest": f"d{e}",
            "exercise_version": 1,
            "seed": 1,
        }
        for n in numbers
        for e in range(exercises)
    ]
    instants = {"sim_anchor": 0, "wall_anchor": 0, "start_anchor": 0, "started_at": now, "updated_at": now}
    states = {"state": b"", "start_state": b""}
    add(Lab, ({"id": f"lab{number}", **lab, **states, **instants} for number, lab in enumerate(of_lab)))
    verdict = {
        "lab_revision": 0,
        "engine_version": "1",
        "kind": ResultKind.CHECK,
        "possible": tries,
        "verdict": [],
        "manifests": "",
        "created_at": now,
    }
    add(
        Result,
        (
            {"lab_id": f"lab{number}", **lab, **verdict, "points": points}
            for points in range(1, tries + 1)
            for number, lab in enumerate(of_lab)
        ),
    )


@pytest.mark.slow
def test_a_thousand_learners_take_under_two_seconds(database, clock):
    with database.session() as session:
        fill(session, clock.instant, learners=1000, exercises=9, tries=3)
    with database.session() as session:
        began = time.perf_counter()
        rows = gradebook.table(session, Filter(group_id=1))
        exported = sum(map(len, csv_scores.export(rows)))
        took = time.perf_counter() - began
    assert len(rows) == 1000
    assert {(len(row.cells), row.points, row.attempts) for row in rows} == {(9, 27, 27)}
    assert exported > 9000 * 100
    assert took < 2, f"{took:.2f} s"
