"""Rows of dynamic resource allocation and runtime classes (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import AGE, NAME, Cells, Printer, age, name_of, text


def _named(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), age(obj, now)]


def _claim_state(obj: Object) -> str:
    deleted = bool(obj.get("metadata", {}).get("deletionTimestamp"))
    states = ["deleted"] if deleted else []
    status = obj.get("status", {})
    if not status.get("allocation"):
        return ",".join(states or ["pending"])
    states.append("allocated")
    if status.get("reservedFor"):
        states.append("reserved")
    return ",".join(states)


def _claim(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), _claim_state(obj), age(obj, now)]


def _slice(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    pool = spec.get("pool", {}).get("name", "")
    return [name_of(obj), spec.get("nodeName", ""), spec.get("driver", ""), pool, age(obj, now)]


def _runtime_class(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), obj.get("handler", ""), age(obj, now)]


PRINTERS = {
    "deviceclasses.resource.k8s.io": Printer((NAME, AGE), _named),
    "resourceclaims.resource.k8s.io": Printer((NAME, text("State"), AGE), _claim),
    "resourceclaimtemplates.resource.k8s.io": Printer((NAME, AGE), _named),
    "resourceslices.resource.k8s.io": Printer((NAME, text("Node"), text("Driver"), text("Pool"), AGE), _slice),
    "runtimeclasses.node.k8s.io": Printer((NAME, text("Handler"), AGE), _runtime_class),
}
