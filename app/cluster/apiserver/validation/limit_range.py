"""Rules for LimitRanges (pkg/apis/core/validation/validation.go: ValidateLimitRange)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.quantity import Quantity
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, required
from app.cluster.apiserver.validation.quota import STANDARD_QUOTA

_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_OF_CONTAINERS = frozenset({"cpu", "memory", "ephemeral-storage"})
_FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ONE = quantity.parse("1")

Amounts = dict[str, Quantity]


def limit_range(obj: Object) -> list[FieldError]:
    """Each item's type, names and amounts."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
        here = f"spec.limits[{index}]"
        kind = str(item.get("type") or "")
        errors += _type(kind, f"{here}.type")
        if kind in seen:
            errors.append(duplicate(f"{here}.type", kind))
        seen.add(kind)
        errors += _item(item, kind, here)
    return errors


def _type(kind: str, field: str) -> list[FieldError]:
    errors = [invalid(field, kind, text) for text in validation.qualified_name(kind)]
    if not errors and "/" not in kind and kind not in _TYPES:
        errors.append(invalid(field, kind, "must be a standard limit type or fully qualified"))
    return errors


def _item(item: Mapping[str, Any], kind: str, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    given: dict[str, Amounts] = {}
    for field in _FIELDS:
        amounts = {name: quantity.of(amount) for name, amount in (item.get(field) or {}).items()}
        if kind == "Pod" and field in {"default", "defaultRequest"}:
            if amounts:
                errors.append(forbidden(f"{here}.{field}", "may not be specified when `type` is 'Pod'"))
            continue
        given[field] = amounts
        for name in sorted(amounts):
            errors += _resource(kind, name, f"{here}.{field}[{name}]")
    if kind == "PersistentVolumeClaim" and not any("storage" in given[field] for field in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(required(f"{here}.limits", detail))
    for name in sorted({name for amounts in given.values() for name in amounts}):
        errors += _compared(name, {field: amounts[name] for field, amounts in given.items() if name in amounts}, here)
    return errors


def _resource(kind: str, name: str, field: str) -> list[FieldError]:
    """ValidateLimitRangeResourceName."""
    errors = [invalid(field, name, text) for text in validation.qualified_name(name)]
    if errors or "/" in name or name.startswith("hugepages-"):
        return errors
    if kind in {"Pod", "Container"}:
        known = name in _OF_CONTAINERS
        return [] if known else [invalid(field, name, "must be a standard resource for containers")]
    if name in STANDARD_QUOTA or name == "storage":
        return []
    return [invalid(field, name, "must be a standard resource type or fully qualified")]


def _compared(name: str, given: Mapping[str, Quantity], here: str) -> Iterator[FieldError]:
    """What contradicts what, for one resource."""
    for lower, upper, field, shown, words in _ORDER:
        low, high = given.get(lower), given.get(upper)
        if low is not None and high is not None and low > high:
            detail = words.format(low=low, high=high)
            yield invalid(f"{here}.{field}[{name}]", str(given[shown]), detail)
    yield from _ratio(given, f"{here}.maxLimitRequestRatio[{name}]")
    default, wanted = given.get("default"), given.get("defaultRequest")
    overcommits = ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")
    if not overcommits and default is not None and wanted is not None and default != wanted:
        detail = f"default value {default} must equal to defaultRequest value {wanted} in {name}"
        yield invalid(f"{here}.defaultRequest[{name}]", str(wanted), detail)


def _ratio(given: Mapping[str, Quantity], field: str) -> Iterator[FieldError]:
    ratio, low, high = (given.get(part) for part in ("maxLimitRequestRatio", "min", "max"))
    if ratio is None:
        return
    if ratio < _ONE:
        yield invalid(field, str(ratio), f"ratio {ratio} is less than 1")
    if low and high is not None and ratio.nanos * low.nanos > high.nanos * quantity.ONE:
        largest = high.milli_value() / low.milli_value()
        yield invalid(field, str(ratio), f"ratio {ratio} is greater than max/min = {largest:f}")


_ORDER = (
    ("min", "max", "min", "min", "min value {low} is greater than max value {high}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {low} is greater than default request value {high}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {low} is greater than max value {high}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value {low} is greater than default limit value {high}",
    ),
    ("min", "default", "default", "min", "min value {low} is greater than default value {high}"),
    ("default", "max", "default", "max", "default value {low} is greater than max value {high}"),
)
"""What must not exceed what; the field that is named, the value that is shown, and the words."""
