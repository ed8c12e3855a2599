"""Which owners a controller must look at, and how long it waits after a failure (client-go/util/workqueue).

A controller's timers are named `<what>:<uid>` after the owner that they are for; `again:` asks for a look at all.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context
from app.cluster.store import WatchEvent

BASE_DELAY: Micros = SECOND // 200
MAX_DELAY: Micros = 1000 * SECOND
"""Pauses before a failed sync is tried again (DefaultTypedControllerRateLimiter)."""
YOUNG: Micros = 10 * SECOND
"""A pod that ends before this age counts as a failed try."""
MAX_PAUSE: Micros = 300 * SECOND
_MAX_DOUBLINGS = 18
_TIMERS = ("retry", "young", "available", "due")


def touched(context: Context, resource: str) -> list[Object]:
    """The owners that changed, whose dependents changed, or whose time has come, in name order."""
    owners = context.client.list(resource)
    everything = utils.first_look(context) or any(key.startswith("again:") for key in context.fired)
    forget(context, resource)
    if everything or not owners:
        return owners
    uids = {key.partition(":")[2] for key in context.fired}
    orphans: list[Object] = []
    for change in context.changes:
        if change.resource == resource:
            uids.add(str(change.object["metadata"]["uid"]))
            continue
        for dependent in filter(None, (change.object, change.previous)):
            reference = meta.controller_of(dependent)
            if reference is not None:
                uids.add(str(reference.get("uid")))
            else:
                orphans.append(dependent)
    return [owner for owner in owners if owner["metadata"]["uid"] in uids or _may_adopt(owner, orphans)]


def _may_adopt(owner: Object, orphans: list[Object]) -> bool:
    if not orphans:
        return False
    selector, namespace = utils.selector_of(owner), meta.namespace_of(owner)
    return any(meta.namespace_of(found) == namespace and selector.matches(meta.labels_of(found)) for found in orphans)


def forget(context: Context, resource: str) -> None:
    """Drop what is remembered of owners that are gone."""
    for change in context.changes:
        if change.type == "DELETED" and change.resource == resource:
            uid = change.object["metadata"]["uid"]
            context.state.pop(uid, None)
            for what in _TIMERS:
                context.cancel(f"{what}:{uid}")


def failed(context: Context, uid: str) -> None:
    """Look at the owner again after 5 ms, 10 ms, 20 ms … up to 1000 s (AddRateLimited)."""
    known = context.state.get(uid) or {}
    failures = int(known.get("failures", 0))
    context.state[uid] = {**known, "failures": failures + 1}
    pause = min(BASE_DELAY << min(failures, _MAX_DOUBLINGS), MAX_DELAY)
    context.wake(f"retry:{uid}", context.now + pause, idle=True)


def succeeded(context: Context, uid: str) -> None:
    """A sync without an error (Forget)."""
    known = context.state.get(uid)
    if known and "failures" in known:
        rest = {key: value for key, value in known.items() if key != "failures"}
        if rest:
            context.state[uid] = rest
        else:
            del context.state[uid]
        context.cancel(f"retry:{uid}")


def slow_down_after_early_ends(context: Context, kind: str) -> None:
    """Let owners of pods that were refused or driven off when young wait before they make new ones.

    Upstream goes on as fast as it can; a pod that is refused at the instant of its creation would stop simulated time.
    """
    for uid in sorted({uid for uid in (_early_end(context, change, kind) for change in context.changes) if uid}):
        known = context.state.get(uid) or {}
        pause, until = int(known.get("pause", SECOND // 2)), int(known.get("until", 0))
        if context.now < until:
            continue
        pause = SECOND if context.now > until + MAX_PAUSE else min(pause * 2, MAX_PAUSE)
        context.state[uid] = {**known, "pause": pause, "until": context.now + pause}


def must_wait(context: Context, uid: str) -> bool:
    """Whether the owner may not make pods yet; it is woken when it may."""
    until = int((context.state.get(uid) or {}).get("until", 0))
    if until <= context.now:
        return False
    context.wake(f"young:{uid}", until)
    return True


def _early_end(context: Context, change: WatchEvent, kind: str) -> str:
    if change.resource != "pods":
        return ""
    pod = change.object
    reference = meta.controller_of(pod)
    if reference is None or reference.get("kind") != kind or context.now - utils.created(pod) >= YOUNG:
        return ""
    refused = (pod.get("status") or {}).get("phase") == "Failed"
    driven_off = utils.condition(pod, "DisruptionTarget") is not None and _leaves(change)
    return str(reference.get("uid")) if refused or driven_off else ""


def _leaves(change: WatchEvent) -> bool:
    """Whether the pod is asked to end just now, or is gone without having been asked."""
    if change.type == "DELETED":
        return not utils.is_terminating(change.object)
    before = change.previous
    return utils.is_terminating(change.object) and before is not None and not utils.is_terminating(before)
