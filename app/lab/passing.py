"""Letting a cluster's time pass at once, and what happened meanwhile."""

from __future__ import annotations

from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster

LONGEST: Micros = 30 * MINUTE
"""As far as one interaction goes: a cluster as full as it may be takes seconds for it."""
_SHOWN = 20


def target(cluster: Cluster, span: Micros | None) -> Instant | None:
    """The instant that a span leads to, or the next event (None) does; None where nothing will happen by itself."""
    if span is None:
        return cluster.next_event()
    return cluster.now + min(max(span, 0), LONGEST)


def let_pass(cluster: Cluster, until: Instant) -> list[str]:
    """Move on to the instant, and say what happened: events as `kubectl get events` has them, the last ones."""
    before = cluster.client.revision
    cluster.advance_to(until)
    fresh = [event for event in cluster.client.list("events") if int(event["metadata"]["resourceVersion"]) > before]
    fresh.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [_line(event) for event in fresh[-_SHOWN:]]


def span_text(span: Micros) -> str:
    """`1h5m10s`: how far time went."""
    seconds = span // SECOND
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (left, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def _line(event: Object) -> str:
    regarding = event["involvedObject"]
    about = f"{regarding.get('kind', '').lower()}/{regarding.get('name', '')}"
    return f"{event.get('type', '')} {event.get('reason', '')} {about} {event.get('message', '')}"
