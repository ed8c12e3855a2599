"""matchLabelKeys and mismatchLabelKeys: values of the pod's own labels that become part of a selector.

Mirrors pkg/registry/core/pod/strategy.go: applyMatchLabelKeysAndMismatchLabelKeys, applyMatchLabelKeys (since 1.34).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object


def merge(pod: Object) -> None:
    """Turn the keys into expressions of the selectors of a pod that is being created; the pod is changed."""
    labels, spec = meta.labels_of(pod), pod.get("spec") or {}
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, constraint.get("matchLabelKeys"), "In", labels)
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        listed = affinity.get(kind) or {}
        terms = list(listed.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = listed.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [item.get("podAffinityTerm") or {} for item in preferred]
        for term in terms:
            _merge(term, term.get("matchLabelKeys"), "In", labels)
            _merge(term, term.get("mismatchLabelKeys"), "NotIn", labels)


def _merge(term: dict[str, Any], keys: Iterable[str] | None, operator: str, labels: Mapping[str, str]) -> None:
    if term.get("labelSelector") is None:
        return
    for key in keys or ():
        if key in labels:
            expression = {"key": key, "operator": operator, "values": [labels[key]]}
            expressions = term["labelSelector"].get("matchExpressions") or []
            term["labelSelector"]["matchExpressions"] = [*expressions, expression]
