"""What a plugin answers (staging/src/k8s.io/kube-scheduler/framework/interface.go: Code, Status)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Code(Enum):
    """Upstream's status codes; the value is how it prints them."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"


_REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


@dataclass(frozen=True, slots=True)
class Status:
    """A code, its reasons, and the plugin that gave it. Plain success is None, as it is nil upstream."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        """The reasons in one line."""
        return ", ".join(self.reasons)

    @property
    def is_rejected(self) -> bool:
        """Whether the pod was turned down, rather than something having gone wrong."""
        return self.code in _REJECTED

    def named(self, plugin: str) -> Status:
        """The same answer, signed by a plugin."""
        return self if self.plugin == plugin else replace(self, plugin=plugin)


SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Not now: removing pods from the node may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Not now, and removing pods will not help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """Something that should not happen."""
    return Status(Code.ERROR, reasons)


def succeeded(status: Status | None) -> bool:
    """Whether the answer is success."""
    return status is None or status.code is Code.SUCCESS


def code_of(status: Status | None) -> Code:
    """The code, where None is success."""
    return Code.SUCCESS if status is None else status.code
