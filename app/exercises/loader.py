"""From YAML to exercises: one text, a folder, and what instructors have published over it.

A wrong file hides no other: its mistakes are told, each with its place, and the rest is on offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.apimachinery import manifests
from app.apimachinery.manifests import Document, ManifestError
from app.apimachinery.messages import N_, Message
from app.exercises import review, shape
from app.exercises.checking import Fault
from app.exercises.model import Exercise
from app.exercises.problems import ExerciseErrors, Problem

MAX_BYTES = 256 * 1024
"""Bytes of one exercise file."""

__all__ = ["Catalogue", "ExerciseErrors", "Problem", "load_folder", "overlay", "parse"]


class Published(Protocol):
    """What instructors decided about an exercise."""

    @property
    def name(self) -> str:
        """The exercise's name."""

    @property
    def hidden(self) -> bool:
        """Whether it is kept from learners."""

    @property
    def source(self) -> str | None:
        """The text that is published instead of the folder's; None where the folder's stands."""


@dataclass(frozen=True)
class Catalogue:
    """What is on offer, by name, in the order of chapter, level and name; and what could not be read.

    Hidden exercises are not on offer; `hidden` keeps them for their authors.
    """

    exercises: Mapping[str, Exercise] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    hidden: Mapping[str, Exercise] = field(default_factory=dict)


def parse(text: str, source: str = "exercise.yaml") -> Exercise:
    """The exercise in a text; `source` is what problems call its file. Raises ExerciseErrors with all mistakes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        facts = {"size": size, "limit": MAX_BYTES}
        message = Message(N_("This is too large: {size} bytes, and at most {limit} are read."), facts)
        raise ExerciseErrors([Problem(source, 1, 1, message)])
    try:
        documents = manifests.parse(text)
    except ManifestError as error:
        raise ExerciseErrors([Problem(source, error.line, error.column, error.problem, error.advice)]) from error
    if len(documents) > 1:
        message = Message(N_("A file holds one exercise; here begins another document."))
        advice = Message(N_("Put it into a file of its own, or indent the text below “|”."))
        raise ExerciseErrors([Problem(source, documents[1].line, 1, message, advice)])
    document = documents[0]
    content, faults = shape.read(document.object)
    if content is not None:
        faults = review.faults(document.object, content)
    if content is None or faults:
        found = [_placed(fault, source, text, document) for fault in faults]
        raise ExerciseErrors(sorted(found, key=lambda problem: (problem.line, problem.column)))
    return Exercise(text, source, document.object, content)


def _placed(fault: Fault, source: str, text: str, document: Document) -> Problem:
    """The fault with its place in the file: that of the field, or inside the text that the field holds."""
    line, column = document.where(fault.path)
    if fault.line:
        line, column = _inside(text.splitlines(), (line, column), fault)
    return Problem(source, line, column, fault.message, fault.advice)


def _inside(lines: list[str], key: tuple[int, int], fault: Fault) -> tuple[int, int]:
    """Where a line and column of a field's text stand in the file: below `key: |`, or behind `key: `."""
    line, column = key
    here = lines[line - 1][column - 1 :] if line <= len(lines) else ""
    _, colon, value = here.partition(":")
    if colon and value.strip()[:1] in {"|", ">"}:
        below = line + fault.line
        written = lines[below - 1] if below <= len(lines) else ""
        first = next((text for text in lines[line:] if text.strip()), "")
        indent = len(first) - len(first.lstrip())
        return (below, min(indent + fault.column, len(written) + 1)) if below <= len(lines) else key
    if fault.line > 1 or not colon:
        return key
    start = column + len(here) - len(value.lstrip())
    quoted = value.strip()[:1] in {'"', "'"}
    return line, min(start + quoted + fault.column - 1, len(lines[line - 1]) + 1)


def load_folder(path: Path) -> Catalogue:
    """All exercises of a folder and of those in it. A folder that is not there is an empty catalogue."""
    found: dict[str, Exercise] = {}
    problems: list[Problem] = []
    for file in sorted(path.rglob("*.y*ml")):
        name = file.relative_to(path).as_posix()
        try:
            exercise = parse(_text(file, name), source=name)
        except ExerciseErrors as errors:
            problems += errors.problems
            continue
        if exercise.name in found:
            facts = {"name": exercise.name, "file": found[exercise.name].file}
            message = Message(N_("The name “{name}” is that of the exercise in {file} already."), facts)
            problems.append(Problem(name, 1, 1, message, Message(N_("Give each its own name."), {})))
            continue
        found[exercise.name] = exercise
    return Catalogue(_ordered(found), tuple(problems))


def _text(file: Path, name: str) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1).decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Problem(name, 1, 1, Message(N_("This is not text in UTF-8.")), Message(N_("Save the file as UTF-8.")))
        raise ExerciseErrors([problem]) from error
    except OSError as error:
        facts = {"reason": error.strerror or str(error)}
        raise ExerciseErrors([Problem(name, 0, 0, Message(N_("The file cannot be read: {reason}"), facts))]) from error


def _ordered(exercises: Mapping[str, Exercise]) -> dict[str, Exercise]:
    return dict(sorted(exercises.items(), key=lambda item: (item[1].chapter.number, item[1].level, item[0])))


def overlay(catalogue: Catalogue, published: Iterable[Published]) -> Catalogue:
    """The catalogue with the texts that instructors published in the place of the folder's, and without the hidden."""
    found = dict(catalogue.exercises)
    problems = list(catalogue.problems)
    hidden: dict[str, Exercise] = dict(catalogue.hidden)
    for row in published:
        if row.source is not None:
            try:
                found[row.name] = parse(row.source, source=f"{row.name}.yaml")
            except ExerciseErrors as errors:
                problems += errors.problems
                found.pop(row.name, None)
        if row.hidden and row.name in found:
            hidden[row.name] = found.pop(row.name)
    return Catalogue(_ordered(found), tuple(problems), _ordered(hidden))
