"""The working of scores that come from requests and what is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery.messages import N_, Message
from app.scheduler.framework import amounts
from app.scheduler.framework.amounts import Amounts
from app.scheduler.framework.helpers import shape_score
from app.scheduler.framework.interface import MAX_NODE_SCORE, Plugin
from app.scheduler.framework.resource_scoring import Usage, read_resources, usages
from app.scheduler.why.model import Situation, Working

_TENFOLD = 10


def fit(here: Situation, plugin: Plugin) -> Working:
    """The strategy's mean over resources (plugins/noderesources: least_allocated.go and those beside it)."""
    strategy: Mapping[str, Any] = plugin.args.get("scoringStrategy") or {}
    kind = str(strategy.get("type") or "LeastAllocated")
    resources = read_resources(strategy.get("resources"), "scoringStrategy.resources")
    wanted = _wanted(here, true_requests=False)
    found = usages(here.node, wanted, resources, true_requests=False)
    if kind == "RequestedToCapacityRatio":
        return _ratio((strategy.get("requestedToCapacityRatio") or {}).get("shape") or (), found)
    scored = [(usage, *_of_one(kind, usage)) for usage in found]
    steps = [f"{usage.name} {text}" for usage, _, text in scored]
    total, text = _mean([(score, usage.weight) for usage, score, _ in scored])
    steps.append(text)
    message = Message(N_("{strategy}: {steps}"), {"strategy": kind, "steps": "; ".join(steps)})
    return Working(message, total, {"strategy": kind, "steps": steps})


def _wanted(here: Situation, *, true_requests: bool) -> Amounts:
    """What scoring counts of the pod; the same for all nodes."""
    key = f"wanted {true_requests}"
    found: Amounts | None = here.memo.get(key)
    if found is None:
        found = here.memo[key] = amounts.scoring_amounts(here.pod.pod, true_requests=true_requests)
    return found


def _of_one(kind: str, usage: Usage) -> tuple[int, str]:
    used, all_of_it = usage.requested, usage.allocatable
    if kind == "MostAllocated":
        capped = min(used, all_of_it)
        score = capped * MAX_NODE_SCORE // all_of_it
        return score, f"{capped} * {MAX_NODE_SCORE} / {all_of_it} = {score}"
    score = max(all_of_it - used, 0) * MAX_NODE_SCORE // all_of_it
    if used > all_of_it:
        return 0, f"{used} > {all_of_it}: 0"
    return score, f"({all_of_it} - {used}) * {MAX_NODE_SCORE} / {all_of_it} = {score}"


def _mean(scores: Sequence[tuple[int, int]]) -> tuple[int, str]:
    """(mean, text) of (score, weight) pairs."""
    weights = sum(weight for _, weight in scores)
    if not weights:
        return 0, "0"
    total = sum(score * weight for score, weight in scores) // weights
    text = " + ".join(str(score) if weight == 1 else f"{score} * {weight}" for score, weight in scores)
    return total, f"({text}) / {weights} = {total}"


def _ratio(points: Sequence[Mapping[str, Any]], found: Sequence[Usage]) -> Working:
    shape = [(int(point.get("utilization") or 0), int(point.get("score") or 0) * _TENFOLD) for point in points]
    steps, counted = [], []
    for usage in found:
        full = usage.requested > usage.allocatable
        used = MAX_NODE_SCORE if full else usage.requested * MAX_NODE_SCORE // usage.allocatable
        score = shape_score(shape, used)
        steps.append(f"{usage.name} {usage.requested} / {usage.allocatable} = {used}% → {score}")
        if score > 0:
            counted.append((score, usage.weight))
    weights = sum(weight for _, weight in counted)
    total = (2 * sum(score * weight for score, weight in counted) + weights) // (2 * weights) if weights else 0
    text = " + ".join(f"{score} * {weight}" for score, weight in counted)
    steps.append(f"({text}) / {weights} = {total}" if weights else "0")
    kind = "RequestedToCapacityRatio"
    message = Message(N_("{strategy}: {steps}"), {"strategy": kind, "steps": "; ".join(steps)})
    return Working(message, total, {"strategy": kind, "steps": steps})


def balanced(here: Situation, plugin: Plugin) -> Working:
    """How alike the shares in use would be (plugins/noderesources/balanced_allocation.go)."""
    resources = read_resources(plugin.args.get("resources"), "resources")
    wanted = _wanted(here, true_requests=True)
    found = usages(here.node, wanted, resources, true_requests=True)
    shares = [min(usage.requested / usage.allocatable, 1.0) for usage in found]
    steps = [
        f"{usage.name} {usage.requested} / {usage.allocatable} = {share:.3f}"
        for usage, share in zip(found, shares, strict=True)
    ]
    deviation, text = _deviation(shares)
    score = int((1 - deviation) * MAX_NODE_SCORE)
    steps.append(f"(1 - {text}) * {MAX_NODE_SCORE} = {score}")
    message = Message(N_("shares in use: {steps}"), {"steps": "; ".join(steps)})
    return Working(message, score, {"shares": [round(share, 6) for share in shares], "steps": steps})


def _deviation(shares: Sequence[float]) -> tuple[float, str]:
    """(deviation, text): half the difference of two, the standard deviation of more."""
    if len(shares) < 2:
        return 0.0, "0"
    if len(shares) == 2:
        return abs((shares[0] - shares[1]) / 2), f"|{shares[0]:.3f} - {shares[1]:.3f}| / 2"
    mean = sum(shares) / len(shares)
    found = math.sqrt(sum((share - mean) * (share - mean) for share in shares) / len(shares))
    return found, f"stddev {found:.3f}"
