"""Persistent volumes as far as vectors need a controller: claims get bound, and bound volumes know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import volumes

_VOLUME, _CLAIM, _CLASS = "PersistentVolume", "PersistentVolumeClaim", "StorageClass"
Objects = Mapping[tuple[str, str], Object]


def bind(objects: Objects) -> list[Object]:
    """Objects that the controller changes now: volumes become available, claims get the volume kept for them."""
    found: list[Object] = []
    for volume in _all(objects, _VOLUME):
        spec, status = volume.get("spec") or {}, volume.get("status") or {}
        if not spec.get("claimRef") and status.get("phase") in {None, "", "Pending"}:
            found.append(_phase(volume, "Available"))
    if found:
        return found
    for claim in _all(objects, _CLAIM):
        if volumes.is_fully_bound(claim):
            continue
        suitable = _volume_for(claim, objects)
        if suitable is not None:
            found.extend(_bound(suitable, claim))
            return found
    return found


def _all(objects: Objects, kind: str) -> Iterator[Object]:
    return (obj for (found, _), obj in objects.items() if found == kind)


def _volume_for(claim: Object, objects: Objects) -> Object | None:
    """The volume that the controller binds by itself: the named one, the kept one, or any if it need not wait."""
    named = volumes.volume_name(claim)
    if named:
        return objects.get((_VOLUME, named))
    listed = list(_all(objects, _VOLUME))
    storage_class = objects.get((_CLASS, volumes.class_of(claim)))
    if (storage_class or {}).get("volumeBindingMode") == volumes.WAIT_FOR_FIRST_CONSUMER:
        listed = [volume for volume in listed if volumes.is_bound_to(volume, claim)]
    return volumes.find_matching(claim, listed, None)


def apply_effect(objects: Objects, effect: Mapping[str, Any]) -> list[tuple[Object | None, Object]]:
    """(before, after) of all that follows from an effect of the scheduler, in order."""
    claim = objects[(_CLAIM, effect["claim"])]
    if effect["effect"] == "bindVolume":
        volume = objects[(_VOLUME, effect["volume"])]
        changes: list[tuple[Object | None, Object]] = []
    else:
        annotated = _annotated(claim, volumes.SELECTED_NODE, effect["node"])
        changes = [(claim, annotated)]
        claim = annotated
        volume = _provisioned(claim, objects[(_CLASS, volumes.class_of(claim))])
        changes.append((None, volume))
    bound_volume, bound_claim = _bound(volume, claim)
    return [*changes, (volume, bound_volume), (claim, bound_claim)]


def _bound(volume: Object, claim: Object) -> tuple[Object, Object]:
    metadata = claim["metadata"]
    reference = {"kind": _CLAIM, "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}
    bound_volume = _phase({**volume, "spec": {**volume["spec"], "claimRef": reference}}, "Bound")
    bound_claim = _annotated(claim, volumes.BIND_COMPLETED, "yes")
    bound_claim = {**bound_claim, "spec": {**claim["spec"], "volumeName": meta.name_of(volume)}}
    return bound_volume, _phase(bound_claim, "Bound")


def _provisioned(claim: Object, storage_class: Object) -> Object:
    name = f"pvc-{claim['metadata']['uid']}"
    spec: dict[str, Any] = {
        "capacity": {"storage": str(volumes.requested(claim))},
        "accessModes": list(claim["spec"].get("accessModes") or ()),
        "storageClassName": volumes.class_of(claim),
        "csi": {"driver": storage_class.get("provisioner"), "volumeHandle": name},
    }
    return {"apiVersion": "v1", "kind": _VOLUME, "metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec}


def _annotated(obj: Object, key: str, value: str) -> Object:
    annotations = {**meta.annotations_of(obj), key: value}
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _phase(obj: Object, phase: str) -> Object:
    return {**obj, "status": {**(obj.get("status") or {}), "phase": phase}}
