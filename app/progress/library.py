"""Exercises' texts: every version that a lab was ever started with, and what instructors published here.

The exercises folder needs nothing of this; its versions are recorded so that old labs and results can be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import select, update
from sqlmodel import Session, col

from app.progress import times
from app.progress.db import changed, insert_missing
from app.progress.errors import LibraryError, StaleVersion, UnknownVersion
from app.progress.models import ExerciseVersion, Origin, PublishedExercise

__all__ = ["LibraryError", "Published", "Source", "StaleVersion", "UnknownVersion"]


class Source(Protocol):
    """An exercise as its text has it. Any loaded exercise is one."""

    @property
    def name(self) -> str:
        """The exercise's name."""

    @property
    def version(self) -> int:
        """The version that the text states."""

    @property
    def source(self) -> str:
        """The text."""

    @property
    def digest(self) -> str:
        """SHA-256 of the text, hexadecimal."""


@dataclass(frozen=True, slots=True)
class Published:
    """What instructors decided about an exercise."""

    name: str
    hidden: bool
    """Whether it is kept from the catalogue."""
    updated_at: datetime
    digest: str | None
    """None: the text is the file's in the exercises folder."""
    version: int | None
    source: str | None


def record_version(session: Session, exercise: Source, *, origin: str, author_id: int | None = None) -> None:
    """Keep an exercise's text for good. One that is kept already stays as it is."""
    record_versions(session, [exercise], origin=origin, author_id=author_id)


def record_versions(
    session: Session, exercises: Iterable[Source], *, origin: str, author_id: int | None = None
) -> None:
    """Keep the texts of several exercises; asks once, and writes only what is missing."""
    wanted = {exercise.digest: exercise for exercise in exercises}
    known = set(session.scalars(select(col(ExerciseVersion.digest)).where(col(ExerciseVersion.digest).in_(wanted))))
    rows = [
        {
            "digest": digest,
            "name": exercise.name,
            "version": exercise.version,
            "source": exercise.source,
            "origin": Origin(origin),
            "author_id": author_id,
            "created_at": times.now(),
        }
        for digest, exercise in wanted.items()
        if digest not in known
    ]
    insert_missing(session, ExerciseVersion, rows)


def get_source(session: Session, digest: str) -> str | None:
    """The text with this digest."""
    return session.scalar(select(col(ExerciseVersion.source)).where(col(ExerciseVersion.digest) == digest))


def history(session: Session, name: str) -> list[ExerciseVersion]:
    """All recorded versions of an exercise, newest first."""
    return list(
        session.scalars(
            select(ExerciseVersion)
            .where(col(ExerciseVersion.name) == name)
            .order_by(col(ExerciseVersion.created_at).desc(), col(ExerciseVersion.digest))
        )
    )


def publish(session: Session, name: str, digest: str, *, base: str | None) -> None:
    """Offer a recorded version from now on.

    `base` is the digest that was published when the author began (None: none was). Raises StaleVersion where that is no
    longer so, UnknownVersion for a digest that is not a version of this exercise.
    """
    version = session.get(ExerciseVersion, digest)
    if version is None or version.name != name:
        raise UnknownVersion(digest=digest[:12], name=name)
    _point(session, name, digest, base)


def withdraw(session: Session, name: str, *, base: str | None) -> None:
    """Let the file in the exercises folder be the text again. Raises StaleVersion as `publish` does."""
    _point(session, name, None, base)


def _point(session: Session, name: str, digest: str | None, base: str | None) -> None:
    _ensure(session, name)
    present = col(PublishedExercise.digest)
    change = (
        update(PublishedExercise)
        .where(col(PublishedExercise.name) == name, present.is_(None) if base is None else present == base)
        .values(digest=digest, updated_at=times.now())
    )
    if not changed(session, change):
        raise StaleVersion(name=name)


def hide(session: Session, name: str, *, hidden: bool = True) -> None:
    """Keep an exercise from the catalogue, or show it again; open labs go on."""
    _ensure(session, name)
    changed(
        session,
        update(PublishedExercise)
        .where(col(PublishedExercise.name) == name)
        .values(hidden=hidden, updated_at=times.now()),
    )


def _ensure(session: Session, name: str) -> None:
    insert_missing(session, PublishedExercise, [{"name": name, "hidden": False, "updated_at": times.now()}])


def current(session: Session) -> list[Published]:
    """All exercises that instructors decided about, by name, with the text where it is not the folder's."""
    rows = session.execute(
        select(
            col(PublishedExercise.name),
            col(PublishedExercise.hidden),
            col(PublishedExercise.updated_at),
            col(PublishedExercise.digest),
            col(ExerciseVersion.version),
            col(ExerciseVersion.source),
        )
        .outerjoin(ExerciseVersion, col(ExerciseVersion.digest) == col(PublishedExercise.digest))
        .order_by(col(PublishedExercise.name))
    )
    return [Published(*row) for row in rows]


def list_published(session: Session) -> list[PublishedExercise]:
    """Like `current`, without the texts."""
    return list(session.scalars(select(PublishedExercise).order_by(col(PublishedExercise.name))))


def stamp(session: Session) -> tuple[tuple[str, str | None, bool], ...]:
    """Something that differs whenever `current` does."""
    rows = session.execute(
        select(col(PublishedExercise.name), col(PublishedExercise.digest), col(PublishedExercise.hidden)).order_by(
            col(PublishedExercise.name)
        )
    )
    return tuple((name, digest, hidden) for name, digest, hidden in rows)
