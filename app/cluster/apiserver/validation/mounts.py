"""Rules for what containers use of their pod's volumes.

Mirrors pkg/apis/core/validation/validation.go: ValidateVolumeMounts, ValidateVolumeDevices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_found, not_supported, required
from app.cluster.apiserver.validation import environment

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_NOT_FOR_IMAGES = "not allowed in image volume sources"
_NOT_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"

Volumes = Mapping[str, Object]


def usable(spec: Object, errors: Iterable[FieldError], field: str) -> dict[str, Object]:
    """The volumes by name that nothing is wrong with, given what is wrong with the volumes at `field`."""
    wrong = {error.field.removeprefix(f"{field}[").partition("]")[0] for error in errors}
    return {
        str(volume.get("name") or ""): volume
        for index, volume in enumerate(spec.get("volumes") or [])
        if str(index) not in wrong
    }


def validate(container: Object, here: str, volumes: Volumes) -> list[FieldError]:
    """The mounts and the block devices of a container, neither of which may take the other's name or path."""
    mounts, devices = container.get("volumeMounts") or [], container.get("volumeDevices") or []
    devices_at = {item.get("name") or "": item.get("devicePath") or "" for item in devices}
    mounted_at = {item.get("name") or "": item.get("mountPath") or "" for item in mounts}
    privileged = bool((container.get("securityContext") or {}).get("privileged"))
    errors: list[FieldError] = []
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        errors += _mount(mount, f"{here}.volumeMounts[{index}]", volumes, paths, devices_at)
        errors += _kind_of_mount(mount, f"{here}.volumeMounts", privileged=privileged)
    return errors + _devices(devices, f"{here}.volumeDevices", volumes, mounted_at)


def _mount(mount: Object, here: str, volumes: Volumes, paths: set[str], devices: Mapping[str, str]) -> list[FieldError]:
    name, path = mount.get("name") or "", mount.get("mountPath") or ""
    errors: list[FieldError] = []
    if not name:
        errors.append(required(f"{here}.name"))
    if name not in volumes:
        errors.append(not_found(f"{here}.name", name))
    if not path:
        errors.append(required(f"{here}.mountPath"))
    if path in paths:
        errors.append(invalid(f"{here}.mountPath", path, "must be unique"))
    paths.add(path)
    if name in devices:
        errors.append(invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
    if path in devices.values():
        errors.append(invalid(f"{here}.mountPath", path, "must not already exist as a path in volumeDevices"))
    if volumes.get(name, {}).get("image") is not None:
        given = [field for field in ("subPath", "subPathExpr") if mount.get(field)]
        errors += [invalid(f"{here}.{field}", mount[field], _NOT_FOR_IMAGES) for field in given]
    if mount.get("subPath") and mount.get("subPathExpr"):
        detail = "subPathExpr and subPath are mutually exclusive"
        errors.append(invalid(f"{here}.subPathExpr", mount["subPathExpr"], detail))
    return errors


def _kind_of_mount(mount: Object, field: str, *, privileged: bool) -> list[FieldError]:
    """What is mounted and how; the server names these fields without the mount's number."""
    errors: list[FieldError] = []
    for name in ("subPath", "subPathExpr"):
        errors += environment.local_path(mount.get(name) or "", f"{field}.{name}")
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if propagation is not None and propagation not in _PROPAGATIONS:
        errors.append(not_supported(f"{field}.mountPropagation", propagation, _PROPAGATIONS))
    if propagation == "Bidirectional" and not privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(forbidden(f"{field}.mountPropagation", detail))
    here = f"{field}.recursiveReadOnly"
    if recursive is not None and recursive not in _RECURSIVE:
        errors.append(not_supported(here, recursive, _RECURSIVE))
    elif recursive in {"Enabled", "IfPossible"}:
        if not mount.get("readOnly"):
            errors.append(forbidden(here, "may only be specified when readOnly is true"))
        if propagation not in {None, "None"}:
            errors.append(forbidden(here, "may only be specified when mountPropagation is None or not specified"))
    return errors


def _devices(devices: list[Object], field: str, volumes: Volumes, mounts: Mapping[str, str]) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(devices):
        here = f"{field}[{index}]"
        name, path = device.get("name") or "", device.get("devicePath") or ""
        errors += _device_name(name, f"{here}.name", volumes, names)
        if not path:
            errors.append(required(f"{here}.devicePath"))
        if path in paths:
            errors.append(invalid(f"{here}.devicePath", path, "must be unique"))
        if ".." in path.split("/"):
            errors.append(invalid(f"{here}.devicePath", path, "can not contain backsteps ('..')"))
        else:
            paths.add(path)
        if name in mounts:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if path in mounts.values():
            errors.append(invalid(f"{here}.devicePath", path, "must not already exist as a path in volumeMounts"))
    return errors


def _device_name(name: str, field: str, volumes: Volumes, names: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    if not name:
        errors.append(required(field))
    if name in names:
        errors.append(invalid(field, name, "must be unique"))
    volume = volumes.get(name)
    if volume is None:
        errors.append(not_found(field, name))
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        errors.append(invalid(field, name, _NOT_BLOCK))
    if name:
        names.add(name)
    return errors
