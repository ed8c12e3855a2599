"""Accounts of decisions: what the table prints, and what `-o json` and `-o yaml` write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.cli.simulation.running import Simulation
from app.scheduler.schedule_one import ScheduleResult
from app.scheduler.why import counterfactuals, facts, silent
from app.scheduler.why.model import Change

Account = dict[str, Any]

_TAKEN = ("nominatedNodeNameBefore", "feasible", "scores", "totals", "best", "tieBreak", "postFilter")
_ALL_ASKED = 5
_NEAREST = 3


def brief(result: ScheduleResult) -> Account:
    """What came of a cycle, without the reasons."""
    record = result.record
    found: Account = {"pod": result.pod.key, "profile": record.framework.profile_name}
    found["result"] = "scheduled" if result.node else "unschedulable"
    found["node"] = result.node or None
    if not result.node:
        found["reason"], found["message"] = result.reason, result.message
    if result.nominated_node:
        found["nominatedNode"] = result.nominated_node
    return found


def full(result: ScheduleResult) -> Account:
    """What came of a cycle and why.

    Besides the recorder's JSON (`recorder.Attempt.to_json`): `filterPlugins` in their order; for each node only the
    `filters` that reject it, and `facts`, a sentence for each reason; `changes` with what would bring the pod to a
    node (`counterfactuals`), for the nodes where that was asked.
    """
    attempt = result.attempt
    why = facts.explain(result.record)
    nodes = {}
    for name, node in attempt["nodes"].items():
        failing = {plugin: status for plugin, status in node["filters"].items() if status is not None}
        told = [{"plugin": fact.plugin, "message": str(fact.message)} for fact in why.get(name, ())]
        nodes[name] = {**node, "filters": failing, "facts": told}
    plugins = [plugin.NAME for plugin in result.record.framework.at("filter")]
    found = {**brief(result), "preFilter": attempt["preFilter"], "filterPlugins": plugins, "nodes": nodes}
    found.update({key: attempt[key] for key in _TAKEN})
    found["changes"] = _changes(result, found)
    return found


def _changes(result: ScheduleResult, account: Account) -> dict[str, Any]:
    """Node → its changes. Asked of every node of a small cluster, else of those that are nearest."""
    record = result.record
    if result.reason == "SchedulerError":
        return {}
    ask = counterfactuals.to_win if result.node else counterfactuals.to_fit
    asked = _asked(account)
    pod, snapshot = result.pod.pod, record.state.snapshot
    return {name: [_told(change) for change in ask(record.framework, snapshot, pod, name)] for name in asked}


def _asked(account: Account) -> list[str]:
    """Best totals first, then those with the fewest rejecting plugins; without the node that was chosen."""
    nodes: Mapping[str, Any] = account["nodes"]
    totals: Mapping[str, int] = account["totals"]
    others = [name for name in nodes if name != account["node"]]
    if len(nodes) <= _ALL_ASKED:
        return others
    return sorted(others, key=lambda name: (-totals.get(name, -1), len(nodes[name]["facts"]), name))[:_NEAREST]


def _told(change: Change) -> dict[str, Any]:
    told = change.to_json()
    told["edits"] = [{"target": edit["target"], "message": edit["message"]} for edit in told["edits"]]
    return told


def fates(simulation: Simulation, wanted: Iterable[str], last: Mapping[str, Account]) -> list[Account]:
    """What became of each pod in the end; `last` are the accounts of their last attempts.

    `result` is scheduled, unschedulable, evicted, or notTried with `reasons`.
    """
    found = []
    for key in wanted:
        pod = simulation.pod(key)
        fate: Account = {"pod": key}
        if pod is None:
            fate.update(result="evicted", preemptor=simulation.victims[key])
        elif pod.node_name:
            fate.update(result="scheduled", node=pod.node_name)
        elif key in last:
            fate.update({name: last[key][name] for name in ("result", "reason", "message")})
            if pod.nominated_node:
                fate["nominatedNode"] = pod.nominated_node
        else:
            reasons = silent.reasons(pod.pod, simulation.profiles.keys())
            fate.update(result="notTried", reasons=[str(fact.message) for fact in reasons])
        found.append(fate)
    return found
