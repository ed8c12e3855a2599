"""Topology spread constraints: which apply to a pod, and what counts for them (plugins/podtopologyspread/common.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import labels, meta
from app.apimachinery.labels import Requirement, Selector
from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework.events import Lister
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"maxSkew": 3, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway"},
    {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
)
_HARD_TAINTS = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Constraint:
    """One constraint in the form that plugins count with."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def includes(self, pod: PodInfo, node: Object) -> bool:
        """Whether the node's pods count at all (matchNodeInclusionPolicies)."""
        if self.honor_affinity and not helpers.node_affinity_matches(pod.pod, node):
            return False
        if not self.honor_taints:
            return True
        taints = (node.get("spec") or {}).get("taints")
        return helpers.find_untolerated_taint(taints, pod.tolerations, _HARD_TAINTS) is None


def own_constraints(pod: PodInfo, action: str) -> list[Constraint]:
    """The pod's own constraints; `action` is DoNotSchedule or ScheduleAnyway."""
    return _filtered(pod.spec.get("topologySpreadConstraints") or (), pod.labels, action)


def default_constraints(
    pod: PodInfo, defaults: Sequence[Mapping[str, Any]], action: str, listed: Lister
) -> list[Constraint]:
    """The profile's constraints for a pod without own ones: they count the pod's siblings (buildDefaultConstraints)."""
    found = _filtered(defaults, pod.labels, action)
    if not found:
        return []
    selector = default_selector(pod, listed)
    if selector.is_empty:
        return []
    return [Constraint(item.max_skew, item.topology_key, selector) for item in found]


def _filtered(listed: Iterable[Mapping[str, Any]], pod_labels: Mapping[str, str], action: str) -> list[Constraint]:
    found = []
    for item in listed:
        if item.get("whenUnsatisfiable") != action:
            continue
        selector = labels.from_label_selector(item.get("labelSelector"))
        keys = [key for key in item.get("matchLabelKeys") or () if key in pod_labels]
        if keys and not selector.nothing:
            same = tuple(Requirement(key, "In", (pod_labels[key],)) for key in keys)
            selector = Selector((*selector.requirements, *same))
        found.append(
            Constraint(
                max_skew=int(item.get("maxSkew") or 1),
                topology_key=str(item.get("topologyKey") or ""),
                selector=selector,
                min_domains=int(item.get("minDomains") or 1),
                honor_affinity=(item.get("nodeAffinityPolicy") or "Honor") == "Honor",
                honor_taints=(item.get("nodeTaintsPolicy") or "Ignore") == "Honor",
            )
        )
    return found


def default_selector(pod: PodInfo, listed: Lister) -> Selector:
    """What the pod's services and its controller select (plugins/helper/spread.go: DefaultSelector)."""
    merged: dict[str, str] = {}
    for service in listed("Service").values():
        selector = (service.get("spec") or {}).get("selector")
        if selector and meta.namespace_of(service) == pod.namespace and labels.from_map(selector).matches(pod.labels):
            merged.update(selector)
    owner = meta.controller_of(pod.pod) or {}
    controller = listed(str(owner.get("kind"))).get(f"{pod.namespace}/{owner.get('name')}")
    wanted = (controller.get("spec") or {}).get("selector") if controller else None
    if wanted and owner["kind"] == "ReplicationController":
        merged.update(wanted)
    found = labels.from_map(merged)
    if wanted and owner["kind"] in {"ReplicaSet", "StatefulSet"}:
        found = Selector((*found.requirements, *labels.from_label_selector(wanted).requirements))
    return found


def has_all_keys(node_labels: Mapping[str, str], constraints: Sequence[Constraint]) -> bool:
    """Whether a node is in a domain of every constraint (nodeLabelsMatchSpreadConstraints)."""
    return all(constraint.topology_key in node_labels for constraint in constraints)


def matching_pods(node: NodeInfo, selector: Selector, namespace: str) -> int:
    """Pods of the namespace that the selector means; an empty selector means none, and ending pods do not count."""
    if selector.is_empty or selector.nothing:
        return 0
    return sum(pod.namespace == namespace and not pod.terminating and selector.matches(pod.labels) for pod in node.pods)
