"""The scheduler at work on a cluster of its own: one pod after the other, until nothing is left to try.

Each binding is seen by the pods that follow. Victims of a preemption leave when nothing else is left to try; whom
that wakes is tried again. No time passes: back-off counts as over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND
from app.apimachinery.meta import Object
from app.cli.simulation.admitting import Key
from app.scheduler import event_handlers, schedule_one
from app.scheduler.cache import Cache
from app.scheduler.framework.pod_info import PodInfo, with_node
from app.scheduler.framework.runtime import Framework
from app.scheduler.queue import QueuedPod, SchedulingQueue
from app.scheduler.replay import claims
from app.scheduler.schedule_one import ScheduleResult

_START = clock.parse("2026-01-01T00:00:00Z")
_MOST_ATTEMPTS_PER_POD = 20
_CLAIM_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass"})


class Simulation:
    """Objects by key, and the pods of them that are to be scheduled."""

    def __init__(self, objects: Mapping[Key, Object], profiles: Mapping[str, Framework], wanted: Sequence[Key]) -> None:
        self.profiles = profiles
        self.objects = dict(objects)
        self.victims: dict[str, str] = {}
        """Pods that had to go, and for whom."""
        self._cache = Cache(self.objects.values())
        self._queue = SchedulingQueue(profiles, initial_backoff=0, max_backoff=0, listed=self._listed)
        self._wanted = list(wanted)
        self._now = 0
        self._leaving: list[Key] = []
        self._late: list[tuple[Object | None, Object]] = []

    def attempts(self) -> Iterator[ScheduleResult]:
        """One result a cycle. Whoever wants to keep a record takes it before the next one is asked for."""
        self._bind_claims()
        for key in self._wanted:
            self._now += 1
            if self._queue.serves(self.objects[key]):
                self._queue.add(self.objects[key], self._now)
        for _ in range(_MOST_ATTEMPTS_PER_POD * len(self._wanted)):
            entry = self._next()
            if entry is None:
                return
            yield self._try(entry)

    def _next(self) -> QueuedPod | None:
        """The next pod. News of a binding arrives only when the next pod is being tried, as in a real scheduler."""
        while True:
            entry = self._queue.pop(self._now)
            late, self._late = self._late, []
            for old, new in late:
                event_handlers.handle(self._queue, old, new, self._now)
            if entry is not None:
                return entry
            if not late and not self._let_victims_go() and not self._bind_claims():
                return None

    def _let_victims_go(self) -> bool:
        leaving, self._leaving = self._leaving, []
        for key in leaving:
            self._change(key, None)
        return bool(leaving)

    def _try(self, entry: QueuedPod) -> ScheduleResult:
        self._now += 1
        key = ("Pod", entry.pod.key)
        framework = self.profiles[entry.pod.scheduler_name]
        result = schedule_one.schedule_one(framework, self._cache.snapshot(), self.objects[key])
        for effect in result.effects:
            self._apply(effect, result)
        if result.node:
            self._queue.done(entry.pod.key)
            self._bound(key, result.node)
        else:
            self._queue.add_unschedulable(entry, result.unschedulable_plugins, result.pending_plugins, self._now)
            if result.nominated_node is not None:
                self._change(key, _with_status(self.objects[key], nominatedNodeName=result.nominated_node or None))
        return result

    def _apply(self, effect: Mapping[str, Any], result: ScheduleResult) -> None:
        match effect["effect"]:
            case "evict":
                key = ("Pod", effect["pod"])
                self.victims[effect["pod"]] = result.pod.key
                self._leaving.append(key)
                self._change(key, _terminating(self.objects[key]))
            case "clearNomination":
                key = ("Pod", effect["pod"])
                self._change(key, _with_status(self.objects[key], nominatedNodeName=None))
            case "bindVolume" | "provision":
                for old, new in claims.apply_effect(self.objects, effect):
                    self._keep(old, new)
                    self._late.append((old, new))

    def _bound(self, key: Key, node: str) -> None:
        old = self.objects[key]
        started = clock.rfc3339(_START + self._now * SECOND)
        new = with_node(_with_status(old, phase="Running", startTime=started, nominatedNodeName=None), node)
        self._keep(old, new)
        self._late.append((old, new))

    def _bind_claims(self) -> bool:
        """Let the volume controller bind what needs no pod; answers whether it changed anything."""
        changed = False
        while found := claims.bind({key: obj for key, obj in self.objects.items() if key[0] in _CLAIM_KINDS}):
            changed = True
            for new in found:
                self._change((new["kind"], meta.key_of(new)), new)
        return changed

    def _change(self, key: Key, new: Object | None) -> None:
        """Keep a change, and tell the queue."""
        old = self.objects.get(key)
        self._keep(old, new)
        event_handlers.handle(self._queue, old, new, self._now)

    def _keep(self, old: Object | None, new: Object | None) -> None:
        self._cache.change(old, new)
        if new is not None:
            self.objects[new["kind"], meta.key_of(new)] = new
        elif old is not None:
            del self.objects[old["kind"], meta.key_of(old)]

    def _listed(self, wanted: str) -> dict[str, Object]:
        return {key: obj for (kind, key), obj in self.objects.items() if kind == wanted}

    # What is left at the end

    def pod(self, key: str) -> PodInfo | None:
        """The pod as it is now; None where it had to go."""
        found = self.objects.get(("Pod", key))
        return PodInfo.of(found) if found is not None else None


def _with_status(pod: Object, **fields: Any) -> Object:
    """The pod with status fields set, or taken away where None."""
    status = {**(pod.get("status") or {}), **fields}
    return {**pod, "status": {key: value for key, value in status.items() if value is not None}}


def _terminating(pod: Object) -> Object:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    others = (pod.get("status") or {}).get("conditions") or []
    marked = _with_status(pod, conditions=[*others, condition])
    return {**marked, "metadata": {**marked["metadata"], "deletionTimestamp": clock.rfc3339(_START)}}
