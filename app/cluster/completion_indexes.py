"""Completion indexes of Indexed Jobs as ranges (pkg/controller/job/indexed_job_utils.go: orderedIntervals).

A Job may have a hundred thousand indexes, so nothing here counts them one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.apimachinery.validation import quoted

Ranges = Sequence[tuple[int, int]]
"""First and last index of each range, rising, apart by at least one index."""
_MOST_DIGITS = 10


class IndexesError(ValueError):
    """A text that is no list of indexes, in the API server's words."""


def parsed(text: str, completions: int) -> list[tuple[int, int]]:
    """The indexes of `1,3-5,7` below `completions`; what cannot be read is left out (parseIndexesFromString)."""
    found: list[tuple[int, int]] = []
    for part in text.split(",") if text else ():
        limits = part.split("-")
        numbers = [_number(limit) for limit in limits[:2]]
        if any(number is None for number in numbers):
            continue
        first, last = int(numbers[0] or 0), int(numbers[-1] or 0)
        if first >= completions:
            break
        found.append((first, min(last, completions - 1)))
    return merged(found, ())


def merged(one: Ranges, other: Ranges) -> list[tuple[int, int]]:
    """Both together (orderedIntervals.merge)."""
    result: list[tuple[int, int]] = []
    for first, last in sorted([*one, *other]):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], last))
        else:
            result.append((first, last))
    return result


def with_indexes(ranges: Ranges, indexes: Iterable[int]) -> list[tuple[int, int]]:
    """The ranges and some more indexes (orderedIntervals.withOrderedIndexes)."""
    return merged(ranges, [(index, index) for index in indexes])


def total(ranges: Ranges) -> int:
    """How many indexes they hold."""
    return sum(last - first + 1 for first, last in ranges)


def has(ranges: Ranges, index: int) -> bool:
    """Whether an index is among them."""
    return any(first <= index <= last for first, last in ranges)


def overlap(one: Ranges, other: Ranges) -> int:
    """How many indexes are in both (success_policy.go: matchSucceededIndexesRule)."""
    return sum(
        max(min(last, end) - max(first, begin) + 1, 0)
        for first, last in one
        for begin, end in _near(other, first, last)
    )


def _near(ranges: Ranges, first: int, last: int) -> Iterable[tuple[int, int]]:
    return (found for found in ranges if found[1] >= first and found[0] <= last)


def gaps(ranges: Ranges, count: int, completions: int) -> list[int]:
    """The first `count` indexes below `completions` that the ranges leave free (firstPendingIndexes)."""
    free: list[int] = []
    candidate = 0
    for first, last in [*ranges, (completions, completions)]:
        end = min(first, completions, candidate + count - len(free))
        free += range(candidate, end)
        candidate = max(candidate, last + 1)
    return free


def text_of(ranges: Ranges) -> str:
    """`1,3-5,7,8` (orderedIntervals.String)."""
    parts = (f"{a}" if a == b else f"{a},{b}" if b == a + 1 else f"{a}-{b}" for a, b in ranges)
    return ",".join(parts)


def checked(text: str, completions: int) -> int:
    """How many indexes a list names. IndexesError for one that is not well written (validateIndexesFormat)."""
    count, previous = 0, -1
    for part in text.split(",") if text else ():
        first, last = _interval(part, completions)
        if previous >= first:
            raise IndexesError(f"non-increasing order, previous: {previous}, current: {first}")
        count += last - first + 1
        previous = last
    return count


def _interval(part: str, completions: int) -> tuple[int, int]:
    """Mirrors apis/batch/validation: parseIndexInterval."""
    limits = part.split("-")
    if len(limits) > 2:
        rule = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise IndexesError(f"the fragment {quoted(part)} {rule}")
    numbers = []
    for limit in limits:
        number = _number(limit)
        if number is None:
            raise IndexesError(f"cannot convert string to integer for index: {quoted(limit)}")
        if number >= completions:
            raise IndexesError(f"too large index: {quoted(limit)}")
        numbers.append(number)
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise IndexesError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
