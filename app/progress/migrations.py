"""Alembic, run from Python: nothing depends on the working folder or on a file of settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from alembic import command
from app.settings import ROOT


def config(connection: Connection | None = None, progress: Callable[[str], None] | None = None) -> Config:
    """Alembic's configuration, for a connection that is already in its transaction."""
    made = Config()
    made.set_main_option("script_location", str(ROOT / "alembic").replace("%", "%%"))
    made.attributes["connection"] = connection
    made.attributes["on_version_apply"] = _reporter(progress)
    return made


@cache
def head() -> str:
    """The version of the tables that this version of the lab needs."""
    found = ScriptDirectory.from_config(config()).get_current_head()
    assert found is not None, "there are no migrations"
    return found


def version_of(connection: Connection) -> str | None:
    """The version of the tables that the database has; None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(connection: Connection, progress: Callable[[str], None] | None = None, revision: str = "head") -> None:
    """Run the migrations up to a version, in the connection's transaction."""
    command.upgrade(config(connection, progress), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Go back to a version (`base`: no tables at all), in the connection's transaction."""
    command.downgrade(config(connection), revision)


def _reporter(progress: Callable[[str], None] | None) -> Callable[..., None]:
    def report(*, step: Any, **_: Any) -> None:
        if progress is not None:
            progress(step.up_revision.doc)

    return report
