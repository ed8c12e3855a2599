"""Binds claims that need not wait for a pod, and keeps the phases of claims and volumes.

Mirrors pkg/controller/volume/persistentvolume/pv_controller.go: syncUnboundClaim, syncVolume. Claims of a class with
WaitForFirstConsumer are left to the scheduler.
"""

from __future__ import annotations

from app.apimachinery import labels, meta, quantity
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import persistent_volumes
from app.cluster.loops import Context

NAME = "persistentvolume-controller"
WATCHES = frozenset({"persistentvolumes", "persistentvolumeclaims", "storageclasses"})
NO_PROVISIONER = "kubernetes.io/no-provisioner"


def sync(context: Context) -> None:
    """Bring every claim and volume to the phase that it should have."""
    for volume in context.client.list("persistentvolumes"):
        _sync_volume(context, volume)
    for claim in context.client.list("persistentvolumeclaims"):
        _sync_claim(context, claim)


def _sync_volume(context: Context, volume: Object) -> None:
    reference = volume["spec"].get("claimRef") or {}
    phase = "Available"
    if reference:
        claim = context.client.find(
            "persistentvolumeclaims", str(reference.get("name")), str(reference.get("namespace"))
        )
        wanted = reference.get("uid")
        phase = "Bound" if claim is not None and wanted in {None, claim["metadata"]["uid"]} else "Released"
    status = volume.get("status") or {}
    if status.get("phase") != phase:
        utils.write_status(context, volume, {**status, "phase": phase})


def _sync_claim(context: Context, claim: Object) -> None:
    status = claim.get("status") or {}
    if claim["spec"].get("volumeName"):
        return
    if status.get("phase") != "Pending":
        utils.write_status(context, claim, {**status, "phase": "Pending"})
        return
    name = claim["spec"].get("storageClassName") or ""
    found = context.client.find("storageclasses", name) if name else None
    if found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer":
        return
    volume = _smallest_match(context, claim)
    provisioner = (found or {}).get("provisioner", NO_PROVISIONER)
    if volume is None and provisioner == NO_PROVISIONER:
        return
    try:
        persistent_volumes.tie(context, claim, volume or persistent_volumes.provision(context, claim))
    except StatusError:
        context.wake(f"again:{meta.key_of(claim)}", context.now + 15_000_000, idle=True)


def _smallest_match(context: Context, claim: Object) -> Object | None:
    """The smallest free volume that satisfies the claim (index.go: findBestMatchForClaim)."""
    spec = claim["spec"]
    wanted = quantity.parse(str(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))).value()
    selector = labels.from_label_selector(spec["selector"]) if spec.get("selector") else None
    fitting = []
    for volume in context.client.list("persistentvolumes"):
        offered = volume["spec"]
        size = quantity.parse(str((offered.get("capacity") or {}).get("storage", "0"))).value()
        same_class = (offered.get("storageClassName") or "") == (spec.get("storageClassName") or "")
        modes = set(spec.get("accessModes") or []) <= set(offered.get("accessModes") or [])
        chosen = selector is None or selector.matches(meta.labels_of(volume))
        if not offered.get("claimRef") and same_class and modes and chosen and size >= wanted:
            fitting.append((size, meta.name_of(volume), volume))
    return min(fitting, key=lambda found: found[:2])[2] if fitting else None
