"""Lets volumes go that are bound to no claim (pkg/controller/volume/pvprotection/pv_protection_controller.go)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "persistentvolume-protection-controller"
WATCHES = frozenset({"persistentvolumes"})
FINALIZER = "kubernetes.io/pv-protection"


def sync(context: Context) -> None:
    """Put the finalizer on volumes that lack it, and take it off those that are deleted and not bound (processPV)."""
    for volume in context.client.list("persistentvolumes"):
        finalizers = list(volume["metadata"].get("finalizers") or ())
        if not utils.is_terminating(volume):
            if FINALIZER not in finalizers:
                _write(context, volume, [*finalizers, FINALIZER])
        elif FINALIZER in finalizers and (volume.get("status") or {}).get("phase") != "Bound":
            _write(context, volume, [name for name in finalizers if name != FINALIZER])


def _write(context: Context, volume: Object, finalizers: list[str]) -> None:
    metadata = {key: value for key, value in volume["metadata"].items() if key != "finalizers"}
    if finalizers:
        metadata["finalizers"] = finalizers
    utils.quietly_update(context, {**volume, "metadata": metadata}, "persistentvolumes")
