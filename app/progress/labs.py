"""Labs and what was done in them.

A lab's row is only changed by who read its present revision: `commit_interaction` names it, and raises RevisionConflict
where somebody was faster. State, command and result are written in one transaction, all or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import defer
from sqlmodel import Session, col

from app.progress import owners, results, states, times, tokens
from app.progress.errors import LabEnded, LabError, RevisionConflict, UnknownLab
from app.progress.models import Command, CommandKind, Lab
from app.progress.results import NewResult

__all__ = ["LabEnded", "LabError", "LabLine", "NewCommand", "NewResult", "NewState", "RevisionConflict", "UnknownLab"]

_WITH_TEXT = (
    CommandKind.APPLY,
    CommandKind.CREATE,
    CommandKind.REPLACE,
    CommandKind.DELETE,
    CommandKind.SUBMIT,
)


@dataclass(frozen=True)
class NewState:
    """A lab's state after a command, and what the two clocks showed, in microseconds."""

    state: bytes
    sim_anchor: int
    wall_anchor: int
    difference: bytes = b""
    """How the state differs from the one before."""
    paused: bool = False


@dataclass(frozen=True)
class NewCommand:
    """A command to log. `sim_at` is the simulated instant, in microseconds."""

    kind: str
    input: str
    output: str
    ok: bool
    sim_at: int


@dataclass(frozen=True, slots=True)
class LabLine:
    """A lab in a list, without its states."""

    id: str
    exercise: str
    exercise_digest: str
    exercise_version: int
    seed: int
    revision: int
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None


def add(session: Session, lab: Lab) -> Lab:
    """Record a lab that was just started. The exercise's version must be recorded already: `library.record_version`."""
    lab.started_at = lab.updated_at = times.now()
    lab.start_anchor = lab.sim_anchor
    session.add(lab)
    session.flush()
    return lab


def get(session: Session, lab_id: str, user_id: int) -> Lab | None:
    """Somebody's own lab; None for one that does not exist or is somebody else's."""
    return session.scalar(
        select(Lab).where(col(Lab.id) == lab_id, col(Lab.user_id).in_(owners.ids_of(user_id))),
        execution_options={"populate_existing": True},
    )


def find_open(session: Session, user_id: int, exercise: str) -> Lab | None:
    """Somebody's newest lab of an exercise that has not ended."""
    return session.scalar(
        select(Lab)
        .where(
            col(Lab.user_id).in_(owners.ids_of(user_id)),
            col(Lab.exercise_name) == exercise,
            col(Lab.ended_at).is_(None),
        )
        .order_by(col(Lab.started_at).desc(), col(Lab.id))
        .limit(1)
    )


def of_user(session: Session, user_id: int, *, offset: int = 0, limit: int = 200) -> list[LabLine]:
    """Somebody's labs, the one last worked in first."""
    query = (
        select(Lab)
        .options(defer(Lab.state, raiseload=True), defer(Lab.start_state, raiseload=True))  # type: ignore[arg-type] # SQLModel types attributes as their values
        .where(col(Lab.user_id).in_(owners.ids_of(user_id)))
        .order_by(col(Lab.updated_at).desc(), col(Lab.id))
        .offset(offset)
        .limit(limit)
    )
    return [
        LabLine(
            id=lab.id,
            exercise=lab.exercise_name,
            exercise_digest=lab.exercise_digest,
            exercise_version=lab.exercise_version,
            seed=lab.seed,
            revision=lab.revision,
            started_at=lab.started_at,
            updated_at=lab.updated_at,
            ended_at=lab.ended_at,
        )
        for lab in session.scalars(query)
    ]


def count(session: Session, user_id: int) -> int:
    """How many labs somebody has open."""
    query = select(func.count(col(Lab.id))).where(
        col(Lab.user_id).in_(owners.ids_of(user_id)), col(Lab.ended_at).is_(None)
    )
    return session.scalar(query) or 0


def revision(session: Session, lab_id: str) -> int:
    """The number of the lab's last change. Raises UnknownLab."""
    found = session.scalar(select(col(Lab.revision)).where(col(Lab.id) == lab_id))
    if found is None:
        raise UnknownLab
    return found


# Changes


def commit_interaction(
    session: Session,
    lab_id: str,
    *,
    expected_revision: int,
    change: NewState | None,
    command: NewCommand,
    result: NewResult | None = None,
    bound: states.Bound = states.BOUND,
) -> Lab:
    """Log a command that was carried out on a revision, with the new state (None: it stayed) and the verdict it gave.

    A new state makes a new revision; `bound` is what is kept of the earlier ones. Returns the lab as it is now.

    Raises:
        RevisionConflict: somebody was faster.
        LabEnded: it takes no more commands.
        UnknownLab: there is none.
    """
    values: dict[str, Any] = {"commands": col(Lab.commands) + 1, "updated_at": times.now()}
    if change is not None:
        values |= {
            "revision": col(Lab.revision) + 1,
            "state": change.state,
            "sim_anchor": change.sim_anchor,
            "wall_anchor": change.wall_anchor,
            "paused": change.paused,
        }
    lab = _write(session, lab_id, values, expected_revision)
    _log(session, lab, command)
    if change is not None:
        states.record(session, lab, change.state, change.difference, bound)
    if result is not None:
        results.add(session, lab.id, lab.revision, result)
    return lab


def end(session: Session, lab_id: str) -> None:
    """Close a lab: it takes no more commands, and its API's secret is worth nothing. A second time changes nothing."""
    session.execute(
        update(Lab)
        .where(col(Lab.id) == lab_id, col(Lab.ended_at).is_(None))
        .values(ended_at=times.now(), api_secret_hash=None),
        execution_options={"synchronize_session": False},
    )


def end_oldest(session: Session, user_id: int, *, keep: int) -> int:
    """Close somebody's open labs but for the `keep` that were worked in last. Returns how many."""
    idle = session.scalars(
        select(col(Lab.id))
        .where(col(Lab.user_id).in_(owners.ids_of(user_id)), col(Lab.ended_at).is_(None))
        .order_by(col(Lab.updated_at).desc(), col(Lab.id))
        .offset(keep)
    ).all()
    for lab_id in idle:
        end(session, lab_id)
    return len(idle)


def _write(session: Session, lab_id: str, values: dict[str, Any], expected_revision: int | None = None) -> Lab:
    change = update(Lab).where(col(Lab.id) == lab_id, col(Lab.ended_at).is_(None)).values(values)
    if expected_revision is not None:
        change = change.where(col(Lab.revision) == expected_revision)
    lab: Lab | None = session.scalar(
        change.returning(Lab), execution_options={"synchronize_session": False, "populate_existing": True}
    )
    if lab is not None:
        return lab
    ended = session.execute(select(col(Lab.ended_at)).where(col(Lab.id) == lab_id)).one_or_none()
    if ended is None:
        raise UnknownLab
    if ended[0] is not None:
        raise LabEnded
    raise RevisionConflict(expected=expected_revision)


# Commands


def commands(session: Session, lab_id: str, *, after: int = 0, limit: int = 500) -> list[Command]:
    """What was done in a lab, in order, from the command after `seq` number `after` on."""
    return list(
        session.scalars(
            select(Command)
            .where(col(Command.lab_id) == lab_id, col(Command.seq) > after)
            .order_by(col(Command.seq))
            .limit(limit)
        )
    )


def count_commands(session: Session, lab_id: str) -> int:
    """How many commands were logged since the start or the last reset."""
    last_reset = (
        select(func.coalesce(func.max(col(Command.seq)), 0))
        .where(col(Command.lab_id) == lab_id, col(Command.kind) == CommandKind.RESET)
        .scalar_subquery()
    )
    return (
        session.scalar(
            select(func.count(col(Command.id))).where(col(Command.lab_id) == lab_id, col(Command.seq) > last_reset)
        )
        or 0
    )


def last_manifest(session: Session, lab_id: str) -> str:
    """The text that was sent last, refused or not; empty where none was."""
    query = (
        select(col(Command.input))
        .where(col(Command.lab_id) == lab_id, col(Command.kind).in_(_WITH_TEXT))
        .order_by(col(Command.seq).desc())
        .limit(1)
    )
    return session.scalar(query) or ""


def _log(session: Session, lab: Lab, command: NewCommand) -> None:
    session.add(
        Command(
            lab_id=lab.id,
            seq=lab.commands,
            kind=CommandKind(command.kind),
            ok=command.ok,
            input=command.input,
            output=command.output,
            revision=lab.revision,
            sim_at=command.sim_at,
            at=lab.updated_at,
        )
    )
    session.flush()


# The Kubernetes API's secret


def set_api_secret(session: Session, lab_id: str, secret: str) -> None:
    """Let a secret open the lab's Kubernetes API; the one before it no longer does."""
    session.execute(update(Lab).where(col(Lab.id) == lab_id).values(api_secret_hash=tokens.digest(secret)))


def by_api_secret(session: Session, secret: str) -> Lab | None:
    """The open lab whose Kubernetes API this secret opens."""
    return session.scalar(
        select(Lab).where(col(Lab.api_secret_hash) == tokens.digest(secret), col(Lab.ended_at).is_(None))
    )
