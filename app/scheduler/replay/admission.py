"""What the API server does to an object before a scheduler sees it, as far as vectors need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import defaults, label_keys, scheme

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
        label_keys.merge(found)
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
