"""The database's engine and sessions: SQLite in a file, or PostgreSQL.

Transactions behave alike on both: a session's reads stand for themselves until its first change, which on SQLite takes
the write lock at once (`BEGIN IMMEDIATE`), so that no transaction has to fail because it wanted to write too late. What
is checked before it is changed is therefore checked again by the change itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, CursorResult, Delete, Engine, Update, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlmodel import Session

from app.progress import migrations
from app.progress.models import Table

_PRAGMAS = (
    "busy_timeout = 10000",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "recursive_triggers = ON",  # so that REPLACE runs the triggers that refuse DELETE
)
_POSTGRESQL_NAMES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


class BadDatabaseUrl(ValueError):
    """A database address that the lab cannot use; its text says what to write instead."""


class Database:
    """One database. Safe to use from many threads; each session belongs to one of them."""

    def __init__(self, url: str) -> None:
        """Opens no connection yet. Raises BadDatabaseUrl."""
        self.url = _url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _sqlite(self.url) if self.is_sqlite else _postgresql(self.url)

    @property
    def engine(self) -> Engine:
        """The pool of connections."""
        return self._engine

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction: committed when the block ends, rolled back when it raises.

        Objects read in it stay readable afterwards.
        """
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            yield session

    def migrate(self, progress: Callable[[str], None] | None = None) -> None:
        """Bring the tables to this version. `progress` is told each migration's title. Several may call at once."""
        with self._engine.connect() as connection:
            if migrations.version_of(connection) == migrations.head():
                return
        with self.migrating() as connection:
            migrations.upgrade(connection, progress)

    def check(self) -> str | None:
        """None when the database answers and has this version's tables, else a sentence on what is wrong."""
        try:
            with self._engine.connect() as connection:
                version = migrations.version_of(connection)
        except SQLAlchemyError as error:
            return f"the database does not answer ({type(error).__name__})"
        if version == migrations.head():
            return None
        return f"the database is at version {version or 'none'}, not {migrations.head()}: run cka-lab migrate"

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection in one transaction that nobody else migrates in, with SQLite's foreign keys off.

        SQLite alters a table by building it anew, which its foreign keys would forbid; they are all checked at the end.
        """
        with self._engine.connect() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": 0x636B_616C_6162})
                yield connection
                connection.commit()
                return
            driver: Any = connection.connection.driver_connection
            driver.execute("PRAGMA foreign_keys = OFF")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                assert not broken, f"rows without the rows they refer to: {broken[:5]}"
                connection.commit()
            finally:
                connection.rollback()
                driver.execute("PRAGMA foreign_keys = ON")

    def dispose(self) -> None:
        """Close all idle connections."""
        self._engine.dispose()


def changed(session: Session, change: Update | Delete) -> int:
    """Carry out a change, also on the session's objects, and say how many rows it found."""
    done = session.execute(change)
    assert isinstance(done, CursorResult)
    return done.rowcount


def insert_missing(session: Session, table: type[Table], rows: list[dict[str, Any]]) -> None:
    """Add those rows whose primary key is not there yet, without a word about the others."""
    if not rows:
        return
    if session.get_bind().dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert  # noqa: PLC0415 (one of two namesakes)

        session.execute(insert(table).values(rows).on_conflict_do_nothing())
    else:
        from sqlalchemy.dialects.postgresql import insert as insert_postgresql  # noqa: PLC0415 (one of two namesakes)

        session.execute(insert_postgresql(table).values(rows).on_conflict_do_nothing())


def _url(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise BadDatabaseUrl(
            "This is no address of a database. Write sqlite:///path/to/lab.db or postgresql://user:password@host/name."
        ) from error
    if url.drivername in _POSTGRESQL_NAMES:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise BadDatabaseUrl(f"The lab knows SQLite and PostgreSQL, not {url.drivername}.")
    if url.database in {None, "", ":memory:"} or "mode=memory" in text:
        raise BadDatabaseUrl("The lab needs a database that lasts. Write sqlite:///path/to/lab.db.")
    return url


def _sqlite(url: URL) -> Engine:
    # The driver itself begins a transaction before the first change of data, in this mode.
    engine = create_engine(url, connect_args={"isolation_level": "IMMEDIATE"}, pool_size=20, max_overflow=30)

    def set_pragmas(connection: Any, _: object) -> None:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", set_pragmas)
    return engine


def _postgresql(url: URL) -> Engine:
    return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=30)
