"""Letting a cluster's time pass at once, and what happened meanwhile."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster

LONGEST: Micros = 24 * 60 * MINUTE
"""As far as one interaction goes."""
MOST_WRITES = 5_000
"""Writes after which an interaction stops on its way: about two seconds' work, whatever the cluster is like."""
_MOST_EVENTS = 10_000
_SHOWN = 20
_SPAN = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?")
_UNITS: tuple[Micros, ...] = (24 * 60 * MINUTE, 60 * MINUTE, MINUTE, SECOND)
_TOLD = 20


class SpanError(ValueError):
    """A text that is no span of time, or one that may not pass; `message` says what to write instead."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


@dataclass(frozen=True, slots=True)
class Passed:
    """What came of it: events as `kubectl get events` has them, the last ones; and whether it stopped on its way."""

    lines: list[str]
    cut: bool


def parse_span(text: str) -> Micros:
    """A span as Kubernetes writes them: `90s`, `5m`, `1h30m`. Raises SpanError."""
    written = "".join(text.split()).lower()
    if not written:
        raise SpanError(Message(N_("Write how much time shall pass: a number and a unit, such as 90s, 5m or 1h30m.")))
    if written.isascii() and written.isdigit():
        number = {"number": written[:_TOLD]}
        raise SpanError(Message(N_("Write a unit with the number: {number}s, {number}m or {number}h."), number))
    found = _SPAN.fullmatch(written) if written.isascii() else None
    if found is None:
        template = N_("{text} is no span of time. Write a number and a unit, such as 90s, 5m or 1h30m.")
        raise SpanError(Message(template, {"text": text.strip()[:_TOLD]}))
    span = sum(int(number or 0) * unit for number, unit in zip(found.groups(), _UNITS, strict=True))
    if span == 0:
        raise SpanError(Message(N_("No time would pass. Write at least 1s.")))
    if span > LONGEST:
        raise SpanError(Message(N_("This is too long: at most {most} pass at once."), {"most": span_text(LONGEST)}))
    return span


def target(cluster: Cluster, span: Micros | None) -> Instant | None:
    """The instant that a span leads to, or the next event (None) does; None where nothing will happen by itself."""
    if span is None:
        return cluster.next_event()
    return cluster.now + min(max(span, 0), LONGEST)


def let_pass(cluster: Cluster, until: Instant, most_writes: int = MOST_WRITES) -> Passed:
    """Move on to the instant, or as far as one interaction may work."""
    before = cluster.client.revision
    cluster.advance_to(cluster.now)
    for _ in range(_MOST_EVENTS):
        upcoming = cluster.next_event()
        if upcoming is None or upcoming > until:
            cluster.advance_to(until)
            break
        if cluster.client.revision - before >= most_writes:
            break
        cluster.advance_to(upcoming)
    fresh = [event for event in cluster.client.list("events") if int(event["metadata"]["resourceVersion"]) > before]
    fresh.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return Passed([_line(event) for event in fresh[-_SHOWN:]], cluster.now < until)


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
