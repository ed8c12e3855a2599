"""People, groups, exercises, labs, commands, results.

Revision: 0001
After: nothing

The names of keys, indexes and constraints follow the naming convention in app/progress/models.py.
"""

import sqlalchemy as sa

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME = sa.String(length=32)
_GROWING = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _instant(name, *, nullable=False):
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _text(name, *arguments, nullable=False, **options):
    return sa.Column(name, sa.Text, *arguments, nullable=nullable, **options)


def _number(name, *arguments, nullable=False, **options):
    return sa.Column(name, sa.Integer, *arguments, nullable=nullable, **options)


def _long(name):
    return sa.Column(name, sa.BigInteger, nullable=False)


def upgrade():
    _create_people()
    _create_exercises()
    _create_labs()
    _create_results()
    _refuse_changes_of_results()


def _create_people():
    op.create_table(
        "users",
        _number("id", primary_key=True),
        _text("name", nullable=True),
        _text("name_key", nullable=True, unique=True),
        _text("display_name", nullable=True),
        _text("password_hash", nullable=True),
        sa.Column("role", _NAME, nullable=False),
        _text("language", nullable=True),
        sa.Column("disabled", sa.Boolean, nullable=False),
        _number("merged_into", sa.ForeignKey("users.id"), nullable=True, index=True),
        _instant("created_at"),
        _instant("last_seen_at"),
    )
    op.create_table(
        "sign_ins",
        _text("token_hash", primary_key=True),
        _number("user_id", sa.ForeignKey("users.id"), index=True),
        _instant("created_at"),
        _instant("expires_at"),
    )
    op.create_table(
        "setup_links",
        _text("token_hash", primary_key=True),
        _instant("created_at"),
        _instant("used_at", nullable=True),
    )
    op.create_table(
        "learner_groups",
        _number("id", primary_key=True),
        _text("name"),
        _text("join_code", unique=True),
        _instant("created_at"),
    )
    op.create_table(
        "memberships",
        _number("user_id", sa.ForeignKey("users.id"), primary_key=True),
        _number("group_id", sa.ForeignKey("learner_groups.id"), primary_key=True, index=True),
        _instant("created_at"),
    )


def _create_exercises():
    op.create_table(
        "exercise_versions",
        _text("digest", primary_key=True),
        _text("name", index=True),
        _long("version"),
        _text("source"),
        sa.Column("origin", _NAME, nullable=False),
        _number("author_id", sa.ForeignKey("users.id"), nullable=True),
        _instant("created_at"),
    )
    op.create_table(
        "published_exercises",
        _text("name", primary_key=True),
        _text("digest", sa.ForeignKey("exercise_versions.digest"), nullable=True),
        sa.Column("hidden", sa.Boolean, nullable=False),
        _instant("updated_at"),
    )


def _create_labs():
    op.create_table(
        "labs",
        _text("id", primary_key=True),
        _number("user_id", sa.ForeignKey("users.id")),
        _text("exercise_name"),
        _text("exercise_digest", sa.ForeignKey("exercise_versions.digest")),
        _long("exercise_version"),
        _long("seed"),
        _number("revision"),
        _number("commands"),
        sa.Column("state", sa.LargeBinary, nullable=False),
        sa.Column("start_state", sa.LargeBinary, nullable=False),
        _long("sim_anchor"),
        _long("wall_anchor"),
        _long("start_anchor"),
        _text("api_secret_hash", nullable=True, unique=True),
        _instant("started_at"),
        _instant("updated_at"),
        _instant("ended_at", nullable=True),
        sa.Index(None, "user_id", "exercise_name"),
    )
    op.create_table(
        "commands",
        sa.Column("id", _GROWING, primary_key=True),
        _text("lab_id", sa.ForeignKey("labs.id")),
        _number("seq"),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("ok", sa.Boolean, nullable=False),
        _text("input"),
        _text("output"),
        _number("revision"),
        _long("sim_at"),
        _instant("at"),
        sa.UniqueConstraint("lab_id", "seq"),
    )


def _create_results():
    op.create_table(
        "results",
        sa.Column("id", _GROWING, primary_key=True),
        _text("lab_id", sa.ForeignKey("labs.id"), index=True),
        _number("lab_revision"),
        _number("user_id", sa.ForeignKey("users.id")),
        _text("exercise_name"),
        _long("exercise_version"),
        _text("exercise_digest", sa.ForeignKey("exercise_versions.digest")),
        _long("seed"),
        _text("engine_version"),
        sa.Column("kind", _NAME, nullable=False),
        _number("points"),
        _number("possible"),
        sa.Column("verdict", sa.JSON, nullable=False),
        _text("manifests"),
        _instant("created_at"),
        sa.CheckConstraint("points >= 0 AND points <= possible AND possible > 0", name="points"),
        sa.Index(None, "user_id", "exercise_name"),
    )


def _refuse_changes_of_results():
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER results_refuse_{verb.lower()} BEFORE {verb} ON results "
                "BEGIN SELECT RAISE(ABORT, 'results are only ever added'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION results_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'results are only ever added' "
        "USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    op.execute(
        "CREATE TRIGGER results_refuse BEFORE UPDATE OR DELETE OR TRUNCATE ON results "
        "FOR EACH STATEMENT EXECUTE FUNCTION results_refuse()"
    )


def downgrade():
    for table in (
        "results",
        "commands",
        "labs",
        "published_exercises",
        "exercise_versions",
        "memberships",
        "learner_groups",
        "setup_links",
        "sign_ins",
        "users",
    ):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION results_refuse()")
