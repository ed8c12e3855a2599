"""What Alembic runs: for the lab itself, which hands its connection over, and for `alembic` on the command line."""

from sqlalchemy.types import TypeDecorator

from alembic import context
from app.progress.columns import LongRowId
from app.progress.db import Database
from app.progress.models import Table
from app.settings import Settings


def _plain_type(kind, column_type, _):
    """A new migration names SQL's own types: the lab's may change their meaning later."""
    if kind == "type" and isinstance(column_type, LongRowId):
        return "sa.BigInteger().with_variant(sa.Integer(), 'sqlite')"
    if kind == "type" and isinstance(column_type, TypeDecorator):
        return f"sa.{column_type.impl_instance!r}"
    return False


def _run(connection):
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        render_as_batch=True,
        render_item=_plain_type,
        transactional_ddl=True,
        compare_server_default=True,
        on_version_apply=context.config.attributes.get("on_version_apply"),
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    raise SystemExit("Migrations need the database: some look at what is there.")
if (given := context.config.attributes.get("connection")) is not None:
    _run(given)
else:
    database = Database(Settings().database)
    with database.migrating() as own:
        _run(own)
    database.dispose()
