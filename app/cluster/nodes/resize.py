"""In-place resizes: what a node allocates to a pod that is to have other resources, and how that is put into force.

Mirrors pkg/kubelet/allocation/allocation_manager.go, pkg/kubelet/events/resize.go and
pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodResizeAction. What the node has allocated stands in the pod's
status; the record holds it only while it differs from the spec (`allocated`, with `pending` as the reason) or is not
in force yet (`resizing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from app.apimachinery import quantity
from app.apimachinery.clock import Micros
from app.apimachinery.meta import Object
from app.apis import helpers
from app.cluster import events
from app.cluster.nodes import admit
from app.cluster.nodes.worker import Record, Worker

ACTUATION: Micros = 1_000_000
"""How long it takes until the runtime has applied what was allocated."""

Resources = Mapping[str, Any]


def consider(worker: Worker, node: Object, others: Iterable[Object]) -> None:
    """Allocate what the spec now asks for, where the node has room (handlePodResourcesResize)."""
    record, pod = worker.record, worker.pod
    wanted = {name: _amounts(container) for name, container in _resizable(pod).items()}
    current = {name: _allocated_to(pod, record, name) or amounts for name, amounts in wanted.items()}
    if wanted == current:
        record.pop("allocated", None)
        record.pop("pending", None)
        return
    generation = int(pod["metadata"].get("generation") or 1)
    problem = _problem(pod, node, others)
    if problem is not None:
        reason, message = problem
        pending = {"reason": reason, "message": message, "generation": generation}
        if record.get("pending") != pending:
            record["pending"] = pending
            told = _summary(pod, generation, message)
            worker.event(f"Resize{reason}", f"Pod resize {reason}: {told}", kind=events.WARNING)
        record["allocated"] = current
        return
    record.pop("allocated", None)
    record.pop("pending", None)
    before = (record.get("resizing") or {}).get("actual") or current
    record["resizing"] = {"generation": generation, "allocated": wanted, "actual": before}
    worker.event("ResizeStarted", f"Pod resize started: {_summary(pod, generation)}")
    worker.at("", "resize", ACTUATION)


def to_restart(worker: Worker) -> list[str]:
    """What was allocated is put into force; the containers that must be started anew for it."""
    resizing = worker.record.get("resizing")
    if resizing is None:
        return []
    actual, restarted = resizing["actual"], []
    for name, amounts in resizing["allocated"].items():
        spec, state = worker.specs.get(name), worker.record["containers"].get(name) or {}
        if actual.get(name) == amounts or spec is None:
            continue
        if state.get("state") == "running" and _requires_restart(spec, actual.get(name) or {}, amounts):
            restarted.append(name)
        else:
            actual[name] = amounts
    resizing["restarting"] = restarted
    _finish(worker)
    return restarted


def restarted(worker: Worker, name: str) -> None:
    """A container runs anew, with what is allocated to it."""
    resizing = worker.record.get("resizing")
    if resizing is None or name not in resizing.get("restarting", ()):
        return
    resizing["restarting"].remove(name)
    resizing["actual"][name] = resizing["allocated"][name]
    _finish(worker)


def _finish(worker: Worker) -> None:
    resizing = worker.record["resizing"]
    if resizing["restarting"]:
        return
    worker.event("ResizeCompleted", f"Pod resize completed: {_summary(worker.pod, resizing['generation'])}")
    del worker.record["resizing"]


def _resizable(pod: Object) -> dict[str, Mapping[str, Any]]:
    """Containers and sidecars by name (IsResizableContainer)."""
    sidecars = [item for item in pod["spec"].get("initContainers") or [] if item.get("restartPolicy") == "Always"]
    return {item["name"]: item for item in [*sidecars, *pod["spec"]["containers"]]}


def _amounts(container: Mapping[str, Any]) -> dict[str, Any]:
    given = container.get("resources") or {}
    return {part: given[part] for part in ("limits", "requests") if given.get(part)}


def _allocated_to(pod: Object, record: Record, name: str) -> dict[str, Any] | None:
    """What the node has allocated to a container; None for one that does not run, which gets what the spec says."""
    for held in (record.get("allocated"), (record.get("resizing") or {}).get("allocated")):
        if held and name in held:
            return dict(held[name])
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for found in status.get(field) or []:
            if found.get("name") == name and "running" in (found.get("state") or {}) and "resources" in found:
                return _amounts(found)
    return None


def _problem(pod: Object, node: Object, others: Iterable[Object]) -> tuple[str, str] | None:
    """Why the node cannot allocate what the spec asks for: never (Infeasible), or not now (Deferred)."""
    bare = {key: value for key, value in pod.items() if key != "status"}
    requests = helpers.pod_requests(bare)
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    for name in ("memory", "cpu"):
        wanted, there = (admit.value(name, amount) for amount in (requests.get(name), allocatable.get(name)))
        if wanted > there:
            return "Infeasible", f"Node didn't have enough capacity: {name}, requested: {wanted}, capacity: {there}"
    rejection = admit.admit(bare, node, others)
    return None if rejection is None else ("Deferred", rejection.message.removeprefix("Pod was rejected: "))


def _requires_restart(container: Mapping[str, Any], before: Resources, now: Resources) -> bool:
    policies = {item.get("resourceName"): item.get("restartPolicy") for item in container.get("resizePolicy") or []}
    return any(
        policies.get(name) == "RestartContainer" and _differs(name, before.get(part) or {}, now.get(part) or {})
        for name in ("cpu", "memory")
        for part in ("limits", "requests")
    )


def _differs(name: str, before: Resources, now: Resources) -> bool:
    return quantity.of(before.get(name, "0")) != quantity.of(now.get(name, "0"))


def _summary(pod: Object, generation: int, error: str = "") -> str:
    """The resources that the spec asks for, as JSON (makeResourceSummaryFromSpec)."""
    told: dict[str, Any] = {}
    for kind in ("initContainers", "containers"):
        names = {container["name"] for container in pod["spec"].get(kind) or []}
        listed = [
            {
                "name": name,
                "resources": {part: dict(sorted(held.items())) for part, held in _amounts(container).items()},
            }
            for name, container in _resizable(pod).items()
            if name in names
        ]
        if listed:
            told[kind] = listed
    told["generation"] = generation
    if error:
        told["error"] = error
    return orjson.dumps(told).decode()
