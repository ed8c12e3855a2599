"""`event`: an event that the cluster must have written about an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from app.apimachinery.messages import N_, Message
from app.exercises.base import ObjectName, Strict
from app.exercises.checking import Context, Fault, Finding

Text = Annotated[str, Field(min_length=1, max_length=200)]


class Involved(Strict):
    """The object that the event is about."""

    kind: Text
    name: ObjectName
    namespace: ObjectName = "default"


class Spec(Strict):
    """The event's reason, the object that it is about, and a part of its message."""

    reason: Text
    involved: Involved
    contains: Text | None = None


def run(spec: Spec, context: Context) -> Finding:
    """Look through the events about the object."""
    facts = {"reason": spec.reason, "kind": spec.involved.kind, "name": spec.involved.name, "text": spec.contains}
    where = Message(N_("events about {kind} {name}"), facts)
    if spec.contains:
        looked_for = Message(N_("an event {reason} that says “{text}”"), facts)
    else:
        looked_for = Message(N_("an event {reason}"), facts)
    seen = []
    for event in context.cluster.client.list("events"):
        about = event.get("involvedObject") or {}
        if (about.get("kind"), about.get("name")) != (spec.involved.kind, spec.involved.name):
            continue
        if about.get("namespace", spec.involved.namespace) != spec.involved.namespace:
            continue
        seen.append(f"{event.get('reason')}: {event.get('message')}")
        if event.get("reason") == spec.reason and (spec.contains or "") in str(event.get("message", "")):
            return Finding(
                passed=True, looked_for=looked_for, found=Message(N_("“{event}”"), {"event": seen[-1]}), where=where
            )
    found = Message(N_("only: {events}"), {"events": "; ".join(seen[-3:])}) if seen else Message(N_("no event"), {})
    return Finding(passed=False, looked_for=looked_for, found=found, where=where)


def literals(spec: Spec) -> Iterator[str]:
    """The object's name and namespace and the part of the message; the reason is the cluster's own word."""
    yield spec.involved.name
    if spec.involved.namespace != "default":
        yield spec.involved.namespace
    if spec.contains:
        yield spec.contains


def faults(spec: Spec) -> Iterator[Fault]:
    """A kind that nobody writes events about."""
    if not spec.involved.kind[:1].isupper():
        facts = {"kind": spec.involved.kind}
        message = Message(N_("“{kind}” is not a kind: kinds begin with a capital letter."), facts)
        yield Fault("involved.kind", message)
