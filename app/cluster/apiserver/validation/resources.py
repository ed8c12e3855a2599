"""Rules for amounts, requests and limits (core validation.go: ValidateResourceRequirements)."""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.quantity import Quantity
from app.apimachinery.validation import ErrorKind, FieldError, invalid, required

_STANDARD = {"cpu", "memory", "ephemeral-storage"}
_WHOLE_TEXT = "must be an integer"
_NEGATIVE_TEXT = "must be greater than or equal to 0"
_NATIVE_TEXT = "must be a standard resource for containers"


def amounts(values: Mapping[str, str], field: str) -> list[FieldError]:
    """Amounts that are not negative, by resource name."""
    errors: list[FieldError] = []
    for name, text in sorted(values.items()):
        if quantity.parse(str(text)).nanos < 0:
            errors.append(invalid(f"{field}.{name}", text, _NEGATIVE_TEXT))
    return errors


def requirements(resources: Object, field: str) -> list[FieldError]:
    """A container's requests and limits (ValidateResourceRequirements)."""
    errors: list[FieldError] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, text in sorted(limits.items()):
        errors += _resource_name(name, f"{field}.limits") + _amount(name, text, f"{field}.limits[{name}]")
    for name, text in sorted(requests.items()):
        here = f"{field}.requests"
        errors += _resource_name(name, here) + _amount(name, text, f"{here}[{name}]")
        limit = limits.get(name)
        if limit is None:
            if not _overcommits(name):
                errors.append(required(f"{field}.limits", "Limit must be set for non overcommitable resources"))
            continue
        errors += _against_limit(name, quantity.parse(str(text)), quantity.parse(str(limit)), f"{field}.requests")
    return errors


def _overcommits(name: str) -> bool:
    return _is_native(name) and not name.startswith("hugepages-")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _against_limit(name: str, request: Quantity, limit: Quantity, field: str) -> list[FieldError]:
    if not _overcommits(name) and request != limit:
        detail = f"must be equal to {name} limit of {limit}"
        return [invalid(field, str(request), detail)]
    if request > limit:
        return [invalid(field, str(request), f"must be less than or equal to {name} limit of {limit}")]
    return []


def _resource_name(name: str, field: str) -> list[FieldError]:
    """ValidateContainerResourceName."""
    errors = [invalid(field, name, text) for text in validation.qualified_name(name)]
    if errors:
        return errors
    if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
        return [FieldError(field, ErrorKind.INVALID, name, _NATIVE_TEXT)]
    return []


def _amount(name: str, text: str, field: str) -> list[FieldError]:
    amount = quantity.parse(str(text))
    if amount.nanos < 0:
        return [invalid(field, str(amount), _NEGATIVE_TEXT)]
    if not _is_native(name) and amount.nanos % quantity.ONE:
        return [invalid(field, str(amount), _WHOLE_TEXT)]
    return []
