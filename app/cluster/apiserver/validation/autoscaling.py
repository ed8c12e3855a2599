"""Rules for HorizontalPodAutoscalers (pkg/apis/autoscaling/validation/validation.go).

Also validationOptionsForHorizontalPodAutoscaler of pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required

_MAX_WINDOW, _MAX_PERIOD = 3600, 1800
_SELECT = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS = {
    "object": "Object",
    "external": "External",
    "pods": "Pods",
    "resource": "Resource",
    "containerResource": "ContainerResource",
}
"""Where each type of metric stands, in the order in which they are looked for."""
_POSITIVE = "must be greater than zero"
_TARGETS = ("Utilization", "Value", "AverageValue")


def autoscaler(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Bounds, target, metrics, behavior (validateHorizontalPodAutoscalerSpec)."""
    spec = obj.get("spec") or {}
    former = (old or {}).get("spec") or {}
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    bound = 0 if former.get("minReplicas") == 0 else 1
    errors: list[FieldError] = []
    if least is not None and least < bound:
        errors.append(invalid("spec.minReplicas", least, f"must be greater than or equal to {bound}"))
    if most < 1:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than 0"))
    if least is not None and most < least:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    reference, earlier = spec.get("scaleTargetRef") or {}, former.get("scaleTargetRef")
    kept = earlier is not None and all(earlier.get(name) == reference.get(name) for name in ("apiVersion", "kind"))
    may_be_core = reference.get("kind") == "ReplicationController"
    errors += _reference(reference, "spec.scaleTargetRef", check_version=not kept, may_be_core=may_be_core)
    errors += _metrics(spec)
    behavior = spec.get("behavior") or {}
    for side in ("scaleUp", "scaleDown"):
        if behavior.get(side) is not None:
            errors += _rules(behavior[side], f"spec.behavior.{side}")
    return errors


def autoscaler_status(obj: Object) -> list[FieldError]:
    """Counts that are not negative (ValidateHorizontalPodAutoscalerStatusUpdate)."""
    status = obj.get("status") or {}
    return [
        invalid(f"status.{name}", status[name], "must be greater than or equal to 0")
        for name in ("currentReplicas", "desiredReplicas")
        if (status.get(name) or 0) < 0
    ]


def _reference(
    reference: Mapping[str, Any], field: str, *, check_version: bool = True, may_be_core: bool = True
) -> list[FieldError]:
    """ValidateCrossVersionObjectReference, ValidateAPIVersion."""
    errors: list[FieldError] = []
    for name in ("kind", "name"):
        value = reference.get(name) or ""
        if not value:
            errors.append(required(f"{field}.{name}"))
        errors += [invalid(f"{field}.{name}", value, text) for text in validation.path_segment(value)]
    version = reference.get("apiVersion") or ""
    if check_version and version.count("/") > 1:
        errors.append(invalid(f"{field}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    elif check_version and not may_be_core and not version.rpartition("/")[0]:
        errors.append(invalid(f"{field}.apiVersion", version, "apiVersion must specify API group"))
    return errors


def _metrics(spec: Mapping[str, Any]) -> list[FieldError]:
    """Each metric, and one of those that need no pods where there may be none (validateMetrics)."""
    errors: list[FieldError] = []
    metrics = spec.get("metrics") or []
    for index, metric in enumerate(metrics):
        errors += _metric(metric, f"spec.metrics[{index}]")
    if spec.get("minReplicas") == 0 and not {"Object", "External"} & {metric.get("type") for metric in metrics}:
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden("spec.metrics", detail))
    return errors


def _metric(metric: Mapping[str, Any], field: str) -> list[FieldError]:
    """validateMetricSpec: the source of the type, and no other."""
    kind = metric.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{field}.type", "must specify a metric source type"))
    if kind not in _TYPES:
        errors.append(not_supported(f"{field}.type", kind, _TYPES))
    present = [name for name in _FIELDS if metric.get(name) is not None]
    if present:
        errors += _SOURCES[present[0]](metric[present[0]], f"{field}.{present[0]}")
    expected = next((name for name, known in _FIELDS.items() if known == kind), "")
    if not expected:
        errors.append(not_supported(f"{field}.type", kind, _TYPES))
    elif expected not in present:
        errors.append(required(f"{field}.{expected}", "must populate information for the given metric source"))
    if len(present) != 1:
        detail = "must populate the given metric source only"
        errors += [forbidden(f"{field}.{name}", detail) for name in present if name != expected]
    return errors


def _object_source(source: Mapping[str, Any], field: str) -> list[FieldError]:
    target = source.get("target") or {}
    errors = _reference(source.get("describedObject") or {}, f"{field}.describedObject")
    errors += _identifier(source, field) + _target(target, f"{field}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        errors.append(required(f"{field}.target.averageValue", "must set either a target value or averageValue"))
    return errors


def _external_source(source: Mapping[str, Any], field: str) -> list[FieldError]:
    target = source.get("target") or {}
    errors = _identifier(source, field) + _target(target, f"{field}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        detail = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{field}.target.averageValue", detail))
    if target.get("value") is not None and target.get("averageValue") is not None:
        detail = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{field}.target.value", detail))
    return errors


def _pods_source(source: Mapping[str, Any], field: str) -> list[FieldError]:
    target = source.get("target") or {}
    errors = _identifier(source, field) + _target(target, f"{field}.target")
    average = target.get("averageValue")
    if average is None or quantity.of(average).nanos <= 0:
        errors.append(required(f"{field}.target.averageValue", "must specify a positive target averageValue"))
    return errors


def _resource_source(source: Mapping[str, Any], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not source.get("name"):
        errors.append(required(f"{field}.name", "must specify a resource name"))
    return errors + _resource_target(source.get("target") or {}, f"{field}.target")


def _container_resource_source(source: Mapping[str, Any], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not source.get("name"):
        errors.append(required(f"{field}.name", "must specify a resource name"))
    if not source.get("container"):
        errors.append(required(f"{field}.container", "must specify a container"))
    return errors + _resource_target(source.get("target") or {}, f"{field}.target")


_SOURCES: dict[str, Callable[[Mapping[str, Any], str], list[FieldError]]] = {
    "object": _object_source,
    "external": _external_source,
    "pods": _pods_source,
    "resource": _resource_source,
    "containerResource": _container_resource_source,
}


def _resource_target(target: Mapping[str, Any], field: str) -> list[FieldError]:
    errors = _target(target, field)
    utilization, average = target.get("averageUtilization"), target.get("averageValue")
    if utilization is None and average is None:
        detail = "must set either a target raw value or a target utilization"
        errors.append(required(f"{field}.averageUtilization", detail))
    if utilization is not None and average is not None:
        detail = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{field}.averageValue", detail))
    return errors


def _identifier(source: Mapping[str, Any], field: str) -> list[FieldError]:
    """The metric's name (validateMetricIdentifier)."""
    name = (source.get("metric") or {}).get("name") or ""
    if not name:
        return [required(f"{field}.metric.name", "must specify a metric name")]
    return [invalid(f"{field}.metric.name", name, text) for text in validation.path_segment(name)]


def _target(target: Mapping[str, Any], field: str) -> list[FieldError]:
    """The type and amounts of a target (validateMetricTarget)."""
    kind = target.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{field}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        errors.append(invalid(f"{field}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and quantity.of(amount).nanos <= 0:
            errors.append(invalid(f"{field}.{name}", str(quantity.of(amount)), "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        errors.append(invalid(f"{field}.averageUtilization", share, "must be greater than 0"))
    return errors


def _rules(rules: Mapping[str, Any], field: str) -> list[FieldError]:
    """The rules of one direction (validateScalingRules)."""
    errors: list[FieldError] = []
    window, select, tolerance = (
        rules.get(name) for name in ("stabilizationWindowSeconds", "selectPolicy", "tolerance")
    )
    here = f"{field}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(invalid(here, window, "must be greater than or equal to zero"))
    if window is not None and window > _MAX_WINDOW:
        errors.append(invalid(here, window, f"must be less than or equal to {_MAX_WINDOW}"))
    if select is not None and select not in _SELECT:
        errors.append(not_supported(f"{field}.selectPolicy", select, _SELECT))
    policies = rules.get("policies") or []
    if not policies:
        errors.append(required(f"{field}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        errors += _policy(policy, f"{field}.policies[{index}]")
    if tolerance is not None and quantity.of(tolerance).nanos < 0:
        shown = str(quantity.of(tolerance))
        errors.append(invalid(f"{field}.tolerance", shown, "must be greater than or equal to 0"))
    return errors


def _policy(policy: Mapping[str, Any], field: str) -> list[FieldError]:
    """How much may change within which time (validateScalingPolicy)."""
    kind, value, period = policy.get("type") or "", policy.get("value") or 0, policy.get("periodSeconds") or 0
    errors: list[FieldError] = []
    if kind not in _POLICIES:
        errors.append(not_supported(f"{field}.type", kind, _POLICIES))
    if value <= 0:
        errors.append(invalid(f"{field}.value", value, _POSITIVE))
    if period <= 0:
        errors.append(invalid(f"{field}.periodSeconds", period, _POSITIVE))
    if period > _MAX_PERIOD:
        errors.append(invalid(f"{field}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}"))
    return errors
