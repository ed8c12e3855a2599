"""Lets events expire an hour after they were last written, as etcd's leases do (kube-apiserver --event-ttl)."""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.clock import MINUTE, Micros
from app.apimachinery.errors import NotFound
from app.cluster import events
from app.cluster.loops import Context

NAME = "event-ttl"
WATCHES = frozenset({"events"})
TTL: Micros = 60 * MINUTE
_SWEEP: Micros = MINUTE
_KEY = "sweep"


def sync(context: Context) -> None:
    """Remove what is older than the TTL, and wake for the next one; at most one sweep a minute."""
    if not context.fired and not context.full and context.timers.get(NAME, _KEY) is not None:
        return
    oldest = None
    for event in context.client.list("events"):
        seen = events.last_seen(event)
        if seen + TTL <= context.now:
            _remove(context, meta.name_of(event), meta.namespace_of(event))
        elif oldest is None or seen < oldest:
            oldest = seen
    if oldest is not None:
        context.wake(_KEY, max(oldest + TTL, context.now + _SWEEP), idle=True)


def _remove(context: Context, name: str, namespace: str) -> None:
    try:
        context.client.delete("events", name, namespace)
    except NotFound:
        return
