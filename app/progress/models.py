"""The tables. What they are for, and how long rows are kept, stands in docs/data.md.

Passwords, session tokens, links and API secrets are only here as hashes. Instants are timezone-aware datetimes, except
a lab's two anchors, which are integers of microseconds since 1970: the simulated clock's own unit.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, CheckConstraint, Index, LargeBinary, MetaData, UniqueConstraint, false
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from app.progress.columns import LongRowId, RowId, Words, one_of

_NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Table(SQLModel, registry=registry(metadata=MetaData(naming_convention=_NAMING))):
    """The base of all tables; `Table.metadata` is what migrations are compared with."""


class Role(StrEnum):
    """What somebody may do."""

    LEARNER = "learner"
    INSTRUCTOR = "instructor"
    GRADER = "grader"
    ADMINISTRATOR = "administrator"


class User(Table, table=True):
    """A person: a guest while `name` is None, then an account."""

    __tablename__ = "users"

    id: int = Field(default=None, primary_key=True, sa_type=RowId)
    name: str | None = Field(default=None, sa_type=Words)
    """As it was typed."""
    name_key: str | None = Field(default=None, sa_type=Words, unique=True)
    """The name without regard to case and width: what makes two names the same."""
    display_name: str | None = Field(default=None, sa_type=Words)
    password_hash: str | None = Field(default=None, sa_type=Words)
    role: Role = Field(default=Role.LEARNER, sa_type=one_of(Role))
    language: str | None = Field(default=None, sa_type=Words)
    """None: as the browser asks."""
    disabled: bool = False
    merged_into: int | None = Field(default=None, sa_type=RowId, foreign_key="users.id", index=True)
    """The account that took over this guest's labs and results. Accounts are never merged, so one step is enough."""
    created_at: datetime
    last_seen_at: datetime


class SignIn(Table, table=True):
    """One browser's session."""

    __tablename__ = "sign_ins"

    token_hash: str = Field(primary_key=True, sa_type=Words)
    user_id: int = Field(sa_type=RowId, foreign_key="users.id", index=True)
    created_at: datetime
    expires_at: datetime


class SetupLink(Table, table=True):
    """A link that makes its opener the first administrator, once."""

    __tablename__ = "setup_links"

    token_hash: str = Field(primary_key=True, sa_type=Words)
    created_at: datetime
    used_at: datetime | None = None


class LearnerGroup(Table, table=True):
    """A class or another set of learners."""

    __tablename__ = "learner_groups"

    id: int = Field(default=None, primary_key=True, sa_type=RowId)
    name: str = Field(sa_type=Words)
    join_code: str = Field(sa_type=Words, unique=True)
    created_at: datetime


class Membership(Table, table=True):
    """Somebody belongs to a group."""

    __tablename__ = "memberships"

    user_id: int = Field(primary_key=True, sa_type=RowId, foreign_key="users.id")
    group_id: int = Field(primary_key=True, sa_type=RowId, foreign_key="learner_groups.id", index=True)
    created_at: datetime


class Origin(StrEnum):
    """Where a version of an exercise came from."""

    FOLDER = "folder"
    UPLOAD = "upload"


class ExerciseVersion(Table, table=True):
    """The text of an exercise, kept as long as a lab or a result refers to it: for good."""

    __tablename__ = "exercise_versions"

    digest: str = Field(primary_key=True, sa_type=Words)
    """SHA-256 of the text, hexadecimal."""
    name: str = Field(sa_type=Words, index=True)
    version: int = Field(sa_type=BigInteger)
    source: str = Field(sa_type=Words)
    origin: Origin = Field(sa_type=one_of(Origin))
    author_id: int | None = Field(default=None, sa_type=RowId, foreign_key="users.id")
    created_at: datetime


class PublishedExercise(Table, table=True):
    """What instructors decided about an exercise: its text, and whether it is on offer."""

    __tablename__ = "published_exercises"

    name: str = Field(primary_key=True, sa_type=Words)
    digest: str | None = Field(default=None, sa_type=Words, foreign_key="exercise_versions.digest")
    """None: as the file in the exercises folder has it."""
    hidden: bool = False
    updated_at: datetime


class Lab(Table, table=True):
    """One learner's cluster: its state after the last command, and what the two clocks showed then."""

    __tablename__ = "labs"
    __table_args__: ClassVar[Any] = (Index(None, "user_id", "exercise_name"),)

    id: str = Field(primary_key=True, sa_type=Words)
    user_id: int = Field(sa_type=RowId, foreign_key="users.id")
    exercise_name: str = Field(sa_type=Words)
    exercise_digest: str = Field(sa_type=Words, foreign_key="exercise_versions.digest")
    exercise_version: int = Field(sa_type=BigInteger)
    seed: int = Field(sa_type=BigInteger)
    revision: int = 0
    """Counts the changes of this row; who writes names the revision that was read."""
    commands: int = 0
    """How many commands were logged; the last one's `seq`."""
    state: bytes = Field(sa_type=LargeBinary)
    start_state: bytes = Field(sa_type=LargeBinary)
    sim_anchor: int = Field(sa_type=BigInteger)
    """The simulated instant of the state, in microseconds."""
    wall_anchor: int = Field(sa_type=BigInteger)
    """The wall clock's instant that belongs to it, in microseconds."""
    start_anchor: int = Field(default=None, sa_type=BigInteger)
    """The simulated instant of the state at the start, in microseconds."""
    paused: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether the simulated clock stands still at the anchor."""
    exam: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether nobody may step back in it."""
    api_secret_hash: str | None = Field(default=None, sa_type=Words, unique=True)
    started_at: datetime = Field(default=None)
    updated_at: datetime = Field(default=None)
    ended_at: datetime | None = None


class CommandKind(StrEnum):
    """What somebody did in a lab."""

    APPLY = "apply"
    CREATE = "create"
    REPLACE = "replace"
    DELETE = "delete"
    CHECK = "check"
    SUBMIT = "submit"
    TERMINAL = "terminal"
    RESET = "reset"
    ADVANCE = "advance"
    PAUSE = "pause"
    RESUME = "resume"
    API = "api"
    BACK = "back"


class LabState(Table, table=True):
    """The state that a command left: whole, or how it differs from the one kept before it (see `states`)."""

    __tablename__ = "lab_states"

    lab_id: str = Field(primary_key=True, sa_type=Words, foreign_key="labs.id")
    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    depth: int
    data: bytes = Field(sa_type=LargeBinary)


class Command(Table, table=True):
    """One interaction with a lab: what went in and what came out."""

    __tablename__ = "commands"
    __table_args__: ClassVar[Any] = (UniqueConstraint("lab_id", "seq"),)

    id: int = Field(default=None, primary_key=True, sa_type=LongRowId)
    lab_id: str = Field(sa_type=Words, foreign_key="labs.id")
    seq: int
    """1, 2, 3 … in each lab, without gaps."""
    kind: CommandKind = Field(sa_type=one_of(CommandKind))
    ok: bool
    input: str = Field(sa_type=Words)
    output: str = Field(sa_type=Words)
    revision: int
    """The lab's revision afterwards."""
    sim_at: int = Field(sa_type=BigInteger)
    """The simulated instant, in microseconds."""
    at: datetime


class ResultKind(StrEnum):
    """Which button gave a result."""

    CHECK = "check"
    SUBMIT = "submit"


class Result(Table, table=True):
    """A verdict. Rows are only ever added: a trigger in the database refuses anything else."""

    __tablename__ = "results"
    __table_args__: ClassVar[Any] = (
        Index(None, "user_id", "exercise_name"),
        CheckConstraint("points >= 0 AND points <= possible AND possible > 0", name="points"),
    )

    id: int = Field(default=None, primary_key=True, sa_type=LongRowId)
    lab_id: str = Field(sa_type=Words, foreign_key="labs.id", index=True)
    lab_revision: int
    """The lab's revision that was graded."""
    user_id: int = Field(sa_type=RowId, foreign_key="users.id")
    """Who earned it, as recorded then; a guest who became part of an account is followed by `merged_into`."""
    exercise_name: str = Field(sa_type=Words)
    exercise_version: int = Field(sa_type=BigInteger)
    exercise_digest: str = Field(sa_type=Words, foreign_key="exercise_versions.digest")
    seed: int = Field(sa_type=BigInteger)
    engine_version: str = Field(sa_type=Words)
    kind: ResultKind = Field(sa_type=one_of(ResultKind))
    points: int
    possible: int
    verdict: Any = Field(sa_type=JSON)
    """One entry a check, as the grader gave it."""
    manifests: str = Field(sa_type=Words)
    """What was submitted; empty where the cluster was checked as it stood."""
    created_at: datetime
