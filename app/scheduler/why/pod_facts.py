"""Facts about other pods: which term of which pod means which pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.apimachinery.messages import N_, Message
from app.scheduler.framework.affinity_terms import AffinityTerm
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.snapshot import Snapshot
from app.scheduler.why.model import Fact, Situation, shown

_PLUGIN = "InterPodAffinity"
ByDomain = dict[str, list[str]]
"""Value of the topology label → keys of the pods that a term means there."""


@dataclass
class Neighbours:
    """Who is meant by the pod's required terms (one entry a term), and whose required anti-affinity means the pod.

    A pod counts for affinity only where all terms mean it, and for each anti-affinity term by itself.
    """

    affinity: list[ByDomain] = field(default_factory=list)
    anti_affinity: list[ByDomain] = field(default_factory=list)
    existing: list[tuple[PodInfo, AffinityTerm, str]] = field(default_factory=list)
    first_of_group: bool = False


def means(term: AffinityTerm, pod: PodInfo, snapshot: Snapshot) -> bool:
    """Whether a term speaks of a pod; a namespace's labels are looked up only where they matter."""
    if pod.namespace in term.namespaces:
        return term.selector.matches(pod.labels)
    return term.matches(pod.namespace, pod.labels, snapshot.namespace_labels(pod.namespace))


def neighbours(here: Situation) -> Neighbours:
    """Worked out once an explanation (pkg/scheduler/framework/plugins/interpodaffinity/filtering.go: PreFilter)."""
    found: Neighbours | None = here.memo.get(_PLUGIN)
    if found is None:
        found = here.memo[_PLUGIN] = _neighbours(here)
    return found


def _neighbours(here: Situation) -> Neighbours:
    pod, snapshot = here.pod, here.state.snapshot
    near, far = pod.required_affinity, pod.required_anti_affinity
    found = Neighbours([{} for _ in near], [{} for _ in far])
    for node in here.nodes():
        for other in node.pods if near or far else ():
            if near and all(means(term, other, snapshot) for term in near):
                for term, domains in zip(near, found.affinity, strict=True):
                    _note(domains, term, node, other)
            for term, domains in zip(far, found.anti_affinity, strict=True):
                if means(term, other, snapshot):
                    _note(domains, term, node, other)
        for other in node.pods_with_required_anti_affinity:
            for term in other.required_anti_affinity:
                value = node.labels.get(term.topology_key)
                if value is not None and means(term, pod, snapshot):
                    found.existing.append((other, term, value))
    found.first_of_group = not any(found.affinity) and all(means(term, pod, snapshot) for term in near)
    return found


def _note(domains: ByDomain, term: AffinityTerm, node: NodeInfo, other: PodInfo) -> None:
    value = node.labels.get(term.topology_key)
    if value is not None:
        domains.setdefault(value, []).append(other.key)


def inter_pod_affinity(here: Situation) -> list[Fact]:
    """All three reasons, where upstream names the first (plugins/interpodaffinity/filtering.go: Filter)."""
    found = neighbours(here)
    return [*_affinity(here, found), *_anti_affinity(here, found), *_existing(here, found)]


def describe(term: AffinityTerm) -> str:
    """The selector of a term as text."""
    if term.selector.nothing:
        return "-"
    return ",".join(str(requirement) for requirement in term.selector.requirements) or "*"


def _affinity(here: Situation, found: Neighbours) -> Iterator[Fact]:
    for index, term in enumerate(here.pod.required_affinity):
        value = here.node.labels.get(term.topology_key)
        domains = found.affinity[index]
        facts = {"node": here.node.name, "key": term.topology_key, "value": value, "selector": describe(term)}
        data = {"kind": "affinity", "term": index, "topologyKey": term.topology_key, "value": value}
        data["elsewhere"] = sorted(domains)
        if value is None:
            text = N_("Pod affinity for “{selector}” needs the label {key}, and {node} has none.")
            yield Fact(_PLUGIN, here.node.name, Message(text, facts), data)
        elif value not in domains and not found.first_of_group:
            text = N_("Pod affinity wants a pod “{selector}” in {key}={value} of {node}, and none is there.")
            yield Fact(_PLUGIN, here.node.name, Message(text, facts), data)


def _anti_affinity(here: Situation, found: Neighbours) -> Iterator[Fact]:
    for index, term in enumerate(here.pod.required_anti_affinity):
        value = here.node.labels.get(term.topology_key)
        pods: Sequence[str] = found.anti_affinity[index].get(value, ()) if value is not None else ()
        if not pods:
            continue
        text = N_("Pod anti-affinity shuns “{selector}” in {key}={value} of {node}; there already: {pods}.")
        facts = {"node": here.node.name, "key": term.topology_key, "value": value, "selector": describe(term)}
        data = {"kind": "antiAffinity", "term": index, "topologyKey": term.topology_key, "value": value}
        yield Fact(_PLUGIN, here.node.name, Message(text, {**facts, "pods": shown(pods)}), {**data, "pods": list(pods)})


def _existing(here: Situation, found: Neighbours) -> Iterator[Fact]:
    for other, term, value in found.existing:
        if here.node.labels.get(term.topology_key) != value:
            continue
        text = N_("{pod} runs in {key}={value} of {node}, and its anti-affinity shuns “{selector}”, which is this pod.")
        facts = {"pod": other.key, "key": term.topology_key, "value": value, "node": here.node.name}
        data = {
            "kind": "existingAntiAffinity",
            "pod": other.key,
            "term": other.required_anti_affinity.index(term),
            "topologyKey": term.topology_key,
            "value": value,
            "selector": [requirement.key for requirement in term.selector.requirements],
        }
        yield Fact(_PLUGIN, here.node.name, Message(text, {**facts, "selector": describe(term)}), data)
