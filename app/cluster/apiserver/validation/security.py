"""Rules for security contexts (core validation.go: ValidatePodSecurityContext, ValidateSecurityContext)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.apimachinery.validation import FieldError, duplicate, invalid, not_supported, required
from app.apis import internal_types
from app.cluster.apiserver.validation import environment

_ID_TEXT = "must be between 0 and 2147483647, inclusive"
_LARGEST_ID = 2**31 - 1
_SECCOMP = ("Localhost", "RuntimeDefault", "Unconfined")
_GROUP_CHANGES = ("Always", "OnRootMismatch")
_GROUP_POLICIES = ("Merge", "Strict")
_PROC_MOUNTS = ("Default", "Unmasked")
_LONGEST_SYSCTL = 253
_SYSCTL_PART = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SYSCTL_PART}[\./])*{_SYSCTL_PART}"


def of_pod(spec: Mapping[str, Any], field: str) -> list[FieldError]:
    """What holds for all containers of a pod; `field` is the context's path."""
    context = spec.get("securityContext")
    if not context:
        return []
    errors = _ids(context, field, "fsGroup", "runAsUser", "runAsGroup")
    for index, group in enumerate(context.get("supplementalGroups") or []):
        if not 0 <= group <= _LARGEST_ID:
            errors.append(invalid(f"{field}.supplementalGroups[{index}]", group, _ID_TEXT))
    errors += _sysctls(context.get("sysctls") or [], f"{field}.sysctls")
    change, policy = context.get("fsGroupChangePolicy"), context.get("supplementalGroupsPolicy")
    if change is not None and change not in _GROUP_CHANGES:
        errors.append(not_supported(f"{field}.fsGroupChangePolicy", change, _GROUP_CHANGES))
    if policy is not None and policy not in _GROUP_POLICIES:
        errors.append(not_supported(f"{field}.supplementalGroupsPolicy", policy, _GROUP_POLICIES))
    return errors + _seccomp(context.get("seccompProfile"), f"{field}.seccompProfile")


def shared_processes(spec: Mapping[str, Any], field: str) -> list[FieldError]:
    """The pod's processes see each other, or the host's, not both."""
    if not (spec.get("shareProcessNamespace") and spec.get("hostPID")):
        return []
    detail = "ShareProcessNamespace and HostPID cannot both be enabled"
    return [invalid(f"{field}.shareProcessNamespace", True, detail)]


def of_container(context: Mapping[str, Any] | None, field: str) -> list[FieldError]:
    """What a container may, and as whom it runs."""
    if not context:
        return []
    errors = _ids(context, field, "runAsUser", "runAsGroup")
    mount = context.get("procMount")
    if mount is not None and mount not in _PROC_MOUNTS:
        errors.append(not_supported(f"{field}.procMount", mount, _PROC_MOUNTS))
    errors += _seccomp(context.get("seccompProfile"), f"{field}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        held = "cannot set `allowPrivilegeEscalation` to false and"
        shown = internal_types.shown("SecurityContext", context)
        if context.get("privileged"):
            errors.append(invalid(field, shown, f"{held} `privileged` to true"))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or []):
            errors.append(invalid(field, shown, f"{held} `capabilities.Add` CAP_SYS_ADMIN"))
    return errors


def _ids(context: Mapping[str, Any], field: str, *names: str) -> list[FieldError]:
    return [
        invalid(f"{field}.{name}", context[name], _ID_TEXT)
        for name in names
        if context.get(name) is not None and not 0 <= context[name] <= _LARGEST_ID
    ]


def _sysctls(listed: list[Mapping[str, Any]], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(listed):
        here, name = f"{field}[{index}].name", sysctl.get("name") or ""
        if not name:
            errors.append(required(here))
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            detail = f"must have at most {_LONGEST_SYSCTL} characters and match regex {_SYSCTL}"
            errors.append(invalid(here, name, detail))
        elif name in seen:
            errors.append(duplicate(here, name))
        seen.add(name)
    return errors


def _seccomp(profile: Mapping[str, Any] | None, field: str) -> list[FieldError]:
    """ValidateSeccompProfileField."""
    if profile is None:
        return []
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{field}.type", "type is required when seccompProfile is set"))
    elif kind not in _SECCOMP:
        errors.append(not_supported(f"{field}.type", kind, _SECCOMP))
    if kind != "Localhost":
        shown = internal_types.shown("SeccompProfile", profile)
        detail = "can only be set when seccomp type is Localhost"
        return errors if local is None else [*errors, invalid(f"{field}.localhostProfile", shown, detail)]
    if local is None:
        return [*errors, required(f"{field}.localhostProfile", "must be set when seccomp type is Localhost")]
    return errors + environment.local_path(local, f"{field}.localhostProfile")
