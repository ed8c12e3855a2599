"""Taints that say what a node's conditions and its cordon say.

Mirrors pkg/controller/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "node-controller"
WATCHES = frozenset({"nodes"})
STARTUP_GRACE = 60 * clock.SECOND
"""How long a node may take to report itself for the first time (nodeStartupGracePeriod)."""

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_PRESSURE = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_MANAGED = {UNSCHEDULABLE, NOT_READY, UNREACHABLE, *_PRESSURE.values()}


def sync(context: Context) -> None:
    """Bring every node's taints in line (doNoScheduleTaintingPass, processTaintBaseEviction)."""
    for node in context.client.list("nodes"):
        if utils.is_terminating(node):
            continue
        if utils.condition(node, "Ready") is None:
            _never_reported(context, node)
            continue
        _taint(context, node)


def _never_reported(context: Context, node: Object) -> None:
    """A node object without a kubelet behind it becomes Unknown after a while (tryUpdateNodeHealth)."""
    due = utils.created(node) + STARTUP_GRACE
    if context.now < due:
        context.wake(node["metadata"]["uid"], due)
        return
    stamp = clock.rfc3339(context.now)
    unknown = [
        {
            "type": kind,
            "status": "Unknown",
            "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
            "lastTransitionTime": stamp,
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
        }
        for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    status = node.get("status") or {}
    utils.write_status(context, node, {**status, "conditions": [*(status.get("conditions") or []), *unknown]})


def _wanted(node: Object) -> set[tuple[str, str]]:
    wanted = set()
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.add((UNSCHEDULABLE, "NoSchedule"))
    ready = (utils.condition(node, "Ready") or {}).get("status")
    if ready != "True":
        key = NOT_READY if ready == "False" else UNREACHABLE
        wanted |= {(key, "NoSchedule"), (key, "NoExecute")}
    for kind, key in _PRESSURE.items():
        if (utils.condition(node, kind) or {}).get("status") == "True":
            wanted.add((key, "NoSchedule"))
    return wanted


def _taint(context: Context, node: Object) -> None:
    spec = node.get("spec") or {}
    old: list[dict[str, Any]] = spec.get("taints") or []
    wanted = _wanted(node)
    kept = [t for t in old if t.get("key") not in _MANAGED or (t["key"], t.get("effect")) in wanted]
    present = {(t.get("key"), t.get("effect")) for t in kept}
    stamp = clock.rfc3339(context.now)
    added = [
        {"key": key, "effect": effect, "timeAdded": stamp}
        for key, effect in sorted(wanted)
        if (key, effect) not in present
    ]
    if not added and len(kept) == len(old):
        return
    changed = {name: value for name, value in spec.items() if name != "taints"}
    if taints := [*kept, *added]:
        changed["taints"] = taints
    utils.quietly_update(context, {**node, "spec": changed}, "nodes")
