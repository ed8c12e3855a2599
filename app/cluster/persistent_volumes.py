"""Tying claims to volumes: what the volume controller, a provisioner and a scheduler's binding cycle do.

Mirrors pkg/controller/volume/persistentvolume/pv_controller.go: bind, provisionClaimOperationExternal, and the
external-provisioner's controller (sig-storage-lib-external-provisioner: provisionClaimOperation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

COMPONENT = "persistentvolume-controller"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_PROVISIONER = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
_HOSTNAME = "kubernetes.io/hostname"


def class_of(obj: Object) -> str:
    """The class of a claim or a volume (component-helpers/storage/volume: GetPersistentVolumeClaimClass)."""
    old = meta.annotations_of(obj).get("volume.beta.kubernetes.io/storage-class")
    return str(old if old is not None else obj["spec"].get("storageClassName") or "")


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Whether the volume names this claim, by its uid where it has one (IsVolumeBoundToClaim)."""
    reference = volume["spec"].get("claimRef") or {}
    named = (reference.get("namespace"), reference.get("name")) == (meta.namespace_of(claim), meta.name_of(claim))
    return named and reference.get("uid") in {None, "", claim["metadata"]["uid"]}


def annotated(obj: Object, added: Mapping[str, str]) -> dict[str, Any]:
    """The object's metadata with further annotations."""
    return {**obj["metadata"], "annotations": {**meta.annotations_of(obj), **added}}


def set_phase(context: Context, volume: Object, phase: str, message: str = "") -> None:
    """Write a volume's phase and when it changed (updateVolumePhase)."""
    status = volume.get("status") or {}
    if status.get("phase") == phase and status.get("message", "") == message:
        return
    kept = {key: value for key, value in status.items() if key not in {"message", "reason"}}
    moved = status.get("phase") != phase
    stamp = {"lastPhaseTransitionTime": clock.rfc3339_micro(context.now)[:-8] + "Z"} if moved else {}
    said = {"message": message} if message else {}
    utils.write_status(context, volume, {**kept, "phase": phase, **said, **stamp})


def tie(context: Context, claim: Object, volume: Object) -> None:
    """Make claim and volume name each other, and call both Bound (bind). StatusError where the API refuses."""
    bound = _bind_volume(context, claim, volume)
    set_phase(context, bound, "Bound")
    added = {BIND_COMPLETED: "yes"}
    if claim["spec"].get("volumeName") != meta.name_of(volume):
        added[BOUND_BY_CONTROLLER] = "yes"
    named = {**claim, "metadata": annotated(claim, added)}
    tied = context.client.update({**named, "spec": {**claim["spec"], "volumeName": meta.name_of(volume)}})
    status = {**(tied.get("status") or {}), "phase": "Bound", "accessModes": volume["spec"].get("accessModes") or []}
    if (claim.get("status") or {}).get("phase") != "Bound":
        status["capacity"] = volume["spec"].get("capacity") or {}
    utils.write_status(context, tied, status)


def _bind_volume(context: Context, claim: Object, volume: Object) -> Object:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": meta.name_of(claim),
        "namespace": meta.namespace_of(claim),
        "resourceVersion": claim["metadata"]["resourceVersion"],
        "uid": claim["metadata"]["uid"],
    }
    standing = volume["spec"].get("claimRef") or {}
    if standing.get("uid") == reference["uid"]:
        return volume
    metadata = volume["metadata"] if standing else annotated(volume, {BOUND_BY_CONTROLLER: "yes"})
    return context.client.update({**volume, "metadata": metadata, "spec": {**volume["spec"], "claimRef": reference}})


def provision(context: Context, claim: Object, node: str = "") -> tuple[Object, Object]:
    """The claim, and the volume that its class promises, for a node where one was chosen."""
    found = context.client.get("storageclasses", class_of(claim))
    provisioner = str(found.get("provisioner"))
    claim = _announce(context, claim, provisioner, node)
    component = f"{provisioner}_{provisioner.rpartition('/')[2]}-provisioner"
    about = f'"{meta.key_of(claim)}"'
    message = f"External provisioner is provisioning volume for claim {about}"
    context.recorder.record(claim, events.NORMAL, "Provisioning", message, component=component)
    volume = context.client.create(_volume(claim, found, node))
    message = f"Successfully provisioned volume {meta.name_of(volume)}"
    context.recorder.record(claim, events.NORMAL, "ProvisioningSucceeded", message, component=component)
    return claim, volume


def _announce(context: Context, claim: Object, provisioner: str, node: str) -> Object:
    """Ask the provisioner, by annotations that it looks for (setClaimProvisioner)."""
    added = dict.fromkeys(_PROVISIONER, provisioner)
    if node:
        added[SELECTED_NODE] = node
    claim = context.client.update({**claim, "metadata": annotated(claim, added)})
    message = (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
        "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered."
    )
    context.recorder.record(claim, events.NORMAL, "ExternalProvisioning", message, component=COMPONENT)
    return claim


def _volume(claim: Object, storage_class: Object, node: str) -> Object:
    spec = claim["spec"]
    name = f"pvc-{claim['metadata']['uid']}"
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "1Gi")
    made: dict[str, Any] = {
        "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
        "capacity": {"storage": storage},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": meta.name_of(claim),
            "namespace": meta.namespace_of(claim),
            "resourceVersion": claim["metadata"]["resourceVersion"],
            "uid": claim["metadata"]["uid"],
        },
        "hostPath": {"path": f"/var/lib/volumes/{name}"},
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": meta.name_of(storage_class),
    }
    for field in ("volumeMode", "mountOptions"):
        source = spec if field == "volumeMode" else storage_class
        if source.get(field):
            made[field] = source[field]
    if node:
        expression = {"key": _HOSTNAME, "operator": "In", "values": [node]}
        made["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    annotations = {PROVISIONED_BY: str(storage_class.get("provisioner"))}
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": made}
