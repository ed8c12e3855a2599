"""One after the other: who wants to change a lab that somebody else is changing waits for their turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class NoTurn(Exception):
    """The others took too long."""


@dataclass
class _Queue:
    lock: threading.Lock = field(default_factory=threading.Lock)
    people: int = 0


class Turns:
    """The turns of all labs in this process. Another process's changes are only seen by the lab's revision."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, _Queue] = {}

    @contextmanager
    def turn(self, lab_id: str, within: float) -> Iterator[bool]:
        """Whoever is in the block is alone with the lab; tells whether there was somebody before. Raises NoTurn."""
        with self._lock:
            queue = self._queues.setdefault(lab_id, _Queue())
            queue.people += 1
        try:
            waited = not queue.lock.acquire(blocking=False)
            if waited and not queue.lock.acquire(timeout=within):
                raise NoTurn(lab_id)
            try:
                yield waited
            finally:
                queue.lock.release()
        finally:
            with self._lock:
                queue.people -= 1
                if not queue.people:
                    del self._queues[lab_id]
