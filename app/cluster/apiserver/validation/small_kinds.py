"""Rules for Leases and RuntimeClasses (pkg/apis/coordination/validation, pkg/apis/node/validation)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported
from app.cluster.apiserver.validation import resources, taints

_STRATEGIES = ("OldestEmulationVersion",)


def lease(obj: Object) -> list[FieldError]:
    """ValidateLeaseSpec."""
    spec = obj.get("spec") or {}
    seconds, transitions, strategy = (
        spec.get(name) for name in ("leaseDurationSeconds", "leaseTransitions", "strategy")
    )
    errors: list[FieldError] = []
    if seconds is not None and seconds <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    if strategy is not None:
        # The field's name stands twice upstream.
        if "/" not in strategy and strategy not in _STRATEGIES:
            errors.append(not_supported("spec.strategy.strategy", strategy, _STRATEGIES))
        elif "/" in strategy:
            wrong = validation.qualified_name(strategy)
            errors += [invalid("spec.strategy.strategy", strategy, text) for text in wrong]
    if spec.get("preferredHolder") and not strategy:
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


def runtime_class(obj: Object) -> list[FieldError]:
    """Handler, overhead and where its pods may run (ValidateRuntimeClass)."""
    handler, scheduling = obj.get("handler") or "", obj.get("scheduling")
    errors = [invalid("handler", handler, text) for text in validation.dns1123_label(handler)]
    if obj.get("overhead") is not None:
        errors += resources.requirements({"limits": obj["overhead"].get("podFixed") or {}}, "overhead")
    if scheduling is not None:
        errors += validation.labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
        errors += taints.tolerations(scheduling.get("tolerations") or [], "scheduling.tolerations")
    return errors


def runtime_class_update(new: Object, old: Object) -> list[FieldError]:
    """The handler is fixed (ValidateRuntimeClassUpdate)."""
    if new.get("handler") == old.get("handler"):
        return []
    return [invalid("handler", new.get("handler"), "field is immutable")]
