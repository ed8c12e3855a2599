"""Snapshots of earlier versions, brought to this one's format, one pure step after the other.

A step takes a document of its format and returns one of the next; it never changes what it was given. A format
changes when the old reading of a snapshot would no longer be right; what a loop adds to its own memory needs no
step, since a loop takes a missing memory for "look at everything once".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Document = Mapping[str, Any]

FORMAT = 2


class FormatError(ValueError):
    """A snapshot that this version cannot read."""


def migrated(document: Any) -> Document:
    """The document in today's format. Raises FormatError for what is no snapshot, or one of a newer version."""
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, int) or found < 1:
        raise FormatError(f"the cluster's snapshot has format {found!r}; this version reads 1 to {FORMAT}")
    if found > FORMAT:
        raise FormatError(
            f"the cluster's snapshot has format {found}, which a newer version of the lab wrote; "
            f"this version reads 1 to {FORMAT}"
        )
    current: Document = document
    for step in _STEPS[found - 1 :]:
        current = step(current)
    return current


def _look_at_everything(document: Document) -> Document:
    """Format 2 says which loops the snapshot has run; of those of format 1 nothing is known, so all look again."""
    return {**document, "format": 2, "loops": []}


_STEPS: tuple[Callable[[Document], Document], ...] = (_look_at_everything,)
