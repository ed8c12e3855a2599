"""An author's text on its way: read from a form or file, validated, proven, shown as a learner would see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery.messages import Message
from app.exercises import loader
from app.exercises.model import Exercise
from app.exercises.problems import Problem
from app.lab import unfold
from app.lab.service import InteractionFailed, LabService
from app.lab.workers import WorkerError
from app.web.forms import Form
from app.web.i18n import N_, SOURCE

MAX_TEXT = loader.MAX_BYTES
"""Bytes of an exercise's text."""
MAX_SEED = 10**9 - 1
TOO_LARGE = N_("This text has {size} KiB; an exercise may have {most}. Shorten it, or split it into two exercises.")
_FAILED = N_(
    "The lab could not work on this text: it took too long or needed too much memory. Your text is kept. "
    "Make it smaller, or try again."
)


@dataclass(frozen=True)
class Panel:
    """What stands beside the text: `name` chooses the part of the template that the facts are for."""

    name: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """A text as it was sent, with the exercise that it is edited as and the digest of the text it began from."""

    text: str
    name: str = ""
    base: str = ""

    @classmethod
    def of(cls, form: Form) -> Draft:
        """The draft in a posted form. Too large a text is a fault of its field."""
        draft = cls(form.text("text"), form.values["name"], form.values["base"])
        check_size(form, "text", len(draft.text.encode()))
        return draft

    @property
    def file(self) -> str:
        """What problems call the text."""
        return f"{self.name or 'exercise'}.yaml"


def check_size(form: Form, name: str, size: int) -> None:
    """Refuse more bytes than an exercise may have."""
    if size > MAX_TEXT:
        form.fail(name, TOO_LARGE, size=-(-size // 1024), most=MAX_TEXT // 1024)


def read(service: LabService, draft: Draft) -> Exercise | Panel:
    """The exercise, or a panel with what is wrong.

    A worker reads the text first: what crashes or hangs a reader does so there.
    """
    try:
        answer = service.parse(draft.text, draft.file)
    except (WorkerError, InteractionFailed):
        return Panel("failure", {"failure": _FAILED})
    if not answer["ok"]:
        return problems_panel([_problem(problem, draft.file) for problem in answer["problems"]])
    return loader.parse(draft.text, source=draft.file)


def problems_panel(problems: list[Problem]) -> Panel:
    """What is wrong with a text; nothing, where the list is empty."""
    return Panel("problems", {"problems": problems})


def proof_panel(service: LabService, exercise: Exercise) -> Panel:
    """Prove the exercise: whether its solution solves it, and its wrong answers fail as they should."""
    try:
        answer = service.prove(exercise.source)
    except (WorkerError, InteractionFailed):
        return Panel("failure", {"failure": _FAILED})
    return Panel("proof", {name: answer[name] for name in ("proven", "variants", "answers", "failures")})


def preview_panel(exercise: Exercise, seed: int, language: str) -> Panel:
    """The task, the checks and the hints of one variant, in one language."""
    variant = exercise.variant(seed)
    shown = language if language in exercise.languages else SOURCE
    text = variant.text(shown)
    preview = {
        "seed": seed,
        "language": shown,
        "title": text.title,
        "task": text.task,
        "checks": [{"text": check.text.get(shown), "points": check.points} for check in variant.checks],
        "hints": variant.hints(shown),
    }
    return Panel("preview", {"preview": preview})


def _problem(data: Mapping[str, Any], file: str) -> Problem:
    found = unfold.problem(data)
    advice = found.advice
    return Problem(
        file,
        found.line,
        found.column,
        Message(found.message.text, found.message.facts),
        None if advice is None else Message(advice.text, advice.facts),
    )
