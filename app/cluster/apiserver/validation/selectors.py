"""Rules for label selectors and node selectors.

Mirrors apis/meta/v1/validation/validation.go (ValidateLabelSelector) and validation.go (ValidateNodeSelectorTerm).
"""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, required
from app.cluster.apiserver.validation.taints import nearest

_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NODE_OPERATORS = (*_LABEL_OPERATORS, "Gt", "Lt")


def label_selector(selector: Object, field: str) -> list[FieldError]:
    """`matchLabels` and `matchExpressions`."""
    errors = validation.labels(selector.get("matchLabels") or {}, f"{field}.matchLabels")
    for index, term in enumerate(selector.get("matchExpressions") or []):
        here = f"{field}.matchExpressions[{index}]"
        errors += _label_requirement(term, here)
        errors += [invalid(f"{here}.key", term.get("key") or "", text) for text in _key(term)]
    return errors


def label_keys(keys: list[str], selector: Object | None, field: str) -> list[FieldError]:
    """Keys whose values come from the pod itself (validateLabelKeys)."""
    if not keys:
        return []
    if selector is None:
        return [forbidden(field, "must not be specified when labelSelector is not set")]
    return [
        invalid(f"{field}[{index}]", key, text)
        for index, key in enumerate(keys)
        for text in validation.qualified_name(key)
    ]


def doubled_keys(keys: list[str], selector: Object | None, field: str) -> list[FieldError]:
    """Keys that the selector has besides: the pod's labels are merged into it first, one expression for each."""
    given = selector or {}
    seen = set(given.get("matchLabels") or {})
    places = {key: index for index, key in enumerate(keys)}
    errors = []
    for term in given.get("matchExpressions") or []:
        key = term.get("key")
        if key in places and key in seen:
            detail = "exists in both matchLabelKeys and labelSelector"
            errors.append(invalid(f"{field}[{places[key]}]", key, detail))
        seen.add(key)
    return errors


def _key(term: Object) -> list[str]:
    return validation.qualified_name(str(term.get("key") or ""))


def _label_requirement(term: Object, here: str) -> list[FieldError]:
    operator, values = term.get("operator") or "", term.get("values") or []
    if operator in {"In", "NotIn"}:
        if not values:
            return [required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")]
        return [
            invalid(f"{here}.values[{index}]", value, text)
            for index, value in enumerate(values)
            for text in validation.label_value(str(value))
        ]
    if operator in {"Exists", "DoesNotExist"}:
        if values:
            return [forbidden(f"{here}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        return []
    detail = "not a valid selector operator"
    return [invalid(f"{here}.operator", operator, detail, nearest(operator, _LABEL_OPERATORS))]


def node_selector_term(term: Object, field: str) -> list[FieldError]:
    """`matchExpressions` over labels and `matchFields` over `metadata.name`."""
    errors: list[FieldError] = []
    for index, requirement in enumerate(term.get("matchExpressions") or []):
        errors += _node_requirement(requirement, f"{field}.matchExpressions[{index}]")
    for index, requirement in enumerate(term.get("matchFields") or []):
        errors += _node_field(requirement, f"{field}.matchFields[{index}]")
    return errors


def _node_requirement(term: Object, here: str) -> list[FieldError]:
    """ValidateNodeSelectorRequirement."""
    operator, values = term.get("operator") or "", term.get("values") or []
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{here}.values", detail))
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{here}.values", detail))
    else:
        detail = "not a valid selector operator"
        errors.append(invalid(f"{here}.operator", operator, detail, nearest(operator, _NODE_OPERATORS)))
    errors += [invalid(f"{here}.key", term.get("key") or "", text) for text in _key(term)]
    for index, value in enumerate(values):
        errors += [invalid(f"{here}.values[{index}]", value, text) for text in validation.label_value(str(value))]
    return errors


def _node_field(term: Object, here: str) -> list[FieldError]:
    """ValidateNodeFieldSelectorRequirement: only metadata.name, and exactly one value."""
    operator, values, key = term.get("operator") or "", term.get("values") or [], term.get("key") or ""
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if len(values) != 1:
            detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            errors.append(required(f"{here}.values", detail))
    else:
        errors.append(invalid(f"{here}.operator", operator, "not a valid selector operator"))
    if key != "metadata.name":
        errors.append(invalid(f"{here}.key", key, "not a valid field selector key"))
        return errors
    for index, value in enumerate(values):
        errors += [invalid(f"{here}.values[{index}]", value, text) for text in validation.dns1123_subdomain(str(value))]
    return errors
