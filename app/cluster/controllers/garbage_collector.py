"""Deletes what its owners left behind (pkg/controller/garbagecollector/garbagecollector.go: attemptToDeleteItem).

Background deletion needs no marks: a dependent whose owners are all gone goes too. Foreground and orphan deletion
are finalizers on the owner, taken off here once the dependents are gone or let go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound, StatusError
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

NAME = "garbage-collector-controller"
WATCHES = frozenset(info.plural for info in scheme.KINDS if info.plural != "events")
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"

Reference = Mapping[str, Any]


@dataclass(frozen=True)
class _Graph:
    """Who refers to whom: (resource, object) of everything, of dependents by their owner's uid, and owners by uid."""

    everything: list[tuple[str, Object]]
    dependents: dict[str, list[tuple[str, Object]]]
    owners: dict[str, Object]


def sync(context: Context) -> None:
    """Delete dependents without owners and finish owners that wait for theirs."""
    if not _worth_a_look(context):
        return
    graph = _graph(context)
    for resource, obj in graph.everything:
        if obj["metadata"].get("ownerReferences"):
            _attempt(context, graph, resource, obj)
    for resource, obj in graph.everything:
        if utils.is_terminating(obj):
            _finish_owner(context, graph, resource, obj)


def _worth_a_look(context: Context) -> bool:
    """Only a removal, a mark of deletion or a new dependent can leave anything to do."""
    if context.full or context.fired:
        return True
    return any(
        change.type == "DELETED"
        or utils.is_terminating(change.object)
        or _new_dependent(change.previous, change.object)
        for change in context.changes
        if change.resource != "events"
    )


def _new_dependent(previous: Object | None, obj: Object) -> bool:
    before = (previous or {}).get("metadata", {}).get("ownerReferences")
    return bool(obj["metadata"].get("ownerReferences")) and before != obj["metadata"]["ownerReferences"]


def _graph(context: Context) -> _Graph:
    everything = [
        (info.plural, obj)
        for info in scheme.KINDS
        if info.plural in WATCHES and not info.stored_as
        for obj in context.client.list(info.plural)
    ]
    dependents: dict[str, list[tuple[str, Object]]] = {}
    for resource, obj in everything:
        for reference in obj["metadata"].get("ownerReferences") or []:
            dependents.setdefault(str(reference.get("uid")), []).append((resource, obj))
    owners = {obj["metadata"]["uid"]: obj for _, obj in everything if obj["metadata"]["uid"] in dependents}
    return _Graph(everything, dependents, owners)


def _attempt(context: Context, graph: _Graph, resource: str, obj: Object) -> None:
    """Delete an object whose owners are gone, or whose only owners wait for it."""
    if utils.is_terminating(obj):
        return
    references: list[Reference] = obj["metadata"]["ownerReferences"]
    kinds = [_classify(context, graph, obj, reference) for reference in references]
    if "solid" in kinds:
        if set(kinds) != {"solid"}:
            left = [reference for reference, kind in zip(references, kinds, strict=True) if kind == "solid"]
            utils.quietly_update(context, {**obj, "metadata": {**obj["metadata"], "ownerReferences": left}}, resource)
        return
    own = graph.dependents.get(obj["metadata"]["uid"], [])
    policy = None
    if "waiting" in kinds and own:
        policy = "Foreground"
        if any(_waits(dependent) for _, dependent in own):
            obj = _unblocked(context, resource, obj)
    _delete(context, resource, obj, policy or _marked(obj))


def _classify(context: Context, graph: _Graph, obj: Object, reference: Reference) -> str:
    """Whether an owner is there (`solid`), waits for its dependents (`waiting`) or is gone (`absent`: isDangling)."""
    try:
        info = scheme.for_kind(str(reference.get("apiVersion")), str(reference.get("kind")))
    except StatusError:
        # Nobody knows the kind, so nobody can say that the owner is gone.
        return "solid"
    namespace = meta.namespace_of(obj)
    if info.namespaced and not namespace:
        # Not allowed, and for this reason never collected.
        return "solid"
    owner = context.client.find(info, str(reference.get("name")), namespace if info.namespaced else "")
    if owner is None or owner["metadata"]["uid"] != reference.get("uid"):
        _warn_of_wrong_namespace(context, graph, obj, reference)
        return "absent"
    return "waiting" if _waits(owner) else "solid"


def _warn_of_wrong_namespace(context: Context, graph: _Graph, obj: Object, reference: Reference) -> None:
    """An owner of that uid lives elsewhere (graph_builder.go: reportInvalidNamespaceOwnerRef)."""
    owner = graph.owners.get(str(reference.get("uid")))
    if owner is None or meta.namespace_of(owner) in {"", meta.namespace_of(obj)}:
        return
    version, kind, name, uid = (reference.get(part) for part in ("apiVersion", "kind", "name", "uid"))
    shown = f"[{version}/{kind}, namespace: {meta.namespace_of(obj)}, name: {name}, uid: {uid}]"
    message = f'ownerRef {shown} does not exist in namespace "{meta.namespace_of(obj)}"'
    context.recorder.record(obj, events.WARNING, "OwnerRefInvalidNamespace", message, component=NAME)


def _waits(obj: Object) -> bool:
    """Whether the object stays until its dependents are gone (isDeletingDependents)."""
    return utils.is_terminating(obj) and FOREGROUND in (obj["metadata"].get("finalizers") or [])


def _marked(obj: Object) -> str | None:
    """How an object wants to be deleted, by its finalizers."""
    finalizers = obj["metadata"].get("finalizers") or []
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else None


def _unblocked(context: Context, resource: str, obj: Object) -> Object:
    """References that hold no owner up: of objects that own each other, one must begin (unblockOwnerReferences)."""
    references = [{**r, "blockOwnerDeletion": False} for r in obj["metadata"]["ownerReferences"]]
    changed = {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}
    return utils.quietly_update(context, changed, resource) or obj


def _delete(context: Context, resource: str, obj: Object, policy: str | None) -> None:
    try:
        context.client.delete(
            resource, meta.name_of(obj), meta.namespace_of(obj), propagation=policy, uid=obj["metadata"]["uid"]
        )
    except (NotFound, Conflict):
        context.wake(obj["metadata"]["uid"], context.now)


def _finish_owner(context: Context, graph: _Graph, resource: str, owner: Object) -> None:
    finalizers = owner["metadata"].get("finalizers") or []
    uid = owner["metadata"]["uid"]
    mine = graph.dependents.get(uid, [])
    if ORPHAN in finalizers:
        for kind, obj in mine:
            references = [r for r in obj["metadata"]["ownerReferences"] if r.get("uid") != uid]
            metadata = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
            if references:
                metadata["ownerReferences"] = references
            utils.quietly_update(context, {**obj, "metadata": metadata}, kind)
        _drop(context, resource, owner, ORPHAN)
    elif FOREGROUND in finalizers and not any(_blocks(context, kind, obj, uid) for kind, obj in mine):
        _drop(context, resource, owner, FOREGROUND)


def _blocks(context: Context, resource: str, obj: Object, uid: str) -> bool:
    """Whether a dependent, as it is by now, still holds its owner up."""
    current = context.client.find(resource, meta.name_of(obj), meta.namespace_of(obj))
    if current is None or current["metadata"]["uid"] != obj["metadata"]["uid"]:
        return False
    references = current["metadata"].get("ownerReferences") or []
    return any(r.get("uid") == uid and r.get("blockOwnerDeletion") for r in references)


def _drop(context: Context, resource: str, owner: Object, finalizer: str) -> None:
    left = [name for name in owner["metadata"]["finalizers"] if name != finalizer]
    metadata = {key: value for key, value in owner["metadata"].items() if key != "finalizers"}
    if left:
        metadata["finalizers"] = left
    utils.quietly_update(context, {**owner, "metadata": metadata}, resource)
