"""Rules for Deployments, ReplicaSets and DaemonSets (pkg/apis/apps/validation/validation.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import labels, validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, not_supported, required
from app.cluster.apiserver.validation import objectmeta, pod, selectors

_NEGATIVE = "must be greater than or equal to 0"


def deployment(obj: Object) -> list[FieldError]:
    """ValidateDeploymentSpec."""
    spec = obj.get("spec") or {}
    errors = _counts(spec, "replicas") + _selected_template(spec)
    strategy = spec.get("strategy") or {}
    kind = strategy.get("type")
    if kind == "Recreate":
        if strategy.get("rollingUpdate") is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            errors.append(validation.forbidden("spec.strategy.rollingUpdate", detail))
    elif kind == "RollingUpdate":
        errors += _rolling(strategy.get("rollingUpdate") or {}, "spec.strategy.rollingUpdate")
    else:
        errors.append(not_supported("spec.strategy", _shown(strategy), ("Recreate", "RollingUpdate")))
    errors += _counts(spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        errors.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def replica_set(obj: Object) -> list[FieldError]:
    """ValidateReplicaSetSpec."""
    spec = obj.get("spec") or {}
    return _counts(spec, "replicas", "minReadySeconds") + _selected_template(spec)


def daemon_set(obj: Object) -> list[FieldError]:
    """ValidateDaemonSetSpec."""
    spec = obj.get("spec") or {}
    errors = _selected_template(spec, "daemonset") + _counts(spec, "minReadySeconds", "revisionHistoryLimit")
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "RollingUpdate":
        errors += _rolling(strategy.get("rollingUpdate") or {}, "spec.updateStrategy.rollingUpdate")
    elif strategy.get("type") != "OnDelete":
        errors.append(not_supported("spec.updateStrategy", _shown(strategy), ("RollingUpdate", "OnDelete")))
    return errors


def fixed_selector(new: Object, old: Object) -> list[FieldError]:
    """The selector never changes (ValidateImmutableField)."""
    selector = (new.get("spec") or {}).get("selector")
    if selector != (old.get("spec") or {}).get("selector"):
        return [invalid("spec.selector", selector, "field is immutable")]
    return []


def _shown(strategy: Object) -> Object:
    """A strategy as the server prints it: with Go's names."""
    return {"Type": strategy.get("type") or "", "RollingUpdate": strategy.get("rollingUpdate")}


def _counts(spec: Object, *fields: str) -> list[FieldError]:
    return [
        invalid(f"spec.{field}", spec[field], _NEGATIVE)
        for field in fields
        if spec.get(field) is not None and spec[field] < 0
    ]


def _selected_template(spec: Object, kind: str = "deployment") -> list[FieldError]:
    """The selector, and a template that it selects (ValidatePodTemplateSpecForReplicaSet)."""
    selector, template = spec.get("selector"), spec.get("template") or {}
    errors: list[FieldError] = []
    if selector is None:
        advice = Message(N_("Add “selector:” with “matchLabels:”: the labels of the pod template."))
        errors.append(required("spec.selector", advice=advice))
    else:
        errors += selectors.label_selector(selector, "spec.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(invalid("spec.selector", selector, f"empty selector is invalid for {kind}"))
    try:
        selected = labels.from_label_selector(selector)
    except labels.SelectorError:
        return [*errors, invalid("spec.selector", selector, "invalid label selector")]
    return errors + _matching(selected, template) + _template(template)


def _matching(selected: labels.Selector, template: Object) -> list[FieldError]:
    """The template must have the labels that are selected. No selector selects nothing, an empty one everything."""
    own = (template.get("metadata") or {}).get("labels") or {}
    if selected.matches(own):
        return []
    advice = Message(N_("Give the template the labels that the selector names (spec.selector.matchLabels)."))
    detail = "`selector` does not match template `labels`"
    shown = dict(sorted(own.items())) or None
    return [invalid("spec.template.metadata.labels", shown, detail, advice)]


def _template(template: Object) -> list[FieldError]:
    """ValidatePodTemplateSpec: the pod must also be one that a controller can keep alive."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    errors = validation.labels(metadata.get("labels") or {}, "spec.template.metadata.labels")
    errors += objectmeta.annotation_errors(metadata.get("annotations") or {}, "spec.template.metadata.annotations")
    errors += pod.validate_spec(spec, "spec.template.spec")
    policy = spec.get("restartPolicy")
    if policy in {"OnFailure", "Never"}:
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = "activeDeadlineSeconds in ReplicaSet is not Supported"
        errors.append(validation.forbidden("spec.template.spec.activeDeadlineSeconds", detail))
    return errors


def _rolling(rolling: Object, field: str) -> list[FieldError]:
    """How many pods may be missing or too many (ValidateRollingUpdateDeployment)."""
    errors: list[FieldError] = []
    for name in ("maxUnavailable", "maxSurge"):
        errors += _int_or_percent(rolling.get(name), f"{field}.{name}")
    if not errors and _is_zero(rolling.get("maxUnavailable")) and _is_zero(rolling.get("maxSurge")):
        detail = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(f"{field}.maxUnavailable", rolling.get("maxUnavailable"), detail))
    return errors


def _int_or_percent(value: Any, field: str) -> list[FieldError]:
    if isinstance(value, str):
        return [invalid(field, value, text) for text in validation.percentage(value)]
    if isinstance(value, int) and value < 0:
        return [invalid(field, value, _NEGATIVE)]
    return []


def _is_zero(value: Any) -> bool:
    return value in {0, "0%"} or value is None
