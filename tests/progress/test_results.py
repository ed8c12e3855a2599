"""Results: first, last, best, and what the catalogue shows."""

import pytest

from app.progress import accounts, labs, owners, results
from tests.progress.conftest import graded, lab_of, person


def test_first_last_and_best_are_kept(session):
    lab = lab_of(session, person(session))
    for points, kind in ((1, "check"), (2, "submit"), (3, "check"), (3, "submit"), (0, "check")):
        graded(session, lab, points, kind=kind)
    found = results.scores(session, lab.user_id, lab.exercise_name)
    assert found.attempts == 5
    assert [(score.points, score.possible, score.id) for score in (found.first, found.best, found.last)] == [
        (1, 3, 1),
        (3, 3, 3),
        (0, 3, 5),
    ]
    assert (found.best.kind, found.best.version, found.best.seed, found.best.engine_version) == (
        "check",
        1,
        7,
        "1.35.0",
    )
    assert found.best.full
    assert not found.last.full


def test_a_single_result_is_first_last_and_best(session):
    lab = lab_of(session, person(session))
    graded(session, lab, 2)
    found = results.scores(session, lab.user_id, lab.exercise_name)
    assert found.first == found.last == found.best
    assert found.first.points == 2


def test_best_is_the_highest_share_where_versions_have_different_totals(session):
    ada = person(session)
    for version, points, possible in ((1, 9, 10), (2, 3, 3), (3, 20, 30), (4, 7, 7)):
        graded(session, lab_of(session, ada, version=version), points, possible)
    best = results.scores(session, ada.id, "taint-a-node").best
    assert (best.points, best.possible, best.version) == (3, 3, 2)


def test_there_are_no_scores_without_results(session):
    ada = person(session)
    lab_of(session, ada)
    assert results.scores(session, ada.id, "taint-a-node") is None
    assert results.scores_by_exercise(session, ada.id) == {}


def test_the_catalogue_shows_how_far_one_is(session, clock):
    ada, eve = person(session), person(session, "eve")
    lab_of(session, ada, "begun")
    clock.forward(seconds=1)
    newest = lab_of(session, ada, "begun")
    partial = lab_of(session, ada, "partial")
    for points in (7, 2):
        graded(session, partial, points, 10)
    full = lab_of(session, ada, "full")
    graded(session, full, 10, 10)
    labs.end(session, full.id)
    graded(session, lab_of(session, eve, "new"), 1)
    found = results.standings(session, ada.id)
    assert {name: (standing.state, standing.attempts, standing.lab) for name, standing in found.items()} == {
        "begun": ("begun", 0, newest.id),
        "partial": ("7/10", 2, partial.id),
        "full": ("full", 1, ""),
    }
    assert results.standings(session, eve.id)["new"].best.points == 1


def test_results_are_listed_newest_first(session):
    ada = person(session)
    one, other = lab_of(session, ada, "one"), lab_of(session, ada, "other")
    for points, lab in enumerate((one, other, one)):
        graded(session, lab, points)
    assert [result.points for result in results.of_user(session, ada.id)] == [2, 1, 0]
    assert [result.points for result in results.of_user(session, ada.id, offset=1, limit=1)] == [1]
    assert [result.points for result in results.of_user(session, ada.id, exercise="one")] == [2, 0]
    assert results.count_of_user(session, ada.id) == 3
    assert results.count_of_user(session, ada.id, exercise="one") == 2
    assert results.last_of_lab(session, one.id).points == 2


def test_what_one_did_as_a_guest_counts_for_the_account(session):
    ada, guest = person(session), accounts.create_guest(session)
    graded(session, lab_of(session, guest), 3)
    graded(session, lab_of(session, ada), 1)
    assert results.scores(session, ada.id, "taint-a-node").attempts == 1
    accounts.adopt_guest(session, guest_id=guest.id, user_id=ada.id)
    found = results.scores(session, ada.id, "taint-a-node")
    assert (found.attempts, found.first.points, found.last.points, found.best.points) == (2, 3, 1, 3)
    assert results.scores(session, guest.id, "taint-a-node") == found
    assert results.get(session, 1).user_id == guest.id
    assert owners.owner_of(session, guest.id).id == ada.id
    assert owners.owner_of(session, 4711) is None


@pytest.mark.parametrize(("points", "possible"), [(-1, 3), (4, 3), (0, 0)])
def test_the_database_refuses_points_that_cannot_be(database, points, possible):
    from sqlalchemy.exc import IntegrityError

    with database.session() as session:
        lab = lab_of(session, person(session))
    with pytest.raises(IntegrityError), database.session() as session:
        graded(session, lab, points, possible)
    with database.session() as session:
        assert results.count_of_user(session, lab.user_id) == 0


def test_a_verdict_may_say_anything(database):
    verdict = [{"found": "a\x00b\ud800", "facts": {"names": ["김", None, 2**40, 0.5]}}]
    with database.session() as session:
        lab = lab_of(session, person(session))
        new = results.NewResult(
            user_id=lab.user_id,
            exercise_name=lab.exercise_name,
            exercise_version=1,
            exercise_digest=lab.exercise_digest,
            seed=2**62,
            engine_version="1",
            kind="check",
            points=0,
            possible=1,
            verdict=verdict,
        )
        recorded = results.add(session, lab.id, 0, new)
    with database.session() as session:
        assert results.get(session, recorded.id).verdict == verdict
        assert results.get(session, recorded.id).seed == 2**62
