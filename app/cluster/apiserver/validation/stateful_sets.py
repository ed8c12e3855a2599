"""Rules for StatefulSets (pkg/apis/apps/validation/validation.go: ValidateStatefulSetSpec, …Update)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required
from app.cluster.apiserver.validation import templates, workloads
from app.cluster.apiserver.validation.templates import NEGATIVE, counts

_TEMPLATE = "spec.template"
_MANAGEMENT = ("OrderedReady", "Parallel")
_RETENTION = ("Retain", "Delete")
_CHANGEABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_FIXED = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def validate(obj: Object) -> list[FieldError]:
    """ValidateStatefulSetSpec; the template's pod spec is looked at when pods are made of it, as upstream."""
    spec = obj.get("spec") or {}
    errors = _management(spec.get("podManagementPolicy") or "") + _strategy(spec.get("updateStrategy") or {})
    errors += _retention(spec.get("persistentVolumeClaimRetentionPolicy"))
    errors += counts(spec, "spec", "replicas", "minReadySeconds")
    start = (spec.get("ordinals") or {}).get("start") or 0
    if start < 0:
        errors.append(invalid("spec.ordinals.start", start, NEGATIVE))
    errors += counts(spec, "spec", "revisionHistoryLimit")
    given, template = spec.get("selector"), spec.get("template") or {}
    errors += templates.selector(given, "spec.selector", "statefulset")
    selected = templates.parsed(given)
    if selected is None:
        errors.append(invalid("spec.selector", given, ""))
    else:
        errors += templates.selected(selected, template, _TEMPLATE) + templates.metadata(template, _TEMPLATE)
    return errors + templates.always(template, _TEMPLATE, "StatefulSet")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """ValidateStatefulSetUpdate."""
    errors = validate(new)
    now, before = new.get("spec") or {}, old.get("spec") or {}
    if any(now.get(name) != before.get(name) for name in (now.keys() | before.keys()).difference(_CHANGEABLE)):
        errors.append(forbidden("spec", _FIXED))
    return errors


def _management(policy: str) -> list[FieldError]:
    if not policy:
        return [required("spec.podManagementPolicy")]
    if policy in _MANAGEMENT:
        return []
    return [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]


def _strategy(strategy: Object) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    field = "spec.updateStrategy.rollingUpdate"
    if not kind:
        return [required("spec.updateStrategy")]
    if kind == "OnDelete":
        shown = workloads.shown_strategy(strategy)["RollingUpdate"]
        detail = "only allowed for updateStrategy 'RollingUpdate'"
        return [invalid(field, shown, detail)] if rolling is not None else []
    if kind == "RollingUpdate":
        return _rolling(rolling or {}, field)
    detail = "must be 'RollingUpdate' or 'OnDelete'"
    return [invalid("spec.updateStrategy", workloads.shown_strategy(strategy), detail)]


def _rolling(rolling: Object, field: str) -> list[FieldError]:
    """ValidateRollingUpdateStatefulSet."""
    errors = counts(rolling, field, "partition")
    most = rolling.get("maxUnavailable")
    if most is None:
        return errors
    errors += workloads.int_or_percent(most, f"{field}.maxUnavailable")
    if workloads.amount(most) == 0:
        errors.append(invalid(f"{field}.maxUnavailable", most, "cannot be 0"))
    return errors + workloads.at_most_all(most, f"{field}.maxUnavailable")


def _retention(policy: Object | None) -> list[FieldError]:
    """ValidatePersistentVolumeClaimRetentionPolicy."""
    if policy is None:
        return []
    return [
        not_supported(f"spec.persistentVolumeClaimRetentionPolicy.{when}", policy.get(when) or "", _RETENTION)
        for when in ("whenDeleted", "whenScaled")
        if policy.get(when) not in _RETENTION
    ]
