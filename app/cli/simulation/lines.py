"""Lines with a style, columns and paragraphs: how text gets onto a terminal, or into a file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDTH = 100
_GAP = "  "
_STYLES = {"title": "1", "good": "32", "bad": "31", "dim": "2", "heading": "4"}


class Line(NamedTuple):
    """One line of output; `style` is title, heading, good, bad, dim or nothing."""

    text: str
    style: str = ""


def printed(line: Line, *, colours: bool) -> str:
    """The line as it is written. What names and labels could do to a terminal is taken out."""
    text = "".join(letter if letter.isprintable() else "?" for letter in line.text).rstrip()
    code = _STYLES.get(line.style)
    return f"\033[{code}m{text}\033[0m" if colours and code and text else text


def paragraph(text: str, first: str = "", rest: str | None = None, style: str = "") -> list[Line]:
    """Text wrapped to the width; `first` stands before its first line, `rest` (as many blanks) before the others."""
    indent = " " * len(first) if rest is None else rest
    wrapped = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [Line(part, style) for part in wrapped or [first]]


def blocks(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], corner: str) -> list[list[Line]]:
    """A table with a column a name, in as many blocks as the width asks for; `rows` are (label, cells)."""
    label_width = max(len(corner), *(len(label) for label, _ in rows))
    widths = [max(len(name), *(len(cells[index]) for _, cells in rows)) for index, name in enumerate(names)]
    found: list[list[Line]] = []
    start = 0
    while start < len(names):
        end, used = start, label_width
        while end < len(names) and (end == start or used + len(_GAP) + widths[end] <= WIDTH):
            used += len(_GAP) + widths[end]
            end += 1
        span = range(start, end)
        head = _row(corner, label_width, ((names[index], widths[index]) for index in span))
        body = [_row(label, label_width, ((cells[index], widths[index]) for index in span)) for label, cells in rows]
        found.append([Line(head, "heading"), *(Line(text) for text in body)])
        start = end
    return found


def _row(label: str, width: int, cells: Iterable[tuple[str, int]]) -> str:
    return _GAP.join([label.ljust(width), *(cell.ljust(size) for cell, size in cells)])
