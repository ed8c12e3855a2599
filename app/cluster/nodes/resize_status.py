"""What a kubelet's record says of a resize: resources, conditions (pkg/kubelet/status: GetPodResizeConditions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.meta import Object

PENDING, IN_PROGRESS = "PodResizePending", "PodResizeInProgress"

Record = dict[str, Any]
Resources = Mapping[str, Any]


def allocated(pod: Object, record: Record) -> Object:
    """The pod with the resources that the node has allocated to it (UpdatePodFromAllocation)."""
    kept = record.get("allocated")
    if not kept:
        return pod
    spec = {**pod["spec"]}
    for kind in ("containers", "initContainers"):
        if spec.get(kind):
            spec[kind] = [{**item, "resources": kept.get(item["name"], item.get("resources"))} for item in spec[kind]]
    return {**pod, "spec": spec}


def is_deferred(record: Record) -> bool:
    """Whether a resize waits for room on the node."""
    return (record.get("pending") or {}).get("reason") == "Deferred"


def conditions(record: Record) -> list[dict[str, Any]]:
    """The conditions that tell of a resize under way (GetPodResizeConditions)."""
    found: list[dict[str, Any]] = []
    if pending := record.get("pending"):
        told = {"reason": pending["reason"], "message": pending["message"]}
        found.append({"type": PENDING, "status": "True", **told, "observedGeneration": pending["generation"]})
    if resizing := record.get("resizing"):
        found.append({"type": IN_PROGRESS, "status": "True", "observedGeneration": resizing["generation"]})
    return [{**condition, "lastProbeTime": None} for condition in found]


def shown(record: Record, container: Mapping[str, Any]) -> tuple[Resources, Resources]:
    """What is allocated to a container, and what is in force."""
    name = container["name"]
    given = (record.get("allocated") or {}).get(name)
    resizing = record.get("resizing") or {}
    to_be = given or (resizing.get("allocated") or {}).get(name) or container.get("resources") or {}
    return to_be, (resizing.get("actual") or {}).get(name) or to_be
