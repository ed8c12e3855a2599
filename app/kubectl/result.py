"""What a command did: what it printed, what it changed, and what was wrong, with the place in the manifest."""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery import meta
from app.apimachinery.messages import Message
from app.apimachinery.meta import Object


@dataclass(frozen=True)
class Ref:
    """An object that a command changed. The namespace is empty for cluster-scoped kinds."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def to(cls, obj: Object) -> Ref:
        """A reference to a stored object."""
        return cls(str(obj["apiVersion"]), str(obj["kind"]), meta.namespace_of(obj), meta.name_of(obj))


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a manifest. Line and column count from 1; 0 where the place is not known."""

    message: Message
    line: int = 0
    column: int = 0
    advice: Message | None = None


@dataclass(frozen=True)
class CommandResult:
    """A finished command. `code` is the process's exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    changed: tuple[Ref, ...] = ()
    problems: tuple[Problem, ...] = ()
