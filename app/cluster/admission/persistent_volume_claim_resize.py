"""PersistentVolumeClaimResize: who may grow (plugin/pkg/admission/storage/persistentvolume/resize/admission.go)."""

from __future__ import annotations

from app.apimachinery import meta, quantity
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.apimachinery.quantity import Quantity
from app.cluster.attributes import Attributes
from app.cluster.store import Store

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def validate(attributes: Attributes, store: Store) -> None:
    """Only bound claims grow, and only where their class allows it."""
    new, old = attributes.object, attributes.old
    updated = attributes.operation == "UPDATE" and not attributes.subresource
    if not updated or attributes.resource != "persistentvolumeclaims" or new is None or old is None:
        return
    if _size(new) <= _size(old):
        return
    if (old.get("status") or {}).get("phase") != "Bound":
        raise _forbidden(attributes, "Only bound persistent volume claims can be expanded")
    if not _may_grow(new, old, store):
        raise _forbidden(
            attributes,
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
            "must support resize",
        )


def _may_grow(new: Object, old: Object, store: Store) -> bool:
    name = _class_of(new)
    if not name or name != _class_of(old):
        return False
    return bool((store.get("storageclasses", name) or {}).get("allowVolumeExpansion"))


def _class_of(claim: Object) -> str:
    old = meta.annotations_of(claim).get(_CLASS_ANNOTATION)
    return str(old if old is not None else (claim.get("spec") or {}).get("storageClassName") or "")


def _size(claim: Object) -> Quantity:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return quantity.of(requests.get("storage", "0"))


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": attributes.resource}
    return Forbidden(f'persistentvolumeclaims "{attributes.name}" is forbidden: {problem}', details=details)
