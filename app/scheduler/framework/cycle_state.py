"""The memory of one scheduling cycle (pkg/scheduler/framework/cycle_state.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from app.scheduler.snapshot import Snapshot

T = TypeVar("T")


class StateMissing(LookupError):
    """A plugin asks for what an extension point of its own should have kept, and a profile has left that point out."""

    def __init__(self, key: str) -> None:
        super().__init__(f'reading "{key}" from cycleState: not found')


class StateData(Protocol):
    """What a plugin keeps between its extension points."""

    def clone(self) -> StateData:
        """A copy that preemption may change while it tries a node; the same object where nothing ever changes."""


class CycleState:
    """Plugins' data by key, the snapshot of this cycle, and which plugins have nothing to do in it.

    `pick` chooses among equally good nodes. `effects` are what the cycle wants written to the cluster.
    """

    __slots__ = ("_data", "effects", "pick", "skip_filter", "skip_score", "snapshot")

    def __init__(self, snapshot: Snapshot, pick: Callable[[Sequence[str]], str] = min) -> None:
        self.snapshot = snapshot
        self.pick = pick
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()
        self.effects: list[dict[str, Any]] = []
        self._data: dict[str, StateData] = {}

    def write(self, key: str, data: StateData) -> None:
        """Keep data for later extension points."""
        self._data[key] = data

    def read(self, key: str, kind: type[T]) -> T | None:
        """The data kept under a key, or None."""
        data = self._data.get(key)
        return data if isinstance(data, kind) else None

    def require(self, key: str, kind: type[T]) -> T:
        """The data kept under a key. Raises StateMissing where there is none."""
        found = self.read(key, kind)
        if found is None:
            raise StateMissing(key)
        return found

    def clone(self) -> CycleState:
        """A copy for a what-if: the plugins' data cloned, the rest shared."""
        copy = CycleState(self.snapshot, self.pick)
        copy.skip_filter, copy.skip_score = self.skip_filter, self.skip_score
        copy.effects = self.effects
        copy._data = {key: data.clone() for key, data in self._data.items()}
        return copy
