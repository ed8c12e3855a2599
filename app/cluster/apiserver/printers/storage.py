"""Rows of volumes, claims and storage classes (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from collections.abc import Iterable

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import AGE, NAME, NONE, UNSET, Cells, Printer, age, integer, name_of, text

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _access_modes(modes: Iterable[str] | None) -> str:
    present = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in present)


def _phase(obj: Object) -> str:
    if obj.get("metadata", {}).get("deletionTimestamp"):
        return "Terminating"
    return str(obj.get("status", {}).get("phase", ""))


def _class(obj: Object) -> str:
    annotations = obj.get("metadata", {}).get("annotations") or {}
    return str(annotations.get(_CLASS) or obj.get("spec", {}).get("storageClassName") or "")


def _volume(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        (spec.get("capacity") or {}).get("storage", "0"),
        _access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class(obj),
        spec.get("volumeAttributesClassName", UNSET),
        obj.get("status", {}).get("reason", ""),
        age(obj, now),
        spec.get("volumeMode", UNSET),
    ]


def _claim(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    bound = bool(spec.get("volumeName"))
    return [
        name_of(obj),
        _phase(obj),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "0") if bound else "",
        _access_modes(status.get("accessModes")) if bound else "",
        _class(obj),
        spec.get("volumeAttributesClassName", UNSET),
        age(obj, now),
        spec.get("volumeMode", UNSET),
    ]


def _storage_class(obj: Object, now: Instant) -> Cells:
    annotations = obj.get("metadata", {}).get("annotations") or {}
    is_default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return [
        f"{name_of(obj)} (default)" if is_default else name_of(obj),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def _attachment(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    return [
        name_of(obj),
        spec.get("attacher", ""),
        spec.get("source", {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        bool(obj.get("status", {}).get("attached")),
        age(obj, now),
    ]


def _csi_node(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), len(obj.get("spec", {}).get("drivers") or []), age(obj, now)]


def _csi_driver(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    audiences = ",".join(str(token.get("audience", "")) for token in spec.get("tokenRequests") or [])
    return [
        name_of(obj),
        bool(spec.get("attachRequired", True)),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        audiences if spec.get("tokenRequests") else UNSET,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or []) or NONE,
        age(obj, now),
    ]


_VOLUME_MODE = text("VolumeMode", wide=True)

PRINTERS = {
    "persistentvolumes": Printer(
        columns=(
            NAME,
            text("Capacity"),
            text("Access Modes"),
            text("Reclaim Policy"),
            text("Status"),
            text("Claim"),
            text("StorageClass"),
            text("VolumeAttributesClass"),
            text("Reason"),
            AGE,
            _VOLUME_MODE,
        ),
        cells=_volume,
    ),
    "persistentvolumeclaims": Printer(
        columns=(
            NAME,
            text("Status"),
            text("Volume"),
            text("Capacity"),
            text("Access Modes"),
            text("StorageClass"),
            text("VolumeAttributesClass"),
            AGE,
            _VOLUME_MODE,
        ),
        cells=_claim,
    ),
    "storageclasses.storage.k8s.io": Printer(
        columns=(
            NAME,
            text("Provisioner"),
            text("ReclaimPolicy"),
            text("VolumeBindingMode"),
            text("AllowVolumeExpansion"),
            AGE,
        ),
        cells=_storage_class,
    ),
    "volumeattachments.storage.k8s.io": Printer(
        (NAME, text("Attacher"), text("PV"), text("Node"), text("Attached"), AGE), _attachment
    ),
    "csinodes.storage.k8s.io": Printer((NAME, integer("Drivers"), AGE), _csi_node),
    "csidrivers.storage.k8s.io": Printer(
        columns=(
            NAME,
            text("AttachRequired"),
            text("PodInfoOnMount"),
            text("StorageCapacity"),
            text("TokenRequests"),
            text("RequiresRepublish"),
            text("Modes"),
            AGE,
        ),
        cells=_csi_driver,
    ),
}
