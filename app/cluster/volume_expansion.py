"""Lets bound claims grow (pkg/controller/volume/expand/expand_controller.go; kubernetes-csi/external-resizer).

A provisioner whose class allows expansion also resizes, at once and without asking the node.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events, volume_matching
from app.cluster import persistent_volumes as volumes
from app.cluster.loops import Context

COMPONENT = "volume_expand"


def expand(context: Context, claim: Object, volume: Object) -> None:
    """Give the claim what it asks for where its volume is smaller."""
    if volume_matching.wanted_of(claim) <= volume_matching.size_of(volume):
        return
    found = context.client.find("storageclasses", volumes.class_of(claim))
    provisioner = meta.annotations_of(volume).get(volumes.PROVISIONED_BY)
    if found is None or not found.get("allowVolumeExpansion") or not provisioner:
        return
    _record(context, claim, "ExternalExpanding", "waiting for an external controller to expand this PVC", COMPONENT)
    resizer = f"external-resizer {provisioner}"
    _record(context, claim, "Resizing", f"External resizer is resizing volume {meta.name_of(volume)}", resizer)
    capacity = {"storage": claim["spec"]["resources"]["requests"]["storage"]}
    grown = {**volume, "spec": {**volume["spec"], "capacity": {**volume["spec"]["capacity"], **capacity}}}
    context.client.update(grown)
    status = claim.get("status") or {}
    utils.write_status(context, claim, {**status, "capacity": {**(status.get("capacity") or {}), **capacity}})
    _record(context, claim, "VolumeResizeSuccessful", "Resize volume succeeded", resizer)


def _record(context: Context, claim: Object, reason: str, message: str, component: str) -> None:
    context.recorder.record(claim, events.NORMAL, reason, message, component=component)
