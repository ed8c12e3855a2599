"""Why a node was turned down: facts for every plugin that rejects it, not only for the one that is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.apimachinery.messages import N_, Message
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.status import Status
from app.scheduler.recorder import Attempt
from app.scheduler.why import node_facts, pod_facts, resource_facts, spread_facts, volume_facts
from app.scheduler.why.model import Fact, Situation

FACTS: Mapping[str, Callable[[Situation], list[Fact]]] = {
    "NodeUnschedulable": node_facts.unschedulable,
    "NodeName": node_facts.node_name,
    "TaintToleration": node_facts.taints,
    "NodeAffinity": node_facts.node_affinity,
    "NodePorts": node_facts.ports,
    "NodeResourcesFit": resource_facts.resources,
    "VolumeRestrictions": volume_facts.exclusive,
    "VolumeBinding": volume_facts.binding,
    "VolumeZone": volume_facts.zone,
    "PodTopologySpread": spread_facts.topology_spread,
    "InterPodAffinity": pod_facts.inter_pod_affinity,
}
"""What is known of a plugin's rejections; others are told in the plugin's own words."""


def explain(attempt: Attempt) -> dict[str, list[Fact]]:
    """Facts by node, in the order of the filters. A node without facts passes them all, and the other way round."""
    if attempt.pre_filter_status is not None:
        return {name: _in_own_words(name, attempt.pre_filter_status) for name in attempt.state.snapshot.nodes}
    memo: dict[str, object] = {}
    return {name: of_node(attempt, node, memo) for name, node in attempt.state.snapshot.nodes.items()}


def of_node(attempt: Attempt, node: NodeInfo, memo: dict[str, object] | None = None) -> list[Fact]:
    """The facts about one node. `memo` is shared by the nodes of one attempt."""
    return [fact for here, name, status in rejections(attempt, node, memo) for fact in of_plugin(here, name, status)]


def of_plugin(here: Situation, plugin: str, status: Status) -> list[Fact]:
    """The facts behind one plugin's rejection; at least one."""
    known = FACTS.get(plugin)
    return (known(here) if known else []) or _in_own_words(here.node.name, status.named(plugin))


def rejections(
    attempt: Attempt, node: NodeInfo, memo: dict[str, object] | None = None
) -> list[tuple[Situation, str, Status]]:
    """(situation, plugin, status) of each filter that turns the node down, alone or with its nominated pods."""
    framework, state, pod = attempt.framework, attempt.state, attempt.pod
    alone = framework.run_every_filter(state, pod, node)
    here = Situation(framework, state, pod, node, {} if memo is None else memo)
    found = {name: (here, status) for name, status in alone.items() if status is not None}
    nominated = framework.nominated_to_count(state, pod, node)
    if nominated:
        given = framework.with_nominated_pods(state, pod, node, nominated)
        crowded = Situation(framework, given[0], pod, given[2])
        for name, status in framework.run_every_filter(*given).items():
            if status is not None:
                found.setdefault(name, (crowded, status))
    order = [plugin.NAME for plugin in framework.at("filter")]
    return [(found[name][0], name, found[name][1]) for name in order if name in found]


def _in_own_words(node: str, status: Status) -> list[Fact]:
    reasons = list(status.reasons) or [status.code.value]
    message = Message(N_("{plugin} says: {reasons}"), {"plugin": status.plugin, "reasons": "; ".join(reasons)})
    return [Fact(status.plugin, node, message, {"kind": "reasons", "code": status.code.value, "reasons": reasons})]
