"""What a check is given and what it answers. The kinds of checks live in `checks/`, one module each.

A module of `checks/` has `Spec` (its part of the file), `run(spec, context) -> Finding`, `literals(spec)` (what a
learner must read in the task to satisfy it) and `faults(spec)` (what an author wrote wrong in it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from app.apimachinery.messages import Message
from app.cluster.cluster import Cluster
from app.exercises.base import Strict


@dataclass(frozen=True)
class Context:
    """The copy of the learner's cluster to be judged, moved on until it is settled; and how it all began."""

    cluster: Cluster
    start: Cluster


@dataclass(frozen=True)
class Finding:
    """A verdict in sentences: what was looked for (None: the check's own sentence says it), what was found, where."""

    passed: bool
    looked_for: Message | None
    found: Message
    where: Message


class NotGraded(Exception):
    """The check itself is broken, whatever the learner did; the message is for the author."""


@dataclass(frozen=True)
class Fault:
    """Something an author wrote wrong: the field's path inside the check, and the place in its text from 1."""

    path: str
    message: Message
    advice: Message | None = None
    line: int = 0
    column: int = 0


class Unit(Protocol):
    """A module of `checks/`."""

    @property
    def Spec(self) -> type[Strict]:  # noqa: N802 (a class of the module)
        """The check's part of the file."""

    @property
    def run(self) -> Callable[[Any, Context], Finding]:
        """Judge. Raises NotGraded for a broken check, never for a wrong answer."""

    @property
    def literals(self) -> Callable[[Any], Iterator[str]]:
        """What must stand in the task's text."""

    @property
    def faults(self) -> Callable[[Any], Iterator[Fault]]:
        """What is wrong beyond the shape of the fields."""
