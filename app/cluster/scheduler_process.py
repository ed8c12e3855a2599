"""What a leading scheduler process does: keep its queue, try pods one after the other, write what came of it.

The engine decides and changes nothing; here its answers become API calls and events (pkg/scheduler/schedule_one.go:
ScheduleOne, handleSchedulingFailure, bindingCycle). The queue lives in the process's record as JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster import scheduler_attempts as attempts
from app.cluster import scheduler_effects
from app.cluster.loops import Context
from app.scheduler import event_handlers, profile, snapshot
from app.scheduler.framework.runtime import Framework
from app.scheduler.queue import QueuedPod, SchedulingQueue
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot

SEEN = tuple(info.plural for info in scheme.KINDS if info.kind in snapshot.KINDS)
"""The resources that a cycle's snapshot is made of."""
WATCHES = frozenset(SEEN)
MAX_CYCLES = 5_000
"""Pods tried in one run; more than a cluster of this size can hold waiting."""

Process = dict[str, Any]


def run(context: Context, process: Process) -> None:
    """Hear the news, then try pods until none is to be tried at this instant."""
    profiles = _profiles(process)
    pods = context.client.list("pods")
    waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
    queue = SchedulingQueue.load(process["queue"], profiles, _before(context, waiting))
    if process["queue"] is None or context.full:
        _take_stock(context, queue, waiting)
    else:
        for change in context.changes:
            if change.resource in WATCHES:
                gone = change.type == "DELETED"
                old = change.object if gone else change.previous
                event_handlers.handle(queue, old, None if gone else change.object, context.now)
    for _ in range(MAX_CYCLES):
        entry = queue.pop(context.now)
        if entry is None:
            break
        _try(context, process, queue, entry)
    process["queue"] = queue.dump()
    _set_timer(context, process, queue)


def _profiles(process: Process) -> dict[str, Framework]:
    """A process runs the plugins, and speaks the words, of its image's release."""
    return profile.build_profiles(process["configuration"], version=process.get("version", ""))


def _before(context: Context, waiting: Sequence[Object]) -> list[Object]:
    """The waiting pods as the queue last knew them: the news bring it up to date, one change after the other."""
    first: dict[str, Object] = {}
    for change in context.changes:
        if change.resource == "pods" and change.previous is not None:
            first.setdefault(change.object["metadata"]["uid"], change.previous)
    known = {pod["metadata"]["uid"]: pod for pod in waiting}
    return list({**known, **first}.values())


def _take_stock(context: Context, queue: SchedulingQueue, waiting: Sequence[Object]) -> None:
    """What a scheduler does that has just started: everything that waits is new to it."""
    oldest_first = sorted(waiting, key=lambda pod: (utils.created(pod), int(pod["metadata"]["resourceVersion"])))
    for pod in oldest_first:
        event_handlers.handle(queue, None, pod, context.now)


def _set_timer(context: Context, process: Process, queue: SchedulingQueue) -> None:
    """Wake for the next back-off that ends; for pods that nothing has helped so far, only the flush is left."""
    key = f"queue:{process['id']}"
    due = queue.next_instant(context.now)
    if due is None:
        context.cancel(key)
    else:
        backing_off = bool(queue.dump()["queues"]["backoff"])
        context.wake(key, max(due, context.now + 1), idle=not backing_off)


def _try(context: Context, process: Process, queue: SchedulingQueue, entry: QueuedPod) -> None:
    """One cycle for one pod, and what follows from it."""
    pod = context.client.find("pods", entry.pod.name, entry.pod.namespace)
    if not _is_schedulable(pod, entry):
        queue.done(entry.pod.key)
        return
    assert pod is not None
    framework = _profiles(process)[entry.pod.scheduler_name]
    seed = f"{context.seed}/{entry.pod.uid}"
    result = schedule_one(framework, _snapshot(context), pod, pick=lambda names: _drawn(seed, names))
    attempts.keep(context.state["attempts"], entry.pod.key, context.now, result.pod.uid, result.attempt)
    try:
        scheduler_effects.carry_out(context, process, pod, result)
    except StatusError as error:
        _fail(context, process, queue, entry, pod, error.message)
        return
    if result.node:
        queue.done(entry.pod.key)
        return
    queue.add_unschedulable(entry, result.unschedulable_plugins, result.pending_plugins, context.now)
    scheduler_effects.report_failure(context, process, pod, result)


def _is_schedulable(pod: Object | None, entry: QueuedPod) -> bool:
    """Not gone, bound or on its way out since it was queued (skipPodSchedule)."""
    if pod is None or pod["metadata"]["uid"] != entry.pod.uid or pod["spec"].get("nodeName"):
        return False
    return not utils.is_terminating(pod)


def _fail(
    context: Context, process: Process, queue: SchedulingQueue, entry: QueuedPod, pod: Object, message: str
) -> None:
    """The API refused what was decided: back off and try again."""
    queue.add_unschedulable(entry, (), (), context.now)
    scheduler_effects.report(context, process, pod, "SchedulerError", message)


def _snapshot(context: Context) -> Snapshot:
    return Snapshot.of(obj for resource in SEEN for obj in context.client.list(resource))


def _drawn(seed: str, names: Sequence[str]) -> str:
    """One of several equally good nodes. Upstream's choice among them is not defined; ours depends on seed and pod."""
    digest = hashlib.sha256(seed.encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]


def forget_gone(context: Context) -> None:
    """Drop the attempts of pods that are gone."""
    gone = [change.object for change in context.changes if change.resource == "pods" and change.type == "DELETED"]
    for pod in gone:
        if context.client.find("pods", meta.name_of(pod), meta.namespace_of(pod)) is None:
            context.state["attempts"].pop(meta.key_of(pod), None)
    if context.full:
        alive = {meta.key_of(pod) for pod in context.client.list("pods")}
        for key in [key for key in context.state["attempts"] if key not in alive]:
            del context.state["attempts"][key]
