"""Empties namespaces that are being deleted, then lets them go.

Mirrors pkg/controller/namespace/deletion/namespaced_resources_deleter.go (pods go first, the rest follows when they
are gone) and status_condition_utils.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound, StatusError
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "namespace-controller"
WATCHES = frozenset(info.plural for info in scheme.KINDS if info.namespaced or info.plural == "namespaces")
FINALIZER = "kubernetes"
_CONTENTS = tuple(
    info for info in scheme.KINDS if info.namespaced and not info.stored_as and info.kind not in {"Binding", "Pod"}
)
_PODS = tuple(info for info in scheme.KINDS if info.plural == "pods")
_GONE = ("ContentRemoved", "All content successfully removed")
_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": _GONE,
    "NamespaceFinalizersRemaining": _GONE,
}
"""Each condition's reason and message while nothing is wrong."""

Problems = dict[str, tuple[str, str]]


def sync(context: Context) -> None:
    """Delete the contents of every terminating namespace; finalize those that are empty (Delete)."""
    for namespace in context.client.list("namespaces"):
        if not utils.is_terminating(namespace) or FINALIZER not in _finalizers(namespace):
            continue
        name = meta.name_of(namespace)
        problems = _empty(context, name, _PODS) or _empty(context, name, _CONTENTS)
        _tell(context, namespace, problems)
        if not problems:
            _finalize(context, name)


def _finalizers(namespace: Object) -> list[str]:
    return list((namespace.get("spec") or {}).get("finalizers") or [])


def _empty(context: Context, namespace: str, kinds: Sequence[scheme.KindInfo]) -> Problems:
    """Delete what is there; what stands in the way of an empty namespace (deleteAllContent)."""
    left: list[str] = []
    finalizers: Counter[str] = Counter()
    failures: list[str] = []
    for info in kinds:
        for obj in context.client.list(info.plural, namespace):
            if not utils.is_terminating(obj):
                try:
                    context.client.delete(info.plural, meta.name_of(obj), namespace)
                except NotFound:
                    continue
                except StatusError as error:
                    failures.append(error.message)
        rest = context.client.list(info.plural, namespace)
        if rest:
            left.append(f"{info.plural}.{info.group} has {len(rest)} resource instances")
            finalizers.update(name for obj in rest for name in obj["metadata"].get("finalizers") or [])
    return _problems(left, finalizers, failures)


def _problems(left: list[str], finalizers: Counter[str], failures: list[str]) -> Problems:
    problems: Problems = {}
    if failures:
        told = f"Failed to delete all resource types, {len(failures)} remaining: {', '.join(sorted(failures))}"
        problems["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", told)
    if left:
        told = f"Some resources are remaining: {', '.join(sorted(left))}"
        problems["NamespaceContentRemaining"] = ("SomeResourcesRemain", told)
    if finalizers:
        counted = sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
        told = f"Some finalizers are remaining: {', '.join(counted)}"
        problems["NamespaceFinalizersRemaining"] = ("SomeFinalizerRemain", told)
    return problems


def _tell(context: Context, namespace: Object, problems: Problems) -> None:
    """Say in the namespace's conditions what is left (updateConditions)."""
    status = namespace.get("status") or {}
    conditions: list[dict[str, Any]] = status.get("conditions") or []
    for kind, fine in _FINE.items():
        reason, message = problems.get(kind, fine)
        new = {"type": kind, "status": "True" if kind in problems else "False", "reason": reason, "message": message}
        conditions = utils.with_condition(conditions, new, context.now)
    utils.write_status(context, namespace, {**status, "conditions": conditions})


def _finalize(context: Context, name: str) -> None:
    """Take this controller's finalizer off, which lets the namespace go (finalizeNamespace)."""
    namespace = context.client.find("namespaces", name)
    if namespace is None:
        return
    left = [finalizer for finalizer in _finalizers(namespace) if finalizer != FINALIZER]
    spec = {**(namespace.get("spec") or {}), "finalizers": left}
    try:
        context.client.update({**namespace, "spec": spec}, subresource="finalize")
    except (NotFound, Conflict):
        context.wake(name, context.now)
