"""Rules for Deployments, ReplicaSets, DaemonSets and ControllerRevisions (pkg/apis/apps/validation/validation.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import labels, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required
from app.cluster.apiserver.validation import templates
from app.cluster.apiserver.validation.templates import NEGATIVE, counts

_TEMPLATE = "spec.template"


def deployment(obj: Object) -> list[FieldError]:
    """ValidateDeploymentSpec."""
    spec = obj.get("spec") or {}
    errors = counts(spec, "spec", "replicas") + _selected_template(spec)
    strategy = spec.get("strategy") or {}
    kind, rolling, field = strategy.get("type"), strategy.get("rollingUpdate"), "spec.strategy.rollingUpdate"
    if kind == "Recreate":
        if rolling is not None:
            errors.append(forbidden(field, "may not be specified when strategy `type` is 'Recreate'"))
    elif kind == "RollingUpdate":
        errors += _rolling_deployment(rolling or {}, field)
    else:
        errors.append(not_supported("spec.strategy", shown_strategy(strategy), ("Recreate", "RollingUpdate")))
    errors += counts(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        errors.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def replica_set(obj: Object) -> list[FieldError]:
    """ValidateReplicaSetSpec."""
    spec = obj.get("spec") or {}
    return counts(spec, "spec", "replicas", "minReadySeconds") + _selected_template(spec)


def _selected_template(spec: Object) -> list[FieldError]:
    """The selector, and a template that it selects (ValidatePodTemplateSpecForReplicaSet)."""
    given, template = spec.get("selector"), spec.get("template") or {}
    errors = templates.selector(given, "spec.selector", "deployment")
    selected = templates.parsed(given)
    if selected is None:
        return [*errors, invalid("spec.selector", given, "invalid label selector")]
    errors += templates.selected(selected, template, _TEMPLATE)
    return errors + templates.pod_template(template, _TEMPLATE) + templates.always(template, _TEMPLATE, "ReplicaSet")


def daemon_set(obj: Object) -> list[FieldError]:
    """ValidateDaemonSetSpec."""
    spec = obj.get("spec") or {}
    given, template = spec.get("selector"), spec.get("template") or {}
    errors = _daemon_selector(given, template)
    errors += templates.pod_template(template, _TEMPLATE) + templates.always(template, _TEMPLATE, "DaemonSet")
    errors += counts(spec, "spec", "minReadySeconds")
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "RollingUpdate":
        errors += _rolling_daemons(strategy.get("rollingUpdate"), "spec.updateStrategy.rollingUpdate")
    elif strategy.get("type") != "OnDelete":
        shown = shown_strategy(strategy)
        errors.append(not_supported("spec.updateStrategy", shown, ("RollingUpdate", "OnDelete")))
    return errors + counts(spec, "spec", "revisionHistoryLimit")


def _daemon_selector(given: Object | None, template: Object) -> list[FieldError]:
    """Unlike the others' a missing selector is not called missing: it selects nothing, so it does not match."""
    errors = templates.selector(given, "spec.selector", "daemonset") if given is not None else []
    empty = [error for error in errors if error.detail.startswith("empty selector")]
    wrong = [error for error in errors if error not in empty]
    selected: labels.Selector | None = templates.parsed(given)
    return wrong + (templates.selected(selected, template, _TEMPLATE) if selected is not None else []) + empty


def controller_revision(obj: Object) -> list[FieldError]:
    """ValidateControllerRevision."""
    errors = [required("data", "data is mandatory")] if obj.get("data") is None else []
    revision = obj.get("revision") or 0
    return errors + ([invalid("revision", revision, NEGATIVE)] if revision < 0 else [])


def controller_revision_update(new: Object, old: Object) -> list[FieldError]:
    """ValidateControllerRevisionUpdate."""
    errors = controller_revision(new)
    if new.get("data") != old.get("data"):
        errors.append(invalid("data", new.get("data"), templates.IMMUTABLE))
    return errors


def fixed_selector(new: Object, old: Object) -> list[FieldError]:
    """The selector never changes (deployment, replicaset, daemonset: strategy.go)."""
    return templates.unchanged(new.get("spec") or {}, old.get("spec") or {}, "spec", "selector")


def shown_strategy(strategy: Object) -> Object:
    """A strategy as the server prints it: with Go's names."""
    rolling = strategy.get("rollingUpdate")
    shown = {name[0].upper() + name[1:]: value for name, value in rolling.items()} if rolling is not None else None
    return {"Type": strategy.get("type") or "", "RollingUpdate": shown}


def _rolling_deployment(rolling: Object, field: str) -> list[FieldError]:
    """ValidateRollingUpdateDeployment."""
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = int_or_percent(unavailable, f"{field}.maxUnavailable") + int_or_percent(surge, f"{field}.maxSurge")
    if amount(unavailable) == 0 and amount(surge) == 0:
        errors.append(invalid(f"{field}.maxUnavailable", unavailable or 0, "may not be 0 when `maxSurge` is 0"))
    return errors + at_most_all(unavailable, f"{field}.maxUnavailable")


def _rolling_daemons(rolling: Object | None, field: str) -> list[FieldError]:
    """ValidateRollingUpdateDaemonSet: either surge or do without, never both."""
    if rolling is None:
        return [required(field)]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = int_or_percent(unavailable, f"{field}.maxUnavailable") + int_or_percent(surge, f"{field}.maxSurge")
    errors += at_most_all(unavailable, f"{field}.maxUnavailable") + at_most_all(surge, f"{field}.maxSurge")
    if amount(unavailable) and amount(surge):
        errors.append(invalid(f"{field}.maxSurge", surge, "may not be set when maxUnavailable is non-zero"))
    elif not amount(unavailable) and not amount(surge):
        errors.append(required(f"{field}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


def int_or_percent(value: Any, field: str) -> list[FieldError]:
    """ValidatePositiveIntOrPercent."""
    if isinstance(value, str):
        return [invalid(field, value, text) for text in validation.percentage(value)]
    return [invalid(field, value, NEGATIVE)] if isinstance(value, int) and value < 0 else []


def at_most_all(value: Any, field: str) -> list[FieldError]:
    """IsNotMoreThan100Percent."""
    if not isinstance(value, str) or validation.percentage(value) or amount(value) <= 100:
        return []
    return [invalid(field, value, "must not be greater than 100%")]


def amount(value: Any) -> int:
    """The number in `3` or `25%`; 0 for what is neither (getIntOrPercentValue)."""
    if isinstance(value, int):
        return value
    digits = str(value or "").removesuffix("%")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else 0
