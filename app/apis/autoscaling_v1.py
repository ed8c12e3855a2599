"""HorizontalPodAutoscalers of autoscaling/v1: a view of those of autoscaling/v2, which are stored.

Mirrors pkg/apis/autoscaling/v1/conversion.go and defaults.go. What v1 has no fields for goes into annotations, and
comes back from them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery.meta import Object
from app.apis import decode

STORED, SHOWN = "autoscaling/v2", "autoscaling/v1"
_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS, _CURRENT, _BEHAVIOR, _CONDITIONS = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "behavior", "conditions")
)
_ROUND_TRIP = frozenset({_METRICS, _CURRENT, _BEHAVIOR, _CONDITIONS})
_CPU_SHARE = 80
_LONGEST = 65_536
"""Characters of an annotation beyond which it is not read."""
_SOURCES = ("object", "pods", "resource", "containerResource", "external")
_AMOUNTS = ("averageUtilization", "averageValue", "value")


def stored(obj: Object) -> Object:
    """A v1 object as v2; annotations that hold anything else than what they are for are not read."""
    annotations = dict((obj.get("metadata") or {}).get("annotations") or {})
    found = _stored(obj, annotations)
    return _stored(obj, {}) if _ROUND_TRIP & annotations.keys() and decode.problems(found) else found


def _stored(obj: Object, annotations: Mapping[str, Any]) -> Object:
    metadata, spec, status = (dict(obj.get(name) or {}) for name in ("metadata", "spec", "status"))
    share, used = spec.pop("targetCPUUtilizationPercentage", None), status.pop("currentCPUUtilizationPercentage", None)
    metrics = [_modern(one, "target") for one in _listed(annotations.get(_METRICS))]
    current = [_modern(one, "current") for one in _listed(annotations.get(_CURRENT))]
    if share is not None:
        metrics.append(_cpu("target", {"type": "Utilization", "averageUtilization": share}))
    if not current and used is not None:
        current.append(_cpu("current", {"averageUtilization": used}))
    spec["metrics"] = metrics or [_cpu("target", {"type": "Utilization", "averageUtilization": _CPU_SHARE})]
    behavior = _read(annotations.get(_BEHAVIOR))
    if isinstance(behavior, Mapping):
        spec["behavior"] = _renamed(behavior, str.lower)
    found = {**obj, "apiVersion": STORED, "metadata": metadata, "spec": spec}
    conditions = _listed(annotations.get(_CONDITIONS))
    if status or current or conditions:
        found["status"] = {**status, "currentMetrics": current, **({"conditions": conditions} if conditions else {})}
    given = metadata.get("annotations") or {}
    kept = {key: value for key, value in given.items() if key not in _ROUND_TRIP}
    metadata.pop("annotations", None)
    if kept:
        metadata["annotations"] = kept
    return found


def shown(obj: Object) -> Object:
    """A v2 object as v1."""
    metadata, spec, status = (dict(obj.get(name) or {}) for name in ("metadata", "spec", "status"))
    given = metadata.get("annotations") or {}
    annotations = {key: value for key, value in given.items() if key not in _ROUND_TRIP}
    metrics, behavior = spec.pop("metrics", None) or [], spec.pop("behavior", None)
    share = next((_share(one, "target") for one in metrics if _share(one, "target") is not None), None)
    if share is not None:
        spec["targetCPUUtilizationPercentage"] = share
    current, conditions = status.pop("currentMetrics", None) or [], status.pop("conditions", None)
    used = next((_share(one, "current") for one in current if _share(one, "current") is not None), None)
    if used is not None:
        status["currentCPUUtilizationPercentage"] = used
    others = [_older(one, "target") for one in metrics if _share(one, "target") is None]
    told = (
        (_METRICS, others),
        (_CURRENT, [_older(one, "current") for one in current]),
        (_BEHAVIOR, behavior and _renamed(behavior, str.upper)),
        (_CONDITIONS, conditions),
    )
    annotations |= {key: json.dumps(value, separators=(",", ":")) for key, value in told if value}
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return {**obj, "apiVersion": SHOWN, "metadata": metadata, "spec": spec, "status": status}


def _cpu(part: str, amount: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "Resource", "resource": {"name": "cpu", part: dict(amount)}}


def _share(metric: Mapping[str, Any], part: str) -> int | None:
    """The share of the CPU that v1 has a field for."""
    source = metric.get("resource") or {}
    if metric.get("type") != "Resource" or source.get("name") != "cpu":
        return None
    share = (source.get(part) or {}).get("averageUtilization")
    return share if isinstance(share, int) else None


def _read(text: Any) -> Any:
    """What an annotation holds; nothing where it is no JSON, as upstream does not read it either."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _listed(text: Any) -> list[dict[str, Any]]:
    found = _read(text)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _older(metric: Mapping[str, Any], part: str) -> dict[str, Any]:
    """A metric with its amount in fields of the source: `targetAverageValue`."""
    found = copy.deepcopy(dict(metric))
    for field in _SOURCES:
        source = found.get(field)
        if not isinstance(source, dict):
            continue
        amount = source.pop(part, None) or {}
        for name in _AMOUNTS:
            if amount.get(name) is not None:
                source[part + name[0].upper() + name[1:]] = amount[name]
        identifier = source.pop("metric", None) or {}
        if identifier.get("name"):
            source["metricName"] = identifier["name"]
        if identifier.get("selector") is not None:
            source["selector" if field != "external" else "metricSelector"] = identifier["selector"]
        if field == "object" and "describedObject" in source:
            source["target"] = source.pop("describedObject")
    return found


def _modern(metric: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The reverse."""
    found = copy.deepcopy(dict(metric))
    for field in _SOURCES:
        source = found.get(field)
        if not isinstance(source, dict):
            continue
        if field == "object" and "target" in source:
            source["describedObject"] = source.pop("target")
        amount = {
            name: source.pop(part + name[0].upper() + name[1:])
            for name in _AMOUNTS
            if part + name[0].upper() + name[1:] in source
        }
        if part == "target":
            amount["type"] = _kind_of(amount)
        source[part] = amount
        name, selector = source.pop("metricName", None), source.pop("metricSelector", source.pop("selector", None))
        if name is not None:
            source["metric"] = {"name": name, **({"selector": selector} if selector is not None else {})}
    return found


def _kind_of(amount: Mapping[str, Any]) -> str:
    if "averageUtilization" in amount:
        return "Utilization"
    return "AverageValue" if "averageValue" in amount else "Value"


def _renamed(value: Any, case: Any) -> Any:
    """Rules of scaling with the first letter of each name in the other case: v1 keeps them by their Go names."""
    if isinstance(value, Mapping):
        return {case(key[:1]) + key[1:]: _renamed(item, case) for key, item in value.items() if item is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_renamed(item, case) for item in value]
    return value
