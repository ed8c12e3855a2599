"""Files to objects: YAML or JSON, manifests or what `kubectl get -o yaml` prints, each with its place in its file.

Limits are wider than for learners: a dump of a thousand nodes and their pods is read whole.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from app.apimachinery import manifests
from app.apimachinery.manifests import Document, Limits, ManifestError
from app.apimachinery.meta import Object
from app.cli.simulation.progress import Bar

STDIN = "-"
LIMITS = Limits(size=256 * 1024 * 1024, depth=100, aliases=100_000, values=50_000_000)
"""For engineers' own files: enough for the largest clusters, and still an end to what aliases can grow to."""


class BadInput(Exception):
    """What was given cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Item:
    """An object and the way to the line on which something of it stands."""

    obj: Object
    source: str
    _where: Callable[[str], tuple[int, int]]

    def error(self, problem: object, path: str = "") -> BadInput:
        """`file:line: Kind name: problem`, with the line of the field that `path` names."""
        name = (self.obj.get("metadata") or {}).get("name") if isinstance(self.obj.get("metadata"), dict) else None
        line = self._where(path)[0]
        return BadInput(f"{self.source}:{line}: {self.obj.get('kind')} {name or '(no name)'}: {problem}")


class Text:
    """The text of one file, or of standard input."""

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == STDIN else name
        try:
            self._data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        except OSError as error:
            raise BadInput(f"{self.name}: {error.strerror or error}") from error

    def items(self) -> list[Item]:
        """The objects, lists taken apart. Raises BadInput."""
        listed = self._json()
        if listed is not None:
            return [Item(obj, self.name, self._later(index)) for index, obj in enumerate(listed)]
        return [Item(document.object, self.name, document.where) for document in self.documents]

    def values(self) -> list[Any]:
        """The documents whatever they are. Raises BadInput."""
        try:
            return manifests.load(self._data)
        except ManifestError as error:
            raise self._bad(error) from error

    def decoded(self) -> str:
        """The text itself. Raises BadInput where it is not UTF-8."""
        try:
            return self._data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{self.name}: this is not text in UTF-8") from error

    @cached_property
    def documents(self) -> list[Document]:
        """The manifests with the places of their fields. Raises BadInput."""
        bar = Bar(f"reading {self.name}")
        try:
            return manifests.parse(self._data, LIMITS, bar)
        except ManifestError as error:
            raise self._bad(error) from error
        finally:
            bar.clear()

    def _bad(self, error: ManifestError) -> BadInput:
        advice = f" {error.advice}" if error.advice else ""
        return BadInput(f"{self.name}:{error.line}: {error.problem}{advice}")

    def _later(self, index: int) -> Callable[[str], tuple[int, int]]:
        """Places in JSON are looked up when somebody asks: reading it as YAML takes ten times as long."""

        def where(path: str) -> tuple[int, int]:
            try:
                return self.documents[index].where(path)
            except BadInput:
                return (1, 1)  # JSON that YAML does not take, such as a field that stands twice

        return where

    def _json(self) -> list[Object] | None:
        """The objects of well-formed JSON; None where it is YAML, or the strict reader is to say what is wrong."""
        if not self._data.lstrip().startswith(b"{"):
            return None
        try:
            found = json.loads(self._data, parse_constant=_refused)
        except (ValueError, RecursionError):
            return None
        listed = [found]
        if str(found.get("kind", "")).endswith("List") and isinstance(found.get("items"), list):
            listed = found["items"]
        return listed if all(_is_manifest(obj) for obj in (found, *listed)) else None


def _refused(constant: str) -> None:
    raise ValueError(constant)


def _is_manifest(obj: object) -> bool:
    return isinstance(obj, dict) and all(isinstance(obj.get(key), str) and obj[key] for key in ("apiVersion", "kind"))
