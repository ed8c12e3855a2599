"""The kubelet as a service of its machine: stopping it, starting it, and what it says of its node.

Mirrors pkg/kubelet/kubelet_node_status.go: setNodeStatusFuncs, recordNodeStatusEvent and
k8s.io/component-helpers/apimachinery/lease/controller.go. Containers run on while their kubelet is stopped.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events, users
from app.cluster.heartbeats import NODE_LEASES, REPORTED
from app.cluster.loops import Context

HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
"""Type, status, reason and message of the conditions of a healthy node."""
STARTED = "started/"
"""A timer key: this node's kubelet has just been started."""
_SAID_OF = {
    "MemoryPressure": "NodeHasSufficientMemory",
    "DiskPressure": "NodeHasNoDiskPressure",
    "PIDPressure": "NodeHasSufficientPID",
    "Ready": "NodeReady",
}


def lease(node: Object, stamp: str) -> Object:
    """The node's heartbeat lease."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": meta.name_of(node), "uid": node["metadata"]["uid"]}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": meta.name_of(node), "namespace": NODE_LEASES, "ownerReferences": [owner]},
        "spec": {"holderIdentity": meta.name_of(node), "leaseDurationSeconds": 40, "renewTime": stamp},
    }


def is_stopped(context: Context, node: str) -> bool:
    """Whether the node's kubelet does not run."""
    return node in (context.state.get("stopped") or {})


def stop(context: Context, name: str) -> None:
    """The kubelet no longer reports: its last heartbeat stands from now on."""
    if is_stopped(context, name):
        return
    node = context.client.find("nodes", name)
    shown = context.reader.find("nodes", name)
    held = context.client.find("leases", name, NODE_LEASES)
    last = context.reader.find("leases", name, NODE_LEASES)
    context.state.setdefault("stopped", {})[name] = context.now
    if node is None or shown is None:
        return
    utils.write_status(context, node, shown.get("status") or {})
    if last is None:
        context.client.create(lease(node, clock.rfc3339_micro(context.now)))
    else:
        # Written although it may be equal: that it was written is what has the node watched.
        context.client.update({**last, "spec": {**last["spec"], "renewTime": _other(held, last)}})


def _other(held: Object | None, last: Object) -> str:
    """The last renewal, a microsecond on where that is the stored one."""
    renewed = str(last["spec"]["renewTime"])
    if held is None or held["spec"]["renewTime"] != renewed:
        return renewed
    return clock.rfc3339_micro(clock.parse(renewed) + 1)


def start(context: Context, name: str) -> None:
    """The kubelet reports again: it renews its lease, calls its node healthy and looks at its pods."""
    if context.state.get("stopped", {}).pop(name, None) is None:
        return
    node = context.client.find("nodes", name)
    if node is None:
        return
    context.wake(STARTED + name, context.now)
    _say(context, node, "Starting", "Starting kubelet.")
    _say(context, node, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
    _renew(context, node)
    _report_healthy(context, node)


def keep_leases(context: Context) -> None:
    """Make the lease again that somebody deleted (lease/controller.go: ensureLease)."""
    for change in context.changes:
        if change.resource != "leases" or change.type != "DELETED" or meta.namespace_of(change.object) != NODE_LEASES:
            continue
        name = meta.name_of(change.object)
        node = context.client.find("nodes", name)
        if node is not None and not is_stopped(context, name) and not utils.is_terminating(node):
            _renew(context, node)


def tell_of_cordons(context: Context) -> None:
    """An event where a node was cordoned or uncordoned (recordNodeSchedulableEvent)."""
    for change in context.changes:
        if change.resource != "nodes" or change.type != "MODIFIED" or is_stopped(context, meta.name_of(change.object)):
            continue
        before, after = (
            bool((node or {}).get("spec", {}).get("unschedulable")) for node in (change.previous, change.object)
        )
        if before != after:
            _say_status(context, change.object, "NodeNotSchedulable" if after else "NodeSchedulable")


def _renew(context: Context, node: Object) -> None:
    context = context.acting_as(users.kubelet(meta.name_of(node)))
    made = lease(node, clock.rfc3339_micro(context.now))
    held = context.client.find("leases", meta.name_of(node), NODE_LEASES)
    try:
        if held is None:
            context.client.create(made)
        else:
            context.client.update({**held, "spec": {**(held.get("spec") or {}), **made["spec"]}})
    except StatusError:
        # The namespace is going; a lease that cannot be renewed is tried again by the next change.
        return


def _report_healthy(context: Context, node: Object) -> None:
    stamp = clock.rfc3339(context.now)
    status = node.get("status") or {}
    conditions: list[dict[str, Any]] = status.get("conditions") or []
    for kind, state, reason, message in HEALTHY:
        new = {"type": kind, "status": state, "lastHeartbeatTime": stamp, "reason": reason, "message": message}
        before = utils.condition({"status": {"conditions": conditions}}, kind)
        conditions = utils.with_condition(conditions, new, context.now)
        if before is None or before.get("status") != state:
            _say_status(context, node, _SAID_OF[kind])
    conditions = [_ordered(found) if found.get("type") in REPORTED else found for found in conditions]
    its = context.acting_as(users.kubelet(meta.name_of(node)))
    utils.write_status(its, node, {**status, "conditions": conditions})


def _ordered(condition: dict[str, Any]) -> dict[str, Any]:
    names = ("type", "status", "lastHeartbeatTime", "lastTransitionTime", "reason", "message")
    return {name: condition[name] for name in names if name in condition}


def _say_status(context: Context, node: Object, reason: str) -> None:
    _say(context, node, reason, f"Node {meta.name_of(node)} status is now: {reason}")


def _say(context: Context, node: Object, reason: str, message: str) -> None:
    """A kubelet refers to its node by name in place of the uid (kubelet.go: nodeRef)."""
    name = meta.name_of(node)
    about = {"kind": "Node", "metadata": {"name": name, "uid": name}}
    context.recorder.record(about, events.NORMAL, reason, message, component="kubelet", host=name)
