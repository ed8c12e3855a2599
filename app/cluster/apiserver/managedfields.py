"""`metadata.managedFields`: who changed which field, and what server-side apply makes of it.

Mirrors k8s.io/apimachinery/pkg/util/managedfields/internal (fieldmanager.go, structuredmerge.go,
managedfieldsupdater.go, capmanagers.go, stripmeta.go, skipnonapplied.go, lastappliedmanager.go,
lastappliedupdater.go) and the Updater of structured-merge-diff/merge/update.go. Owners are kept beside the stored
objects (`cluster.ownership`) and become entries only where an object leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from app.apimachinery import clock as clocks
from app.apimachinery import fieldpath
from app.apimachinery import meta as metas
from app.apimachinery.fieldpath import Tree
from app.apimachinery.meta import Object
from app.apis import scheme, typed
from app.apis.scheme import KindInfo
from app.cluster.apiserver import apply_conflicts, makers
from app.cluster.ownership import Owner, Owners, owners_of

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"
_BEFORE = "before-first-apply"
_KEPT_TEXT = 10_000
"""Characters of a set that is kept parsed."""
_STRIPPED: Tree = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        fieldpath.SELF: {},
        "f:name": {},
        "f:namespace": {},
        "f:creationTimestamp": {},
        "f:selfLink": {},
        "f:uid": {},
        "f:clusterName": {},
        "f:generation": {},
        "f:managedFields": {},
        "f:resourceVersion": {},
    },
}


@dataclass(frozen=True)
class Write:
    """Who writes what: the kind, the manager, the subresource, and when."""

    info: KindInfo
    manager: str
    subresource: str
    instant: clocks.Instant

    def owner(self, operation: str, fields: Tree, obj: Object | None = None) -> Owner:
        """The writer's entry."""
        manager = self.manager or (self.usual_writer(obj) if obj is not None else "") or "unknown"
        now = clocks.rfc3339(self.instant)
        return Owner(manager, operation, self.info.api_version, now, self.subresource, _text(fields))

    def usual_writer(self, obj: Object) -> str:
        """The manager who writes such an object by this door in every cluster."""
        if self.subresource == "status":
            return makers.of_status(self.info.kind)
        return makers.of_object(self.info.kind, obj)


def after_update(write: Write, live: Object | None, new: Object, given: Any = None) -> Owners | None:
    """The owners after a create or an update; `given` are the managedFields that came with it.

    None where the account still follows from the object.
    """
    kept = owners_of(live)
    if kept is None and given is None and write.manager in {"", write.usual_writer(new)}:
        return None
    before = _before(write, live, given)
    if live is not None and not before:
        return ()
    shape = typed.root(write.info)
    if live is None:
        new = makers.converted(write.info.kind, new)
    changed, removed = typed.compare(typed.zero(shape.element) if live is None else live, new, shape)
    changed, removed = _written(write, changed), _written(write, removed) if live is not None else {}
    if not changed and not removed:
        return before
    others = _without(before, fieldpath.union(changed, removed))
    if not changed:
        return others
    door = makers.door(write.info.kind, write.manager, write.subresource, changed)
    mine = replace(write, subresource=door).owner("Update", changed, new)
    former = next((owner for owner in others if owner.identity == mine.identity), None)
    if former is not None:
        mine = mine._replace(fields=_text(fieldpath.union(_tree(former.fields), changed)))
    return _capped([*(owner for owner in others if owner is not former), mine])


def after_apply(write: Write, live: Object | None, applied: Object, *, force: bool) -> tuple[Object, Owners]:
    """The live object with a configuration applied to it, and the owners then.

    Raises:
        Conflict: others own fields that the configuration would change, and it is not forced.
    """
    shape = typed.root(write.info)
    owners = _before_apply(write, live)
    mine = write.owner("Apply", _written(write, typed.field_set(applied, shape)))
    former = next((owner for owner in owners if owner.identity == mine.identity), None)
    others = [owner for owner in owners if owner is not former]
    merged: Object = typed.merge(live or {}, applied, shape)
    if former is not None:
        owned: Tree = _tree(mine.fields)
        for owner in others:
            owned = fieldpath.union(owned, _tree(owner.fields))
        merged = typed.pruned(merged, shape, _tree(former.fields), owned)
    changed, removed = (_written(write, tree) for tree in typed.compare(live or {}, merged, shape))
    conflicts = [] if force else _conflicts(others, changed)
    if conflicts and (conflicts := _unexcused(write, live or {}, conflicts)):
        raise apply_conflicts.error(_in_version_of(write, conflicts))
    if former is not None and former.fields == mine.fields and not changed and not removed:
        mine = former
    left = _without(others, fieldpath.union(changed, removed))
    kept = [] if mine.fields == "{}" else [mine]
    return _with_last_applied(write, merged, applied), _sorted([*left, *kept])


def shown(obj: Object) -> Object:
    """The object with its managedFields, as it leaves through the API."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" in metadata or not metadata.get("uid"):
        return obj
    entries = [_entry(owner) for owner in _known(scheme.of(obj), obj)]
    return {**obj, "metadata": {**metadata, "managedFields": entries}} if entries else obj


def _entry(owner: Owner) -> Object:
    entry: Object = {"manager": owner.manager, "operation": owner.operation, "apiVersion": owner.api_version}
    if owner.time:
        entry["time"] = owner.time
    entry |= {"fieldsType": "FieldsV1", "fieldsV1": orjson.loads(owner.fields)}
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry


def _before(write: Write, live: Object | None, given: Any) -> Owners:
    """The owners that a write starts from (fieldmanager.go: decodeLiveOrNew)."""
    known = _known(write.info, live) if live is not None else ()
    if write.subresource or not isinstance(given, list):
        return known
    if given in ([], [{}]):
        return ()
    return _read(given) or known


def _before_apply(write: Write, live: Object | None) -> Owners:
    """The owners that an apply starts from: whoever was there before the first one owns everything."""
    if live is None:
        return ()
    owners = _known(write.info, live)
    if owners:
        return owners
    first = Write(write.info, _BEFORE, write.subresource, write.instant)
    return after_update(first, None, live) or ()


def _read(given: Sequence[Any]) -> Owners:
    """Owners out of managedFields; none where they cannot be read (DecodeManagedFields)."""
    found: dict[tuple[str, ...], Owner] = {}
    for entry in given:
        if not isinstance(entry, Mapping) or entry.get("operation") not in {"Apply", "Update"}:
            return ()
        fields = entry.get("fieldsV1") or {}
        if not entry.get("apiVersion") or entry.get("fieldsType") != "FieldsV1" or not fieldpath.is_tree(fields):
            return ()
        texts = [str(entry.get(name) or "") for name in ("manager", "operation", "apiVersion", "time", "subresource")]
        owner = Owner._make([*texts, _text(fields)])
        found[owner.identity] = owner
    return _sorted(found.values())


def _known(info: KindInfo, obj: Object) -> Owners:
    """The object's owners; where no account is kept, whoever must have made it."""
    owners = owners_of(obj)
    return _assumed(info, obj) if owners is None else owners


def _assumed(info: KindInfo, obj: Object) -> Owners:
    kind = info.kind
    shape = typed.root(info)
    changed, _ = typed.compare(typed.zero(shape.element), makers.owned(kind, obj), shape)
    changed = fieldpath.difference(changed, _STRIPPED)
    made = str(obj["metadata"].get("creationTimestamp") or "")
    status = changed.pop("f:status", {}) if "status" in info.subresources else {}
    beside = makers.reported_beside(kind, changed)
    changed = fieldpath.difference(changed, beside)
    parts = makers.shares(kind, makers.of_object(kind, obj), changed)
    found = [Owner(manager, how, info.api_version, made, "", _text(fields)) for manager, how, fields in parts]
    reported = makers.reported(kind, obj, status)
    if reported and kind != "Namespace":
        time = makers.last_report(obj.get("status"), made)
        fields = _text({**beside, "f:status": reported})
        found.append(Owner(makers.of_status(kind), "Update", info.api_version, time, "status", fields))
    return _sorted(found)


def _written(write: Write, tree: Tree) -> Tree:
    """The part of a change that this door lets through (stripmeta.go, and the strategies' GetResetFields)."""
    if not tree:
        return tree
    if write.subresource == "status":
        return {"f:status": tree["f:status"]} if "f:status" in tree else {}
    left = fieldpath.difference(tree, _STRIPPED)
    if "status" in write.info.subresources:
        left.pop("f:status", None)
    return left


def _without(owners: Iterable[Owner], lost: Tree) -> Owners:
    """The owners with these fields taken away; whoever has none left is gone."""
    result = []
    for owner in owners:
        fields = _tree(owner.fields)
        left = fieldpath.difference(fields, lost)
        if left == fields:
            result.append(owner)
        elif left:
            result.append(owner._replace(fields=_text(left)))
    return tuple(result)


def _sorted(owners: Iterable[Owner]) -> Owners:
    """In the order of the API (sortEncodedManagedFields)."""
    return tuple(
        sorted(owners, key=lambda one: (one.operation, one.time, one.manager, one.api_version, one.subresource))
    )


def _capped(owners: list[Owner]) -> Owners:
    """The oldest updaters beyond ten become one for each API version (capmanagers.go)."""
    updaters = [owner for owner in _sorted(owners) if owner.operation == "Update"]
    surplus = len(updaters) - _MAX_UPDATERS
    if surplus <= 0:
        return _sorted(owners)
    kept = [owner for owner in owners if owner.operation != "Update"]
    buckets: dict[str, Owner] = {}
    for owner in updaters:
        bucket = buckets.get(owner.api_version)
        if surplus > 0 and bucket is not None:
            fields = _text(fieldpath.union(_tree(bucket.fields), _tree(owner.fields)))
            buckets[owner.api_version] = owner._replace(manager=_ANCIENT, subresource="", fields=fields)
            surplus -= 1
        elif surplus > 0:
            buckets[owner.api_version] = owner
        else:
            kept.append(owner)
    return _sorted([*kept, *buckets.values()])


def _conflicts(others: Iterable[Owner], changed: Tree) -> list[apply_conflicts.Taken]:
    """(owner, path) of what the change takes from others, by manager and path."""
    found = []
    for owner in sorted(others, key=lambda owner: owner.identity):
        shared = fieldpath.intersection(_tree(owner.fields), changed)
        found += [(owner, path) for path in fieldpath.paths(shared)]
    return found


def _in_version_of(write: Write, conflicts: list[apply_conflicts.Taken]) -> list[apply_conflicts.Taken]:
    """The conflicts as the door's own kind names them (scalehandler.go: ToSubresource)."""
    if write.subresource != "scale":
        return conflicts
    return [(owner._replace(api_version="autoscaling/v1"), path) for owner, path in conflicts]


def _unexcused(write: Write, live: Object, conflicts: list[apply_conflicts.Taken]) -> list[apply_conflicts.Taken]:
    """The conflicts over what client-side apply did not set, or what changed since (lastappliedmanager.go)."""
    annotation = metas.annotations_of(live).get(LAST_APPLIED)
    if write.manager != "kubectl" or not annotation:
        return conflicts
    try:
        last = orjson.loads(annotation)
    except orjson.JSONDecodeError:
        return conflicts
    if not isinstance(last, dict) or last.get("apiVersion") != write.info.api_version:
        return conflicts
    shape = typed.root(write.info)
    changed, removed = typed.compare(last, live, shape)
    left = fieldpath.difference(fieldpath.difference(typed.field_set(last, shape), changed), removed)
    excused = set(fieldpath.paths(left))
    return [conflict for conflict in conflicts if conflict[1] not in excused]


def _with_last_applied(write: Write, merged: Object, applied: Object) -> Object:
    """The annotation of client-side apply kept up to date by kubectl's server-side one (lastappliedupdater.go)."""
    if write.manager != "kubectl" or not metas.annotations_of(merged).get(LAST_APPLIED):
        return merged
    metadata = dict(applied["metadata"])
    if "annotations" in metadata:
        kept = {key: value for key, value in (metadata["annotations"] or {}).items() if key != LAST_APPLIED}
        metadata["annotations"] = kept
    told = orjson.dumps({**applied, "metadata": metadata}, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    annotations = {**metas.annotations_of(merged), LAST_APPLIED: told}
    return {**merged, "metadata": {**merged["metadata"], "annotations": annotations}}


def _text(fields: Tree) -> str:
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()


def _tree(text: str) -> Tree:
    tree: Tree = _kept_tree(text) if len(text) <= _KEPT_TEXT else orjson.loads(text)
    return tree


@lru_cache(maxsize=256)
def _kept_tree(text: str) -> Tree:
    tree: Tree = orjson.loads(text)
    return tree
