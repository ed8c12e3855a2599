"""Results: added, never changed; first, last and best of each exercise.

All results count, of checks and of submissions. Best is the highest share of the possible points, the earliest of
equals: versions of an exercise may have different totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVarTuple

from sqlalchemy import Float, Row, Select, cast, func, or_, select
from sqlmodel import Session, col

from app.progress import owners, times
from app.progress.models import Lab, Result, ResultKind, User

Rows = Select[*tuple[Any, ...]]
"""A query of some columns."""

_Ts = TypeVarTuple("_Ts")


@dataclass(frozen=True, kw_only=True)
class NewResult:
    """A verdict to record; points are whole numbers, 0 ≤ points ≤ possible, possible > 0."""

    user_id: int
    exercise_name: str
    exercise_version: int
    exercise_digest: str
    seed: int
    engine_version: str
    kind: str
    """check or submit."""
    points: int
    possible: int
    verdict: Any
    """JSON, one entry a check."""
    manifests: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """What a result counts, and which one it is."""

    id: int
    """The result's number."""
    points: int
    possible: int
    at: datetime
    kind: ResultKind
    version: int
    """The exercise's version."""
    seed: int
    engine_version: str

    @property
    def full(self) -> bool:
        """Whether no point is missing."""
        return self.points == self.possible


@dataclass(frozen=True, slots=True)
class Scores:
    """Somebody's results of one exercise, in short."""

    exercise: str
    attempts: int
    first: Score
    last: Score
    best: Score


@dataclass(frozen=True, slots=True)
class Standing:
    """How far somebody is with an exercise."""

    exercise: str
    attempts: int
    """How many results there are."""
    best: Score | None
    lab: str
    """The newest open lab of the exercise; empty where there is none."""

    @property
    def state(self) -> str:
        """`begun`, `full`, or the best points as `7/10`. What is `new` has no standing."""
        if self.best is None:
            return "begun"
        return "full" if self.best.full else f"{self.best.points}/{self.best.possible}"


def add(session: Session, lab_id: str, lab_revision: int, new: NewResult) -> Result:
    """Record a verdict."""
    result = Result(
        lab_id=lab_id,
        lab_revision=lab_revision,
        user_id=new.user_id,
        exercise_name=new.exercise_name,
        exercise_version=new.exercise_version,
        exercise_digest=new.exercise_digest,
        seed=new.seed,
        engine_version=new.engine_version,
        kind=ResultKind(new.kind),
        points=new.points,
        possible=new.possible,
        verdict=new.verdict,
        manifests=new.manifests,
        created_at=times.now(),
    )
    session.add(result)
    session.flush()
    return result


def get(session: Session, result_id: int) -> Result | None:
    """The result of this number, whoever it belongs to (`owners.owner_of` says who)."""
    return session.get(Result, result_id)


def of_user(
    session: Session, user_id: int, *, exercise: str | None = None, offset: int = 0, limit: int = 50
) -> list[Result]:
    """Somebody's results, newest first, those of their time as a guest included."""
    query = _of(select(Result), user_id, exercise).order_by(col(Result.id).desc()).offset(offset).limit(limit)
    return list(session.scalars(query))


def count_of_user(session: Session, user_id: int, *, exercise: str | None = None) -> int:
    """How many results `of_user` would give without a limit."""
    return session.scalar(_of(select(func.count(col(Result.id))), user_id, exercise)) or 0


def last_of_lab(session: Session, lab_id: str) -> Result | None:
    """The verdict given last in a lab."""
    return session.scalar(select(Result).where(col(Result.lab_id) == lab_id).order_by(col(Result.id).desc()).limit(1))


def scores(session: Session, user_id: int, exercise: str) -> Scores | None:
    """Somebody's first, last and best result of an exercise; None where there is none."""
    return scores_by_exercise(session, user_id, exercise=exercise).get(exercise)


def scores_by_exercise(session: Session, user_id: int, *, exercise: str | None = None) -> dict[str, Scores]:
    """Somebody's first, last and best result of every exercise they have results of, by the exercise's name."""
    query = _of(ranked(), user_id, exercise)
    return {found.exercise: found for (_, found) in collect(session.execute(notable(query)))}


def standings(session: Session, user_id: int) -> dict[str, Standing]:
    """How far somebody is with every exercise they ever began, by the exercise's name. Two queries, however many."""
    found = scores_by_exercise(session, user_id)
    began = session.execute(
        select(col(Lab.exercise_name), col(Lab.id), col(Lab.ended_at).is_(None))
        .where(col(Lab.user_id).in_(owners.ids_of(user_id)))
        .order_by(col(Lab.started_at), col(Lab.id))
    ).all()
    opened = {name: lab_id for name, lab_id, is_open in began if is_open}
    names = {name for name, _, _ in began} | set(found)
    return {name: _standing(name, found.get(name), opened.get(name, "")) for name in names}


def _standing(name: str, found: Scores | None, lab: str) -> Standing:
    return Standing(name, found.attempts if found else 0, found.best if found else None, lab)


def _of(query: Select[*_Ts], user_id: int, exercise: str | None) -> Select[*_Ts]:
    query = query.where(col(Result.user_id).in_(owners.ids_of(user_id)))
    return query if exercise is None else query.where(col(Result.exercise_name) == exercise)


# First, last and best, for one person or for all


def ranked() -> Rows:
    """All results with their owner and their places among the owner's results of the exercise; to be filtered."""
    share = cast(Result.points, Float) / cast(Result.possible, Float)
    cell = [owners.owner_id(), col(Result.exercise_name)]
    return select(
        owners.owner_id().label("owner"),
        col(Result.exercise_name).label("exercise"),
        col(Result.id).label("id"),
        col(Result.points).label("points"),
        col(Result.possible).label("possible"),
        col(Result.created_at).label("at"),
        col(Result.kind).label("kind"),
        col(Result.exercise_version).label("version"),
        col(Result.seed).label("seed"),
        col(Result.engine_version).label("engine_version"),
        func.count().over(partition_by=cell).label("attempts"),
        func.row_number().over(partition_by=cell, order_by=col(Result.id)).label("from_first"),
        func.row_number().over(partition_by=cell, order_by=col(Result.id).desc()).label("from_last"),
        func.row_number().over(partition_by=cell, order_by=(share.desc(), col(Result.id))).label("from_best"),
    ).join(User, col(User.id) == col(Result.user_id))


def notable(query: Rows) -> Rows:
    """Of ranked results, those that are first, last or best."""
    rows = query.subquery()
    return (
        select(rows)
        .where(or_(rows.c.from_first == 1, rows.c.from_last == 1, rows.c.from_best == 1))
        .order_by(rows.c.owner, rows.c.exercise)
    )


def collect(rows: Iterable[Row[Any]]) -> Iterable[tuple[int, Scores]]:
    """Owner and scores, from rows of `notable`, which come exercise by exercise."""
    cells: dict[tuple[int, str], dict[str, Any]] = {}
    for row in rows:
        fields = row._mapping  # noqa: SLF001 (SQLAlchemy's public name for it)
        cell = cells.setdefault((row.owner, row.exercise), {"attempts": row.attempts})
        score = _score(fields)
        for place in ("first", "last", "best"):
            if fields[f"from_{place}"] == 1:
                cell[place] = score
    return [(owner, Scores(exercise, **cell)) for (owner, exercise), cell in cells.items()]


def _score(row: Mapping[Any, Any]) -> Score:
    return Score(
        id=row["id"],
        points=row["points"],
        possible=row["possible"],
        at=row["at"],
        kind=row["kind"],
        version=row["version"],
        seed=row["seed"],
        engine_version=row["engine_version"],
    )
