"""Rules for when a container starts again (pkg/apis/core/validation/validation.go: validateContainerRestartPolicy)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, required, too_many
from app.cluster.apiserver.validation.taints import unsupported

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart",)
_OPERATORS = ("In", "NotIn")
_MOST_RULES = 20
_MOST_CODES = 255


def validate(container: Object, here: str) -> list[FieldError]:
    """A container's own policy, and its rules by exit code."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    errors: list[FieldError] = []
    if policy is not None and policy not in _POLICIES:
        errors.append(unsupported(f"{here}.restartPolicy", policy, _POLICIES))
    if policy is None and rules:
        errors.append(required(f"{here}.restartPolicy", "must specify restartPolicy when restart rules are used"))
    if len(rules) > _MOST_RULES:
        errors.append(too_many(f"{here}.restartPolicyRules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        errors += _rule(rule, f"{here}.restartPolicyRules[{index}]")
    return errors


def _rule(rule: Object, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    action, codes = rule.get("action") or "", rule.get("exitCodes")
    if action not in _ACTIONS:
        errors.append(unsupported(f"{here}.action", action, _ACTIONS))
    if codes is None:
        return [*errors, required(f"{here}.exitCodes", "must be specified")]
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if operator not in _OPERATORS:
        errors.append(unsupported(f"{here}.exitCodes.operator", operator, _OPERATORS))
    if len(values) > _MOST_CODES:
        errors.append(too_many(f"{here}.exitCodes.values", len(values), _MOST_CODES))
    return errors
