"""Pictures of labs that need not be drawn again: a picture holds until the lab or its cluster changes.

Ages are printed to the second, so a picture is also drawn anew when a second has passed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from app.apimachinery.clock import SECOND, Instant


@dataclass(frozen=True)
class _Entry:
    revision: int
    wall: Instant
    expires: Instant
    output: dict[str, Any]


class ViewCache:
    """The last picture of each of the labs that were looked at last. Safe to use from many threads."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def put(self, lab_id: str, revision: int, wall: Instant, output: dict[str, Any]) -> None:
        """Remember what a worker drew at the wall instant; an output without a picture is none."""
        if "picture" not in output:
            return
        upcoming = output.get("next_event")
        lasts = SECOND if upcoming is None else min(SECOND, max(0, int(upcoming) - int(output["now"])))
        with self._lock:
            self._entries[lab_id] = _Entry(revision, wall, wall + lasts, output)
            self._entries.move_to_end(lab_id)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def get(self, lab_id: str, revision: int, wall: Instant) -> dict[str, Any] | None:
        """The picture of this revision at this instant, if it still holds."""
        with self._lock:
            entry = self._entries.get(lab_id)
        if entry is None or entry.revision != revision or not entry.wall <= wall < entry.expires:
            return None
        return entry.output
