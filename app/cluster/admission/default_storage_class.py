"""DefaultStorageClass: a claim without a class gets the default one (plugin/pkg/admission/storage/storageclass)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.meta import Object
from app.cluster.attributes import Attributes
from app.cluster.store import Store

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def admit(attributes: Attributes, store: Store) -> None:
    """Fill in the default class; of several the youngest. An empty class is a class of one's own choice."""
    created = attributes.operation == "CREATE" and not attributes.subresource
    if not created or attributes.resource != "persistentvolumeclaims" or attributes.object is None:
        return
    spec = attributes.object.setdefault("spec", {})
    if CLASS_ANNOTATION in meta.annotations_of(attributes.object) or spec.get("storageClassName") is not None:
        return
    marked = [found for found in store.list("storageclasses") if _is_default(found)]
    if marked:
        spec["storageClassName"] = meta.name_of(min(marked, key=_youngest_first))


def _is_default(storage_class: Object) -> bool:
    annotations = meta.annotations_of(storage_class)
    return any(annotations.get(name) == "true" for name in IS_DEFAULT)


def _youngest_first(obj: Mapping[str, Any]) -> tuple[int, str]:
    return -clock.parse(obj["metadata"]["creationTimestamp"]), meta.name_of(obj)
