"""Sentences for people, kept as an English template and its facts, so that whoever shows them can translate.

`N_` marks a template for the extraction of texts; it changes nothing. Lower layers never format a sentence for
good: `str(message)` is the English form, for logs and the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def N_(text: str) -> str:  # noqa: N802 (gettext's own name for "translate later")
    """Mark a template for translation."""
    return text


@dataclass(frozen=True)
class Message:
    """An English template with `{name}` places, and the facts that go there."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return fill(self.text, self.facts)


def fill(template: str, facts: Mapping[str, Any]) -> str:
    """The template with `{name}` replaced. A brace that names no fact stays, so that YAML may stand in a sentence."""

    def place(match: re.Match[str]) -> str:
        if match[0] in {"{{", "}}"}:
            return match[0][0]
        return str(facts.get(match[1], match[0]))

    return _PLACE.sub(place, template)
