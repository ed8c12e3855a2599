"""One simulated cluster: its store, its clock, and the loops that move it.

Synchronous and deterministic: the same seed and the same calls give the same bytes. Time jumps from one due timer to
the next; at each instant all loops run, in a fixed order, until none has anything left to do. Looking more often
changes nothing: `advance_to(a); advance_to(b)` is `advance_to(b)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from app.apimachinery.clock import MINUTE, Instant, Micros, SimulatedClock
from app.apimachinery.errors import Expired
from app.apimachinery.meta import Object
from app.cluster import (
    bootstrap,
    bootstrap_dump,
    bootstrap_rbac,
    control_plane,
    controller_manager,
    kube_scheduler,
    migrations,
)
from app.cluster import controller_utils as utils
from app.cluster.client import Client
from app.cluster.controller_manager import CONTROLLERS
from app.cluster.controllers import event_series, event_ttl
from app.cluster.events import Recorder
from app.cluster.heartbeats import Heartbeats
from app.cluster.logs import LogBook
from app.cluster.loops import Context, Loop
from app.cluster.migrations import FORMAT, FormatError
from app.cluster.nodes import machine
from app.cluster.nodes.kubelet import Kubelets
from app.cluster.nodes.machine import Machine
from app.cluster.offline import Offline
from app.cluster.store import Store, WatchEvent
from app.cluster.timers import Timers

__all__ = ["FORMAT", "SETTLE_LIMIT", "Cluster", "FormatError", "NeverSettlesError"]

SETTLE_LIMIT: Micros = 10 * MINUTE
_MANAGERS = {Kubelets.NAME: "kubelet", kube_scheduler.NAME: "kube-scheduler"}
"""The field managers of the loops that are no controllers."""
_CONTROLLERS = frozenset(loop.NAME for loop in CONTROLLERS) - {event_series.NAME, event_ttl.NAME}
"""The loops that are kube-controller-manager's; the others belong to whoever records events, and to the API server."""
MAX_ROUNDS = 500
"""Rounds that one instant may take before it counts as a loop without end."""


class NeverSettlesError(RuntimeError):
    """Loops that keep each other busy at one instant: a fault of the simulation, not of the learner."""


class Cluster:
    """A cluster at an instant."""

    def __init__(self, store: Store, clock: SimulatedClock, seed: int) -> None:
        self.store = store
        self._heartbeats = Heartbeats(store, clock, lambda: self._memory)
        self.client = Client.over(store, shown=self._heartbeats.shown).managed_by("kubectl")
        self._inside = Client.over(store)
        self._clock = clock
        self._seed = seed
        self._timers = Timers()
        self._logs = LogBook()
        self._memory: dict[str, dict[str, Any]] = {}
        self._cursor = store.revision
        self._recorder = Recorder(self._inside, clock, self._events_memory, self._wake_recorder)
        self._schedulers = kube_scheduler.Schedulers()
        programs = {"kube-scheduler": kube_scheduler.start_program, **control_plane.PROGRAMS}
        self._kubelets = Kubelets(programs)
        self._loops: tuple[Loop, ...] = (*CONTROLLERS, self._kubelets, self._schedulers)
        self._unseen: set[str] = set()
        """Loops that the version which wrote the snapshot did not have: they look at everything once."""

    @classmethod
    def new(
        cls,
        *,
        seed: int,
        now: Instant,
        template: str = bootstrap.DEFAULT,
        objects: Sequence[Object] = (),
    ) -> Cluster:
        """A fresh cluster from a template (see `bootstrap.TEMPLATES`), with more objects created in it, at `now`.

        Nodes among the objects get a kubelet and keep the status they come with; pods that run on a node are taken
        over as they are (`bootstrap_dump`).

        Raises:
            KeyError: there is no such template.
            StatusError: the API server refuses one of the objects.
        """
        clock = SimulatedClock(now - bootstrap.AGE)
        store = Store(clock, seed)
        kubelet = bootstrap.build(store, template)
        cluster = cls(store, clock, seed)
        cluster._memory[Kubelets.NAME] = kubelet
        cluster._memory[kube_scheduler.NAME] = kube_scheduler.first_state(cluster._context(cluster._schedulers))
        cluster._cursor = store.revision
        clock.advance_to(now)
        objects = [bootstrap_dump.bare(obj) for obj in objects]
        for obj in objects:
            if obj.get("kind") == "Node" and not bootstrap_dump.is_there(store, obj):
                bootstrap.add_node(cluster._inside, store, obj)
        machine.ensure(cluster._context(cluster._kubelets))
        bootstrap_dump.take_over(store, cluster._memory[Kubelets.NAME], objects)
        for obj in objects:
            if obj.get("kind") != "Node" and not bootstrap_dump.is_running(obj):
                cluster.client.create(obj, field_manager="kubectl-create")
        return cluster

    @classmethod
    def load(cls, data: bytes) -> Cluster:
        """The cluster from `dump()`. Raises FormatError for what is no snapshot that this version reads."""
        try:
            document = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise FormatError(f"a cluster's snapshot is JSON: {error}") from error
        return cls.restore(document)

    @classmethod
    def restore(cls, document: Any) -> Cluster:
        """The cluster from a snapshot, also of an earlier version, that is already parsed. Raises FormatError."""
        try:
            document = migrations.migrated(document)
            clock = SimulatedClock(document["now"])
            cluster = cls(Store.restore(bootstrap_rbac.unfolded(document["store"]), clock), clock, document["seed"])
            cluster._timers = Timers.restore(document["timers"])
            cluster._logs = LogBook.restore(document["logs"])
            cluster._memory = document["memory"]
            cluster._cursor = document["cursor"]
            cluster._unseen = {loop.NAME for loop in cluster._loops}.difference(document["loops"])
        except FormatError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise FormatError(f"the cluster's snapshot is damaged: {error!r}") from error
        return cluster

    def dump(self) -> bytes:
        """The whole state as JSON; equal clusters give equal bytes."""
        return orjson.dumps(
            {
                "format": FORMAT,
                "seed": self._seed,
                "now": self._clock.now(),
                "cursor": self._cursor,
                "store": bootstrap_rbac.folded(self.store.state()),
                "timers": self._timers.state(),
                "logs": self._logs.state(),
                "loops": [loop.NAME for loop in self._loops if loop.NAME not in self._unseen],
                "memory": {name: memory for name, memory in sorted(self._memory.items()) if memory},
            },
            option=orjson.OPT_SORT_KEYS,
        )

    def fork(self) -> Cluster:
        """An independent copy at the same instant."""
        clock = SimulatedClock(self._clock.now())
        other = Cluster(self.store.fork(clock), clock, self._seed)
        other._timers = Timers.restore(self._timers.state())
        other._logs = LogBook.restore(self._logs.state())
        other._memory = orjson.loads(orjson.dumps(self._memory))
        other._cursor = self._cursor
        other._unseen = self._unseen.copy()
        return other

    def begin_epoch(self, abandoned: Cluster, *, unseen: int = 0) -> None:
        """Take the place of `abandoned`, a later state of this cluster: its watches end, revisions keep rising.

        `unseen` bounds what clients saw of it beyond that state.
        """
        self._run_instant()
        self.store.begin_epoch(abandoned.store, unseen)
        self._cursor = self.store.revision

    def compact(self, age: Micros, keep: int) -> None:
        """Let go of watch events older than `age` but for the last `keep`; whoever asks for them is told 410.

        The API server has etcd compacted every five minutes (apiserver/pkg/storage/etcd3/compact.go); here whoever
        keeps clusters decides, since a cluster's time may jump while its watches look on.
        """
        self.store.compact_before(self.now - age, self._cursor, keep)

    @property
    def now(self) -> Instant:
        """The simulated instant, in microseconds since the epoch."""
        return self._clock.now()

    def advance_to(self, instant: Instant) -> None:
        """Let the cluster live until `instant`, that instant's due work included.

        Raises:
            ValueError: the instant lies in the past.
            NeverSettlesError: loops kept each other busy without end.
        """
        if instant < self.now:
            self._clock.advance_to(instant)
        self._run_instant()
        while (due := self._timers.next(self._idle_loops())) is not None and due <= instant:
            self._clock.advance_to(max(due, self.now))
            self._run_instant()
        self._clock.advance_to(instant)

    def settle(self, limit: Micros = SETTLE_LIMIT) -> None:
        """Move on until nothing but retries and housekeeping is due, or `limit` microseconds have passed.

        After it every pod is placed or waits for a change, and phases no longer move by themselves.
        """
        end = self.now + limit
        self._run_instant()
        while (due := self._timers.next_busy(self._idle_loops())) is not None and due <= end:
            self.advance_to(max(due, self.now))

    def next_event(self) -> Instant | None:
        """When something will happen by itself next, or None."""
        return self._timers.next(self._idle_loops())

    def attempts(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """What schedulers recorded of their last attempts to place the pod, oldest first."""
        return kube_scheduler.attempts(self._memory.get(kube_scheduler.NAME, {}), namespace, name)

    def has_scheduler(self, name: str) -> bool:
        """Whether a running scheduler process that may schedule serves this schedulerName."""
        return name in self.schedulers()[1]

    def schedulers(self) -> tuple[set[str], set[str]]:
        """The schedulerNames of all scheduler processes that run, and of those among them that may schedule."""
        return kube_scheduler.names(self._memory.get(kube_scheduler.NAME, {}))

    def logs(self, namespace: str, pod: str, container: str = "", *, previous: bool = False) -> list[str]:
        """What a pod's container printed; its first container where none is named. NotFound for an unknown pod."""
        found = self.client.get("pods", pod, namespace)
        name = container or found["spec"]["containers"][0]["name"]
        return self._logs.read(utils.runtime_uid(found), name, previous=previous)

    def machine(self, name: str) -> Machine:
        """The machine of that name: its files, its services, its journal. KeyError where there is none."""
        context = self._context(self._kubelets)
        machine.ensure(context)
        return machine.of(context, name)

    def remove_static_pod(self, name: str, namespace: str = "kube-system") -> None:
        """Take a static pod's manifest from its machine.

        Raises:
            KeyError: no machine has a static pod of that name.
        """
        for host, entries in (self._memory[Kubelets.NAME].get("static") or {}).items():
            for path, entry in entries.items():
                if entry["key"] == f"{namespace}/{name}":
                    self.machine(host).files.remove(path)
                    return
        raise KeyError(name)

    def stop_kubelet(self, node: str) -> None:
        """`systemctl stop kubelet` on the node's machine: it no longer reports, and its pods stay as they are."""
        self.machine(node).systemd.stop(machine.KUBELET)

    def start_kubelet(self, node: str) -> None:
        """`systemctl start kubelet` on the node's machine."""
        self.machine(node).systemd.start(machine.KUBELET)

    def _events_memory(self) -> dict[str, Any]:
        return self._memory.setdefault(event_series.NAME, {})

    def _wake_recorder(self, instant: Instant) -> None:
        self._timers.set(event_series.NAME, "counts", instant, idle=True)

    def _run_instant(self) -> None:
        busy: list[str] = []
        for _ in range(MAX_ROUNDS):
            changes, full = self._news()
            away = self._without_a_program()
            unseen = self._unseen - away
            if not changes and not full and not unseen and not self._timers.is_due(self.now, away):
                return
            busy = [loop.NAME for loop in self._loops if loop.NAME not in away and self._run_loop(loop, changes, full)]
        raise NeverSettlesError(f"after {MAX_ROUNDS} rounds at one instant still busy: {', '.join(busy)}")

    def _idle_loops(self) -> frozenset[str]:
        """The loops whose program does not run, or which have no API to talk to."""
        found = control_plane.running(self._memory.get(Kubelets.NAME, {}))
        if not found >= {control_plane.API_SERVER_NAME, control_plane.ETCD_NAME}:
            return frozenset(loop.NAME for loop in self._loops) - {Kubelets.NAME}
        return frozenset() if control_plane.MANAGER_NAME in found else _CONTROLLERS

    def _without_a_program(self) -> frozenset[str]:
        """`_idle_loops`, at the beginning of a round: a loop that is away will look at everything when it is back."""
        away = self._idle_loops()
        if kube_scheduler.NAME in self._unseen and kube_scheduler.NAME not in away:
            # The API is back: kubelets tell it what became of their pods.
            self._unseen.add(Kubelets.NAME)
        self._unseen |= away
        return away

    def unreachable(self) -> str:
        """Why the API server does not answer: `refused` or `timeout`; empty where it does."""
        return control_plane.problem(self._memory.get(Kubelets.NAME, {}))

    @property
    def server(self) -> str:
        """Where the API server listens, as kubeconfigs have it."""
        machines = self._memory.get(Kubelets.NAME, {}).get("machines") or {}
        address = next((found["address"] for found in machines.values() if found.get("control")), "127.0.0.1")
        return f"{address}:{control_plane.PORT}"

    def _news(self) -> tuple[Sequence[WatchEvent], bool]:
        """The changes since the last round; and whether the log was too short to hold them all."""
        try:
            changes: Sequence[WatchEvent] = self.store.events_since(self._cursor)
            full = False
        except Expired:
            changes, full = (), True
        self._cursor = self.store.revision
        return changes, full

    def _run_loop(self, loop: Loop, changes: Sequence[WatchEvent], full: bool) -> bool:
        """Run a loop that has something to look at. True when it wrote."""
        relevant = [change for change in changes if change.resource in loop.WATCHES]
        fired = self._timers.take(loop.NAME, self.now)
        if loop.NAME in self._unseen:
            self._unseen.discard(loop.NAME)
            full = True
        if not relevant and not fired and not full:
            return False
        before = self.store.revision
        loop.sync(self._context(loop, relevant, fired, full))
        return self.store.revision != before

    def _context(
        self, loop: Loop, changes: Sequence[WatchEvent] = (), fired: tuple[str, ...] = (), full: bool = False
    ) -> Context:
        manager = _MANAGERS.get(loop.NAME, "kube-controller-manager")
        offline = bool(self.unreachable())
        inside = Offline.over(self.store) if offline else self._inside
        return Context(
            loop=loop.NAME,
            client=inside.managed_by(manager).acting_as(controller_manager.user_of(loop.NAME)),
            reader=self.client,
            clock=self._clock,
            timers=self._timers,
            recorder=Recorder(Offline.over(self.store), self._clock) if offline else self._recorder,
            logs=self._logs,
            state=self._memory.setdefault(loop.NAME, {}),
            seed=self._seed,
            changes=changes,
            fired=fired,
            full=full,
        )
