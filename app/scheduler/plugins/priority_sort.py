"""PrioritySort: higher priority first, then who waits longer (plugins/queuesort/priority_sort.go: Less)."""

from __future__ import annotations

from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.pod_info import PodInfo


class PrioritySort(Plugin):
    """The default order of the active queue."""

    NAME = "PrioritySort"

    def sort_key(self, pod: PodInfo, queued: tuple[int, int]) -> tuple[int, ...]:
        """Priority, then the instant of entering the queue or of the last failed attempt."""
        return (-pod.priority, *queued)
