"""Tying claims to volumes: what the volume controller and a scheduler's binding cycle both do.

Mirrors pkg/controller/volume/persistentvolume/pv_controller.go: bind, provisionClaim.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context


def tie(context: Context, claim: Object, volume: Object) -> None:
    """Make claim and volume name each other, and call both Bound. StatusError where the API refuses."""
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": meta.name_of(claim),
        "namespace": meta.namespace_of(claim),
        "uid": claim["metadata"]["uid"],
    }
    bound = context.client.update({**volume, "spec": {**volume["spec"], "claimRef": reference}})
    utils.write_status(context, bound, {**(bound.get("status") or {}), "phase": "Bound"})
    tied = context.client.update({**claim, "spec": {**claim["spec"], "volumeName": meta.name_of(volume)}})
    status = {"phase": "Bound", "accessModes": tied["spec"].get("accessModes") or []}
    utils.write_status(context, tied, {**status, "capacity": volume["spec"].get("capacity") or {}})


def provision(context: Context, claim: Object) -> Object:
    """The volume that a claim's class promises (the external provisioner's part)."""
    spec = claim["spec"]
    name = f"pvc-{claim['metadata']['uid']}"
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "1Gi")
    made = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "capacity": {"storage": storage},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName") or "",
            "hostPath": {"path": f"/var/lib/volumes/{name}"},
        },
    }
    return context.client.create(made)
