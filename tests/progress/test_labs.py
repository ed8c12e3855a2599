"""Labs, their commands, and two who are at it at once."""

import threading

import pytest
from sqlalchemy.exc import DBAPIError

from app.progress import accounts, labs, results
from app.progress.models import Lab
from tests.progress.conftest import command, graded, lab_of, person, verdict_of

STATE = labs.NewState(b"after", sim_anchor=5_000, wall_anchor=6_000)


def commit(session, lab, expected=0, change=STATE, done=None, result=None):
    return labs.commit_interaction(
        session, lab.id, expected_revision=expected, change=change, command=done or command(), result=result
    )


def test_an_interaction_writes_state_command_and_result(database, clock):
    with database.session() as session:
        lab = lab_of(session, person(session))
        clock.forward(minutes=1)
    with database.session() as session:
        after = commit(session, lab, done=command("submit"), result=verdict_of(lab, 2))
    assert (after.revision, after.commands, after.state, after.sim_anchor, after.wall_anchor) == (
        1,
        1,
        b"after",
        5_000,
        6_000,
    )
    assert (after.start_state, after.updated_at) == (b"start", clock.instant)
    with database.session() as session:
        (logged,) = labs.commands(session, lab.id)
        result = results.last_of_lab(session, lab.id)
        assert labs.get(session, lab.id, lab.user_id).state == b"after"
    assert (logged.seq, logged.kind, logged.ok, logged.input, logged.output, logged.revision, logged.sim_at) == (
        1,
        "submit",
        True,
        "kind: Pod\n",
        "pod/web created",
        1,
        5_000,
    )
    assert (result.lab_id, result.lab_revision, result.user_id, result.points, result.possible) == (
        lab.id,
        1,
        lab.user_id,
        2,
        3,
    )
    assert (result.exercise_name, result.exercise_version, result.exercise_digest, result.seed) == (
        "taint-a-node",
        1,
        lab.exercise_digest,
        7,
    )
    assert (result.engine_version, result.manifests, result.verdict) == (
        "1.35.0",
        "kind: Node\n",
        [{"id": "tainted", "status": "failed"}],
    )


def test_a_command_that_changes_nothing_makes_no_new_revision(database):
    with database.session() as session:
        lab = lab_of(session, person(session))
        refused = commit(session, lab, change=None, done=command(ok=False))
        again = commit(session, lab, change=None, done=command("check", ""))
    assert (refused.revision, again.revision, again.commands, again.state) == (0, 0, 2, b"start")
    with database.session() as session:
        assert [(line.seq, line.ok, line.revision) for line in labs.commands(session, lab.id)] == [
            (1, False, 0),
            (2, True, 0),
        ]


def test_who_read_an_old_revision_writes_nothing(database):
    with database.session() as session:
        lab = lab_of(session, person(session))
        commit(session, lab)
    for change in (STATE, None):
        with pytest.raises(labs.RevisionConflict), database.session() as session:
            commit(session, lab, change=change, done=command("submit"), result=verdict_of(lab))
    with database.session() as session:
        assert len(labs.commands(session, lab.id)) == labs.revision(session, lab.id) == 1
        assert results.last_of_lab(session, lab.id) is None


def test_nothing_is_written_when_a_part_of_it_is_refused(database):
    with database.session() as session:
        lab = lab_of(session, person(session))
    with pytest.raises(DBAPIError), database.session() as session:
        commit(session, lab, result=verdict_of(lab, points=4, possible=3))
    with database.session() as session:
        assert labs.get(session, lab.id, lab.user_id).state == b"start"
        assert labs.commands(session, lab.id) == []


def test_of_two_who_read_the_same_revision_one_wins_and_the_other_is_told(database):
    with database.session() as session:
        lab = lab_of(session, person(session))
    for revision in range(5):
        outcomes, together = [], threading.Barrier(2)

        def work(name, revision=revision, outcomes=outcomes, together=together):
            with database.session() as session:
                read = labs.get(session, lab.id, lab.user_id)
            assert read.revision == revision
            together.wait()
            try:
                with database.session() as session:
                    change = labs.NewState(name.encode(), 1, 1)
                    commit(session, lab, revision, change, command(text=name), verdict_of(lab))
                outcomes.append(("won", name))
            except labs.RevisionConflict:
                outcomes.append(("conflict", name))

        threads = [threading.Thread(target=work, args=[name]) for name in ("one", "other")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ((_, loser), (_, winner)) = sorted(outcomes)
        assert sorted(word for word, _ in outcomes) == ["conflict", "won"]
        assert winner != loser
        with database.session() as session:
            now = labs.get(session, lab.id, lab.user_id)
            assert (now.revision, now.state) == (revision + 1, winner.encode())
            assert [line.seq for line in labs.commands(session, lab.id)] == list(range(1, revision + 2))
            assert labs.last_manifest(session, lab.id) == winner
            assert results.count_of_user(session, lab.user_id) == revision + 1


def test_many_who_try_again_all_get_through_in_order(database):
    with database.session() as session:
        lab = lab_of(session, person(session))

    def append(number):
        while True:
            with database.session() as session:
                read = labs.get(session, lab.id, lab.user_id)
            try:
                with database.session() as session:
                    state = labs.NewState(read.state + bytes([number]), 1, 1)
                    commit(session, lab, read.revision, state, command(text=str(number)))
            except labs.RevisionConflict:
                continue
            return

    threads = [threading.Thread(target=append, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.session() as session:
        state = labs.get(session, lab.id, lab.user_id).state.removeprefix(b"start")
        assert sorted(state) == list(range(8))
        assert [int(line.input) for line in labs.commands(session, lab.id)] == list(state)


def test_a_reset_keeps_commands_and_results_and_counts_anew(database):
    with database.session() as session:
        lab = lab_of(session, person(session))
        commit(session, lab, done=command("submit"), result=verdict_of(lab))
        assert labs.count_commands(session, lab.id) == 1
        commit(session, lab, 1, labs.NewState(b"start again", 1_000, 9_000), command("reset", ""))
        assert labs.count_commands(session, lab.id) == 0
        commit(session, lab, 2, done=command(text="again"))
    with database.session() as session:
        assert [line.kind for line in labs.commands(session, lab.id)] == ["submit", "reset", "apply"]
        assert [line.seq for line in labs.commands(session, lab.id, after=1, limit=1)] == [2]
        assert labs.count_commands(session, lab.id) == 1
        assert results.last_of_lab(session, lab.id).points == 1


def test_the_last_manifest_is_what_was_sent_last_refused_or_not(session):
    lab = lab_of(session, person(session))
    assert labs.last_manifest(session, lab.id) == ""
    commit(session, lab, 0, None, command("submit", "kind: Pod\n"))
    commit(session, lab, 0, None, command("create", "kind: Po\x00d\n", ok=False))
    commit(session, lab, 0, None, command("terminal", "kubectl get pods"))
    commit(session, lab, 0, None, command("check", ""))
    assert labs.last_manifest(session, lab.id) == "kind: Po␀d\n"


# Whose labs


def test_other_peoples_labs_are_not_there(session):
    ada, eve = person(session), person(session, "eve")
    lab = lab_of(session, ada)
    assert labs.get(session, lab.id, ada.id).id == lab.id
    assert labs.get(session, lab.id, eve.id) is None
    assert labs.get(session, "no-such", ada.id) is None
    assert labs.get(session, "\x00", ada.id) is None
    assert labs.of_user(session, eve.id) == []
    assert labs.find_open(session, eve.id, lab.exercise_name) is None


def test_the_newest_open_lab_is_gone_on_with(session, clock):
    ada = person(session)
    old = lab_of(session, ada)
    clock.forward(seconds=1)
    new = lab_of(session, ada)
    lab_of(session, ada, "write-a-toleration")
    assert labs.find_open(session, ada.id, "taint-a-node").id == new.id
    labs.end(session, new.id)
    assert labs.find_open(session, ada.id, "taint-a-node").id == old.id
    assert labs.count(session, ada.id) == 2


def test_labs_are_listed_by_last_use_without_their_states(database, clock):
    with database.session() as session:
        ada = person(session)
        first = lab_of(session, ada)
        clock.forward(seconds=1)
        second = lab_of(session, ada, "write-a-toleration")
        clock.forward(seconds=1)
        commit(session, first)
    with database.session() as session:
        found = labs.of_user(session, ada.id)
    assert [(line.id, line.revision) for line in found] == [(first.id, 1), (second.id, 0)]
    assert found[0].updated_at == clock.instant


def test_an_ended_lab_takes_no_more_commands(session):
    lab = lab_of(session, person(session))
    labs.set_api_secret(session, lab.id, "secret")
    labs.end(session, lab.id)
    labs.end(session, lab.id)
    with pytest.raises(labs.LabEnded):
        commit(session, lab)
    assert labs.by_api_secret(session, "secret") is None


def test_an_unknown_lab_takes_no_commands(session):
    lab = Lab(id="no-such")
    with pytest.raises(labs.UnknownLab):
        commit(session, lab)
    with pytest.raises(labs.UnknownLab):
        labs.revision(session, lab.id)


def test_the_oldest_labs_end_first(session, clock):
    ada = person(session)
    made = []
    for _ in range(4):
        made.append(lab_of(session, ada).id)
        clock.forward(seconds=1)
    lab_of(session, person(session, "eve"))
    assert labs.end_oldest(session, ada.id, keep=3) == 1
    assert labs.end_oldest(session, ada.id, keep=2) == 1
    assert labs.end_oldest(session, ada.id, keep=2) == 0
    session.expire_all()
    opened = {line.id for line in labs.of_user(session, ada.id) if line.ended_at is None}
    assert opened == set(made[2:])


def test_the_api_is_opened_by_the_newest_secret_alone(session):
    lab, other = lab_of(session, person(session)), lab_of(session, person(session, "eve"))
    labs.set_api_secret(session, lab.id, "old")
    labs.set_api_secret(session, lab.id, "new")
    assert labs.by_api_secret(session, "new").id == lab.id
    for secret in ("old", "", "\x00", "\ud800", lab.id, other.id):
        assert labs.by_api_secret(session, secret) is None


def test_an_exercise_is_only_started_in_a_version_that_is_kept(database):
    with database.session() as session:
        ada = person(session)
    with pytest.raises(DBAPIError), database.session() as session:
        labs.add(
            session,
            Lab(
                id="x",
                user_id=ada.id,
                exercise_name="a",
                exercise_digest="unknown",
                exercise_version=1,
                seed=1,
                state=b"",
                start_state=b"",
                sim_anchor=0,
                wall_anchor=0,
            ),
        )


def test_a_guests_lab_goes_on_after_signing_in(session):
    ada, guest = person(session), accounts.create_guest(session)
    lab = lab_of(session, guest)
    accounts.adopt_guest(session, guest_id=guest.id, user_id=ada.id)
    graded(session, labs.get(session, lab.id, ada.id), points=3)
    assert results.scores(session, ada.id, "taint-a-node").best.full
