"""The event queue of simulated time: what is due when, for which loop.

Every delay in a cluster is a timer here (a pull that takes a second, a toleration that runs out, a back-off), so
that time can jump from one due instant to the next and still pass the same way however often somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.clock import Instant


class Timers:
    """Due instants by loop and key; a key is set at most once."""

    def __init__(self) -> None:
        self._due: dict[str, dict[str, Instant]] = {}

    def set(self, loop: str, key: str, instant: Instant) -> None:
        """Have `loop` woken with `key` at `instant`; an earlier setting of the key is replaced."""
        self._due.setdefault(loop, {})[key] = instant

    def cancel(self, loop: str, key: str) -> None:
        """Forget a key; nothing happens when it is not set."""
        self._due.get(loop, {}).pop(key, None)

    def get(self, loop: str, key: str) -> Instant | None:
        """When `key` is due, or None."""
        return self._due.get(loop, {}).get(key)

    def next(self) -> Instant | None:
        """The earliest due instant of all, or None when nothing is set."""
        return min((instant for keys in self._due.values() for instant in keys.values()), default=None)

    def take(self, loop: str, now: Instant) -> tuple[str, ...]:
        """Remove and return the loop's keys that are due, earliest first, then by name."""
        keys = self._due.get(loop)
        if not keys:
            return ()
        fired = sorted((instant, key) for key, instant in keys.items() if instant <= now)
        for _, key in fired:
            del keys[key]
        return tuple(key for _, key in fired)

    def is_due(self, now: Instant) -> bool:
        """Whether anything is due at `now`."""
        upcoming = self.next()
        return upcoming is not None and upcoming <= now

    def state(self) -> dict[str, dict[str, Instant]]:
        """The timers as JSON."""
        return {loop: dict(sorted(keys.items())) for loop, keys in sorted(self._due.items()) if keys}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Timers:
        """The timers from `state()`."""
        timers = cls()
        timers._due = {loop: dict(keys) for loop, keys in state.items()}
        return timers
