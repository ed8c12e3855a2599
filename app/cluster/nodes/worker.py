"""What every step of a pod's worker uses: its record, its timers, its events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from app.apimachinery.clock import MINUTE, SECOND, Micros
from app.apimachinery.meta import Object
from app.cluster import events
from app.cluster.loops import Context
from app.cluster.nodes import pod_status
from app.cluster.processes import Program

Record = pod_status.Record


class Worker(ABC):
    """One pod at one instant. `present` is the set of images on the node; pulls add to it."""

    def __init__(
        self, context: Context, pod: Object, record: Record, present: set[str], known: Mapping[str, Program]
    ) -> None:
        self.context = context
        self.pod = pod
        self.record = record
        self.present = present
        self.programs = known
        self.uid: str = pod["metadata"]["uid"]
        self.specs = {container["name"]: container for container in pod_status.containers_of(pod)}
        self.ephemeral = {container["name"]: container for container in pod["spec"].get("ephemeralContainers") or []}
        self.specs.update(self.ephemeral)

    @abstractmethod
    def proceed(self) -> None:
        """Go on with what is due next in the pod."""

    def wait(self, name: str, reason: str, message: str = "") -> None:
        """The container waits, for this reason."""
        state = self.record["containers"][name]
        for leftover in ("code", "ending", "detail", "until", "ready"):
            state.pop(leftover, None)
        state.update(state="waiting", reason=reason, message=message)

    def hold(self, name: str, step: str, delay: Micros) -> None:
        """Start no other container until this one's step is done."""
        self.record["busy"] = name
        self.at(name, step, delay)

    def release(self) -> None:
        """The container that held the others up no longer does."""
        self.record.pop("busy", None)
        self.proceed()

    def at(self, container: str, step: str, delay: Micros, *, idle: bool = False) -> None:
        """Take a step of a container (or of the pod, for an empty name) after a delay.

        A step is idle when it only tries again what failed, and nothing has happened since that may help.
        """
        hopeless = idle and not self.record.get("hope")
        self.context.wake(f"{self.uid}/{container}/{step}", self.context.now + delay, idle=hopeless)

    def cancel(self, container: str, step: str) -> None:
        """Do not take the step after all."""
        self.context.cancel(f"{self.uid}/{container}/{step}")

    def event(self, reason: str, message: str, container: str = "", kind: str = events.NORMAL) -> None:
        """Record an event about the pod, or about one of its containers."""
        inits = self.pod["spec"].get("initContainers") or []
        part = "initContainers" if any(c["name"] == container for c in inits) else "containers"
        part = "ephemeralContainers" if container in self.ephemeral else part
        field_path = f"spec.{part}{{{container}}}" if container else ""
        self.context.recorder.record(
            self.pod,
            kind,
            reason,
            message,
            component="kubelet",
            host=self.record["node"],
            field_path=field_path,
        )


def duration(micros: Micros) -> str:
    """A duration as Go prints it: `1m20s`, `1.25s`, `500ms`."""
    if micros < SECOND:
        return f"{micros // 1000}ms"
    minutes, rest = divmod(micros, MINUTE)
    seconds = f"{rest / SECOND:.3f}".rstrip("0").rstrip(".")
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
