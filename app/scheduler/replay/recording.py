"""Attempts and events in the form of the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.scheduler.framework.status import Status
from app.scheduler.recorder import Attempt
from app.scheduler.schedule_one import ScheduleResult

_SILENT = "DynamicResources"
"""Scores nothing, and vectors leave it out."""


@dataclass
class StepRecord:
    """What happened in one step."""

    attempts: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def add_event(self, regarding: str, related: str | None, event: Mapping[str, str], reporter: str) -> None:
        """An event about a pod; `related` is the other pod."""
        found: dict[str, Any] = {"regarding": regarding}
        if related is not None:
            found["related"] = related
        self.events.append({**found, **event, "reportingController": reporter})

    def to_json(self) -> dict[str, Any]:
        """The step as `expected.steps` has it: events by pod, in order for each."""
        return {"attempts": self.attempts, "events": sorted(self.events, key=lambda event: str(event["regarding"]))}


def recorded_attempt(result: ScheduleResult) -> dict[str, Any]:
    """One scheduling cycle as a vector's attempt."""
    record = result.record
    found: dict[str, Any] = {"pod": result.pod.key}
    if record.framework.profile_name != "default-scheduler":
        found["profile"] = record.framework.profile_name
    found["result"] = "scheduled" if result.node else "unschedulable"
    if result.node:
        found["node"] = result.node
    if result.pod.nominated_node:
        found["nominatedNodeNameBefore"] = result.pod.nominated_node
    if record.pre_filter_status is not None:
        found["preFilter"] = _status(record.pre_filter_status)
    elif record.pre_filter_nodes is not None:
        found["preFilterNodes"] = sorted(record.pre_filter_nodes)
    if record.diagnosis.nodes:
        found["rejected"] = {node: _status(status) for node, status in record.diagnosis.nodes.items()}
    if record.feasible:
        found["feasible"] = sorted(record.feasible)
    found.update(_scores(record))
    if record.best:
        found["best"] = record.best
    if record.post_filter is not None:
        found["postFilter"] = _post_filter(record)
    if not result.node:
        found["reason"], found["message"] = result.reason, result.message
    return found


def _status(status: Status) -> dict[str, Any]:
    return {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}


def _scores(record: Attempt) -> dict[str, Any]:
    scores = [score for score in record.scores if score.plugin != _SILENT]
    if not scores:
        return {}
    by_node = {node: {score.plugin: score.weighted[node] for score in scores} for node in record.feasible}
    return {"scores": by_node, "totals": record.totals}


def _post_filter(record: Attempt) -> dict[str, Any]:
    assert record.post_filter is not None
    result, status = record.post_filter
    found: dict[str, Any] = {"code": "Success" if status is None else status.code.value}
    if status is not None:
        found["message"] = status.message
    if result is None or not result.nominated_node:
        return found
    found["nominatedNode"] = result.nominated_node
    preemption = result.preemption
    if preemption is not None:
        found["candidates"] = {
            candidate.node: {
                "victims": [victim.key for victim in candidate.victims],
                "pdbViolations": candidate.pdb_violations,
            }
            for candidate in preemption.candidates
        }
        found["best"] = list(preemption.best)
        found["victims"] = [victim.key for victim in preemption.chosen.victims]
    return found
