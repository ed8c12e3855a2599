"""What changed between two texts, line by line, in bounded time."""

from __future__ import annotations

from difflib import SequenceMatcher

MAX_LINES = 2000
"""Longer texts are not compared: the comparison's time grows with the square of the lines."""
_AROUND = 3


def lines(before: str, after: str) -> list[str]:
    """Lines with `-`, `+` or a space in front, a few unchanged ones around each change; `…` where some are left out.

    Empty when the texts are equal, or too long to compare.
    """
    old, new = before.splitlines(), after.splitlines()
    if old == new or len(old) > MAX_LINES or len(new) > MAX_LINES:
        return []
    shown: list[str] = []
    for number, group in enumerate(SequenceMatcher(None, old, new).get_grouped_opcodes(_AROUND)):
        if number:
            shown.append("…")
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                shown += [f" {line}" for line in old[start:end]]
            else:
                shown += [f"-{line}" for line in old[start:end]]
                shown += [f"+{line}" for line in new[new_start:new_end]]
    return shown
