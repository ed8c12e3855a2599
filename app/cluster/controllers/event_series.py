"""Writes the counts of event series that recorders keep back (client-go/tools/events/event_broadcaster.go)."""

from __future__ import annotations

from app.cluster.loops import Context

NAME = "event-recorder"
WATCHES: frozenset[str] = frozenset()


def sync(context: Context) -> None:
    """Write what is owed at this instant."""
    context.recorder.flush()
