"""Rules for variables and for what they are filled from.

Mirrors pkg/apis/core/validation/validation.go: ValidateEnv, ValidateEnvFrom, validateObjectFieldSelector and
validateContainerResourceFieldSelector; pkg/apis/core/pods/helpers.go: ConvertDownwardAPIFieldLabel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.validation import FieldError, invalid, not_supported, required

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "fileKeyRef", "secretKeyRef")
_NO_SOURCE = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_CONVERTED = {*ENV_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_SUBSCRIPTED = re.compile(r"([^\[\]]*)\['(.*)'\]")
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_PREFIXES = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS = ("1m", "1")
_SIZE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SIZES = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
_SEVERAL = "may not have more than one field specified at a time"


def variables(listed: Sequence[Mapping[str, Any]], field: str) -> list[FieldError]:
    """Names, and where values come from (ValidateEnv)."""
    errors: list[FieldError] = []
    for index, variable in enumerate(listed):
        here, name = f"{field}[{index}]", variable.get("name") or ""
        if not name:
            errors.append(required(f"{here}.name"))
        else:
            errors += [invalid(f"{here}.name", name, text) for text in validation.env_var_name(name)]
        if variable.get("valueFrom") is not None:
            errors += _value_from(variable, f"{here}.valueFrom")
    return errors


def _value_from(variable: Mapping[str, Any], field: str) -> list[FieldError]:
    """validateEnvVarValueFrom: exactly one source, and no value beside it."""
    source = variable["valueFrom"]
    given = [name for name in _SOURCES if source.get(name) is not None]
    errors: list[FieldError] = []
    for name in given:
        errors += _SOURCE_RULES[name](source[name], f"{field}.{name}")
    if not given:
        errors.append(invalid(field, "", _NO_SOURCE))
    elif variable.get("value"):
        errors.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        errors.append(invalid(field, "", _SEVERAL))
    return errors


def _key_of(reference: Mapping[str, Any], field: str) -> list[FieldError]:
    """A key of a ConfigMap or a Secret (validateConfigMapKeySelector, validateSecretKeySelector)."""
    name, key = reference.get("name") or "", reference.get("key") or ""
    errors = [invalid(f"{field}.name", name, text) for text in validation.dns1123_subdomain(name)]
    if not key:
        return [*errors, required(f"{field}.key")]
    return errors + [invalid(f"{field}.key", key, text) for text in validation.config_map_key(key)]


def _file_key(reference: Mapping[str, Any], field: str) -> list[FieldError]:
    """A key of a file in a volume (validateFileKeySelector)."""
    key, volume, path = (reference.get(name) or "" for name in ("key", "volumeName", "path"))
    errors: list[FieldError] = []
    if not key:
        errors.append(required(f"{field}.key"))
    else:
        errors += [invalid(f"{field}.key", key, text) for text in validation.env_var_name(key)]
    if not volume:
        errors.append(required(f"{field}.volumeName"))
    if not path:
        return [*errors, required(f"{field}.path")]
    return errors + local_path(path, f"{field}.path", reserved=True)


def pod_field(reference: Mapping[str, Any], field: str, known: Sequence[str]) -> list[FieldError]:
    """A field of the pod (validateObjectFieldSelector)."""
    version, path = reference.get("apiVersion") or "", reference.get("fieldPath") or ""
    if not version:
        return [required(f"{field}.apiVersion")]
    if not path:
        return [required(f"{field}.fieldPath")]
    refusal = _unconvertible(version, path)
    if refusal:
        return [invalid(f"{field}.fieldPath", path, f"error converting fieldPath: {refusal}")]
    found = _SUBSCRIPTED.fullmatch(path)
    if found is None:
        return [] if path in known else [not_supported(f"{field}.fieldPath", path, sorted(known))]
    key = found[2].lower() if found[1] == "metadata.annotations" else found[2]
    return [invalid(field, found[2], text) for text in validation.qualified_name(key)]


def _unconvertible(version: str, path: str) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    found = _SUBSCRIPTED.fullmatch(path)
    if found is not None and found[1] not in {"metadata.annotations", "metadata.labels"}:
        return f"field label does not support subscript: {path}"
    if found is None and path not in _CONVERTED and path != "spec.host":
        return f"field label not supported: {path}"
    return ""


def container_resource(reference: Mapping[str, Any], field: str, *, volume: bool = False) -> list[FieldError]:
    """A container's request or limit (validateContainerResourceFieldSelector)."""
    resource, divisor = reference.get("resource") or "", reference.get("divisor")
    errors: list[FieldError] = []
    if volume and not reference.get("containerName"):
        errors.append(required(f"{field}.containerName"))
    elif not resource:
        errors.append(required(f"{field}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_PREFIXES):
        errors.append(not_supported(f"{field}.resource", resource, _RESOURCES))
    if divisor is None or not quantity.of(divisor):
        return errors
    kind, given = resource.partition(".")[2], str(quantity.of(divisor))
    if kind == "cpu" and given not in _CPU_DIVISORS:
        detail = "only divisor's values 1m and 1 are supported with the cpu resource"
        errors.append(invalid(f"{field}.divisor", resource, detail))
    if kind in _SIZES and given not in _SIZE_DIVISORS:
        detail = f"only divisor's values {', '.join(_SIZE_DIVISORS)} are supported with the {_SIZES[kind]} resource"
        errors.append(invalid(f"{field}.divisor", resource, detail))
    return errors


_SOURCE_RULES: Mapping[str, Any] = {
    "fieldRef": lambda reference, field: pod_field(reference, field, ENV_FIELDS),
    "resourceFieldRef": container_resource,
    "configMapKeyRef": _key_of,
    "secretKeyRef": _key_of,
    "fileKeyRef": _file_key,
}


def all_from(listed: Sequence[Mapping[str, Any]], field: str) -> list[FieldError]:
    """Whole ConfigMaps and Secrets as variables (ValidateEnvFrom)."""
    errors: list[FieldError] = []
    for index, source in enumerate(listed):
        here, prefix = f"{field}[{index}]", source.get("prefix") or ""
        if prefix:
            errors += [invalid(f"{here}.prefix", prefix, text) for text in validation.env_var_name(prefix)]
        given = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in given:
            referred = source[name].get("name") or ""
            if not referred:
                errors.append(required(f"{here}.{name}.name"))
            else:
                wrong = validation.dns1123_subdomain(referred)
                errors += [invalid(f"{here}.{name}.name", referred, text) for text in wrong]
        if not given:
            errors.append(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            errors.append(invalid(field, "", _SEVERAL))
    return errors


def local_path(path: str, field: str, *, reserved: bool = False) -> list[FieldError]:
    """A path that leads down (validateLocalDescendingPath, validateLocalNonReservedPath)."""
    errors: list[FieldError] = []
    if path.startswith("/"):
        errors.append(invalid(field, path, "must be a relative path"))
    if ".." in path.split("/"):
        errors.append(invalid(field, path, "must not contain '..'"))
    elif reserved and path.startswith(".."):
        errors.append(invalid(field, path, "must not start with '..'"))
    return errors
