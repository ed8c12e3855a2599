"""Rules for topology spread (pkg/apis/core/validation/validation.go: validateTopologySpreadConstraints)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, duplicate, invalid, required
from app.cluster.apiserver.validation import selectors
from app.cluster.apiserver.validation.taints import unsupported

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")


def validate(constraints: list[Object], field: str) -> list[FieldError]:
    """Each constraint, and that no two of a kind stand beside each other."""
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        here = f"{field}[{index}]"
        errors += _constraint(constraint, here)
        pair = (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        if pair in seen:
            errors.append(
                duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}"),
            )
        seen.add(pair)
    return errors


def _constraint(constraint: Object, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey") or ""
    action = constraint.get("whenUnsatisfiable") or ""
    if skew <= 0:
        errors.append(invalid(f"{here}.maxSkew", skew, "must be greater than zero"))
    if not key:
        errors.append(required(f"{here}.topologyKey", "can not be empty"))
    errors += [invalid(f"{here}.topologyKey", key, text) for text in validation.qualified_name(key)]
    if not action:
        errors.append(required(f"{here}.whenUnsatisfiable", "can not be empty"))
    elif action not in _ACTIONS:
        errors.append(unsupported(f"{here}.whenUnsatisfiable", action, _ACTIONS))
    domains = constraint.get("minDomains")
    if domains is not None:
        if domains <= 0:
            errors.append(invalid(f"{here}.minDomains", domains, "must be greater than 0"))
        if action != "DoNotSchedule":
            detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
            errors.append(invalid(f"{here}.minDomains", domains, detail))
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = constraint.get(name)
        if policy is not None and policy not in _POLICIES:
            errors.append(unsupported(f"{here}.{name}", policy, _POLICIES))
    keys, selector = constraint.get("matchLabelKeys") or [], constraint.get("labelSelector")
    errors += selectors.label_keys(keys, selector, f"{here}.matchLabelKeys")
    errors += selectors.doubled_keys(keys, selector, f"{here}.matchLabelKeys")
    if constraint.get("labelSelector") is not None:
        errors += selectors.label_selector(constraint["labelSelector"], f"{here}.labelSelector")
    return errors
