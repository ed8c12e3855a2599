"""What containers print: the last lines of each, and of the run before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from app.apimachinery.clock import SECOND, Instant

LIMIT = 200
"""Lines kept of one run of one container."""
LINE_LIMIT = 2000
"""Characters kept of one line."""


def klog(now: Instant, where: str, message: str, severity: str = "I", pid: int = 1) -> str:
    """A line in the form of Kubernetes' own components (k8s.io/klog: `I0102 15:04:05.000000       1 file.go:1] …`)."""
    moment = datetime.fromtimestamp(now // SECOND, UTC)
    return f"{severity}{moment:%m%d %H:%M:%S}.{now % SECOND:06d} {pid:7d} {where}] {message}"


def escaped(text: str) -> str:
    """A text as klog writes it between quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class LogBook:
    """Lines by pod uid and container."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, list[list[str]]]] = {}

    def begin(self, uid: str, container: str) -> None:
        """A container starts: what its last run printed becomes the previous log."""
        runs = self._runs.setdefault(uid, {})
        last = runs.get(container)
        runs[container] = [last[-1], []] if last else [[]]

    def write(self, uid: str, container: str, lines: Iterable[str]) -> None:
        """Add lines to the container's current run."""
        runs = self._runs.setdefault(uid, {}).setdefault(container, [[]])
        current = [*runs[-1], *(line[:LINE_LIMIT] for line in lines)]
        runs[-1] = current[-LIMIT:]

    def read(self, uid: str, container: str, *, previous: bool = False) -> list[str]:
        """The lines of the current run, or of the one before."""
        runs = self._runs.get(uid, {}).get(container) or [[]]
        if previous:
            return list(runs[0]) if len(runs) > 1 else []
        return list(runs[-1])

    def forget(self, uid: str) -> None:
        """Drop the logs of a pod that is gone."""
        self._runs.pop(uid, None)

    def state(self) -> dict[str, Any]:
        """The lines as JSON."""
        return {uid: dict(sorted(containers.items())) for uid, containers in sorted(self._runs.items())}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> LogBook:
        """The log book from `state()`."""
        book = cls()
        book._runs = {
            uid: {name: [list(run) for run in runs] for name, runs in containers.items()}
            for uid, containers in state.items()
        }
        return book
