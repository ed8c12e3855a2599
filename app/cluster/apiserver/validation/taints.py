"""Rules for taints and tolerations (pkg/apis/core/validation/validation.go: ValidateTolerations)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from app.apimachinery import validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import ErrorKind, FieldError, invalid, not_supported, required

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_GO_NAME = {"key": "Key", "operator": "Operator", "value": "Value", "effect": "Effect"}
"""Whole structures print with Go's field names, since the server's internal types carry no JSON names."""


def nearest(value: Any, supported: Sequence[str]) -> Message | None:
    """Advice to write the supported value that looks most like this one."""
    folded = {item.lower(): item for item in supported}
    close = difflib.get_close_matches(str(value).lower(), folded, n=1, cutoff=0.5)
    if not close:
        return None
    facts = {"right": folded[close[0]], "wrong": str(value)}
    return Message(N_("Write “{right}” instead of “{wrong}”."), facts)


def unsupported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """An unsupported value, with advice at the nearest supported one."""
    error = not_supported(field, value, supported)
    return FieldError(error.field, error.kind, error.value, error.detail, nearest(value, supported))


def taints(items: Sequence[Object], field: str) -> list[FieldError]:
    """A node's taints (validateNodeTaints)."""
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(items):
        here = f"{field}[{index}]"
        key, value, effect = (str(taint.get(name) or "") for name in ("key", "value", "effect"))
        errors += [invalid(f"{here}.key", key, text) for text in validation.qualified_name(key)]
        problems = validation.label_value(value)
        if problems:
            errors.append(invalid(f"{here}.value", value, ";".join(problems)))
        errors += _effect(effect, f"{here}.effect", may_be_empty=False)
        if (key, effect) in seen:
            detail = "taints must be unique by key and effect pair"
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            errors.append(FieldError(here, ErrorKind.DUPLICATE, shown, detail))
        seen.add((key, effect))
    return errors


def _effect(effect: str, field: str, *, may_be_empty: bool) -> list[FieldError]:
    if not effect:
        advice = Message(N_("Write “effect: NoSchedule”, PreferNoSchedule or NoExecute."))
        return [] if may_be_empty else [required(field, advice=advice)]
    return [] if effect in EFFECTS else [unsupported(field, effect, EFFECTS)]


def tolerations(items: Sequence[Object], field: str) -> list[FieldError]:
    """A pod's tolerations (ValidateTolerations)."""
    errors: list[FieldError] = []
    for index, item in enumerate(items):
        here = f"{field}[{index}]"
        key, operator, value, effect = (str(item.get(name) or "") for name in ("key", "operator", "value", "effect"))
        if key:
            errors += [invalid(f"{here}.key", key, text) for text in validation.qualified_name(key)]
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            advice = Message(N_("Add “operator: Exists”, or name a key."))
            errors.append(invalid(f"{here}.operator", operator, detail, advice))
        if item.get("tolerationSeconds") is not None and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            advice = Message(
                N_("Only “effect: NoExecute” knows tolerationSeconds: change the effect or remove the seconds.")
            )
            errors.append(invalid(f"{here}.effect", effect, detail, advice))
        errors += _operator(item, operator, value, here)
        errors += _effect(effect, f"{here}.effect", may_be_empty=True)
    return errors


def _operator(item: Object, operator: str, value: str, here: str) -> list[FieldError]:
    if operator in {"", "Equal"}:
        problems = validation.label_value(value)
        return [invalid(f"{here}.operator", value, ";".join(problems))] if problems else []
    if operator == "Exists":
        if not value:
            return []
        detail = "value must be empty when `operator` is 'Exists'"
        advice = Message(N_("Remove the value, or write “operator: Equal”."))
        shown = {_GO_NAME[name]: item.get(name) or "" for name in _GO_NAME}
        shown["TolerationSeconds"] = item.get("tolerationSeconds")
        return [invalid(f"{here}.operator", shown, detail, advice)]
    return [unsupported(f"{here}.operator", operator, _OPERATORS)]
