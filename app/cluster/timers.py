"""The event queue of simulated time: what is due when, for which loop.

Every delay in a cluster is a timer here (a pull that takes a second, a toleration that runs out, a back-off), so
that time can jump from one due instant to the next and still pass the same way however often somebody looks.

An idle timer only tries again what failed, or tidies up: a cluster whose remaining timers are idle is settled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from app.apimachinery.clock import Instant


class Timers:
    """Due instants by loop and key; a key is set at most once."""

    def __init__(self) -> None:
        self._due: dict[str, dict[str, Instant]] = {}
        self._idle: dict[str, dict[str, Instant]] = {}

    def set(self, loop: str, key: str, instant: Instant, *, idle: bool = False) -> None:
        """Have `loop` woken with `key` at `instant`; an earlier setting of the key is replaced."""
        self.cancel(loop, key)
        (self._idle if idle else self._due).setdefault(loop, {})[key] = instant

    def cancel(self, loop: str, key: str) -> None:
        """Forget a key; nothing happens when it is not set."""
        self._due.get(loop, {}).pop(key, None)
        self._idle.get(loop, {}).pop(key, None)

    def get(self, loop: str, key: str) -> Instant | None:
        """When `key` is due, or None."""
        found = self._due.get(loop, {}).get(key)
        return self._idle.get(loop, {}).get(key) if found is None else found

    def next(self, without: Collection[str] = ()) -> Instant | None:
        """The earliest due instant of all, or None when nothing is set; loops `without` which to look are left out."""
        firsts = (_first(self._due, without), _first(self._idle, without))
        return min((found for found in firsts if found is not None), default=None)

    def next_busy(self, without: Collection[str] = ()) -> Instant | None:
        """The earliest due instant that is not idle, or None."""
        return _first(self._due, without)

    def take(self, loop: str, now: Instant) -> tuple[str, ...]:
        """Remove and return the loop's keys that are due, earliest first, then by name."""
        fired = sorted(
            (instant, key)
            for timers in (self._due, self._idle)
            for key, instant in timers.get(loop, {}).items()
            if instant <= now
        )
        for _, key in fired:
            self.cancel(loop, key)
        return tuple(key for _, key in fired)

    def is_due(self, now: Instant, without: Collection[str] = ()) -> bool:
        """Whether anything is due at `now`."""
        upcoming = self.next(without)
        return upcoming is not None and upcoming <= now

    def state(self) -> dict[str, Any]:
        """The timers as JSON."""
        return {"busy": _packed(self._due), "idle": _packed(self._idle)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Timers:
        """The timers from `state()`."""
        timers = cls()
        timers._due = {loop: dict(keys) for loop, keys in state["busy"].items()}
        timers._idle = {loop: dict(keys) for loop, keys in state["idle"].items()}
        return timers


def _packed(timers: Mapping[str, Mapping[str, Instant]]) -> dict[str, dict[str, Instant]]:
    return {loop: dict(sorted(keys.items())) for loop, keys in sorted(timers.items()) if keys}


def _first(timers: Mapping[str, Mapping[str, Instant]], without: Collection[str]) -> Instant | None:
    return min(
        (instant for loop, keys in timers.items() if loop not in without for instant in keys.values()), default=None
    )
