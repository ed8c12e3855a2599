"""What authors work on: the text of an exercise that is in force, and those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.lab.library import Library
from app.progress import accounts
from app.progress import library as stored
from app.progress.models import ExerciseVersion


@dataclass(frozen=True)
class InForce:
    """The text that learners get (or would, were it not hidden)."""

    name: str
    text: str
    digest: str
    version: int
    """The version that the text states."""
    published: str | None
    """The digest published here; None where the text is the folder's file."""


def in_force(session: accounts.Session, library: Library, name: str) -> InForce | None:
    """The text in force under this name; None where no exercise has it."""
    row = next((row for row in stored.current(session) if row.name == name), None)
    if row is not None and row.digest is not None:
        return InForce(name, row.source or "", row.digest, row.version or 0, row.digest)
    catalogue = library.catalogue()
    exercise = catalogue.exercises.get(name) or catalogue.hidden.get(name)
    return None if exercise is None else InForce(name, exercise.source, exercise.digest, exercise.version, None)


def versions(session: accounts.Session, name: str) -> list[dict[str, Any]]:
    """Every recorded text of an exercise, newest first, with who saved it."""

    def author(version: ExerciseVersion) -> str:
        user = accounts.get(session, version.author_id) if version.author_id else None
        return (user.display_name or user.name or "") if user else ""

    return [
        {
            "digest": version.digest,
            "version": version.version,
            "created_at": version.created_at,
            "origin": version.origin,
            "author": author(version),
        }
        for version in stored.history(session, name)
    ]
