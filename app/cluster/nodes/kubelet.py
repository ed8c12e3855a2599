"""The kubelets of all nodes: they take on the pods that are bound to them and write what becomes of these.

Mirrors pkg/kubelet/kubelet.go: syncLoop, HandlePodAdditions. On a node whose kubelet is stopped, or which is not
ready, pods stay as they are; what was due for them meanwhile is done when the node is back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound
from app.apimachinery.meta import Object
from app.apis import helpers
from app.cluster import control_plane, mounts, users
from app.cluster import controller_utils as utils
from app.cluster.loops import Context
from app.cluster.nodes import admit, images, machine, pod_status, resize, resize_status, service, static_pods
from app.cluster.nodes.pod_worker import PodWorker, new_record
from app.cluster.processes import Program

NAME = "kubelet"
WATCHES = frozenset({"pods", "nodes", "leases"}) | mounts.RESOURCES


class Kubelets:
    """A loop over every pod that is bound to a node."""

    NAME = NAME
    WATCHES = WATCHES

    def __init__(self, programs: Mapping[str, Program]) -> None:
        self._programs = programs

    def sync(self, context: Context) -> None:
        """Take on new pods, take the steps that are due, write statuses, end what was deleted."""
        context.state.setdefault("pods", {})
        context.state.setdefault("addresses", {})
        machine.ensure(context)
        machine.fired(context)
        _look_at_files(context)
        pods = [pod for pod in context.client.list("pods") if static_pods.MIRROR not in meta.annotations_of(pod)]
        pods += static_pods.pods(context)
        self._forget(context, {pod["metadata"]["uid"] for pod in pods})
        service.keep_leases(context)
        service.tell_of_cordons(context)
        touched = static_pods.keep_mirrors(context)
        nodes = {meta.name_of(node): node for node in context.client.list("nodes")}
        bound = [pod for pod in pods if pod["spec"].get("nodeName") in nodes or static_pods.is_static(pod)]
        on_node: dict[str, list[Object]] = {}
        for pod in bound:
            on_node.setdefault(pod["spec"]["nodeName"], []).append(pod)
        due = _steps(context.fired)
        back = _come_back(context, nodes, due)
        touched |= {utils.runtime_uid(change.object) for change in context.changes if change.resource == "pods"}
        touched |= set(context.state.get("ending") or {})
        if touched:
            touched |= set(context.state.get("deferred", ()))
        mounted = context.changed(*mounts.RESOURCES)
        revived = context.changed("nodes")
        images_on: dict[str, set[str]] = {}
        for pod in bound:
            uid = pod["metadata"]["uid"]
            known = uid in context.state["pods"]
            idle = known or (helpers.is_terminal(pod) and not revived)
            if pod["spec"]["nodeName"] in back:
                idle = False
            if idle and not (context.full or uid in due or uid in touched or mounted):
                continue
            node = nodes.get(pod["spec"]["nodeName"]) or _stand_in(context, pod["spec"]["nodeName"])
            if not _works(context, node, pod):
                _put_off(context, node, uid, due.get(uid, []))
            else:
                present = images_on.setdefault(meta.name_of(node), _images_on(node))
                self._sync_pod(context, pod, node, due.get(uid, []), on_node[meta.name_of(node)], present)
        control_plane.watch_store(context)

    def _forget(self, context: Context, alive: set[str]) -> None:
        for uid in [uid for uid in context.state["pods"] if uid not in alive]:
            record = context.state["pods"].pop(uid)
            for container in ("", *record["containers"]):
                for step in (
                    "setup",
                    "stopped",
                    "pull",
                    "create",
                    "retry",
                    "exit",
                    "restart",
                    "backoff",
                    "ready",
                    "unhealthy",
                    "resize",
                ):
                    context.cancel(f"{uid}/{container}/{step}")
            context.logs.forget(uid)

    def _sync_pod(
        self,
        context: Context,
        pod: Object,
        node: Object,
        due: list[tuple[str, str]],
        neighbours: list[Object],
        present: set[str],
    ) -> None:
        context = context.acting_as(users.kubelet(meta.name_of(node)))
        uid = pod["metadata"]["uid"]
        record = context.state["pods"].get(uid)
        if record is None:
            if helpers.is_terminal(pod):
                _end_finished(context, pod)
                return
            record = self._take_on(context, pod, node, neighbours)
            if record is None:
                return
        before = set(present)
        worker = PodWorker(context, pod, record, present, self._programs)
        if record["stage"] == "starting" and not record.get("announced"):
            record["announced"] = True
            worker.begin()
        if record["stage"] == "ended":
            return
        if utils.is_terminating(pod):
            worker.stop()
        else:
            if context.changed("pods"):
                worker.definition_changed()
            self._resize(context, worker, node, neighbours)
        if context.changed(*mounts.RESOURCES) and _mounts_changed(context, pod):
            worker.mounts_changed()
        for container, step in due:
            worker.fired(container, step)
        if present != before:
            _report_images(context, node, present - before)
        _write(context, pod, record, node)

    def _resize(self, context: Context, worker: PodWorker, node: Object, neighbours: list[Object]) -> None:
        """Give the pod what it now asks for; a resize that waits for room is looked at whenever pods change."""
        records = context.state["pods"]
        others = [
            resize_status.allocated(other, records[uid])
            for other in neighbours
            if (uid := other["metadata"]["uid"]) in records and uid != worker.uid
        ]
        resize.consider(worker, node, others)
        waiting = [uid for uid in context.state.get("deferred", ()) if uid != worker.uid]
        if resize_status.is_deferred(worker.record):
            waiting.append(worker.uid)
        if waiting:
            context.state["deferred"] = waiting
        else:
            context.state.pop("deferred", None)

    def _take_on(self, context: Context, pod: Object, node: Object, neighbours: list[Object]) -> dict[str, Any] | None:
        """Admit a pod that is new to its node; the refusal goes into its status (HandlePodAdditions)."""
        name = meta.name_of(node)
        records = context.state["pods"]
        others = [
            resize_status.allocated(other, records[uid])
            for other in neighbours
            if (uid := other["metadata"]["uid"]) in records
        ]
        rejection = None if utils.is_terminating(pod) else admit.admit(pod, node, others)
        if rejection is not None:
            context.recorder.record(
                pod,
                "Warning",
                rejection.reason,
                rejection.message.removeprefix("Pod was rejected: "),
                component=NAME,
                host=name,
            )
            utils.write_status(context, pod, pod_status.rejected(pod, rejection, context.now))
            return None
        record = new_record(pod, name, _address(context, node, pod), context.now)
        records[pod["metadata"]["uid"]] = record
        return record


def _look_at_files(context: Context) -> None:
    """Read the folders of kubelets whose machine's files changed, or which have just been started."""
    for key in context.fired:
        name = key.removeprefix(machine.FILES)
        if name != key and name in context.state["machines"]:
            static_pods.look(context, machine.of(context, name))


def _stand_in(context: Context, name: str) -> Object:
    """What a kubelet knows of its machine while there is no Node object."""
    address = context.state["machines"][name]["address"]
    status = {"addresses": [{"type": "InternalIP", "address": address}], "allocatable": {"pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def _works(context: Context, node: Object, pod: Object | None = None) -> bool:
    """Whether the node's kubelet runs and, but for static pods, calls its node ready."""
    name = meta.name_of(node)
    if pod is not None and static_pods.is_static(pod):
        return machine.of(context, name).kubelet() is not None
    if service.is_stopped(context, name):
        return False
    return (utils.condition(node, "Ready") or {}).get("status") == "True"


def _put_off(context: Context, node: Object, uid: str, due: list[tuple[str, str]]) -> None:
    """Keep the steps of a pod until its node is back."""
    held = context.state.setdefault("away", {}).setdefault(meta.name_of(node), {})
    steps = held.setdefault(uid, [])
    steps += [[container, step] for container, step in due if [container, step] not in steps]


def _come_back(context: Context, nodes: Mapping[str, Object], due: dict[str, list[tuple[str, str]]]) -> set[str]:
    """The nodes that are back; what was put off for their pods joins what is due."""
    away: dict[str, dict[str, list[list[str]]]] = context.state.get("away") or {}
    back = {name for name in away if name in nodes and _works(context, nodes[name])}
    back |= {key.removeprefix(service.STARTED) for key in context.fired if key.startswith(service.STARTED)}
    for name in sorted(back & away.keys()):
        for uid, steps in away.pop(name).items():
            due.setdefault(uid, [])[:0] = [(container, step) for container, step in steps]
    for name in [name for name in away if name not in nodes]:
        del away[name]
    if not away:
        context.state.pop("away", None)
    return back


def _end_finished(context: Context, pod: Object) -> None:
    """A pod that is done and being deleted has nothing left to stop."""
    if utils.is_terminating(pod):
        try:
            context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod), grace_seconds=0)
        except (NotFound, Conflict):
            return


def _steps(fired: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """Timer keys `uid/container/step` by uid, in the order in which they went off."""
    steps: dict[str, list[tuple[str, str]]] = {}
    for key in fired:
        if key.startswith((machine.UNITS, machine.FILES)):
            continue
        uid, _, rest = key.partition("/")
        container, _, step = rest.partition("/")
        if step:
            steps.setdefault(uid, []).append((container, step))
    return steps


def _mounts_changed(context: Context, pod: Object) -> bool:
    if context.full:
        return True
    namespace = meta.namespace_of(pod)
    return any(
        change.resource in mounts.RESOURCES
        and meta.namespace_of(change.object) == namespace
        and mounts.mounted(pod, change.resource, meta.name_of(change.object))
        for change in context.changes
    )


def _address(context: Context, node: Object, pod: Object) -> str:
    """The next free address of the node's range; a counter, as addresses are not reused soon."""
    if pod["spec"].get("hostNetwork"):
        return _host_ip(node)
    name = meta.name_of(node)
    prefix = str((node.get("spec") or {}).get("podCIDR") or "10.244.0.0/24").rpartition(".")[0]
    number = context.state["addresses"].get(name, 1)
    context.state["addresses"][name] = 2 if number >= 253 else number + 1
    return f"{prefix}.{number + 1 if number < 253 else 2}"


def _host_ip(node: Object) -> str:
    for address in (node.get("status") or {}).get("addresses") or []:
        if address.get("type") == "InternalIP":
            return str(address.get("address"))
    return ""


def _images_on(node: Object) -> set[str]:
    found: set[str] = set()
    for image in (node.get("status") or {}).get("images") or []:
        found.update(name for name in image.get("names") or [] if "@" not in name)
    return found


def _report_images(context: Context, node: Object, added: set[str]) -> None:
    """Add pulled images to the node's status: ImageLocality reads them there."""
    current = context.client.find("nodes", meta.name_of(node))
    if current is None:
        return
    status = current.get("status") or {}
    listed = list(status.get("images") or [])
    for name in sorted(added):
        reference = images.parse(name)
        image = images.find(reference) if reference else None
        if image is not None:
            listed.append({"names": [name], "sizeBytes": image.size})
    listed.sort(key=lambda image: -int(image.get("sizeBytes", 0)))
    utils.write_status(context, current, {**status, "images": listed})


def _write(context: Context, pod: Object, record: dict[str, Any], node: Object) -> None:
    """Write the status over the pod as it is now: a step may have changed or removed it."""
    current = context.client.find("pods", meta.name_of(pod), meta.namespace_of(pod))
    if current is None or utils.runtime_uid(current) != pod["metadata"]["uid"]:
        return
    utils.write_status(context, current, pod_status.of(current, record, _host_ip(node), context.now))
