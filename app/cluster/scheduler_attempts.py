"""The attempts that schedulers made to place pods, as they are kept: small, and told again in full.

A cycle's record (`app.scheduler.recorder`) says much twice: nodes that answer alike, plugins that pass, sums. What is
kept names each thing once, and attempts that came out alike share one record with their instants. A pod keeps its
last attempts; a cluster keeps them for so many pods, and lets go first of those that were placed longest ago.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from app.apimachinery.clock import Instant

KEPT = 5
"""Attempts that are kept of each pod."""
KEPT_PODS = 100
"""Pods whose attempts are kept."""
_KEPT_ANSWERS = 3000
"""Pods times nodes: where there are many nodes, attempts of fewer pods are kept."""
_FEWEST_PODS = 5

Attempt = Mapping[str, Any]
Kept = dict[str, Any]
Table = dict[str, list[Kept]]
"""By pod, `namespace/name`; the oldest record first."""


def keep(table: Table, key: str, now: Instant, uid: str, attempt: Attempt) -> None:
    """Remember the attempt, and forget what is too much."""
    record = {"uid": uid, **packed(attempt)}
    records = table.setdefault(key, [])
    last = records[-1] if records else {}
    if {name: value for name, value in last.items() if name != "times"} == record:
        last["times"] = [*last["times"], now]
    else:
        records.append({**record, "times": [now]})
    while sum(len(_times(kept)) for kept in records) > KEPT:
        first = _times(records[0])
        if len(first) > 1:
            records[0] = {**records[0], "times": first[1:]}
        else:
            del records[0]
    _forget_oldest(table, len(attempt["nodes"]))


def told(table: Mapping[str, Sequence[Kept]], key: str) -> list[dict[str, Any]]:
    """The kept attempts of a pod in full, oldest first, each with its `time` and the pod's `uid`."""
    found = []
    for kept in table.get(key, ()):
        attempt = unpacked(kept, key)
        found += [{"time": time, "uid": kept["uid"], **attempt} for time in _times(kept)]
    return found


def _times(kept: Kept) -> list[Instant]:
    return kept["times"] if "times" in kept else [kept["time"]]


def _forget_oldest(table: Table, nodes: int) -> None:
    most = min(KEPT_PODS, max(_FEWEST_PODS, _KEPT_ANSWERS // max(nodes, 1)))
    if len(table) <= most:
        return
    order = sorted(table, key=lambda key: (not table[key][-1].get("node"), _times(table[key][-1])[-1], key))
    for key in order[: len(table) - most]:
        del table[key]


_ABSENT: Mapping[str, Any] = {
    "node": None,
    "nominatedNodeNameBefore": None,
    "preFilter": None,
    "postFilter": None,
    "reason": None,
    "message": None,
}


def packed(attempt: Attempt) -> Kept:
    """The record without what can be worked out of the rest of it."""
    kept: Kept = {name: attempt[name] for name, absent in _ABSENT.items() if attempt[name] != absent}
    kept |= {"profile": attempt["profile"], "nodes": _by_answer(attempt["nodes"])}
    if attempt["best"]:
        kept["best"] = attempt["best"]
    if attempt["scores"]:
        kept["scores"] = [
            [score["plugin"], score["weight"], _column(score["raw"]), _column(score["normalized"])]
            for score in attempt["scores"]
        ]
    return kept


def unpacked(kept: Kept, key: str) -> dict[str, Any]:
    """The inverse of `packed`; a record that an earlier version kept whole stays as it is."""
    if isinstance(kept["nodes"], dict):
        return {name: value for name, value in kept.items() if name not in {"time", "uid"}}
    nodes = {name: _answer(*answer) for *answer, names in kept["nodes"] for name in names}
    feasible = sorted(name for name, answer in nodes.items() if answer["status"] == "feasible")
    scores = [_score(feasible, *score) for score in kept.get("scores", ())]
    best = kept.get("best", [])
    return {
        **_ABSENT,
        **{name: kept[name] for name in _ABSENT if name in kept},
        "pod": key,
        "profile": kept["profile"],
        "result": "scheduled" if kept.get("node") else "unschedulable",
        "nodes": dict(sorted(nodes.items())),
        "feasible": feasible,
        "scores": scores,
        "totals": {name: sum(score["weighted"][name] for score in scores) for name in feasible} if scores else {},
        "best": best,
        "tieBreak": len(best) > 1,
    }


def _by_answer(nodes: Mapping[str, Attempt]) -> list[list[Any]]:
    """[status, reporting plugin, plugins that pass, answers of the others, nodes], one for nodes that answer alike."""
    groups: dict[bytes, list[Any]] = {}
    for name in sorted(nodes):
        node = nodes[name]
        filters = node["filters"]
        passing = [plugin for plugin, answer in filters.items() if answer is None]
        others = {plugin: answer for plugin, answer in filters.items() if answer is not None}
        shown = [node["status"], node["reported"], passing, others]
        groups.setdefault(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS), [*shown, []])[-1].append(name)
    return list(groups.values())


def _answer(status: str, reported: str | None, passing: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    return {"filters": {**dict.fromkeys(passing), **others}, "reported": reported, "status": status}


def _column(scores: Mapping[str, int]) -> list[int]:
    return [scores[name] for name in sorted(scores)]


def _score(
    names: Sequence[str], plugin: str, weight: int, raw: Sequence[int], normalized: Sequence[int]
) -> dict[str, Any]:
    weighted = [score * weight for score in normalized]
    columns = {"raw": raw, "normalized": normalized, "weighted": weighted}
    return {
        "plugin": plugin,
        "weight": weight,
        **{column: dict(zip(names, values, strict=True)) for column, values in columns.items()},
    }
