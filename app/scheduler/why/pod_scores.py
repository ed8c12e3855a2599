"""The working of scores that come from other pods: soft spread constraints and preferred terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery.messages import N_, Message
from app.scheduler.framework import spread
from app.scheduler.framework.affinity_terms import AffinityTerm
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.spread import Constraint
from app.scheduler.why.model import Situation, Working, shown
from app.scheduler.why.pod_facts import means

_SOFT = "ScheduleAnyway"


@dataclass(frozen=True)
class _Spread:
    """Soft constraints, the nodes they say nothing of, matching pods by domain, and what a pod counts."""

    constraints: Sequence[Constraint]
    ignored: frozenset[str]
    counts: Sequence[dict[str, int]]
    weights: Sequence[float]


def spread_out(here: Situation, plugin: Plugin) -> Working:
    """Matching pods in the node's domains (plugins/podtopologyspread/scoring.go: Score); the fewer the better."""
    found: _Spread | None = here.memo.get("spread")
    if found is None:
        found = here.memo["spread"] = _spread(here, plugin)
    if here.node.name in found.ignored:
        return Working(Message(N_("the node is in no domain of a soft spread constraint")), 0)
    total, steps = 0.0, []
    for index, constraint in enumerate(found.constraints):
        domain = here.node.labels.get(constraint.topology_key)
        if domain is None:
            continue
        if constraint.topology_key == spread.HOSTNAME:
            count = spread.matching_pods(here.node, constraint.selector, here.pod.namespace)
        else:
            count = found.counts[index][domain]
        weight = found.weights[index]
        total += count * weight + (constraint.max_skew - 1)
        steps.append(f"{constraint.topology_key}={domain} {count} * {weight:.3f} + {constraint.max_skew - 1}")
    score = math.floor(total + 0.5)
    message = Message(
        N_("matching pods in the node's domains, weighed: {steps}; together {score}"),
        {"steps": "; ".join(steps), "score": score},
    )
    return Working(message, score, {"steps": steps})


def _soft_constraints(here: Situation, plugin: Plugin) -> tuple[bool, Sequence[Constraint]]:
    """(whether a node must be in all domains to count, the constraints)."""
    if here.pod.spec.get("topologySpreadConstraints"):
        return True, spread.own_constraints(here.pod, _SOFT)
    system = (plugin.args.get("defaultingType") or "System") == "System"
    defaults = spread.SYSTEM_DEFAULTS if system else plugin.args.get("defaultConstraints") or ()
    return not system, spread.default_constraints(here.pod, defaults, _SOFT, here.state.snapshot.list)


def _spread(here: Situation, plugin: Plugin) -> _Spread:
    strict, constraints = _soft_constraints(here, plugin)
    nodes: Sequence[NodeInfo] = here.memo["feasible"]

    def inside(node: NodeInfo) -> bool:
        return not strict or spread.has_all_keys(node.labels, constraints)

    ignored = frozenset(node.name for node in nodes if not inside(node))
    counts: list[dict[str, int]] = []
    for constraint in constraints:
        key = constraint.topology_key
        by_domain: dict[str, int] = {}
        if key != spread.HOSTNAME:
            by_domain = {node.labels.get(key, ""): 0 for node in nodes if node.name not in ignored}
        for node in here.state.snapshot.nodes.values() if by_domain else ():
            domain = node.labels.get(key, "")
            if inside(node) and domain in by_domain and constraint.includes(here.pod, node.node):
                by_domain[domain] += spread.matching_pods(node, constraint.selector, here.pod.namespace)
        counts.append(by_domain)
    weights = [
        math.log((len(nodes) - len(ignored) if constraint.topology_key == spread.HOSTNAME else len(by_domain)) + 2)
        for constraint, by_domain in zip(constraints, counts, strict=True)
    ]
    return _Spread(constraints, ignored, counts, weights)


def neighbours(here: Situation, plugin: Plugin) -> Working:
    """Weights of terms that match in the node's domains (plugins/interpodaffinity/scoring.go: Score)."""
    found: dict[tuple[str, str], list[tuple[str, int]]] | None = here.memo.get("neighbours")
    if found is None:
        found = here.memo["neighbours"] = {}
        for pair, who, weight in _weights(here, plugin):
            found.setdefault(pair, []).append((who, weight))
    listed = [(pair, who, weight) for pair in here.node.labels.items() for who, weight in found.get(pair, ())]
    total = sum(weight for _, _, weight in listed)
    terms = [{"topologyKey": key, "value": value, "pod": who, "weight": each} for (key, value), who, each in listed]
    data: dict[str, Any] = {"terms": terms}
    if not listed:
        return Working(Message(N_("no preferred term matches in the node's domains")), 0, data)
    steps = shown([f"{who} {weight:+d} ({key}={value})" for (key, value), who, weight in listed])
    message = Message(
        N_("weights of the terms that match in the node's domains: {steps}; together {score}"),
        {"steps": steps, "score": total},
    )
    return Working(message, total, data)


def _weights(here: Situation, plugin: Plugin) -> Iterator[tuple[tuple[str, str], str, int]]:
    """((topology key, value), pod, weight) of every term that matches somewhere."""
    speaks = bool(here.pod.preferred_affinity or here.pod.preferred_anti_affinity)
    hard = int(plugin.args.get("hardPodAffinityWeight", 1))
    for node in here.state.snapshot.nodes.values():
        for other in node.pods if speaks else node.pods_with_affinity:
            for term, weight in _of_pod(here, other, hard):
                value = node.labels.get(term.topology_key)
                if value is not None:
                    yield (term.topology_key, value), other.key, weight


def _of_pod(here: Situation, other: PodInfo, hard: int) -> Iterator[tuple[AffinityTerm, int]]:
    pod, snapshot = here.pod, here.state.snapshot
    mine = ((pod.preferred_affinity, 1), (pod.preferred_anti_affinity, -1))
    yield from ((term, sign * term.weight) for terms, sign in mine for term in terms if means(term, other, snapshot))
    if other.has_affinity:
        yield from ((term, hard) for term in other.required_affinity if hard > 0 and means(term, pod, snapshot))
        its = ((other.preferred_affinity, 1), (other.preferred_anti_affinity, -1))
        yield from ((term, sign * term.weight) for terms, sign in its for term in terms if means(term, pod, snapshot))
