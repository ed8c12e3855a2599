"""Time zones by their IANA names (Go: time.LoadLocation).

The rules are the machine's own (`zoneinfo`). Where it has none, UTC is the only zone, and every other name is unknown.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo


class UnknownTimeZoneError(ValueError):
    """There is no such zone; the text is Go's."""


@lru_cache(maxsize=64)
def load(name: str) -> tzinfo:
    """The zone of that name; UTC for an empty one. UnknownTimeZoneError."""
    if name in {"", "UTC"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UnknownTimeZoneError(f"unknown time zone {name}") from error
