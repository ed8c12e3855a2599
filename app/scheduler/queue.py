"""Pods that wait to be tried (pkg/scheduler/backend/queue/scheduling_queue.go).

- active: tried next, in the order of the queue sort plugin;
- backoff: worth trying, but tried a moment ago (1 s, 2 s, 4 s … 10 s after the last failure). As in 1.35
  (SchedulerPopFromBackoffQ) a pod that plugins turned down is taken from here when nothing is active; one that met
  an error waits its time;
- unschedulable: nothing has happened that could help. Events of the cluster wake these pods through the hints of the
  plugins that turned them down, and every five minutes they are tried anyway. Gated pods wait here, too.

All instants are arguments, in microseconds of simulated time; there is no clock here. `dump` answers JSON without the
pods themselves, and `load` takes them from the cluster again. No pod may be in flight (between `pop` and
`add_unschedulable` or `done`) when the queue is dumped. `listed` gives hints the services and owners that default
spread constraints go by; without it only nodes and the flush wake pods that such constraints turned down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.scheduler.framework import events
from app.scheduler.framework.events import EVERYTHING, Action, ClusterEvent, Lister, nothing_listed
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework

ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
INITIAL_BACKOFF: Micros = 1 * SECOND
MAX_BACKOFF: Micros = 10 * SECOND
MAX_IN_UNSCHEDULABLE: Micros = 5 * MINUTE
"""After this long without any event a pod is tried again (podMaxInUnschedulablePodsDuration)."""

_SKIP, _AFTER_BACKOFF, _IMMEDIATELY = 0, 1, 2
Happening = tuple[ClusterEvent, Object | None, Object | None]


@dataclass
class QueuedPod:
    """A pod with its history in the queue (framework.QueuedPodInfo)."""

    pod: PodInfo
    timestamp: Instant
    sequence: int
    attempts: int = 0
    unschedulable_count: int = 0
    errors: int = 0
    backoff_until: Instant = 0
    gate: str = ""
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)

    @property
    def rejectors(self) -> set[str]:
        """All plugins that turned the pod down."""
        return self.unschedulable_plugins | self.pending_plugins

    def to_json(self) -> dict[str, Any]:
        """Everything but the pod itself."""
        return {
            "attempts": self.attempts,
            "unschedulableCount": self.unschedulable_count,
            "errors": self.errors,
            "timestamp": self.timestamp,
            "sequence": self.sequence,
            "backoffUntil": self.backoff_until,
            "gate": self.gate,
            "unschedulablePlugins": sorted(self.unschedulable_plugins),
            "pendingPlugins": sorted(self.pending_plugins),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any], pod: PodInfo) -> QueuedPod:
        """The reverse of `to_json`."""
        return QueuedPod(
            pod=pod,
            timestamp=data["timestamp"],
            sequence=data["sequence"],
            attempts=data["attempts"],
            unschedulable_count=data["unschedulableCount"],
            errors=data["errors"],
            backoff_until=data["backoffUntil"],
            gate=data["gate"],
            unschedulable_plugins=set(data["unschedulablePlugins"]),
            pending_plugins=set(data["pendingPlugins"]),
        )


class SchedulingQueue:
    """The queue of one scheduler process, for all its profiles."""

    def __init__(
        self,
        profiles: Mapping[str, Framework],
        *,
        initial_backoff: Micros = INITIAL_BACKOFF,
        max_backoff: Micros = MAX_BACKOFF,
        listed: Lister = nothing_listed,
    ) -> None:
        self._profiles = profiles
        self._listed = listed
        self._initial_backoff, self._max_backoff = initial_backoff, max_backoff
        self._queues: dict[str, dict[str, QueuedPod]] = {ACTIVE: {}, BACKOFF: {}, UNSCHEDULABLE: {}}
        self._in_flight: dict[str, tuple[QueuedPod, list[Happening]]] = {}
        self._sequence = 0
        self._known_interest: dict[ClusterEvent, bool] = {}
        self._heap: list[tuple[tuple[int, ...], int, QueuedPod]] = []

    @classmethod
    def load(
        cls,
        data: Mapping[str, Any] | None,
        profiles: Mapping[str, Framework],
        pods: Iterable[Object],
        *,
        initial_backoff: Micros = INITIAL_BACKOFF,
        max_backoff: Micros = MAX_BACKOFF,
        listed: Lister = nothing_listed,
    ) -> SchedulingQueue:
        """The queue that `dump` described.

        Entries are dropped whose pod is not among `pods`, is another one of that name, or has no profile any more.
        """
        queue = cls(profiles, initial_backoff=initial_backoff, max_backoff=max_backoff, listed=listed)
        if data is None:
            return queue
        found = {(pod.key, pod.uid): pod for pod in map(PodInfo.of, pods)}
        queue._sequence = data["sequence"]
        for name, entries in data["queues"].items():
            for entry in entries:
                pod = found.get((entry["pod"], entry["uid"]))
                if pod is not None and pod.scheduler_name in profiles:
                    queue._put(name, QueuedPod.from_json(entry, pod))
        return queue

    def dump(self) -> dict[str, Any]:
        """The queue as JSON. RuntimeError while a pod is in flight."""
        if self._in_flight:
            raise RuntimeError(f"pods are in flight: {', '.join(self._in_flight)}")
        queues = {
            name: [{"pod": key, "uid": entry.pod.uid, **entry.to_json()} for key, entry in entries.items()]
            for name, entries in self._queues.items()
        }
        return {"sequence": self._sequence, "queues": queues}

    def serves(self, pod: Object) -> bool:
        """Whether a profile has the pod's schedulerName."""
        return PodInfo.of(pod).scheduler_name in self._profiles

    # What a viewer asks

    def describe(self, key: str) -> dict[str, Any] | None:
        """Where a pod waits (`queue`) and its history, or None where the queue does not know it."""
        for name, entries in self._queues.items():
            if key in entries:
                return {"queue": name, **entries[key].to_json()}
        return None

    def next_instant(self, now: Instant) -> Instant | None:
        """When something is to be tried without any event: now, the end of a back-off, or the five minutes."""
        if self._queues[ACTIVE] or any(not entry.errors for entry in self._queues[BACKOFF].values()):
            return now
        instants = [entry.backoff_until for entry in self._queues[BACKOFF].values()]
        instants += [
            entry.timestamp + MAX_IN_UNSCHEDULABLE for entry in self._queues[UNSCHEDULABLE].values() if not entry.gate
        ]
        return max(now, min(instants)) if instants else None

    # Pods come, change and go

    def add(self, pod: Object, now: Instant) -> None:
        """A new pod to schedule."""
        info = PodInfo.of(pod)
        if any(info.key in entries for entries in self._queues.values()) or info.key in self._in_flight:
            return
        self._to_active(self._new(info, now))

    def update(self, old: Object, new: Object, now: Instant) -> None:
        """A waiting pod was changed: its own change may be what it waits for (PriorityQueue.Update)."""
        info = PodInfo.of(new)
        changes = events.pod_changes(old, new)
        if info.key in self._in_flight:
            entry, happenings = self._in_flight[info.key]
            entry.pod = info
            happenings.extend((event, old, new) for event in changes)
            return
        for name in (ACTIVE, BACKOFF):
            if info.key in self._queues[name]:
                entry = self._queues[name][info.key]
                entry.pod = info
                self._put_in_order(name, entry)
                return
        waiting = self._queues[UNSCHEDULABLE].get(info.key)
        if waiting is None:
            self._to_active(self._new(info, now))
            return
        waiting.pod = info
        for event in changes:
            if self._requeue(waiting, self._worth(waiting, (event, old, new)), now) != UNSCHEDULABLE:
                break

    def delete(self, pod: Object) -> None:
        """The pod is gone, or bound."""
        key = PodInfo.of(pod).key
        for entries in self._queues.values():
            entries.pop(key, None)

    def _new(self, pod: PodInfo, now: Instant) -> QueuedPod:
        self._sequence += 1
        return QueuedPod(pod, now, self._sequence)

    # Pods are tried

    def pop(self, now: Instant) -> QueuedPod | None:
        """The next pod to try, which is in flight then; None when there is none at this instant."""
        self.flush(now)
        entry = self._first_active() or self._first_backing_off()
        if entry is None:
            return None
        entry.attempts += 1
        entry.unschedulable_plugins, entry.pending_plugins = set(), set()
        self._in_flight[entry.pod.key] = (entry, [])
        return entry

    def _first_active(self) -> QueuedPod | None:
        """The active pod whose turn it is; what the heap holds of pods that left or changed is dropped."""
        active = self._queues[ACTIVE]
        while self._heap:
            order, _, entry = heappop(self._heap)
            if active.get(entry.pod.key) is entry and self._order(entry) == order:
                return active.pop(entry.pod.key)
        return None

    def _first_backing_off(self) -> QueuedPod | None:
        entries = [entry for entry in self._queues[BACKOFF].values() if not entry.errors]
        return self._queues[BACKOFF].pop(min(entries, key=self._order).pod.key) if entries else None

    def _order(self, entry: QueuedPod) -> tuple[int, ...]:
        framework = self._profiles[entry.pod.scheduler_name]
        return framework.sort_key(entry.pod, (entry.timestamp, entry.sequence))

    def done(self, key: str) -> None:
        """The pod in flight was placed, or is not to be tried any more."""
        self._in_flight.pop(key, None)

    def add_unschedulable(
        self, entry: QueuedPod, unschedulable: Iterable[str], pending: Iterable[str], now: Instant
    ) -> str:
        """The attempt failed: the plugins that turned the pod down decide which events wake it.

        Answers the queue that it went to. Events that came while the pod was in flight count, and a failure that no
        plugin answers for is retried after a back-off (AddUnschedulableIfNotPresent).
        """
        _, happenings = self._in_flight.pop(entry.pod.key)
        entry.unschedulable_plugins, entry.pending_plugins = set(unschedulable), set(pending)
        if entry.rejectors:
            entry.unschedulable_count += 1
            entry.errors = 0
        else:
            entry.errors += 1
        self._sequence += 1
        entry.timestamp, entry.sequence = now, self._sequence
        entry.backoff_until = now + self._backoff(entry.errors or entry.unschedulable_count)
        strategy = _SKIP if entry.rejectors else _AFTER_BACKOFF
        if entry.rejectors:
            strategy = max((self._worth(entry, happening) for happening in happenings), default=_SKIP)
        return self._requeue(entry, strategy, now)

    def _backoff(self, count: int) -> Micros:
        """Twice as long each time, up to the limit (backoff_queue.go: calculateBackoffDuration)."""
        return min(self._initial_backoff << min(count - 1, 32), self._max_backoff) if count else 0

    # Something happens

    def move_all(
        self, event: ClusterEvent, old: Object | None, new: Object | None, now: Instant, *, up_to: int | None = None
    ) -> None:
        """Wake the unschedulable pods that an event may help (MoveAllToActiveOrBackoffQueue).

        `up_to` keeps it from pods of higher priority.
        """
        waiting = self._queues[UNSCHEDULABLE].values()
        self._move([entry for entry in waiting if up_to is None or entry.pod.priority <= up_to], event, old, new, now)

    def assigned_pod_added(self, pod: Object, now: Instant) -> None:
        """A pod is on a node now: it can only help pods that speak of other pods (AssignedPodAdded)."""
        self._move(self._speaking_of(PodInfo.of(pod)), events.ASSIGNED_POD_ADD, None, pod, now)

    def assigned_pod_updated(self, old: Object, new: Object, now: Instant) -> None:
        """A pod on a node was changed; asking for less may help anyone (AssignedPodUpdated)."""
        for event in events.pod_changes(old, new):
            if event.action & Action.UPDATE_POD_SCALE_DOWN:
                self.move_all(event, old, new, now)
            else:
                self._move(self._speaking_of(PodInfo.of(new)), event, old, new, now)

    def _speaking_of(self, pod: PodInfo) -> list[QueuedPod]:
        """Waiting pods with a spread constraint in the pod's namespace or an affinity to it."""
        # A namespaceSelector is not resolved here: the hint of InterPodAffinity does not resolve it either.
        return [
            entry
            for entry in self._queues[UNSCHEDULABLE].values()
            if ("PodTopologySpread" in entry.unschedulable_plugins and entry.pod.namespace == pod.namespace)
            or any(term.matches(pod.namespace, pod.labels, {}) for term in entry.pod.required_affinity)
        ]

    def _move(
        self,
        entries: Iterable[QueuedPod],
        event: ClusterEvent,
        old: Object | None,
        new: Object | None,
        now: Instant,
    ) -> None:
        if not self._of_interest(event):
            return
        for entry in list(entries):
            if entry.gate and not self._interests(entry, event):
                continue
            strategy = self._worth(entry, (event, old, new))
            if strategy != _SKIP:
                self._requeue(entry, strategy, now)
        for _, happenings in self._in_flight.values():
            happenings.append((event, old, new))

    def _of_interest(self, event: ClusterEvent) -> bool:
        found = self._known_interest.get(event)
        if found is None:
            hints = [registered for profile in self._profiles.values() for registered, _, _ in profile.hints]
            found = event == EVERYTHING or any(registered.matches(event) for registered in hints)
            self._known_interest[event] = found
        return found

    def _interests(self, entry: QueuedPod, event: ClusterEvent) -> bool:
        hints = self._profiles[entry.pod.scheduler_name].hints
        return any(plugin == entry.gate and registered.matches(event) for registered, plugin, _ in hints)

    def _worth(self, entry: QueuedPod, happening: Happening) -> int:
        """Whether an event makes a pod worth trying, and how soon (isPodWorthRequeuing)."""
        event, old, new = happening
        if not entry.rejectors or event == EVERYTHING:
            return _AFTER_BACKOFF
        found = _SKIP
        for registered, plugin, hint in self._profiles[entry.pod.scheduler_name].hints:
            if plugin not in entry.rejectors or not registered.matches(event):
                continue
            if hint is not None and not hint(entry.pod, old, new, self._listed):
                continue
            if plugin in entry.pending_plugins:
                return _IMMEDIATELY
            found = _AFTER_BACKOFF
        return found

    def activate(self, keys: Iterable[str], now: Instant) -> None:
        """Try these pods at once, wherever they wait (Activate)."""
        for key in keys:
            entry = self._queues[UNSCHEDULABLE].get(key) or self._queues[BACKOFF].get(key)
            if entry is not None:
                self._requeue(entry, _IMMEDIATELY, now)

    def flush(self, now: Instant) -> None:
        """Let time pass: ended back-offs become active, and who waited five minutes is tried again."""
        for entry in list(self._queues[BACKOFF].values()):
            if entry.backoff_until <= now:
                self._to_active(entry)
        for entry in list(self._queues[UNSCHEDULABLE].values()):
            if now - entry.timestamp >= MAX_IN_UNSCHEDULABLE and not entry.gate:
                self._requeue(entry, self._worth(entry, (EVERYTHING, None, None)), now)

    def _requeue(self, entry: QueuedPod, strategy: int, now: Instant) -> str:
        """Put the pod where the strategy says (requeuePodWithQueueingStrategy)."""
        if strategy == _SKIP:
            return self._put(UNSCHEDULABLE, entry)
        if strategy == _AFTER_BACKOFF and now < entry.backoff_until:
            return self._put(UNSCHEDULABLE if self._gated(entry) else BACKOFF, entry)
        return self._to_active(entry)

    def _to_active(self, entry: QueuedPod) -> str:
        return self._put(UNSCHEDULABLE if self._gated(entry) else ACTIVE, entry)

    def _gated(self, entry: QueuedPod) -> bool:
        """Run the PreEnqueue plugins; the one that holds the pod is remembered as a rejector."""
        status = self._profiles[entry.pod.scheduler_name].run_pre_enqueue(entry.pod)
        entry.gate = status.plugin if status is not None else ""
        if status is not None:
            entry.unschedulable_plugins.add(status.plugin)
        return status is not None

    def _put(self, name: str, entry: QueuedPod) -> str:
        for entries in self._queues.values():
            entries.pop(entry.pod.key, None)
        self._queues[name][entry.pod.key] = entry
        self._put_in_order(name, entry)
        return name

    def _put_in_order(self, name: str, entry: QueuedPod) -> None:
        if name == ACTIVE:
            heappush(self._heap, (self._order(entry), entry.sequence, entry))
