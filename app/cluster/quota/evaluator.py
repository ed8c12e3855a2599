"""How one kind counts against a quota (k8s.io/apiserver/pkg/quota/v1: Evaluator, generic/evaluator.go).

The generic rule counts objects, as `count/deployments.apps` and for some core kinds under an older name, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.apimachinery import labels
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.attributes import Attributes
from app.cluster.quota.amounts import ONE, Amounts

REQUESTS = "requests."
LIMITS = "limits."


class Evaluator:
    """Counts objects (generic/evaluator.go: objectCountEvaluator)."""

    def __init__(self, info: KindInfo, alias: str = "") -> None:
        self.info = info
        self.names = tuple(filter(None, (f"count/{info.group_resource}", alias)))

    def handles(self, attributes: Attributes) -> bool:
        """Whether the write can change what is used."""
        return attributes.operation == "CREATE" and not attributes.subresource

    def matching(self, names: Iterable[str]) -> list[str]:
        """Those of a quota's resources that objects of this kind use."""
        return [name for name in names if name in self.names]

    def in_scope(self, selector: Mapping[str, Any], obj: Object) -> bool:
        """Whether a scope holds for the object; without scopes of its own a kind is in none."""
        del selector, obj
        return False

    def missing(self, required: Sequence[str], obj: Object) -> str:
        """What the object fails to say of the resources that a quota limits; empty where nothing is wrong."""
        del required, obj
        return ""

    def usage(self, obj: Object) -> Amounts:
        """What the object uses."""
        del obj
        return dict.fromkeys(self.names, ONE)


def requirements(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A quota's scopes, each as a requirement (getScopeSelectorsFromQuota)."""
    scopes = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    return scopes + list((spec.get("scopeSelector") or {}).get("matchExpressions") or ())


def named_in(selector: Mapping[str, Any], values: Iterable[str]) -> bool:
    """Whether a scope's expression holds for one of the values, or for none (ScopedResourceSelectorRequirements…)."""
    key = str(selector.get("scopeName"))
    wanted = labels.Requirement(key, str(selector.get("operator")), tuple(selector.get("values") or ()))
    return any(wanted.matches({key: value}) for value in values)


def matches(evaluator: Evaluator, quota: Object, hard: Iterable[str], obj: Object) -> bool:
    """Whether the quota limits something of the object, and the object is in its scopes (generic: Matches)."""
    if not evaluator.matching(hard):
        return False
    return in_scopes(evaluator, quota, obj)


def in_scopes(evaluator: Evaluator, quota: Object, obj: Object) -> bool:
    """Whether the object is in each of the quota's scopes."""
    return all(evaluator.in_scope(selector, obj) for selector in requirements(quota.get("spec") or {}))
