"""Rules for Pods (pkg/apis/core/validation/validation.go: ValidatePodCreate, ValidatePodSpec)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, required
from app.cluster.apiserver.validation import taints


def validate(obj: Object) -> list[FieldError]:
    """What is wrong with a new pod, beyond its metadata."""
    return validate_spec(obj.get("spec") or {}, "spec")


def validate_spec(spec: Object, field: str) -> list[FieldError]:
    """What is wrong with a pod's spec, or a template's."""
    errors: list[FieldError] = []
    if not spec.get("containers"):
        errors.append(required(f"{field}.containers"))
    errors += taints.tolerations(spec.get("tolerations") or [], f"{field}.tolerations")
    return errors
