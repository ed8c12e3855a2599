"""Empties namespaces that are being deleted, then lets them go.

Mirrors pkg/controller/namespace/deletion/namespaced_resources_deleter.go.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "namespace-controller"
WATCHES = frozenset(info.plural for info in scheme.KINDS if info.namespaced or info.plural == "namespaces")
FINALIZER = "kubernetes"
_CONTENTS = tuple(info.plural for info in scheme.KINDS if info.namespaced and info.kind != "Binding")


def sync(context: Context) -> None:
    """Delete the contents of every terminating namespace; finalize those that are empty (Delete)."""
    for namespace in context.client.list("namespaces"):
        if not utils.is_terminating(namespace):
            continue
        name = meta.name_of(namespace)
        if _empty(context, name):
            spec = namespace.get("spec") or {}
            left = [finalizer for finalizer in spec.get("finalizers") or [] if finalizer != FINALIZER]
            try:
                context.client.update({**namespace, "spec": {**spec, "finalizers": left}}, subresource="finalize")
            except (NotFound, Conflict):
                context.wake(name, context.now)


def _empty(context: Context, namespace: str) -> bool:
    """Delete what is there; True when nothing is left."""
    left = 0
    for resource in _CONTENTS:
        for obj in context.client.list(resource, namespace):
            if not utils.is_terminating(obj):
                try:
                    context.client.delete(resource, meta.name_of(obj), namespace)
                except NotFound:
                    continue
            left += context.client.find(resource, meta.name_of(obj), namespace) is not None
    return left == 0
