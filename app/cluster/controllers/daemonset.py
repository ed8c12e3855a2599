"""One pod on every eligible node for each DaemonSet (pkg/controller/daemon/daemon_controller.go).

Pods are aimed at their node by node affinity on `metadata.name`; the default scheduler places them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.apis import helpers
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

NAME = "daemonset-controller"
WATCHES = frozenset({"daemonsets", "pods", "nodes"})
HASH_LABEL = "controller-revision-hash"
MAX_PAUSE: Micros = 900 * SECOND

_ALWAYS_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def sync(context: Context) -> None:
    """Bring every DaemonSet closer to one pod a node (syncDaemonSet)."""
    daemonsets = context.client.list("daemonsets")
    if not daemonsets:
        return
    nodes = context.client.list("nodes")
    for daemonset in daemonsets:
        pods = context.client.list("pods", meta.namespace_of(daemonset))
        owned = utils.claim(context, daemonset, "pods", pods)
        by_node: dict[str, list[Object]] = {}
        for pod in owned:
            by_node.setdefault(_target(pod), []).append(pod)
        if not utils.is_terminating(daemonset):
            _place(context, daemonset, nodes, by_node)
            _replace_outdated(context, daemonset, nodes, by_node)
        _update_status(context, daemonset, nodes, by_node)


def tolerations(spec: Object) -> list[dict[str, Any]]:
    """The template's tolerations and those of every daemon pod (daemonset_util.go: AddOrUpdateDaemonPodTolerations)."""
    added = [*_ALWAYS_TOLERATED, *([_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    result = [dict(toleration) for toleration in spec.get("tolerations") or []]
    for key, effect in added:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        if wanted not in result:
            result.append(wanted)
    return result


def _target(pod: Object) -> str:
    """The node that a daemon pod is on or aimed at (util/daemonset_util.go: GetTargetNodeName)."""
    if node := pod["spec"].get("nodeName"):
        return str(node)
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for field in term.get("matchFields") or []:
            if field.get("key") == "metadata.name" and len(field.get("values") or []) == 1:
                return str(field["values"][0])
    return ""


def pod_for(daemonset: Object, node: str) -> Object:
    """The pod to create for a node (daemonset_util.go: CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    template = daemonset["spec"]["template"]
    pod = utils.pod_from_template(daemonset, template)
    labels = {**(pod["metadata"].get("labels") or {}), HASH_LABEL: utils.template_hash(template)}
    labels["pod-template-generation"] = str(daemonset["metadata"].get("generation", 1))
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


def _place(context: Context, daemonset: Object, nodes: list[Object], by_node: dict[str, list[Object]]) -> None:
    """Create and delete pods, node by node (podsShouldBeOnNode, syncNodes)."""
    names = {meta.name_of(node) for node in nodes}
    for node in nodes:
        name = meta.name_of(node)
        run, stay = should_run(daemonset, node)
        pods = [pod for pod in by_node.get(name, []) if not utils.is_terminating(pod)]
        failed = [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Failed"]
        living = [pod for pod in pods if pod not in failed]
        for pod in failed:
            _end_failed(context, daemonset, name, pod)
        if not stay:
            _delete_all(context, daemonset, living)
        elif len(living) > 1:
            oldest = min(living, key=lambda pod: (not utils.is_ready(pod), utils.created(pod), meta.name_of(pod)))
            _delete_all(context, daemonset, (pod for pod in living if pod is not oldest))
        elif run and not by_node.get(name):
            _create(context, daemonset, name)
    for name, pods in by_node.items():
        if name and name not in names:
            _delete_all(context, daemonset, (pod for pod in pods if not utils.is_terminating(pod)))


def _create(context: Context, daemonset: Object, node: str) -> None:
    key = f"{daemonset['metadata']['uid']}/{node}"
    until = (context.state.get(key) or {}).get("until", 0)
    if until > context.now:
        context.wake(f"retry:{key}", until)
        return
    made = utils.create_pod(context, daemonset, pod_for(daemonset, node), NAME)
    if isinstance(made, StatusError):
        _pause(context, key)
        context.wake(f"retry:{key}", context.state[key]["until"])


def _end_failed(context: Context, daemonset: Object, node: str, pod: Object) -> None:
    message = f"Found failed daemon pod {meta.key_of(pod)} on node {node}, will try to kill it"
    context.recorder.record(daemonset, events.WARNING, "FailedDaemonPod", message, component=NAME)
    _pause(context, f"{daemonset['metadata']['uid']}/{node}")
    utils.delete_pod(context, daemonset, pod, NAME)


def _pause(context: Context, key: str) -> None:
    """Wait longer after each failure on a node (failedPodsBackoff: 1 s to 15 min)."""
    old = context.state.get(key) or {"pause": SECOND // 2, "until": 0}
    if context.now > old["until"] + 2 * MAX_PAUSE:
        old = {"pause": SECOND // 2, "until": 0}
    pause = min(old["pause"] * 2, MAX_PAUSE)
    context.state[key] = {"pause": pause, "until": context.now + pause}


def _delete_all(context: Context, daemonset: Object, pods: Iterable[Object]) -> None:
    for pod in pods:
        utils.delete_pod(context, daemonset, pod, NAME)


def _is_current(daemonset: Object, pod: Object) -> bool:
    generation = str(daemonset["metadata"].get("generation", 1))
    labels = meta.labels_of(pod)
    if labels.get("pod-template-generation") == generation:
        return True
    return labels.get(HASH_LABEL) == utils.template_hash(daemonset["spec"]["template"])


def _replace_outdated(
    context: Context, daemonset: Object, nodes: list[Object], by_node: dict[str, list[Object]]
) -> None:
    """Delete pods of an older template within maxUnavailable (update.go: rollingUpdate)."""
    strategy = daemonset["spec"].get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return
    eligible = [meta.name_of(node) for node in nodes if should_run(daemonset, node)[0]]
    limit = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
    room = max(1, utils.int_or_percent(limit, len(eligible), round_up=True))
    outdated = []
    for name in eligible:
        pods = [pod for pod in by_node.get(name, []) if utils.is_active(pod)]
        if not any(_is_available(context, daemonset, pod) for pod in pods):
            room -= 1
        outdated += [pod for pod in pods if not _is_current(daemonset, pod)]
    for pod in outdated:
        if not _is_available(context, daemonset, pod):
            utils.delete_pod(context, daemonset, pod, NAME)
        elif room > 0:
            room -= 1
            utils.delete_pod(context, daemonset, pod, NAME)


def _is_available(context: Context, daemonset: Object, pod: Object) -> bool:
    wait = int(daemonset["spec"].get("minReadySeconds") or 0)
    since = utils.ready_since(pod)
    if since is not None and since + wait * SECOND > context.now:
        context.wake(f"available:{pod['metadata']['uid']}", since + wait * clock.SECOND)
    return utils.is_available(pod, wait, context.now)


def _update_status(context: Context, daemonset: Object, nodes: list[Object], by_node: dict[str, list[Object]]) -> None:
    """Mirrors updateDaemonSetStatus: the counts that `kubectl get ds` prints."""
    counts = dict.fromkeys(("desired", "current", "misscheduled", "ready", "updated", "available"), 0)
    for node in nodes:
        pods = sorted(
            (p for p in by_node.get(meta.name_of(node), []) if not utils.is_terminating(p)), key=utils.created
        )
        if not should_run(daemonset, node)[0]:
            counts["misscheduled"] += bool(pods)
            continue
        counts["desired"] += 1
        if not pods:
            continue
        counts["current"] += 1
        counts["ready"] += utils.is_ready(pods[0])
        counts["updated"] += _is_current(daemonset, pods[0])
        counts["available"] += _is_available(context, daemonset, pods[0])
    status: dict[str, Any] = {
        "currentNumberScheduled": counts["current"],
        "numberMisscheduled": counts["misscheduled"],
        "desiredNumberScheduled": counts["desired"],
        "numberReady": counts["ready"],
        "observedGeneration": daemonset["metadata"].get("generation", 1),
    }
    optional = {
        "updatedNumberScheduled": counts["updated"],
        "numberAvailable": counts["available"],
        "numberUnavailable": counts["desired"] - counts["available"],
    }
    status.update({name: count for name, count in optional.items() if count})
    utils.write_status(context, daemonset, status)
