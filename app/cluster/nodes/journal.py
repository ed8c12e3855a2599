"""A machine's journal: the last lines of its services, as journald keeps and prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from app.apimachinery.clock import SECOND, Instant

LIMIT = 300
"""Lines that a machine keeps."""
_LINE = 2000


def write(state: dict[str, Any], now: Instant, unit: str, writer: tuple[str, int], lines: Iterable[str]) -> None:
    """Add lines of a unit; `writer` is the name and the pid of whoever speaks."""
    kept: list[list[Any]] = state.get("journal") or []
    added = [[now, unit, *writer, line[:_LINE]] for text in lines for line in text.splitlines() or [""]]
    state["journal"] = [*kept, *added][-LIMIT:]


def read(state: dict[str, Any], host: str, unit: str = "", last: int = LIMIT) -> list[str]:
    """The last lines, of one unit where it is named: `Mar 01 12:00:00 node01 kubelet[812]: …`."""
    entries: Sequence[Sequence[Any]] = state.get("journal") or []
    wanted = [entry for entry in entries if not unit or entry[1] == unit]
    return [
        f"{stamp(at)} {host} {name}[{pid}]: {text}" for at, _, name, pid, text in (wanted[-last:] if last > 0 else [])
    ]


def stamp(at: Instant) -> str:
    """`Mar 01 12:00:00`."""
    return f"{datetime.fromtimestamp(at // SECOND, UTC):%b %d %H:%M:%S}"
