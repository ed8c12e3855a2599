"""Rules for Nodes (pkg/apis/core/validation/validation.go: ValidateNode, ValidateNodeUpdate)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden
from app.cluster.apiserver.validation import resources, taints


def validate(obj: Object) -> list[FieldError]:
    """Taints, and amounts that are not negative."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    errors = taints.taints(spec.get("taints") or [], "spec.taints")
    for field in ("capacity", "allocatable"):
        errors += resources.amounts(status.get(field) or {}, f"status.{field}")
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The addresses and the provider of a node are set once."""
    errors = validate(new)
    now, before = new.get("spec") or {}, old.get("spec") or {}
    if before.get("podCIDR") and before.get("podCIDR") != now.get("podCIDR"):
        errors.append(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'))
    if before.get("providerID") and before.get("providerID") != now.get("providerID"):
        errors.append(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'))
    return errors
