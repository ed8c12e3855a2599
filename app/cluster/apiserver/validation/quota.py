"""Rules for ResourceQuotas (pkg/apis/core/validation/validation.go: ValidateResourceQuota)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, required
from app.apis import internal_types

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_REQUESTS = "requests."
_POD_RESOURCES = frozenset({"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_COUNTS = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
STANDARD_QUOTA = frozenset(
    {
        *_COUNTS,
        *_COMPUTE,
        *(f"{part}{name}" for part in (_REQUESTS, "limits.") for name in _COMPUTE),
        "requests.storage",
    }
)
_WHOLE = frozenset({"Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"})
_FLAGS = frozenset({"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"})
_SCOPES = frozenset({*_FLAGS, "PriorityClass", "VolumeAttributesClass"})
_CLAIM_RESOURCES = frozenset({"persistentvolumeclaims", "requests.storage"})
_OPPOSITES = (frozenset({"BestEffort", "NotBestEffort"}), frozenset({"Terminating", "NotTerminating"}))
_WRONG_SCOPE = "unsupported scope applied to resource"
_ONLY_EXISTS = (
    "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def resource_quota(obj: Object) -> list[FieldError]:
    """ValidateResourceQuotaSpec."""
    spec = obj.get("spec") or {}
    errors: list[FieldError] = []
    for name, amount in sorted((spec.get("hard") or {}).items()):
        errors += _name(name, f"spec.hard[{name}]") + _amount(name, amount, f"spec.hard[{name}]")
    return errors + _scopes(spec) + _selector(spec)


def resource_quota_update(new: Object, old: Object) -> list[FieldError]:
    """Its scopes never change (ValidateResourceQuotaUpdate)."""
    errors = resource_quota(new)
    scopes, former = ((obj.get("spec") or {}).get("scopes") or [] for obj in (new, old))
    if set(scopes) != set(former):
        errors.append(invalid("spec.scopes", scopes, "field is immutable"))
    return errors


def _name(name: str, field: str) -> list[FieldError]:
    """ValidateResourceQuotaResourceName."""
    errors = [invalid(field, name, text) for text in validation.qualified_name(name)]
    if errors or "/" in name or _is_standard(name):
        return errors
    return [
        invalid(field, name, "must be a standard resource type or fully qualified"),
        invalid(field, name, "must be a standard resource for quota"),
    ]


def _is_standard(name: str) -> bool:
    return name in STANDARD_QUOTA or name.startswith(("hugepages-", f"{_REQUESTS}hugepages-"))


def _amount(name: str, amount: Any, field: str) -> list[FieldError]:
    """ValidateResourceQuantityValue."""
    found = quantity.of(amount)
    if found.nanos < 0:
        return [invalid(field, str(found), "must be greater than or equal to 0")]
    extended = "/" in name and "kubernetes.io/" not in name and not name.startswith(_REQUESTS)
    if (name in _COUNTS or extended) and found.nanos % quantity.ONE:
        return [invalid(field, str(found), "must be an integer")]
    return []


def _applies(scope: str, resource: str) -> bool:
    """Whether a scope makes sense for a resource (helper.IsResourceQuotaScopeValidForResource)."""
    if not _is_standard(resource):
        return True
    if scope in _WHOLE:
        return resource in _POD_RESOURCES
    if scope == "BestEffort":
        return resource == "pods"
    return scope != "VolumeAttributesClass" or resource in _CLAIM_RESOURCES


def _scopes(spec: Mapping[str, Any]) -> list[FieldError]:
    """ValidateResourceQuotaScopes."""
    scopes = list(spec.get("scopes") or ())
    errors: list[FieldError] = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        wrong = [name for name in spec.get("hard") or {} if not _applies(scope, name)]
        errors += [invalid("spec.scopes", scopes, _WRONG_SCOPE)] * len(wrong)
    return errors + _conflicting(scopes, scopes, "spec.scopes")


def _selector(spec: Mapping[str, Any]) -> list[FieldError]:
    """ValidateScopedResourceSelectorRequirement."""
    selector = spec.get("scopeSelector")
    if selector is None:
        return []
    here = "spec.scopeSelector.matchExpressions"
    terms = selector.get("matchExpressions") or ()
    errors: list[FieldError] = []
    for term in terms:
        scope = str(term.get("scopeName") or "")
        if scope not in _SCOPES:
            errors.append(invalid(f"{here}.scopeName", scope, "unsupported scope"))
        wrong = [name for name in spec.get("hard") or {} if not _applies(scope, name)]
        errors += [invalid(here, internal_types.shown("ScopeSelector", selector), _WRONG_SCOPE)] * len(wrong)
        errors += _operator(term, scope, here)
    names = [str(term.get("scopeName") or "") for term in terms]
    return errors + _conflicting(names, spec.get("scopes"), here)


def _operator(term: Mapping[str, Any], scope: str, here: str) -> list[FieldError]:
    operator, values = term.get("operator") or "", term.get("values") or []
    errors: list[FieldError] = []
    if scope in _FLAGS and operator != "Exists":
        errors.append(invalid(f"{here}.operator", operator, _ONLY_EXISTS))
    if operator in {"In", "NotIn"}:
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(required(f"{here}.values", detail))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(invalid(f"{here}.values", values, detail))
    else:
        errors.append(invalid(f"{here}.operator", operator, "not a valid selector operator"))
    return errors


def _conflicting(scopes: Iterable[str], value: Any, field: str) -> list[FieldError]:
    present = set(scopes)
    return [invalid(field, value, "conflicting scopes") for pair in _OPPOSITES if pair <= present]
