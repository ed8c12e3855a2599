"""A progress bar on standard error, for work that takes long and only on a terminal."""

from __future__ import annotations

import sys
import time

_BAR = 30
_PATIENCE_SECONDS = 0.5
_BETWEEN_SECONDS = 0.1


class Bar:
    """Draws over itself; shows nothing in the first half second, nor where standard error is no terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = sys.stderr.isatty()
        self._next = time.monotonic() + _PATIENCE_SECONDS
        self._drawn = False

    def __call__(self, part: float) -> None:
        """`part` of the work, from 0 to 1, is done."""
        if not self._shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _BETWEEN_SECONDS
        self._drawn = True
        full = int(_BAR * part)
        bar = "#" * full + "." * (_BAR - full)
        print(f"\r\033[K{self._what} [{bar}] {part:4.0%}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away, so that other lines may follow."""
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._drawn = False
