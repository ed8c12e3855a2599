"""Deletes what its owners left behind (pkg/controller/garbagecollector/garbagecollector.go: attemptToDeleteItem).

Background deletion needs no marks: a dependent whose owners are all gone goes too. Foreground and orphan deletion
are finalizers on the owner, taken off here once the dependents are gone or let go.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "garbage-collector-controller"
WATCHES = frozenset(info.plural for info in scheme.KINDS if info.plural != "events")
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


def sync(context: Context) -> None:
    """Delete dependents without owners and finish owners that wait for theirs."""
    if not _worth_a_look(context):
        return
    everything = [
        (info.plural, obj)
        for info in scheme.KINDS
        if info.plural in WATCHES
        for obj in context.client.list(info.plural)
    ]
    dependents = [(resource, obj) for resource, obj in everything if obj["metadata"].get("ownerReferences")]
    uids = {obj["metadata"]["uid"] for _, obj in everything}
    waiting = {
        obj["metadata"]["uid"]
        for _, obj in everything
        if utils.is_terminating(obj) and FOREGROUND in (obj["metadata"].get("finalizers") or [])
    }
    for resource, obj in dependents:
        _attempt(context, resource, obj, uids, waiting)
    for resource, obj in everything:
        if utils.is_terminating(obj):
            _finish_owner(context, resource, obj, dependents)


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


def _attempt(context: Context, resource: str, obj: Object, uids: set[str], waiting: set[str]) -> None:
    """Delete an object whose owners are gone, or whose only owners wait for it."""
    if utils.is_terminating(obj):
        return
    owners: list[dict[str, Any]] = obj["metadata"]["ownerReferences"]
    solid = [owner for owner in owners if owner.get("uid") in uids and owner.get("uid") not in waiting]
    blocking = [owner for owner in owners if owner.get("uid") in waiting]
    if solid:
        if len(solid) < len(owners) and (blocking or any(o.get("uid") not in uids for o in owners)):
            metadata = {**obj["metadata"], "ownerReferences": solid}
            utils.quietly_update(context, {**obj, "metadata": metadata}, resource)
        return
    try:
        context.client.delete(
            resource,
            meta.name_of(obj),
            meta.namespace_of(obj),
            propagation="Foreground" if blocking else None,
            uid=obj["metadata"]["uid"],
        )
    except (NotFound, Conflict):
        context.wake(obj["metadata"]["uid"], context.now)


def _finish_owner(context: Context, resource: str, owner: Object, dependents: list[tuple[str, Object]]) -> None:
    finalizers = owner["metadata"].get("finalizers") or []
    uid = owner["metadata"]["uid"]
    mine = [(kind, obj) for kind, obj in dependents if _refers(obj, uid)]
    if ORPHAN in finalizers:
        for kind, obj in mine:
            references = [r for r in obj["metadata"]["ownerReferences"] if r.get("uid") != uid]
            metadata = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
            if references:
                metadata["ownerReferences"] = references
            utils.quietly_update(context, {**obj, "metadata": metadata}, kind)
        _drop(context, resource, owner, ORPHAN)
    elif FOREGROUND in finalizers and not any(_blocks(obj, uid) for _, obj in mine):
        _drop(context, resource, owner, FOREGROUND)


def _refers(obj: Object, uid: str) -> bool:
    return any(reference.get("uid") == uid for reference in obj["metadata"].get("ownerReferences") or [])


def _blocks(obj: Object, uid: str) -> bool:
    references = obj["metadata"].get("ownerReferences") or []
    return any(r.get("uid") == uid and r.get("blockOwnerDeletion") for r in references)


def _drop(context: Context, resource: str, owner: Object, finalizer: str) -> None:
    left = [name for name in owner["metadata"]["finalizers"] if name != finalizer]
    metadata = {key: value for key, value in owner["metadata"].items() if key != "finalizers"}
    if left:
        metadata["finalizers"] = left
    utils.quietly_update(context, {**owner, "metadata": metadata}, resource)
