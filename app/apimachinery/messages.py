"""Sentences for people, kept as an English template and its facts, so that whoever shows them can translate.

`N_` marks a template for the extraction of texts; it changes nothing. Lower layers never format a sentence for
good: `str(message)` is the English form, for logs and the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def N_(text: str) -> str:  # noqa: N802 (gettext's own name for "translate later")
    """Mark a template for translation."""
    return text


@dataclass(frozen=True)
class Message:
    """An English template with `{name}` places, and the facts that go there."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text.format_map(self.facts) if self.facts else self.text
