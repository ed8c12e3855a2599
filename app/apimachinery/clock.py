"""Simulated time: the only source of "now" below the lab layer.

An instant is an int of microseconds since 1970-01-01T00:00:00Z, so that it adds, compares and serialises
exactly. Objects carry times as the API prints them: seconds for metav1.Time, microseconds for MicroTime.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

Instant = int
Micros = int

MILLISECOND: Micros = 1000
SECOND: Micros = 1_000_000
MINUTE: Micros = 60 * SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rfc3339(instant: Instant) -> str:
    """The instant as metav1.Time prints it: `2026-01-02T03:04:05Z`, cut to seconds."""
    return (_EPOCH + timedelta(microseconds=instant)).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(instant: Instant) -> str:
    """The instant as metav1.MicroTime prints it: `2026-01-02T03:04:05.000006Z`."""
    return (_EPOCH + timedelta(microseconds=instant)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse(text: str) -> Instant:
    """An instant from either form. ValueError when the text is not RFC 3339."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return round((moment - _EPOCH) / timedelta(microseconds=1))


class SimulatedClock:
    """A clock that moves only when its cluster moves it."""

    def __init__(self, now: Instant) -> None:
        self._now = now

    def now(self) -> Instant:
        """The simulated instant, in microseconds since the epoch."""
        return self._now

    def advance_to(self, instant: Instant) -> None:
        """Move forward; ValueError when the instant lies in the past."""
        if instant < self._now:
            raise ValueError(f"the clock cannot run back from {rfc3339(self._now)} to {rfc3339(instant)}")
        self._now = instant
