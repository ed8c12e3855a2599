"""The engine and its sessions."""

import threading

import pytest
from sqlalchemy import text

from app.progress import accounts, groups
from app.progress.db import BadDatabaseUrl, Database
from app.progress.models import LearnerGroup, User
from tests.progress.conftest import person


@pytest.mark.parametrize(
    "url", ["postgres://me@host/lab", "postgresql://me@host/lab", "postgresql+psycopg://me@host/lab"]
)
def test_every_name_of_postgresql_means_psycopg_3(url):
    assert Database(url).url.drivername == "postgresql+psycopg"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "lasts"),
        ("sqlite:///:memory:", "lasts"),
        ("sqlite:///file:lab?mode=memory&uri=true", "lasts"),
        ("mysql://host/lab", "mysql"),
        ("lab.db", "sqlite:///path"),
    ],
)
def test_it_refuses_an_address_and_says_what_to_write(url, words):
    with pytest.raises(BadDatabaseUrl, match=words):
        Database(url)


def test_a_block_that_raises_leaves_nothing_behind(database):
    def create_and_fail():
        with database.session() as session:
            groups.create(session, "Monday")
            raise LookupError

    with pytest.raises(LookupError):
        create_and_fail()
    with database.session() as session:
        assert groups.list_groups(session) == []


def test_a_block_that_ends_is_committed_and_its_objects_stay_readable(database):
    with database.session() as session:
        group = groups.create(session, "Monday")
    assert (group.name, group.created_at.utcoffset().total_seconds()) == ("Monday", 0)
    with database.session() as session:
        assert [line.name for line in groups.list_groups(session)] == ["Monday"]


def test_instants_come_back_as_they_went_in(database, clock):
    with database.session() as session:
        groups.create(session, "Monday")
    with database.session() as session:
        assert session.get(LearnerGroup, 1).created_at == clock.instant


def test_a_reader_neither_waits_for_a_writer_nor_stops_one(database):
    with database.session() as writer:
        groups.create(writer, "Monday")
        with database.session() as reader:
            assert groups.list_groups(reader) == []
    with database.session() as reader:
        assert len(groups.list_groups(reader)) == 1
        with database.session() as writer:
            groups.create(writer, "Tuesday")


def test_a_session_may_write_after_it_read_what_others_changed_since(database):
    with database.session() as session:
        assert groups.list_groups(session) == []
        with database.session() as other:
            groups.create(other, "Monday")
        groups.create(session, "Tuesday")
    with database.session() as session:
        assert [line.name for line in groups.list_groups(session)] == ["Monday", "Tuesday"]


def test_writers_wait_for_each_other(database):
    def create(number):
        with database.session() as session:
            groups.create(session, f"Group {number}")

    threads = [threading.Thread(target=create, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.session() as session:
        assert len(groups.list_groups(session)) == 20


def test_what_no_database_can_hold_is_kept_as_a_sign(database):
    with database.session() as session:
        user = person(session)
        accounts.update_profile(session, user.id, display_name="a\x00b\ud800c", language=None)
    with database.session() as session:
        assert session.get(User, user.id).display_name == "a␀b�c"


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 10**40])
def test_a_number_that_no_row_can_have_finds_nothing(session, number):
    person(session)
    assert accounts.get(session, number) is None
    assert groups.get(session, number) is None
    groups.leave(session, number, number)


def test_foreign_keys_are_kept(database):
    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError), database.session() as session:
        accounts.create_session(session, 4711)


def test_it_is_ready_when_the_tables_are_this_versions(database, empty_database):
    assert database.check() is None
    assert "none" in empty_database.check()


def test_it_says_that_a_database_does_not_answer(tmp_path):
    assert "does not answer" in Database(f"sqlite:///{tmp_path}/missing/lab.db").check()
    assert "does not answer" in Database(f"postgresql://nobody@/lab?host={tmp_path}").check()


def test_sqlite_keeps_what_was_committed_in_a_log(database):
    if not database.is_sqlite:
        with database.engine.connect() as connection:
            assert connection.scalar(text("SHOW transaction_isolation")) == "read committed"
        return
    with database.engine.connect() as connection:
        found = {
            name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert found == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1}
