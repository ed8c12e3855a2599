"""Whether a task says everything that its checks need: no learner can guess a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.exercises.base import LANGUAGES
from app.exercises.model import Variant
from app.exercises.registry import UNITS


def missing(variant: Variant) -> Iterator[tuple[str, str, str]]:
    """(check, language, literal) for each literal of a check that stands in neither title nor task."""
    for language in LANGUAGES:
        text = getattr(variant.spec.text, language)
        if text is None:
            continue
        words = f"{text.title}\n{text.task}"
        for check in variant.checks:
            for literal in sorted(set(UNITS[check.kind].literals(check.spec))):
                if literal and not stands_in(literal, words):
                    yield check.name, language, literal


def stands_in(literal: str, text: str) -> bool:
    """Whether the literal stands in the text as a word of its own: `bee` does not stand in `bee-2` or `beetle`."""
    before, after = r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9]-)", r"(?![A-Za-z0-9_])(?![-./][A-Za-z0-9])"
    return re.search(before + re.escape(literal) + after, text) is not None
