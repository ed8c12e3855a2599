"""Scores as CSV: one line a learner and exercise.

RFC 4180 (CRLF, commas, quotes where needed) in UTF-8 with a byte order mark, which spreadsheets need to see that it is
UTF-8. A cell that a spreadsheet would run as a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from app.progress.gradebook import Row
from app.progress.results import Scores

COLUMNS = (
    "name",  # as it is signed in with; empty for a guest
    "display_name",  # as others see it
    "groups",  # names, separated by "; "
    "exercise",
    "points",  # of the best result
    "possible",
    "attempts",  # results of checks and submissions
    "first_points",
    "first_possible",
    "first_at",  # UTC, 2026-01-31T12:00:00Z
    "last_points",
    "last_possible",
    "last_at",
    "best_at",
    "exercise_version",  # this and the next two belong to the best result
    "seed",
    "engine_version",
    "learner",  # the learner's number in this lab, the same in every export
)
"""The header, in order. What a column means also stands in docs/data.md."""

MEDIA_TYPE = "text/csv; charset=utf-8"
_BOM = b"\xef\xbb\xbf"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (the wide forms are meant)


def export(rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, in pieces as they come: the header, then each learner's lines."""
    yield _BOM + _encode([COLUMNS])
    for row in rows:
        lines = [_line(row, scores) for _, scores in sorted(row.cells.items())]
        if lines:
            yield _encode(lines)


def safe(cell: str) -> str:
    """The cell, with an apostrophe before whatever could start a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _line(row: Row, scores: Scores) -> tuple[str, ...]:
    first, last, best = scores.first, scores.last, scores.best
    return (
        safe(row.name or ""),
        safe(row.display_name or ""),
        safe("; ".join(row.groups)),
        safe(scores.exercise),
        str(best.points),
        str(best.possible),
        str(scores.attempts),
        str(first.points),
        str(first.possible),
        _instant(first.at),
        str(last.points),
        str(last.possible),
        _instant(last.at),
        _instant(best.at),
        str(best.version),
        str(best.seed),
        safe(best.engine_version),
        str(row.user_id),
    )


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _encode(lines: Iterable[Iterable[str]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(lines)
    return buffer.getvalue().encode("utf-8", "replace")
