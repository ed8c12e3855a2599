"""Rules for a Job's policies (pkg/apis/batch/validation/validation.go: validate…Policy)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import OMITTED, FieldError, duplicate, invalid, not_supported, required, too_many
from app.cluster import completion_indexes
from app.cluster.apiserver.validation.templates import counts

_MOST_RULES = 20
_MOST_CODES = 255
_MOST_CONDITIONS = 20
_LONGEST_INDEXES = 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")


def failure(spec: Object, field: str) -> list[FieldError]:
    """ValidatePodFailurePolicy."""
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return []
    rules = policy.get("rules") or []
    errors = [too_many(f"{field}.rules", len(rules), _MOST_RULES)] if len(rules) > _MOST_RULES else []
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {found.get("name") for kind in ("containers", "initContainers") for found in pod.get(kind) or []}
    for number, rule in enumerate(rules):
        errors += _rule(spec, rule, f"{field}.rules[{number}]", names)
    return errors


def _rule(spec: Object, rule: Object, field: str, names: set[Any]) -> list[FieldError]:
    """ValidatePodFailurePolicyRule."""
    action, codes, conditions = rule.get("action") or "", rule.get("onExitCodes"), rule.get("onPodConditions") or []
    errors: list[FieldError] = []
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid(f"{field}.action", action, "requires the backoffLimitPerIndex to be set"))
    errors += _one_of(action, f"{field}.action", _ACTIONS)
    if codes is not None:
        errors += _exit_codes(codes, f"{field}.onExitCodes", names)
    errors += _conditions(conditions, f"{field}.onPodConditions")
    if codes is not None and conditions:
        detail = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(invalid(field, OMITTED, detail))
    if codes is None and not conditions:
        errors.append(invalid(field, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required"))
    return errors


def _one_of(value: str, field: str, supported: tuple[str, ...]) -> list[FieldError]:
    if not value:
        listed = " ".join(validation.quoted(item) for item in supported)
        return [required(field, f"valid values: [{listed}]")]
    return [] if value in supported else [not_supported(field, value, supported)]


def _exit_codes(codes: Object, field: str, names: set[Any]) -> list[FieldError]:
    """ValidatePodFailurePolicyRuleOnExitCodes."""
    errors = _one_of(codes.get("operator") or "", f"{field}.operator", _OPERATORS)
    named = codes.get("containerName")
    if named is not None and named not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{field}.containerName", named, detail))
    values = codes.get("values") or []
    here = f"{field}.values"
    if not values:
        errors.append(invalid(here, codes.get("values"), "at least one value is required"))
    elif len(values) > _MOST_CODES:
        errors.append(too_many(here, len(values), _MOST_CODES))
    seen: set[int] = set()
    for number, value in enumerate(values):
        if codes.get("operator") == "In" and value == 0:
            errors.append(invalid(f"{here}[{number}]", value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(f"{here}[{number}]", value))
        seen.add(value)
    if any(values[number - 1] > values[number] for number in range(1, len(values))):
        errors.append(invalid(here, values, "must be ordered"))
    return errors


def _conditions(patterns: list[Object], field: str) -> list[FieldError]:
    """ValidatePodFailurePolicyRuleOnPodConditions."""
    errors = [too_many(field, len(patterns), _MOST_CONDITIONS)] if len(patterns) > _MOST_CONDITIONS else []
    for number, pattern in enumerate(patterns):
        kind = str(pattern.get("type") or "")
        errors += [invalid(f"{field}[{number}].type", kind, text) for text in validation.qualified_name(kind)]
        errors += _one_of(pattern.get("status") or "", f"{field}[{number}].status", _STATUSES)
    return errors


def success(spec: Object, field: str) -> list[FieldError]:
    """ValidateSuccessPolicy."""
    policy = spec.get("successPolicy")
    if policy is None:
        return []
    if spec.get("completionMode") != "Indexed":
        return [invalid(field, shown(policy), "requires indexed completion mode")]
    rules = policy.get("rules") or []
    errors: list[FieldError] = []
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{field}.rules", detail))
    if len(rules) > _MOST_RULES:
        errors.append(too_many(f"{field}.rules", len(rules), _MOST_RULES))
    for number, rule in enumerate(rules):
        errors += _success_rule(rule, int(spec.get("completions") or 0), f"{field}.rules[{number}]")
    return errors


def _success_rule(rule: Object, completions: int, field: str) -> list[FieldError]:
    """ValidateSuccessPolicyRule."""
    count, named = rule.get("succeededCount"), rule.get("succeededIndexes")
    errors: list[FieldError] = []
    if count is None and named is None:
        errors.append(required(field, "at least one of succeededCount or succeededIndexes must be specified"))
    size = 0
    if named is not None:
        here = f"{field}.succeededIndexes"
        if len(named) > _LONGEST_INDEXES:
            detail = f"may not be more than {_LONGEST_INDEXES} bytes"
            errors.append(FieldError(here, validation.ErrorKind.TOO_LONG, None, detail))
        try:
            size = completion_indexes.checked(named, completions)
        except completion_indexes.IndexesError as error:
            errors.append(invalid(here, named, f"error parsing succeededIndexes: {error}"))
    if count is None:
        return errors
    here = f"{field}.succeededCount"
    errors += counts(rule, field, "succeededCount")
    bound = "must be less than or equal to"
    if count > completions:
        errors.append(invalid(here, count, f"{bound} {completions} (the number of specified completions)"))
    if named is not None and count > size:
        detail = f"{bound} {size} (the number of indexes in the specified succeededIndexes field)"
        errors.append(invalid(here, count, detail))
    return errors


def replacement(spec: Object, field: str) -> list[FieldError]:
    """ValidatePodReplacementPolicy."""
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    supported = ("Failed",) if spec.get("podFailurePolicy") is not None else _REPLACEMENTS
    return [] if policy in supported else [not_supported(field, policy, supported)]


def shown(value: Any) -> Any:
    """A policy as the server prints it: with Go's names."""
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: shown(item) for name, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list) else value
