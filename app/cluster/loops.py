"""What every loop of the cluster (controller, scheduler process, kubelet) is given and keeps.

A loop is level-triggered: it is told what changed and which of its timers fired, and brings the cluster closer to
what it wants by writing through the client. Loops meet nowhere but in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from app.apimachinery.clock import Instant, SimulatedClock
from app.cluster.client import Client
from app.cluster.events import Recorder
from app.cluster.logs import LogBook
from app.cluster.store import WatchEvent
from app.cluster.timers import Timers
from app.cluster.users import User


@dataclass(frozen=True)
class Context:
    """One run of one loop.

    `reader` sees what people see, heartbeats included; `client` sees what is stored, which is what loops go by.
    `state` is the loop's own memory: JSON values only, kept in the snapshot. `full` says that changes were lost
    (a compacted log) and everything must be looked at again.
    """

    loop: str
    client: Client
    reader: Client
    clock: SimulatedClock
    timers: Timers
    recorder: Recorder
    logs: LogBook
    state: dict[str, Any]
    seed: int = 0
    changes: Sequence[WatchEvent] = ()
    fired: tuple[str, ...] = ()
    full: bool = False

    @property
    def now(self) -> Instant:
        """The simulated instant, in microseconds since the epoch."""
        return self.clock.now()

    def acting_as(self, user: User) -> Context:
        """The same run, for another user: whom admission sees in its writes."""
        return replace(self, client=self.client.acting_as(user))

    def wake(self, key: str, instant: Instant, *, idle: bool = False) -> None:
        """Run this loop again at `instant`, with `key` among the fired; `idle` when it only tries again or tidies."""
        self.timers.set(self.loop, key, instant, idle=idle)

    def cancel(self, key: str) -> None:
        """Forget a wake-up."""
        self.timers.cancel(self.loop, key)

    def changed(self, *resources: str) -> bool:
        """Whether any object of these resources changed, or may have."""
        return self.full or any(change.resource in resources for change in self.changes)


class Loop(Protocol):
    """A module or object that reconciles."""

    @property
    def NAME(self) -> str:  # noqa: N802 (modules spell it as a constant)
        """The loop's name."""

    @property
    def WATCHES(self) -> frozenset[str]:  # noqa: N802 (modules spell it as a constant)
        """The resources whose changes wake the loop."""

    def sync(self, context: Context) -> None:
        """Bring the cluster closer to what this loop wants; must be idempotent."""


@dataclass(frozen=True)
class FunctionLoop:
    """A loop made of a module's `NAME`, `WATCHES` and `sync`."""

    NAME: str
    WATCHES: frozenset[str]
    run: Callable[[Context], None] = field(repr=False)

    def sync(self, context: Context) -> None:
        """Run the module's function."""
        self.run(context)
