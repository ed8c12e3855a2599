"""What a pod's subresources may change.

Mirrors pkg/apis/core/validation/validation.go: ValidatePodEphemeralContainersUpdate, validateEphemeralContainers,
ValidatePodResize, validateContainerResize.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.meta import Object, annotations_of
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, not_found
from app.apis import internal_types
from app.cluster.apiserver.validation import containers, mounts, pod, pod_update
from app.cluster.apiserver.validation.meaning import meant

_MIRROR = "kubernetes.io/config.mirror"
_RESIZABLE = ("cpu", "memory")
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"
_FORBIDDEN_FIELDS = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
"""Of a container's fields, those that an ephemeral one may not have, in the order of Go's structure."""


def ephemeral_containers(new: Object, old: Object) -> list[FieldError]:
    """New ephemeral containers may come; those that are there stay as they are."""
    if _MIRROR in annotations_of(old):
        return [forbidden("", "static pods do not support ephemeral containers")]
    spec = new.get("spec") or {}
    errors = pod.validate_existing(new) + _all(spec) + pod_update.mirror_mark(new, old)
    added = {container.get("name"): container for container in spec.get("ephemeralContainers") or []}
    for container in (old.get("spec") or {}).get("ephemeralContainers") or []:
        name = container.get("name")
        if name not in added:
            detail = f'existing ephemeral containers "{name}" may not be removed\n'
        elif meant(added[name]) != meant(container):
            difference = internal_types.diff("EphemeralContainer", container, added[name])
            detail = f'existing ephemeral containers "{name}" may not be changed\n{difference}'
        else:
            continue
        errors.append(forbidden("spec.ephemeralContainers", detail))
    return errors


def _all(spec: Object) -> list[FieldError]:
    """Every ephemeral container by itself, and their names among all names."""
    others = {container.get("name") for kind in ("containers", "initContainers") for container in spec.get(kind) or []}
    names = set(others)
    volumes = mounts.usable(spec, (), "spec.volumes")
    errors: list[FieldError] = []
    for index, container in enumerate(spec.get("ephemeralContainers") or []):
        here = f"spec.ephemeralContainers[{index}]"
        errors += containers.common(container, here, volumes)
        name, target = container.get("name") or "", container.get("targetContainerName") or ""
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if target and target not in others:
            errors.append(not_found(f"{here}.targetContainerName", target))
        errors += [forbidden(f"{here}.{field}", _NOT_EPHEMERAL) for field in _FORBIDDEN_FIELDS if container.get(field)]
        for place, mount in enumerate(container.get("volumeMounts") or []):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    errors.append(forbidden(f"{here}.volumeMounts[{place}].{field}", _NOT_EPHEMERAL))
    return errors


def resize(new: Object, old: Object) -> list[FieldError]:
    """CPU and memory of containers and sidecars may change, within the pod's QoS class."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    if refusal := _unresizable(now, old):
        return [forbidden("", refusal)]
    errors = pod.validate_existing(new)
    if moved := _reordered(now, before):
        return errors + moved
    was = (old.get("status") or {}).get("qosClass") or pod.qos_class(before)
    if pod.qos_class(now) != was:
        shown = (new.get("status") or {}).get("qosClass") or ""
        errors.append(invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    if not _supported(old):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    errors += _removed(now, before)
    errors += _others(now, before)
    return errors


def _unresizable(now: Object, old: Object) -> str:
    """Why the pod cannot be resized at all."""
    before = old.get("spec") or {}
    for spec in (before, now):
        resources = spec.get("resources") or {}
        if resources.get("requests") or resources.get("limits"):
            return "pods with pod-level resources cannot be resized"
    if _MIRROR in annotations_of(old):
        return "static pods cannot be resized"
    if (before.get("os") or {}).get("name") == "windows":
        return "windows pods cannot be resized"
    return ""


def _reordered(now: Object, before: Object) -> list[FieldError]:
    errors = []
    for kind in ("containers", "initContainers"):
        found, former = now.get(kind) or [], before.get(kind) or []
        if len(found) != len(former):
            errors.append(forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize"))
            continue
        for index, (container, earlier) in enumerate(zip(found, former, strict=True)):
            if container.get("name") != earlier.get("name"):
                detail = f"{kind} may not be renamed or reordered on resize"
                errors.append(forbidden(f"spec.{kind}[{index}].name", detail))
    return errors


def _supported(old: Object) -> bool:
    """Whether the node reports what its containers have (isPodResizeRequestSupported)."""
    for status in (old.get("status") or {}).get("containerStatuses") or []:
        if "running" in (status.get("state") or {}):
            return status.get("resources") is not None
    return True


def _removed(now: Object, before: Object) -> list[FieldError]:
    """Requests and limits stay, whatever their amounts (validateContainerResize)."""
    errors = []
    for kind in ("initContainers", "containers"):
        for index, (container, former) in enumerate(zip(now.get(kind) or [], before.get(kind) or [], strict=True)):
            if kind == "initContainers" and former.get("restartPolicy") != "Always":
                continue
            for part in ("requests", "limits"):
                if _part(former, part).keys() - _part(container, part).keys():
                    field = f"spec.{kind}[{index}].resources.{part}"
                    errors.append(forbidden(field, f"resource {part} cannot be removed"))
    return errors


def _others(now: Object, before: Object) -> list[FieldError]:
    """Whatever is no amount of CPU or memory stays."""
    errors = []
    for kind in ("containers", "initContainers"):
        for container, former in zip(now.get(kind) or [], before.get(kind) or [], strict=True):
            sidecar = container.get("restartPolicy") == "Always"
            if kind == "initContainers" and not sidecar:
                if meant(container) != meant(former):
                    errors.append(forbidden("spec", "resources for non-sidecar init containers are immutable"))
            elif meant(_without_amounts(container, former)) != meant(former):
                of = " for sidecar containers" if kind == "initContainers" else ""
                errors.append(forbidden("spec", f"only cpu and memory resources{of} are mutable"))
    return errors


def _without_amounts(container: Object, former: Object) -> Object:
    """The container with the former one's CPU and memory (dropCPUMemoryResourcesFromContainer)."""
    put_back: dict[str, Any] = {}
    for part in ("limits", "requests"):
        earlier = _part(former, part)
        if earlier:
            kept = {name: amount for name, amount in _part(container, part).items() if name not in _RESIZABLE}
            put_back[part] = {**kept, **{name: earlier[name] for name in _RESIZABLE if name in earlier}}
    return {**container, "resources": put_back}


def _part(container: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    return (container.get("resources") or {}).get(part) or {}
