"""What may change in a pod (pkg/apis/core/validation/validation.go: ValidatePodUpdate)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object, copied
from app.apimachinery.validation import ErrorKind, FieldError, forbidden, invalid, required
from app.cluster.apiserver.validation import pod, taints

_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_KEPT = "existing toleration can not be modified except its tolerationSeconds"
_SHOWN = 200


def validate(new: Object, old: Object) -> list[FieldError]:
    """Images, deadline, more tolerations, fewer gates: everything else of the spec is fixed."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors: list[FieldError] = []
    for kind in ("containers", "initContainers"):
        found, stop = _containers(now.get(kind) or [], before.get(kind) or [], f"spec.{kind}")
        errors += found
        if stop:
            return errors
    errors += _deadline(now, before)
    errors += _tolerations(now.get("tolerations") or [], before.get("tolerations") or [])
    errors += _gates(now.get("schedulingGates") or [], before.get("schedulingGates") or [])
    changed = list(_differences(_compared(now, before), copied(before), "spec"))
    if changed:
        errors.append(_fixed(changed))
    return errors + _values(new)


def _values(new: Object) -> list[FieldError]:
    """The values that may change must also be right."""
    spec = new.get("spec") or {}
    errors = taints.tolerations(spec.get("tolerations") or [], "spec.tolerations")
    return errors + [error for error in pod.validate(new) if error.field.endswith(".image")]


def _containers(now: list[Object], before: list[Object], field: str) -> tuple[list[FieldError], bool]:
    """ValidateContainerUpdates: (errors, whether to look no further)."""
    if len(now) != len(before):
        return [forbidden(field, "pod updates may not add or remove containers")], True
    return [required(f"{field}[{index}].image") for index, item in enumerate(now) if not item.get("image")], False


def _deadline(now: Object, before: Object) -> list[FieldError]:
    field, wanted, former = (
        "spec.activeDeadlineSeconds",
        now.get("activeDeadlineSeconds"),
        before.get("activeDeadlineSeconds"),
    )
    if wanted is None:
        if former is None:
            return []
        return [invalid(field, None, "must not update from a positive integer to nil value")]
    if not 0 <= wanted <= 2**31 - 1:
        return [invalid(field, wanted, pod.in_range(0, 2**31 - 1))]
    if former is not None and former < wanted:
        return [invalid(field, wanted, "must be less than or equal to previous value")]
    return []


def _tolerations(now: list[Object], before: list[Object]) -> list[FieldError]:
    """validateOnlyAddedTolerations: the seconds of an old one may change, nothing else of it."""
    kept = {_identity(item) for item in now}
    if all(_identity(item) in kept for item in before):
        return []
    advice = Message(N_("Keep the tolerations that the pod has, or delete the pod and create it again."))
    return [FieldError("spec.tolerations", ErrorKind.FORBIDDEN, None, _KEPT, advice)]


def _identity(toleration: Object) -> tuple[str, ...]:
    return tuple(str(toleration.get(name) or "") for name in ("key", "operator", "value", "effect"))


def _gates(now: list[Object], before: list[Object]) -> list[FieldError]:
    """ValidateSchedulingGates on update: gates only go."""
    known = {gate.get("name") for gate in before}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(now)
        if gate.get("name") not in known
    ]


def _compared(now: Object, before: Object) -> Object:
    """The new spec with the fields put back that may differ."""
    spec: Object = copied(now)
    for kind in ("containers", "initContainers"):
        for container, former in zip(spec.get(kind) or [], before.get(kind) or [], strict=True):
            container["image"] = former.get("image")
    free = ["activeDeadlineSeconds", "tolerations", "schedulingGates"]
    if before.get("schedulingGates"):
        # A pod that waits at a gate may still be narrowed down to fewer nodes.
        free += [name for name in ("nodeSelector",) if _only_added(now.get(name), before.get(name))]
    if (before.get("terminationGracePeriodSeconds") or 0) < 0 and now.get("terminationGracePeriodSeconds") == 1:
        free.append("terminationGracePeriodSeconds")
    for name in free:
        spec.pop(name, None)
        if name in before:
            spec[name] = before[name]
    return spec


def _only_added(now: Any, before: Any) -> bool:
    return all((now or {}).get(key) == value for key, value in (before or {}).items())


def _fixed(changed: list[tuple[str, Any, Any]]) -> FieldError:
    """The refusal, with what differs. Upstream ends it with a Go structure diff; here stand the fields."""
    lines = [f"  {path}: {_shown(before)} -> {_shown(now)}" for path, now, before in changed]
    detail = f"pod updates may not change fields other than {','.join(_UPDATABLE)}\n" + "\n".join(lines)
    facts = {"field": changed[0][0]}
    advice = Message(N_("“{field}” of a pod is fixed: delete the pod and create it again (replace --force)."), facts)
    return FieldError("spec", ErrorKind.FORBIDDEN, None, detail, advice)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _differences(now: Any, before: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The innermost fields that differ: (path, new value, old value)."""
    if isinstance(now, dict) and isinstance(before, dict):
        for key in sorted(now.keys() | before.keys()):
            yield from _differences(now.get(key), before.get(key), f"{path}.{key}")
    elif isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        for index, pair in enumerate(zip(now, before, strict=True)):
            yield from _differences(*pair, f"{path}[{index}]")
    elif now != before:
        yield path, now, before
