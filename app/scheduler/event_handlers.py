"""From changes of objects to moves in the queue (pkg/scheduler/eventhandlers.go).

Whoever keeps a cluster calls `handle` for each change that a scheduler would see through its watches, in order.
"""

from __future__ import annotations

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.events import Action, ClusterEvent
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.queue import SchedulingQueue


def handle(queue: SchedulingQueue, old: Object | None, new: Object | None, now: Instant) -> None:
    """An object appeared (no `old`), changed, or went (no `new`)."""
    obj = new if new is not None else old
    if obj is None:
        return
    kind = str(obj.get("kind"))
    if kind == "Pod":
        _pod(queue, _seen(old), _seen(new), now)
    elif kind == "Node" and old is not None and new is not None:
        for event in events.node_changes(old, new):
            queue.move_all(event, old, new, now)
    else:
        action = Action.ADD if old is None else Action.DELETE if new is None else Action.UPDATE
        queue.move_all(ClusterEvent(kind, action), old, new, now)


def _seen(pod: Object | None) -> Object | None:
    """Ended pods are out of the scheduler's sight: its watch leaves them out."""
    return None if pod is None or PodInfo.of(pod).ended else pod


def _pod(queue: SchedulingQueue, old: Object | None, new: Object | None, now: Instant) -> None:
    if old is not None and new is not None and PodInfo.of(old).uid != PodInfo.of(new).uid:
        _pod(queue, old, None, now)
        _pod(queue, None, new, now)
        return
    if new is None:
        if old is not None:
            _pod_deleted(queue, old, now)
    elif old is None:
        _pod_added(queue, new, now)
    elif PodInfo.of(old).node_name:
        queue.assigned_pod_updated(old, new, now)
    elif PodInfo.of(new).node_name:
        queue.assigned_pod_added(new, now)
        queue.delete(old)
    elif queue.serves(old):
        queue.update(old, new, now)
        before = PodInfo.of(old)
        if before.nominated_node and before.nominated_node != PodInfo.of(new).nominated_node:
            # Pods of the same or lower priority counted it in as if it were on that node.
            queue.move_all(events.ASSIGNED_POD_DELETE, old, None, now, up_to=before.priority)


def _pod_added(queue: SchedulingQueue, pod: Object, now: Instant) -> None:
    if PodInfo.of(pod).node_name:
        queue.assigned_pod_added(pod, now)
    elif queue.serves(pod):
        queue.add(pod, now)


def _pod_deleted(queue: SchedulingQueue, pod: Object, now: Instant) -> None:
    info = PodInfo.of(pod)
    if info.node_name:
        queue.move_all(events.ASSIGNED_POD_DELETE, pod, None, now)
    elif queue.serves(pod):
        queue.delete(pod)
        if info.nominated_node:
            queue.move_all(events.ASSIGNED_POD_DELETE, pod, None, now, up_to=info.priority)
