"""Watches that nodes report themselves, and has their taints say what their conditions say.

Mirrors pkg/controller/nodelifecycle/node_lifecycle_controller.go: monitorNodeHealth, doNoScheduleTaintingPass,
doNoExecuteTaintingPass, handleDisruption. A lease is written only when its kubelet starts or stops (see
`heartbeats`), so a lease that was written is looked at once, when the grace period is over.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events, node_zones
from app.cluster.heartbeats import NODE_LEASES
from app.cluster.loops import Context

NAME = "node-controller"
WATCHES = frozenset({"nodes", "leases", "pods"})
STARTUP_GRACE: Micros = 60 * SECOND
"""How long a node may take to report itself for the first time (nodeStartupGracePeriod)."""
MONITOR_GRACE: Micros = 50 * SECOND
"""How long a node may be silent (nodeMonitorGracePeriod)."""
MONITOR_PERIOD: Micros = 5 * SECOND
"""How often nodes are looked at (nodeMonitorPeriod): the taint that evicts comes one look after the silence."""

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_PRESSURE = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_NO_SCHEDULE = {UNSCHEDULABLE, NOT_READY, UNREACHABLE, *_PRESSURE.values()}
_OLD_LABELS = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}
_KUBELETS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_LEASE, _EVICT, _NEW = "lease/", "evict/", "new/"


def sync(context: Context) -> None:
    """Mark silent nodes, then bring every node's taints in line."""
    _watch_leases(context)
    if not context.full and not context.fired and not context.changed("nodes"):
        _mark_new_pods(context)
        return
    _tell_of_nodes(context)
    for name in _silent(context):
        _mark_unknown(context, name)
    nodes = [node for node in context.client.list("nodes") if not utils.is_terminating(node)]
    evicting = node_zones.limits(context, nodes)
    for listed in nodes:
        node = _reconcile_labels(context, listed)
        if node is None:
            continue
        if utils.condition(node, "Ready") is None:
            _await_first_report(context, node)
        else:
            _taint(context, node, evicting)
    _mark_new_pods(context)


def _watch_leases(context: Context) -> None:
    """Have a lease looked at when it would be too old."""
    for change in context.changes:
        if (
            change.resource == "leases"
            and change.type == "MODIFIED"
            and meta.namespace_of(change.object) == NODE_LEASES
        ):
            name = meta.name_of(change.object)
            context.wake(_LEASE + name, max(_renewed(change.object) + MONITOR_GRACE, context.now))


def _renewed(lease: Object) -> Instant:
    stamp = (lease.get("spec") or {}).get("renewTime")
    return clock.parse(stamp) if stamp else utils.created(lease)


def _tell_of_nodes(context: Context) -> None:
    """Events for nodes that came and went (classifyNodes). One that comes with its status was set up beforehand."""
    for change in context.changes:
        if change.resource != "nodes":
            continue
        name = meta.name_of(change.object)
        current = context.client.find("nodes", name)
        if change.type == "DELETED" and current is None:
            context.state.get("since", {}).pop(name, None)
            _say(context, change.object, "RemovingNode", f"Node {name} event: Removing Node {name} from Controller")
        elif change.type == "ADDED" and current is not None and utils.condition(current, "Ready") is None:
            _say(context, current, "RegisteredNode", f"Node {name} event: Registered Node {name} in Controller")


def _say(context: Context, node: Object, reason: str, message: str) -> None:
    context.recorder.record(node, events.NORMAL, reason, message, component=NAME)


def _silent(context: Context) -> list[str]:
    """The nodes whose grace is over and whose lease is still old."""
    found = []
    for key in context.fired:
        if not key.startswith(_LEASE):
            continue
        name = key.removeprefix(_LEASE)
        lease = context.reader.find("leases", name, NODE_LEASES)
        if lease is not None and _renewed(lease) + MONITOR_GRACE <= context.now:
            found.append(name)
    return found


def _await_first_report(context: Context, node: Object) -> None:
    """A node object without a kubelet behind it becomes Unknown after a while."""
    due = utils.created(node) + STARTUP_GRACE
    if context.now < due:
        context.wake(_NEW + node["metadata"]["uid"], due)
    else:
        _mark_unknown(context, meta.name_of(node))


def _mark_unknown(context: Context, name: str) -> None:
    """Nobody knows any more how the node is (tryUpdateNodeHealth)."""
    node = context.client.find("nodes", name)
    if node is None or utils.is_terminating(node):
        return
    ready = utils.condition(node, "Ready")
    status = node.get("status") or {}
    stamp = clock.rfc3339(context.now)
    conditions = [_unknown(found, stamp) for found in status.get("conditions") or []]
    known = {found.get("type") for found in conditions}
    conditions += [
        {
            "type": kind,
            "status": "Unknown",
            "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
            "lastTransitionTime": stamp,
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
        }
        for kind in _KUBELETS
        if kind not in known
    ]
    if (ready or {}).get("status") != "Unknown":
        context.state.setdefault("since", {})[name] = context.now
    utils.write_status(context, node, {**status, "conditions": conditions})
    if ready is not None and ready.get("status") == "True":
        _say(context, node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        for pod in context.client.list("pods"):
            if pod["spec"].get("nodeName") == name:
                _mark_not_ready(context, pod)


def _unknown(condition: dict[str, Any], stamp: str) -> dict[str, Any]:
    if condition.get("type") not in _KUBELETS or condition.get("status") == "Unknown":
        return condition
    return {
        **condition,
        "status": "Unknown",
        "lastTransitionTime": stamp,
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
    }


def _mark_new_pods(context: Context) -> None:
    """A pod that is bound to a node which is not ready is not ready either (processPod)."""
    for change in context.changes:
        if change.resource != "pods" or change.type == "DELETED" or not _was_bound(change.previous, change.object):
            continue
        node = context.client.find("nodes", str(change.object["spec"]["nodeName"]))
        pod = context.client.find("pods", meta.name_of(change.object), meta.namespace_of(change.object))
        if (
            node is None
            or pod is None
            or (utils.condition(node, "Ready") or {"status": "True"}).get("status") == "True"
        ):
            continue
        _mark_not_ready(context, pod)


def _was_bound(before: Object | None, pod: Object) -> bool:
    name = pod["spec"].get("nodeName")
    return bool(name) and (before or {}).get("spec", {}).get("nodeName") != name


def _mark_not_ready(context: Context, pod: Object) -> None:
    """Only where the pod says that it is ready (controllerutil.MarkPodsNotReady)."""
    ready = utils.condition(pod, "Ready")
    if ready is None or ready.get("status") == "False":
        return
    status = pod["status"]
    conditions = utils.with_condition(status["conditions"], {**ready, "status": "False"}, context.now)
    utils.write_status(context, pod, {**status, "conditions": conditions})
    context.recorder.record(pod, events.WARNING, "NodeNotReady", "Node is not ready", component=NAME)


def _reconcile_labels(context: Context, node: Object) -> Object | None:
    """Older labels follow the newer ones (reconcileNodeLabels); None where the node is looked at again."""
    labels = meta.labels_of(node)
    stale = {old: labels[new] for new, old in _OLD_LABELS.items() if new in labels and labels.get(old) != labels[new]}
    if not stale:
        return node
    metadata = {**node["metadata"], "labels": {**labels, **stale}}
    return utils.quietly_update(context, {**node, "metadata": metadata}, "nodes")


def _taint(context: Context, node: Object, evicting: node_zones.Limits) -> None:
    """Both kinds of taints of one node, in one write."""
    old: list[dict[str, Any]] = (node.get("spec") or {}).get("taints") or []
    taints = _with(context, old, _no_schedule(node), "NoSchedule", _NO_SCHEDULE)
    wanted = _no_execute(context, node, old, evicting)
    if wanted is not None:
        taints = _with(context, taints, wanted, "NoExecute", {NOT_READY, UNREACHABLE})
    if taints == old:
        return
    spec = {name: value for name, value in (node.get("spec") or {}).items() if name != "taints"}
    if taints:
        spec["taints"] = taints
    utils.quietly_update(context, {**node, "spec": spec}, "nodes")


def _no_schedule(node: Object) -> list[str]:
    """What keeps new pods away: conditions in their order, then the cordon."""
    wanted = []
    for found in (node.get("status") or {}).get("conditions") or []:
        kind, state = found.get("type"), found.get("status")
        if kind == "Ready" and state != "True":
            wanted.append(NOT_READY if state == "False" else UNREACHABLE)
        elif kind in _PRESSURE and state == "True":
            wanted.append(_PRESSURE[kind])
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    return wanted


def _no_execute(
    context: Context, node: Object, taints: list[dict[str, Any]], evicting: node_zones.Limits
) -> list[str] | None:
    """What drives pods off; None to leave that as it is for now (processTaintBaseEviction)."""
    state = (utils.condition(node, "Ready") or {}).get("status")
    name = meta.name_of(node)
    since = context.state.get("since") or {}
    if state == "True":
        since.pop(name, None)
        return []
    if evicting.master_disruption:
        return []
    wanted = [NOT_READY if state == "False" else UNREACHABLE]
    if any(t.get("effect") == "NoExecute" and t.get("key") in {NOT_READY, UNREACHABLE} for t in taints):
        return wanted
    due = max(since.get(name, 0) + MONITOR_PERIOD if name in since else context.now, evicting.next_in(node))
    if evicting.are_stopped_in(node):
        return None
    if due > context.now:
        context.wake(_EVICT + name, due)
        return None
    evicting.used_in(node)
    return wanted


def _with(
    context: Context, taints: list[dict[str, Any]], wanted: list[str], effect: str, managed: set[str]
) -> list[dict[str, Any]]:
    """The taints with exactly the wanted ones among those that this controller keeps."""
    kept = [t for t in taints if t.get("effect") != effect or t.get("key") not in managed or t["key"] in wanted]
    present = {t.get("key") for t in kept if t.get("effect") == effect}
    stamp = clock.rfc3339(context.now)
    added = [{"key": key, "effect": effect, "timeAdded": stamp} for key in wanted if key not in present]
    return [*kept, *added]
