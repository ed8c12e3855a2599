"""Migrations, from an empty database to this version and back."""

import threading

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from alembic import command
from app.progress import migrations, results
from app.progress.models import Table
from tests.progress.conftest import graded, lab_of, person


def tables(database):
    return set(inspect(database.engine).get_table_names()) - {"alembic_version"}


def test_an_empty_database_gets_all_tables_from_any_working_folder(empty_database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    titles = []
    empty_database.migrate(titles.append)
    assert tables(empty_database) == set(Table.metadata.tables)
    assert titles[0] == "People, groups, exercises, labs, commands, results."
    assert empty_database.check() is None


def test_migrating_twice_changes_nothing(empty_database):
    empty_database.migrate()
    again = []
    empty_database.migrate(again.append)
    assert again == []


def test_two_processes_may_migrate_at_once(empty_database):
    titles, faults = [], []

    def migrate():
        try:
            empty_database.migrate(titles.append)
        except DBAPIError as error:
            faults.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(titles) == len(set(titles))
    assert empty_database.check() is None


def test_the_tables_are_what_the_models_say(database):
    with database.migrating() as connection:
        command.check(migrations.config(connection))


def test_one_can_go_back_to_nothing_and_forward_again(empty_database):
    empty_database.migrate()
    with empty_database.migrating() as connection:
        migrations.downgrade(connection, "base")
    assert tables(empty_database) == set()
    empty_database.migrate()
    assert tables(empty_database) == set(Table.metadata.tables)


def test_a_migration_that_fails_leaves_the_database_as_it_was(empty_database):
    def upgrade_and_fail():
        with empty_database.migrating() as connection:
            migrations.upgrade(connection)
            raise LookupError

    with pytest.raises(LookupError):
        upgrade_and_fail()
    assert tables(empty_database) == set()
    empty_database.migrate()
    assert empty_database.check() is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET points = 3",
        "DELETE FROM results",
        "TRUNCATE results",
        "REPLACE INTO results SELECT * FROM results",
    ],
)
def test_the_database_refuses_to_change_results(database, statement):
    with database.session() as session:
        graded(session, lab_of(session, person(session)), points=1)
    with pytest.raises(DBAPIError) as refused, database.session() as session:
        session.connection().execute(text(statement))
    belongs_elsewhere = "syntax error" in str(refused.value)
    assert belongs_elsewhere == (statement.split()[0] == ("TRUNCATE" if database.is_sqlite else "REPLACE"))
    assert belongs_elsewhere or "results are only ever added" in str(refused.value)
    with database.session() as session:
        assert results.get(session, 1).points == 1
