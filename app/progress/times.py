"""The wall clock, in one place, so that tests can set it."""

from datetime import UTC, datetime


def now() -> datetime:
    """This instant, timezone-aware, in UTC."""
    return datetime.now(UTC)
