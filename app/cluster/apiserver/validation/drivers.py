"""Rules for CSINodes, CSIDrivers, CSIStorageCapacities and VolumeAttachments (pkg/apis/storage/validation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object, name_of
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, not_supported, required, too_long

_LONGEST_NAME, _LONGEST_NODE_ID = 63, 192
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 1 << 32
_FS_GROUP_POLICIES = ("ReadWriteOnceWithFSType", "File", "None")
_MODES = ("Persistent", "Ephemeral")
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_IMMUTABLE = "field is immutable"


def driver_name(name: str, field: str) -> list[FieldError]:
    """ValidateCSIDriverName."""
    if not name:
        return [required(field), *(invalid(field, name, text) for text in validation.dns1123_subdomain(name))]
    errors = [too_long(field, _LONGEST_NAME)] if len(name.encode()) > _LONGEST_NAME else []
    return errors + [invalid(field, name, text) for text in validation.dns1123_subdomain(name.lower())]


def csi_node(obj: Object) -> list[FieldError]:
    """The drivers of a node, each once (ValidateCSINode)."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, driver in enumerate((obj.get("spec") or {}).get("drivers") or []):
        here, name = f"spec.drivers[{index}]", driver.get("name") or ""
        errors += driver_name(name, f"{here}.name")
        node, count = driver.get("nodeID") or "", (driver.get("allocatable") or {}).get("count")
        if not node:
            errors.append(required(f"{here}.nodeID"))
        if len(node.encode()) > _LONGEST_NODE_ID:
            errors.append(invalid(f"{here}.nodeID", node, f"must be {_LONGEST_NODE_ID} characters or less"))
        if count is not None and count < 0:
            detail = "must be greater than or equal to 0"
            errors.append(invalid(f"{here}.allocatable.count", count, detail))
        if name in seen:
            errors.append(duplicate(f"{here}.name", name))
        seen.add(name)
        errors += _topology_keys(driver.get("topologyKeys") or [], f"{here}.topologyKeys")
    return errors


def _topology_keys(keys: list[str], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for key in keys:
        if not key:
            errors.append(required(field))
        if key in seen:
            errors.append(duplicate(field, key))
        seen.add(key)
        errors += [invalid(field, keys, text) for text in validation.qualified_name(key)]
    return errors


def csi_node_update(new: Object, old: Object) -> list[FieldError]:
    """A driver that stays keeps its fields but for its count (ValidateCSINodeUpdate)."""
    errors = csi_node(new)
    former = {driver.get("name"): driver for driver in (old.get("spec") or {}).get("drivers") or []}
    for driver in (new.get("spec") or {}).get("drivers") or []:
        earlier = former.get(driver.get("name"))
        if earlier is not None and _but_count(driver) != _but_count(earlier):
            errors.append(invalid("CSINodeDriver", _shown_driver(driver), _IMMUTABLE))
    return errors


def _but_count(driver: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in driver.items() if name != "allocatable" and value}


def _shown_driver(driver: Mapping[str, Any]) -> dict[str, Any]:
    allocatable = driver.get("allocatable")
    return {
        "Name": driver.get("name") or "",
        "NodeID": driver.get("nodeID") or "",
        "TopologyKeys": driver.get("topologyKeys"),
        "Allocatable": None if allocatable is None else {"Count": allocatable.get("count")},
    }


def csi_driver(obj: Object) -> list[FieldError]:
    """Name and what the driver needs (ValidateCSIDriver)."""
    spec = obj.get("spec") or {}
    errors = driver_name(name_of(obj), "name")
    errors += [] if spec.get("attachRequired") is not None else [required("spec.attachedRequired")]
    errors += [required(f"spec.{name}") for name in ("podInfoOnMount", "storageCapacity") if spec.get(name) is None]
    policy = spec.get("fsGroupPolicy")
    if policy is None:
        errors.append(required("spec.fsGroupPolicy"))
    elif policy not in _FS_GROUP_POLICIES:
        errors.append(not_supported("spec.fsGroupPolicy", policy, _FS_GROUP_POLICIES))
    errors += _token_requests(spec.get("tokenRequests") or [], "spec.tokenRequests")
    return errors + [
        not_supported("spec.volumeLifecycleModes", mode, _MODES)
        for mode in spec.get("volumeLifecycleModes") or []
        if mode not in _MODES
    ]


def _token_requests(requests: list[Mapping[str, Any]], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, request in enumerate(requests):
        here, audience, seconds = f"{field}[{index}]", request.get("audience") or "", request.get("expirationSeconds")
        if audience in seen:
            errors.append(duplicate(f"{here}.audience", audience))
            continue
        seen.add(audience)
        if seconds is not None and seconds < _SHORTEST_TOKEN:
            detail = "may not specify a duration less than 10 minutes"
            errors.append(invalid(f"{here}.expirationSeconds", seconds, detail))
        if seconds is not None and seconds > _LONGEST_TOKEN:
            detail = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(f"{here}.expirationSeconds", seconds, detail))
    return errors


def csi_driver_update(new: Object, old: Object) -> list[FieldError]:
    """How volumes come and go is fixed (ValidateCSIDriverUpdate)."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors = _token_requests(now.get("tokenRequests") or [], "spec.tokenRequests")
    for name, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        if now.get(name) != before.get(name):
            errors.append(invalid(f"spec.{shown}", now.get(name), _IMMUTABLE))
    return errors


def storage_capacity(obj: Object) -> list[FieldError]:
    """The class, and sizes that are not negative (ValidateCSIStorageCapacity)."""
    name = obj.get("storageClassName") or ""
    errors = [invalid("storageClassName", name, text) for text in validation.dns1123_subdomain(name)]
    for field in ("capacity", "maximumVolumeSize"):
        amount = obj.get(field)
        if amount is not None and quantity.of(amount).nanos < 0:
            errors.append(invalid(field, str(quantity.of(amount)), "must be greater than or equal to 0"))
    return errors


def storage_capacity_update(new: Object, old: Object) -> list[FieldError]:
    """Whose capacity it is never changes (ValidateCSIStorageCapacityUpdate)."""
    errors = storage_capacity(new)
    for field in ("nodeTopology", "storageClassName"):
        if new.get(field) != old.get(field):
            errors.append(invalid(field, new.get(field), _IMMUTABLE))
    return errors


def volume_attachment(obj: Object) -> list[FieldError]:
    """Who attaches what where (ValidateVolumeAttachment, ValidateVolumeAttachmentV1)."""
    spec = obj.get("spec") or {}
    attacher, source, node = spec.get("attacher") or "", spec.get("source") or {}, spec.get("nodeName") or ""
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    errors = driver_name(attacher, "spec.attacher")
    if not volume and inline is None:
        errors.append(required("spec.source", _ONE_SOURCE))
    elif volume and inline is not None:
        errors.append(forbidden("spec.source", _ONE_SOURCE))
    errors += [invalid("spec.nodeName", node, text) for text in validation.dns1123_subdomain(node)]
    if volume is not None:
        wrong = validation.dns1123_subdomain(volume)
        errors += [invalid("spec.source.persistentVolumeName", volume, text) for text in wrong]
    return errors


def volume_attachment_update(new: Object, old: Object) -> list[FieldError]:
    """The spec never changes (ValidateVolumeAttachmentUpdate)."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors = volume_attachment(new)
    if now != before:
        source = now.get("source") or {}
        shown = {
            "Attacher": now.get("attacher") or "",
            "Source": {
                "PersistentVolumeName": source.get("persistentVolumeName"),
                "InlineVolumeSpec": source.get("inlineVolumeSpec"),
            },
            "NodeName": now.get("nodeName") or "",
        }
        errors.append(invalid("spec", shown, _IMMUTABLE))
    return errors
