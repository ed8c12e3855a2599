"""The shape of a file: which fields there are and what they hold, with a sentence for each mistake."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.apimachinery.messages import N_, Message
from app.exercises.checking import Fault
from app.exercises.model import ExerciseFile

_NEAR = 0.6


def read(document: Any) -> tuple[ExerciseFile | None, list[Fault]]:
    """The file's content, or what is wrong with its shape: every mistake at once."""
    try:
        return ExerciseFile.model_validate(document), []
    except ValidationError as error:
        return None, [_fault(detail) for detail in error.errors(include_url=False)]


def path_of(location: Sequence[int | str]) -> str:
    """`spec.checks[0].points`."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step != "[key]":
            path += f".{step}" if path else step
    return path


def _fault(detail: ErrorDetails) -> Fault:
    location = detail["loc"]
    path = path_of(location)
    field = next((str(step) for step in reversed(location) if isinstance(step, str) and step != "[key]"), "")
    facts = {"field": field, **(detail.get("ctx") or {})}
    kind = detail["type"]
    if kind == "extra_forbidden":
        return Fault(path, Message(N_("There is no field “{field}” here."), facts), _unknown_advice(location))
    if kind == "literal_error":
        return _not_among(path, facts, detail)
    if kind in _SENTENCES:
        text, advice = _SENTENCES[kind]
        return Fault(path, Message(text, facts), Message(advice, facts) if advice else None)
    return Fault(path, Message(N_("“{field}” is wrong: {problem}"), {"field": field, "problem": detail["msg"]}))


_SENTENCES: Mapping[str, tuple[str, str | None]] = {
    "missing": (N_("“{field}” is missing."), None),
    "int_type": (N_("“{field}” takes a whole number."), N_("Write it without quotes, such as 3.")),
    "string_type": (N_("“{field}” takes text."), N_("Put the value in quotes.")),
    "bool_type": (N_("“{field}” takes true or false."), N_("Write it without quotes.")),
    "list_type": (N_("“{field}” is a list."), N_("Begin each of its items on a new line with “- ”.")),
    "dict_type": (N_("“{field}” takes fields of its own."), N_("Write them on the lines below it, indented.")),
    "model_type": (N_("“{field}” takes fields of its own."), N_("Write them on the lines below it, indented.")),
    "greater_than_equal": (N_("“{field}” is too small: the least is {ge}."), None),
    "less_than_equal": (N_("“{field}” is too large: the most is {le}."), None),
    "string_too_long": (N_("“{field}” is too long."), N_("Use at most {max_length} characters.")),
    "string_too_short": (N_("“{field}” is empty."), N_("Write something, or leave the field out.")),
    "too_long": (N_("“{field}” has {actual_length} entries."), N_("Use at most {max_length}.")),
    "too_short": (N_("“{field}” has {actual_length} entries."), N_("Write at least {min_length}.")),
    "string_pattern_mismatch": (
        N_("“{field}” has characters that may not stand there."),
        N_("Write what fits the pattern {pattern}."),
    ),
}


def _not_among(path: str, facts: dict[str, Any], detail: ErrorDetails) -> Fault:
    message = Message(N_("“{field}” must be {expected}."), facts)
    allowed = [word.strip("'") for word in str(facts.get("expected", "")).replace(" or ", ", ").split(", ")]
    near = difflib.get_close_matches(str(detail["input"]), allowed, n=1, cutoff=_NEAR)
    if not near:
        return Fault(path, message)
    return Fault(path, message, replaced(near[0], str(detail["input"])))


def replaced(right: str, wrong: str) -> Message:
    """What to write in the place of what stands there."""
    return Message(N_("Write “{right}” instead of “{wrong}”."), {"right": right, "wrong": wrong})


def near(wrong: str, known: Sequence[str]) -> Message | None:
    """The known word that the writer meant, as advice; all of them where none is near."""
    close = difflib.get_close_matches(wrong.lower(), [word.lower() for word in known], n=1, cutoff=_NEAR)
    if close:
        return replaced(next(word for word in known if word.lower() == close[0]), wrong)
    return Message(N_("Known here: {known}."), {"known": ", ".join(known)}) if known else None


def _unknown_advice(location: Sequence[int | str]) -> Message | None:
    return near(str(location[-1]), list(_fields_at(location[:-1])))


def _fields_at(location: Sequence[int | str]) -> Iterator[str]:
    """The fields that may stand at a place of the file."""
    here: Any = ExerciseFile
    for step in location:
        here = _step(here, step)
    if isinstance(here, type) and issubclass(here, BaseModel):
        yield from here.model_fields


def _step(here: Any, step: int | str) -> Any:
    if isinstance(here, type) and issubclass(here, BaseModel) and isinstance(step, str):
        info = here.model_fields.get(step)
        return _plain(info.annotation) if info else None
    arguments = typing.get_args(here)
    return _plain(arguments[-1]) if arguments else None


def _plain(annotation: Any) -> Any:
    """An annotation without Annotated and without `| None`."""
    origin: Any = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _plain(typing.get_args(annotation)[0])
    if origin in {typing.Union, types.UnionType}:
        return _plain(next(choice for choice in typing.get_args(annotation) if choice is not type(None)))
    return annotation
