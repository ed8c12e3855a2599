"""Wakes those who wait for a lab to change, from whatever thread changed it."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict


class Bell:
    """One bell a lab. `ring` may be called from any thread; `wait` belongs to an event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: defaultdict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = defaultdict(set)

    def ring(self, lab_id: str) -> None:
        """Wake everybody who waits for this lab."""
        with self._lock:
            waiting = list(self._waiting.get(lab_id, ()))
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self, lab_id: str, timeout: float) -> bool:  # noqa: ASYNC109 (a bell that does not ring is no error)
        """Whether the bell rang within the timeout, in seconds."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting[lab_id].add(entry)
        try:
            await asyncio.wait_for(entry[1].wait(), timeout)
        except TimeoutError:
            return False
        finally:
            with self._lock:
                self._waiting[lab_id].discard(entry)
                if not self._waiting[lab_id]:
                    del self._waiting[lab_id]
        return True
