"""Tables: what `kubectl get` asks for (k8s.io/apiserver/pkg/endpoints/handlers/response.go: asTable).

The columns and cells of each kind are in `printers/`; a kind without a printer shows its name and when it was
created (registry/rest/table.go: defaultTableConvertor).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers import apps, autoscaling, core, devices, network, pods, policy, storage
from app.cluster.apiserver.printers.base import NAME, Cells, Column, Printer, name_of

PRINTERS: dict[str, Printer] = {
    **pods.PRINTERS,
    **core.PRINTERS,
    **apps.PRINTERS,
    **autoscaling.PRINTERS,
    **network.PRINTERS,
    **policy.PRINTERS,
    **storage.PRINTERS,
    **devices.PRINTERS,
}
"""Group resource (`pods`, `deployments.apps`) to printer."""

INCLUDE_OBJECT = ("Metadata", "Object", "None")


def _default_cells(obj: Object, _: Instant) -> Cells:
    return [name_of(obj), obj.get("metadata", {}).get("creationTimestamp", "")]


_DEFAULT = Printer((NAME, Column("Created At", type="date")), _default_cells)


def printer_for(group_resource: str) -> Printer:
    """The printer of a resource (`pods`, `deployments.apps`)."""
    return PRINTERS.get(group_resource, _DEFAULT)


def table(
    printer: Printer,
    objects: Sequence[Object],
    now: Instant,
    *,
    metadata: dict[str, Any] | None = None,
    include_object: str = "Metadata",
) -> Object:
    """A meta.k8s.io/v1 Table of the objects; ages are counted to `now`.

    `include_object` is one of INCLUDE_OBJECT: what each row carries beside its cells.
    """
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata or {},
        "columnDefinitions": [column.to_json() for column in printer.columns],
        "rows": [_row(printer, obj, now, include_object) for obj in objects],
    }


def partial_metadata(obj: Object) -> Object:
    """The object's metadata alone (metav1.PartialObjectMetadata)."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj.get("metadata", {}),
    }


def _row(printer: Printer, obj: Object, now: Instant, include_object: str) -> Object:
    row: Object = {"cells": printer.cells(obj, now)}
    conditions = printer.conditions(obj)
    if conditions:
        row["conditions"] = conditions
    if include_object == "Object":
        row["object"] = obj
    elif include_object == "Metadata":
        row["object"] = partial_metadata(obj)
    else:
        row["object"] = None
    return row
