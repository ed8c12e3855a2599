"""Why no node took the pod, and the sentence that says so (pkg/scheduler/framework/types.go: Diagnosis, FitError)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.scheduler.framework.status import Code, Status

NO_NODES = "no nodes available to schedule pods"
_NOTE_LIMIT = 1024
_NOT_TRIED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass
class Diagnosis:
    """What became of each node in one cycle. `absent` is the answer for nodes that were not tried."""

    nodes: dict[str, Status] = field(default_factory=dict)
    absent: Status = _NOT_TRIED
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""

    def add_plugin_status(self, status: Status) -> None:
        """Note who is to blame, so that the queue knows what to wait for."""
        if not status.plugin:
            return
        if status.code is Code.PENDING:
            self.pending_plugins.add(status.plugin)
        elif status.is_rejected:
            self.unschedulable_plugins.add(status.plugin)

    def every_node(self, names: Iterable[str]) -> dict[str, Status]:
        """The answer for each of the nodes."""
        return {name: self.nodes.get(name, self.absent) for name in names}


def fit_message(diagnosis: Diagnosis, total: int) -> str:
    """The text of a FailedScheduling event: `0/3 nodes are available: 1 Insufficient cpu, …` (FitError.Error)."""
    message = f"0/{total} nodes are available:"
    if diagnosis.pre_filter_message:
        message += f" {diagnosis.pre_filter_message}."
    else:
        rows = histogram(diagnosis.nodes, diagnosis.absent, total)
        if rows:
            message += f" {', '.join(rows)}."
    if diagnosis.post_filter_message:
        message += f" {diagnosis.post_filter_message}"
    return message


def histogram(nodes: Mapping[str, Status], absent: Status, total: int) -> list[str]:
    """`count reason` rows, sorted as strings."""
    reasons: Counter[str] = Counter()
    for status in nodes.values():
        reasons.update(status.reasons)
    if len(nodes) < total:
        for reason in absent.reasons:
            reasons[reason] += total - len(nodes)
    return sorted(f"{count} {reason}" for reason, count in reasons.items())


def event_note(message: str) -> str:
    """The message as an event holds it: cut to 1,024 bytes (schedule_one.go: truncateMessage)."""
    raw = message.encode()
    if len(raw) <= _NOTE_LIMIT:
        return message
    return raw[: _NOTE_LIMIT - len(" ...")].decode(errors="ignore") + " ..."
