"""Rules for PriorityClasses (pkg/apis/scheduling/validation/validation.go)."""

from __future__ import annotations

from app.apimachinery.meta import Object, name_of
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported

HIGHEST_USER_PRIORITY = 1_000_000_000
_SYSTEM_PREFIX = "system-"
_SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_POLICIES = ("Never", "PreemptLowerPriority")


def priority_class(obj: Object) -> list[FieldError]:
    """Name, value and preemption policy (ValidatePriorityClass)."""
    errors: list[FieldError] = []
    name, value = name_of(obj), int(obj.get("value") or 0)
    if name.startswith(_SYSTEM_PREFIX):
        if _SYSTEM_CLASSES.get(name) != value:
            detail = "priority class names with 'system-' prefix are reserved for system use only"
            errors.append(forbidden("metadata.name", f"{detail}. error: {_system_problem(name, value)}"))
    elif value > HIGHEST_USER_PRIORITY:
        maximum = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        errors.append(forbidden("value", maximum))
    policy = obj.get("preemptionPolicy")
    if policy and policy not in _POLICIES:
        errors.append(not_supported("preemptionPolicy", policy, ("PreemptLowerPriority", "Never")))
    return errors


def _system_problem(name: str, value: int) -> str:
    if name not in _SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    return f"value of {name} PriorityClass must be {_SYSTEM_CLASSES[name]}, got {value}"


def priority_class_update(new: Object, old: Object) -> list[FieldError]:
    """The value and the policy never change (ValidatePriorityClassUpdate)."""
    errors: list[FieldError] = []
    if int(new.get("value") or 0) != int(old.get("value") or 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        errors.append(invalid("preemptionPolicy", new.get("preemptionPolicy"), "field is immutable"))
    return errors
