"""What the API server does to an object before a scheduler sees it, as far as vectors need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import defaults, scheme

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admitted(obj: Object, classes: Iterable[Object]) -> Object:
    """The object with defaults, its uid and, for a pod, priority, merged label keys and the gated condition."""
    found = defaults.apply(obj)
    metadata = found.setdefault("metadata", {})
    if scheme.of(found).namespaced:
        metadata.setdefault("namespace", "default")
        metadata.setdefault("uid", f"uid-{metadata['namespace']}-{metadata['name']}")
    else:
        metadata.setdefault("uid", f"uid-{metadata['name']}")
    if found["kind"] == "Pod":
        _priority(found["spec"], classes)
        _merge_label_keys(found)
        if found["spec"].get("schedulingGates"):
            condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
            condition["message"] = "Scheduling is blocked due to non-empty scheduling gates"
            found.setdefault("status", {}).setdefault("conditions", []).append(condition)
    return found


def _priority(spec: dict[str, Any], classes: Iterable[Object]) -> None:
    """Fill priority and preemptionPolicy from the class (plugin/pkg/admission/priority)."""
    name = spec.get("priorityClassName")
    if name in SYSTEM_PRIORITIES:
        spec.setdefault("priority", SYSTEM_PRIORITIES[name])
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        return
    found: Mapping[str, Any] = {}
    if name:
        found = next((item for item in classes if meta.name_of(item) == name), {})
    else:
        defaults_of_all = [item for item in classes if item.get("globalDefault")]
        if defaults_of_all:
            found = min(defaults_of_all, key=lambda item: int(item.get("value") or 0))
            spec["priorityClassName"] = meta.name_of(found)
    spec.setdefault("priority", int(found.get("value") or 0))
    spec.setdefault("preemptionPolicy", found.get("preemptionPolicy") or "PreemptLowerPriority")


def _merge_label_keys(pod: Object) -> None:
    """Turn matchLabelKeys and mismatchLabelKeys into expressions of the selector (registry/core/pod/strategy.go)."""
    labels, spec = meta.labels_of(pod), pod["spec"]
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, constraint.get("matchLabelKeys"), "In", labels)
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        listed = affinity.get(kind) or {}
        terms = list(listed.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = listed.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [item["podAffinityTerm"] for item in preferred]
        for term in terms:
            _merge(term, term.get("matchLabelKeys"), "In", labels)
            _merge(term, term.get("mismatchLabelKeys"), "NotIn", labels)


def _merge(term: dict[str, Any], keys: Iterable[str] | None, operator: str, labels: Mapping[str, str]) -> None:
    if term.get("labelSelector") is None:
        return
    for key in keys or ():
        if key in labels:
            expression = {"key": key, "operator": operator, "values": [labels[key]]}
            term["labelSelector"].setdefault("matchExpressions", []).append(expression)
