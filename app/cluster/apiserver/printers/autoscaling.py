"""The row of a HorizontalPodAutoscaler (pkg/printers/internalversion/printers.go: formatHPAMetrics)."""

from __future__ import annotations

from typing import Any

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import AGE, NAME, NONE, UNKNOWN, UNSET, Cells, Printer, age, name_of, text

_SHOWN = 2
_SOURCES = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


def _metrics(obj: Object) -> str:
    specs = obj.get("spec", {}).get("metrics") or []
    current = obj.get("status", {}).get("currentMetrics") or []
    written = [_metric(spec, current[index] if index < len(current) else {}) for index, spec in enumerate(specs)]
    shown = ", ".join(written[:_SHOWN])
    if len(written) > _SHOWN:
        return f"{shown} + {len(written) - _SHOWN} more..."
    return shown or NONE


def _metric(spec: dict[str, Any], status: dict[str, Any]) -> str:
    field = _SOURCES.get(str(spec.get("type")))
    if field is None:
        return "<unknown type>"
    source = spec.get(field, {})
    target, current = source.get("target", {}), status.get(field, {}).get("current", {})
    if field in ("resource", "containerResource"):
        name = source.get("name", "")
        if target.get("averageValue"):
            return f"{name}: {current.get('averageValue', UNKNOWN)}/{target['averageValue']}"
        wanted = target.get("averageUtilization")
        return f"{name}: {_percent(current.get('averageUtilization'), UNKNOWN)}/{_percent(wanted, '<auto>')}"
    if field == "pods":
        return f"{current.get('averageValue', UNKNOWN)}/{target.get('averageValue', '0')}"
    if target.get("averageValue"):
        return f"{current.get('averageValue', UNKNOWN)}/{target['averageValue']} (avg)"
    return f"{current.get('value', UNKNOWN)}/{target.get('value', '0')}"


def _percent(value: int | None, missing: str) -> str:
    return missing if value is None else f"{value}%"


def _autoscaler(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    reference = spec.get("scaleTargetRef", {})
    return [
        name_of(obj),
        f"{reference.get('kind', '')}/{reference.get('name', '')}",
        _metrics(obj),
        str(spec.get("minReplicas", UNSET)),
        spec.get("maxReplicas", 0),
        obj.get("status", {}).get("currentReplicas", 0),
        age(obj, now),
    ]


PRINTERS = {
    "horizontalpodautoscalers.autoscaling": Printer(
        (NAME, text("Reference"), text("Targets"), text("MinPods"), text("MaxPods"), text("Replicas"), AGE), _autoscaler
    ),
}
