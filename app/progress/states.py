"""The state after each command: a keyframe now and then, and differences in between.

A row of depth 0 holds a whole state (an empty one: the lab's start); a row of depth n is a difference to the row
before it, and depth 1 may also follow the lab's start itself. A segment is a keyframe with the differences that
follow it. What one lab keeps is bounded: where a new segment begins, the oldest ones go.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlmodel import Session, col

from app.progress.models import Command, Lab, LabState

KEYFRAME_EVERY = 50


@dataclass(frozen=True, slots=True)
class Bound:
    """What one lab keeps before its newest segment: so many states, and so many bytes of them."""

    steps: int
    size: int


BOUND = Bound(steps=1000, size=4 * 1024 * 1024)


def record(session: Session, lab: Lab, state: bytes, difference: bytes, bound: Bound = BOUND) -> None:
    """Keep the state that the lab's last command left; without a difference to the one before, the whole of it."""
    depth = _next_depth(session, lab) if difference else 0
    data = difference if depth else state
    session.add(LabState(lab_id=lab.id, seq=lab.commands, depth=depth, data=data))
    session.flush()
    if depth == 0:
        _trim(session, lab.id, bound)


def _next_depth(session: Session, lab: Lab) -> int:
    query = select(col(LabState.depth)).where(col(LabState.lab_id) == lab.id).order_by(col(LabState.seq).desc())
    last = session.scalar(query.limit(1))
    if last is None:
        return 1 if lab.revision == 1 else 0
    return last + 1 if last < KEYFRAME_EVERY else 0


def _trim(session: Session, lab_id: str, bound: Bound) -> None:
    """Drop the oldest segments that are too much; the one that has just begun stays whatever its size."""
    query = (
        select(col(LabState.seq), col(LabState.depth), func.length(col(LabState.data)))
        .where(col(LabState.lab_id) == lab_id)
        .order_by(col(LabState.seq).desc())
    )
    (oldest_kept, *_), *earlier = session.execute(query).all()
    steps = size = 0
    for at, (seq, depth, length) in enumerate(earlier):
        steps, size = steps + 1, size + length
        if steps > bound.steps or size > bound.size:
            break
        if depth == 0 or at == len(earlier) - 1:
            oldest_kept = seq
    session.execute(
        delete(LabState).where(col(LabState.lab_id) == lab_id, col(LabState.seq) < oldest_kept),
        execution_options={"synchronize_session": False},
    )


def find(session: Session, lab: Lab, seq: int) -> tuple[bytes, list[bytes]] | None:
    """A whole state and the differences that lead from it to the state after command `seq` (0: the start)."""
    if seq == 0:
        return lab.start_state, []
    row = session.get(LabState, (lab.id, seq))
    if row is None:
        return None
    query = (
        select(LabState)
        .where(col(LabState.lab_id) == lab.id, col(LabState.seq) <= seq)
        .order_by(col(LabState.seq).desc())
        .limit(row.depth + 1)
    )
    rows = list(reversed(session.scalars(query).all()))
    if rows[0].depth:
        return lab.start_state, [found.data for found in rows]
    return rows[0].data or lab.start_state, [found.data for found in rows[1:]]


def steps(session: Session, lab_id: str, *, limit: int = 20) -> list[Command]:
    """The last commands whose states can be gone back to, newest first."""
    query = (
        select(Command)
        .join(LabState, (col(LabState.lab_id) == col(Command.lab_id)) & (col(LabState.seq) == col(Command.seq)))
        .where(col(Command.lab_id) == lab_id)
        .order_by(col(Command.seq).desc())
        .limit(limit)
    )
    return list(session.scalars(query))


def reach_back(session: Session, lab: Lab) -> bool:
    """Whether every state that the lab has had can be gone back to."""
    query = select(col(LabState.depth)).where(col(LabState.lab_id) == lab.id).order_by(col(LabState.seq)).limit(1)
    oldest = session.scalar(query)
    return lab.revision == 0 if oldest is None else oldest > 0


def forget(session: Session, before: datetime) -> None:
    """Drop the states of labs in which nothing was done since `before`; commands and results stay."""
    idle = select(col(Lab.id)).where(col(Lab.updated_at) < before)
    session.execute(
        delete(LabState).where(col(LabState.lab_id).in_(idle)), execution_options={"synchronize_session": False}
    )
