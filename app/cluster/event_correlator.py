"""Which events are let through, and which are counted until later: what recorders keep in mind between events.

Mirrors client-go/tools/record/events_cache.go (EventSourceObjectSpamFilter, eventLogger) and
client-go/tools/events/event_broadcaster.go (recordToSink, finishSeries, refreshExistingEventSeries).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros

BURST = 25
"""Events that a source may send about one object at once (defaultSpamBurst)."""
REFILL: Micros = 300 * SECOND
"""One more event of that source about that object every so often (defaultSpamQPS)."""
FINISH: Micros = 6 * MINUTE
"""How long a series goes on without an event, and how often its end is looked for (finishTime)."""
REFRESH: Micros = 30 * MINUTE
"""How often the counts of running series are written (refreshTime)."""
_FORGET: Micros = 60 * MINUTE
_SWEEP = 64
"""Records beyond which those that say nothing any more are dropped; later, twice as many as were left."""

Memory = dict[str, Any]
Entry = dict[str, Any]


def hashed(key: object) -> str:
    """A short name for a key."""
    return hashlib.sha256(repr(key).encode()).hexdigest()[:16]


class SpamFilter:
    """A token bucket for each source and object, and what it held back."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._full: dict[str, Instant] = memory.setdefault("spam", {})
        self._held: dict[str, list[Any]] = memory.setdefault("held", {})

    def accepts(self, key: str, now: Instant) -> bool:
        """Take a token, if there is one. Kept is when the bucket will be full again."""
        if len(self._full) > self._memory.get("sweep", _SWEEP):
            for stale in [name for name, until in self._full.items() if until <= now]:
                del self._full[stale]
            self._memory["sweep"] = max(_SWEEP, 2 * len(self._full))
        until = max(self._full.get(key, 0), now)
        if until - now > (BURST - 1) * REFILL:
            return False
        self._full[key] = until + REFILL
        return True

    def hold(self, key: str, count: int, first: str, now: Instant) -> None:
        """An event was not let through: the next one that is counts it too."""
        if len(self._held) > _SWEEP:
            for stale in [name for name, row in self._held.items() if row[2] + _FORGET <= now]:
                del self._held[stale]
        self._held[key] = [count, first, now]

    def held(self, key: str, now: Instant) -> tuple[int, str]:
        """How often the event was held back, and when it happened first."""
        row = self._held.get(key)
        return (row[0], row[1]) if row is not None and row[2] + _FORGET > now else (0, "")

    def release(self, key: str) -> None:
        """The event got through."""
        self._held.pop(key, None)


class Series:
    """The events of the newer kind that still go on, with counts that are not written yet."""

    def __init__(self, memory: Memory, wake: Callable[[Instant], None]) -> None:
        self._entries: dict[str, Entry] = memory.setdefault("series", {})
        self._wake = wake

    def going_on(self, key: str, now: Instant) -> Entry | None:
        """The series that an event belongs to; None where it begins one."""
        entry = self._entries.get(key)
        if entry is None or has_ended(entry, now):
            return None
        return entry

    def begin(self, key: str, place: tuple[str, str], now: Instant) -> None:
        """A first event was written."""
        for stale in [name for name, entry in self._entries.items() if has_ended(entry, now) and not entry.get("owed")]:
            del self._entries[stale]
        self._entries[key] = {"last": now, "place": list(place)}

    def count(self, entry: Entry, now: Instant) -> bool:
        """One more event. True where it is to be written at once, which only the second is."""
        entry["count"] = entry.get("count", 1) + 1
        entry["last"] = now
        if entry["count"] == 2:
            return True
        entry["owed"] = True
        self.wake(now)
        return False

    def owed(self, now: Instant) -> list[Entry]:
        """The series whose count is to be written now."""
        entries = [entry for _, entry in sorted(self._entries.items())]
        found = [e for e in entries if e.get("owed") and (now % REFRESH == 0 or has_ended(e, now))]
        for entry in found:
            del entry["owed"]
        self.wake(now)
        return found

    def wake(self, now: Instant) -> None:
        """Come back when the next count is to be written."""
        lasts = [entry["last"] for entry in self._entries.values() if entry.get("owed")]
        due = [min(_after(now, REFRESH), _after(last + FINISH, FINISH)) for last in lasts]
        if due:
            self._wake(max(min(due), now + 1))


def has_ended(entry: Entry, now: Instant) -> bool:
    """Whether a look at the series found nothing new for long enough."""
    return bool(now - now % FINISH > entry["last"] + FINISH)


def _after(instant: Instant, period: Micros) -> Instant:
    """The first look after an instant; looks are at whole periods of the clock."""
    return instant - instant % period + period
