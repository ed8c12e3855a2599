"""StorageObjectInUseProtection: what is in use is not deleted under its users.

Mirrors plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go. The finalizers are taken off by the
controllers `pvc_protection` and `pv_protection`.
"""

from __future__ import annotations

from app.cluster.attributes import Attributes
from app.cluster.store import Store

FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
}


def admit(attributes: Attributes, store: Store) -> None:
    """Put the finalizer on each new claim and volume."""
    del store
    finalizer = FINALIZERS.get(attributes.resource)
    if finalizer is None or attributes.operation != "CREATE" or attributes.subresource or attributes.object is None:
        return
    present = attributes.object["metadata"].get("finalizers") or []
    if finalizer not in present:
        attributes.object["metadata"]["finalizers"] = [*present, finalizer]
