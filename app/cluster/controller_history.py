"""ControllerRevisions: what a DaemonSet's or StatefulSet's template was (pkg/controller/history/controller_history.go).

A revision's data is a strategic merge patch that puts the template back, so `kubectl rollout undo` sends it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import AlreadyExists, Conflict, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

HASH_LABEL = "controller-revision-hash"
REVISION_HASH_LABEL = "controller.kubernetes.io/hash"
_LONGEST_PREFIX = 223
_MOST_COLLISIONS = 20


def patch_of(owner: Object) -> dict[str, Any]:
    """The patch that restores the owner's template (stateful_set_utils.go, daemon/update.go: getPatch)."""
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


def template_of(revision: Object) -> Object:
    """The template that a revision holds (ApplyRevision)."""
    template = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    return {key: value for key, value in template.items() if key != "$patch"}


def number(revision: Object) -> int:
    """The revision's number."""
    return int(revision.get("revision") or 0)


def revisions_of(context: Context, owner: Object) -> list[Object]:
    """The owner's revisions, adopted where they match, oldest first (ListControllerRevisions)."""
    found = context.client.list("controllerrevisions", meta.namespace_of(owner))
    return ordered(utils.claim(context, owner, "controllerrevisions", found)) if found else []


def ordered(revisions: Iterable[Object]) -> list[Object]:
    """By number, then age, then name (SortControllerRevisions)."""
    return sorted(revisions, key=lambda found: (number(found), utils.created(found), meta.name_of(found)))


def make(context: Context, owner: Object, revision: int, label: str) -> tuple[Object, int]:
    """Create the revision of the owner's present template; also says how many names were taken.

    Mirrors CreateControllerRevision: a name that another template's revision has counts as a collision.
    """
    collisions = int((owner.get("status") or {}).get("collisionCount") or 0)
    for _ in range(_MOST_COLLISIONS):
        wanted = new_revision(owner, revision, label, collisions)
        try:
            return context.client.create(wanted), collisions
        except AlreadyExists:
            taken = context.client.get("controllerrevisions", meta.name_of(wanted), meta.namespace_of(owner))
            if taken.get("data") == wanted["data"]:
                return taken, collisions
            collisions += 1
    raise Conflict(f"no free name for a revision of {meta.key_of(owner)}")


def new_revision(owner: Object, revision: int, label: str, collisions: int = 0) -> Object:
    """The revision of the owner's present template (NewControllerRevision; daemon/update.go: snapshot)."""
    template = owner["spec"]["template"]
    code = utils.template_hash(template, collisions)
    metadata: dict[str, Any] = {
        "name": f"{meta.name_of(owner)[:_LONGEST_PREFIX]}-{code}",
        "namespace": meta.namespace_of(owner),
        "labels": {**meta.labels_of(template), label: code},
        "ownerReferences": [utils.owner_reference(owner)],
    }
    if annotations := meta.annotations_of(owner):
        metadata["annotations"] = annotations
    head = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata}
    return {**head, "data": patch_of(owner), "revision": revision}


def renumber(context: Context, revision: Object, wanted: int) -> Object:
    """Give an older revision that is current again the newest number (UpdateControllerRevision)."""
    if number(revision) == wanted:
        return revision
    return utils.quietly_update(context, {**revision, "revision": wanted}, "controllerrevisions") or revision


def current(context: Context, owner: Object, revisions: list[Object], label: str) -> tuple[Object, int]:
    """The revision of the present template, made, or renumbered after a rollback; and the collision count.

    Mirrors getStatefulSetRevisions and constructHistory.
    """
    data = patch_of(owner)
    equal = [found for found in revisions if found.get("data") == data]
    collisions = int((owner.get("status") or {}).get("collisionCount") or 0)
    if not equal:
        return make(context, owner, number(revisions[-1]) + 1 if revisions else 1, label)
    if equal[-1] is revisions[-1]:
        return equal[-1], collisions
    return renumber(context, equal[-1], number(revisions[-1]) + 1), collisions


def truncate(context: Context, owner: Object, revisions: list[Object], live: set[str]) -> None:
    """Delete the oldest revisions that nothing uses, down to the history limit; `live` holds names to keep."""
    limit = int(owner["spec"].get("revisionHistoryLimit", 10))
    unused = [found for found in revisions if meta.name_of(found) not in live]
    for revision in unused[: max(len(unused) - limit, 0)]:
        try:
            context.client.delete("controllerrevisions", meta.name_of(revision), meta.namespace_of(revision))
        except NotFound:
            continue
