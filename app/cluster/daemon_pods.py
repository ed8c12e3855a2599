"""Which nodes a DaemonSet's pods belong on, and what they are (pkg/controller/daemon: daemon_controller.go, util).

Questions only: nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import helpers
from app.cluster import controller_history as history
from app.cluster import controller_utils as utils
from app.cluster.apiserver.strategies.apps import TEMPLATE_GENERATION

GENERATION_LABEL = "pod-template-generation"

_ALWAYS_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def tolerations(spec: Object) -> list[dict[str, Any]]:
    """The template's tolerations and those of every daemon pod (daemonset_util.go: AddOrUpdateDaemonPodTolerations)."""
    added = [*_ALWAYS_TOLERATED, *([_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    result = [dict(toleration) for toleration in spec.get("tolerations") or []]
    for key, effect in added:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        if wanted not in result:
            result.append(wanted)
    return result


def target(pod: Object) -> str:
    """The node that a daemon pod is on or aimed at (daemonset_util.go: GetTargetNodeName)."""
    if node := pod["spec"].get("nodeName"):
        return str(node)
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for field in term.get("matchFields") or []:
            if field.get("key") == "metadata.name" and len(field.get("values") or []) == 1:
                return str(field["values"][0])
    return ""


def new_pod(daemonset: Object, node: str, code: str) -> Object:
    """The pod for a node (daemonset_util.go: CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    pod = utils.pod_from_template(daemonset, daemonset["spec"]["template"])
    labels = {**(pod["metadata"].get("labels") or {}), history.HASH_LABEL: code}
    if generation := _template_generation(daemonset):
        labels[GENERATION_LABEL] = generation
    spec = {**pod["spec"], "tolerations": tolerations(pod["spec"])}
    affinity = spec.get("affinity") or {}
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    node_affinity = affinity.get("nodeAffinity") or {}
    required = {"nodeSelectorTerms": _aimed(node_affinity, by_name)}
    node_affinity = {**node_affinity, "requiredDuringSchedulingIgnoredDuringExecution": required}
    spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}, "spec": spec}


def _aimed(node_affinity: Object, by_name: Object) -> list[Object]:
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or []
    return [{**term, **by_name} for term in terms] if terms else [by_name]


def _template_generation(daemonset: Object) -> str:
    """Empty where the DaemonSet does not say (daemonset_util.go: GetTemplateGeneration)."""
    return meta.annotations_of(daemonset).get(TEMPLATE_GENERATION, "")


def is_updated(daemonset: Object, pod: Object, code: str) -> bool:
    """Whether the pod is of the present template (daemonset_util.go: IsPodUpdated)."""
    labels = meta.labels_of(pod)
    if labels.get(history.HASH_LABEL) == code:
        return True
    generation = _template_generation(daemonset)
    return bool(generation) and labels.get(GENERATION_LABEL) == generation


def should_run(daemonset: Object, node: Object) -> tuple[bool, bool]:
    """Whether a pod should be made for the node, and whether one that is there may stay (NodeShouldRunDaemonPod)."""
    template = daemonset["spec"]["template"]
    spec = template.get("spec") or {}
    pod = {"metadata": template.get("metadata") or {}, "spec": {**spec, "tolerations": tolerations(spec)}}
    if spec.get("nodeName") and spec["nodeName"] != meta.name_of(node):
        return False, False
    if not helpers.node_affinity_matches(pod, node):
        return False, False
    taints = (node.get("spec") or {}).get("taints") or []
    tolerated = pod["spec"]["tolerations"]
    if helpers.find_untolerated_taint(taints, tolerated, ("NoExecute",)) is not None:
        return False, False
    return helpers.find_untolerated_taint(taints, tolerated, ("NoSchedule",)) is None, True


def in_order(pods: Iterable[Object]) -> list[Object]:
    """Assigned pods first, then by age, then by name (podByCreationTimestampAndPhase)."""
    return sorted(pods, key=lambda pod: (not pod["spec"].get("nodeName"), utils.created(pod), meta.name_of(pod)))


def surge(daemonset: Object, nodes: int) -> int:
    """How many nodes may have two pods during an update (daemonset_util.go: SurgeCount)."""
    return utils.int_or_percent(_rolling(daemonset).get("maxSurge"), nodes, round_up=True)


def allows_surge(daemonset: Object) -> bool:
    """Whether any may (daemonset_util.go: AllowsSurge)."""
    return surge(daemonset, 1) > 0


def unavailable(daemonset: Object, nodes: int) -> int:
    """How many nodes may be without a pod during an update (daemonset_util.go: UnavailableCount)."""
    return utils.int_or_percent(_rolling(daemonset).get("maxUnavailable", 1), nodes, round_up=True)


def _rolling(daemonset: Object) -> Object:
    strategy = daemonset["spec"].get("updateStrategy") or {}
    if strategy.get("type") != "RollingUpdate":
        return {"maxUnavailable": 0}
    return dict(strategy.get("rollingUpdate") or {})
