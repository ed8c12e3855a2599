"""The arithmetic behind the scores: what each plugin counted, how it was scaled, and what its weight makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery.messages import N_, Message
from app.scheduler.framework.interface import MAX_NODE_SCORE, NormalizeScorePlugin, Plugin
from app.scheduler.framework.runtime import PluginScore
from app.scheduler.recorder import Attempt
from app.scheduler.why import pod_scores, resource_scores, rule_scores
from app.scheduler.why.model import Fact, Situation, Working

WORKINGS: Mapping[str, Callable[[Situation, Plugin], Working]] = {
    "TaintToleration": rule_scores.soft_taints,
    "NodeAffinity": rule_scores.preferred_nodes,
    "ImageLocality": rule_scores.images,
    "NodeResourcesFit": resource_scores.fit,
    "NodeResourcesBalancedAllocation": resource_scores.balanced,
    "PodTopologySpread": pod_scores.spread_out,
    "InterPodAffinity": pod_scores.neighbours,
}
"""How a plugin comes to its raw score; others only tell the number."""


def explain(attempt: Attempt) -> dict[str, list[Fact]]:
    """One fact a plugin for each node that was scored; `data` holds raw, normalized, weight, weighted and steps.

    Empty where nothing was scored: with one feasible node there is nothing to choose.
    """
    plugins: Mapping[str, Plugin] = {plugin.NAME: plugin for plugin in attempt.framework.at("score")}
    feasible = [attempt.state.snapshot.nodes[name] for name in attempt.feasible]
    ranges = {
        score.plugin: (min(score.raw.values()), max(score.raw.values()))
        for score in attempt.scores
        if isinstance(plugins[score.plugin], NormalizeScorePlugin)
    }
    memo: dict[str, Any] = {"feasible": feasible}
    found: dict[str, list[Fact]] = {}
    for node in feasible if attempt.scores else ():
        here = Situation(attempt.framework, attempt.state, attempt.pod, node, memo)
        found[node.name] = [
            _fact(here, plugins[score.plugin], score, ranges.get(score.plugin)) for score in attempt.scores
        ]
    return found


def _fact(here: Situation, plugin: Plugin, score: PluginScore, bounds: tuple[int, int] | None) -> Fact:
    """`bounds` are the least and the largest raw score, where the plugin scales."""
    name = here.node.name
    known = WORKINGS.get(score.plugin)
    raw = score.raw[name]
    working = known(here, plugin) if known else Working(Message(N_("it gives {raw}"), {"raw": raw}), raw)
    scaling = None if bounds is None else _scaling(score, name, *bounds)
    facts = {
        "plugin": score.plugin,
        "working": working.message,
        "weight": score.weight,
        "normalized": score.normalized[name],
        "weighted": score.weighted[name],
        "scaling": scaling,
    }
    message = (
        Message(N_("{plugin}: {working}. Times weight {weight}: {weighted}."), facts)
        if scaling is None
        else Message(N_("{plugin}: {working}. Scaled: {scaling}. Times weight {weight}: {weighted}."), facts)
    )
    data = {
        "kind": "score",
        "raw": raw,
        "computed": working.score,
        "scaling": scaling,
        "normalized": score.normalized[name],
        "weight": score.weight,
        "weighted": score.weighted[name],
        **working.data,
    }
    return Fact(score.plugin, name, message, data)


def _scaling(score: PluginScore, node: str, least: int, most: int) -> str:
    """How the raw score became 0…100; every plugin has its own way."""
    raw, normalized = score.raw[node], score.normalized[node]
    if score.plugin == "InterPodAffinity" and most > least:
        return f"{MAX_NODE_SCORE} * ({raw} - {least}) / ({most} - {least}) = {normalized}"
    if score.plugin == "TaintToleration" and most:
        return f"{MAX_NODE_SCORE} - {MAX_NODE_SCORE} * {raw} / {most} = {normalized}"
    if score.plugin == "NodeAffinity" and most:
        return f"{MAX_NODE_SCORE} * {raw} / {most} = {normalized}"
    return f"{raw} → {normalized}"
