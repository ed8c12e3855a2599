"""Patches: JSON merge patch (RFC 7386), Kubernetes' strategic merge patch, and what client-side apply sends.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/patch.go. All functions return new objects and leave their
arguments as they are; unchanged parts may be shared. JSON patch is in `json_patch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from app.apimachinery import go_text
from app.apimachinery.errors import BadRequest, Hint, Invalid, PlainFault
from app.apimachinery.json_patch import MAX_DEPTH, REJECTED, json_patch
from app.apimachinery.messages import Message
from app.apimachinery.meta import Object, copied

__all__ = ["MAX_DEPTH", "PatchSchema", "json_patch", "merge", "strategic", "three_way"]

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_PRIMITIVES = "$deleteFromPrimitiveList/"
_ELEMENT_ORDER = "$setElementOrder/"


class PatchSchema(Protocol):
    """Where lists merge, and by which key: strategic merge asks it of every field."""

    def lookup(self, name: str) -> tuple[PatchSchema, tuple[str, ...], str]:
        """(the field's own schema, its patch strategies, its merge key)."""


def merge(original: Any, patch: Any) -> Any:
    """A merge patch applied: maps merge, null removes, everything else replaces."""
    if not isinstance(patch, Mapping):
        return copied(patch)
    result = dict(original) if isinstance(original, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(original: Object, patch: Mapping[str, Any], schema: PatchSchema) -> Object:
    """A strategic merge patch applied (StrategicMergeMapPatch).

    Understands `$patch: delete | replace`, `$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…`.

    Raises:
        BadRequest: a directive of the wrong form (handlers/patch.go: interpretStrategicMergePatchError).
        Invalid: a list of lists, of which upstream says nothing.
        PlainFault: any other directive or item that makes no sense.
    """
    return _merge_map(original, patch, schema)


def _merge_map(original: Mapping[str, Any], patch: Mapping[str, Any], schema: PatchSchema) -> Object:
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return {key: copied(value) for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    if _DIRECTIVE in patch:
        raise _unknown_directive(directive, patch)
    _check_directives(patch, schema)
    result = _retained(original, patch)
    _delete_primitives(result, patch)
    for key, value in patch.items():
        if _is_directive(key):
            continue
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_field(key, result.get(key), value, patch, schema)
    _reorder_untouched(result, patch, schema)
    return result


def _is_directive(key: str) -> bool:
    return key == _RETAIN_KEYS or key.startswith((_DELETE_PRIMITIVES, _ELEMENT_ORDER))


def _unknown_directive(directive: Any, patch: Mapping[str, Any]) -> PlainFault:
    return PlainFault(f"unknown patch type: {go_text.plain(directive)} in map: {go_text.plain(patch)}")


def _check_directives(patch: Mapping[str, Any], schema: PatchSchema) -> None:
    """The form of the directives in a map (extractKey, mergePatchIntoOriginal)."""
    for key, value in patch.items():
        if key.startswith(_DELETE_PRIMITIVES[:-1]) and not key.startswith(_DELETE_PRIMITIVES):
            raise BadRequest("invalid patch format of primitive list")
        if not key.startswith(_ELEMENT_ORDER[:-1]):
            continue
        if not key.startswith(_ELEMENT_ORDER):
            raise BadRequest("invalid patch format of setElementOrder list")
        if not isinstance(value, list):
            raise PlainFault(f"expected a []interface {{}}, but received a {go_text.type_of(value)}")
        field = key.removeprefix(_ELEMENT_ORDER)
        if isinstance(patch.get(field), list):
            _check_order(patch[field], value, schema.lookup(field)[2])


def _check_order(items: list[Any], order: list[Any], merge_key: str) -> None:
    """The patch's items must stand in the order that it asks for (validatePatchWithSetOrderList)."""
    if not items or not order:
        return
    identity = _identity_by(merge_key)
    wanted = [repr(identity(item)) for item in items if not (isinstance(item, Mapping) and _DIRECTIVE in item)]
    rest = iter(repr(identity(item)) for item in order)
    if not all(item in rest for item in wanted):
        lists = (go_text.plain(items), _ELEMENT_ORDER[:-1], go_text.plain(order))
        raise PlainFault("The order in patch list:\n{}\n doesn't match {} list:\n{}\n".format(*lists))


def _retained(original: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """The fields that `$retainKeys` lets stay (applyRetainKeysDirective)."""
    if _RETAIN_KEYS not in patch:
        return dict(original)
    retained = patch[_RETAIN_KEYS]
    given = {key for key, value in patch.items() if value is not None and not _is_directive(key)}
    if not isinstance(retained, list) or not all(key in retained for key in given):
        raise BadRequest("invalid patch format of retainKeys")
    return {key: value for key, value in original.items() if key in retained}


def _delete_primitives(result: Object, patch: Mapping[str, Any]) -> None:
    for key, values in patch.items():
        if key.startswith(_DELETE_PRIMITIVES) and isinstance(values, list):
            field = key.removeprefix(_DELETE_PRIMITIVES)
            if isinstance(result.get(field), list):
                result[field] = _absent_from(values, result[field])


def _merge_field(key: str, current: Any, value: Any, patch: Mapping[str, Any], schema: PatchSchema) -> Any:
    inner, strategies, merge_key = schema.lookup(key)
    if isinstance(value, Mapping):
        base = current if isinstance(current, Mapping) and "replace" not in strategies else {}
        return _merge_map(base, value, inner)
    if not isinstance(value, list) or "merge" not in strategies:
        return copied(value)
    base_list = current if isinstance(current, list) else []
    if merge_key:
        merged = _merge_keyed(base_list, value, merge_key, inner)
    else:
        merged = base_list + _absent_from(base_list, value)
    identity = _identity_by(merge_key)
    ordered = _ordered(merged, value, base_list, identity)
    return _ordered(ordered, patch.get(_ELEMENT_ORDER + key), base_list, identity)


def _merge_keyed(current: list[Any], patch: list[Any], merge_key: str, schema: PatchSchema) -> list[Any]:
    """A list of maps merged by key (mergeSliceWithoutSpecialElements): known items in place, new ones at the end."""
    _check_items(current, patch, merge_key)
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return [copied(item) for item in patch if _DIRECTIVE not in item]
    result: dict[str, Any] = {repr(item.get(merge_key)): item for item in current}
    for item in patch:
        identity = repr(item[merge_key])
        if item.get(_DIRECTIVE) == "delete":
            result.pop(identity, None)
        else:
            result[identity] = _merge_map(result.get(identity, {}), item, schema)
    return list(result.values())


def _check_items(current: list[Any], patch: list[Any], merge_key: str) -> None:
    """Items must be maps with a key and no directive but two (sliceElementType, mergeSliceWithSpecialElements)."""
    if any(isinstance(item, list) for item in patch[:1]):
        raise Invalid(REJECTED, hints=[Hint("", Message("lists of lists are not supported"))])
    if any(not isinstance(item, Mapping) for item in [*current, *patch]):
        raise PlainFault(f"list element types are not identical: {go_text.plain([current, patch])}")
    for item in patch:
        directive = item.get(_DIRECTIVE)
        if directive == "merge":
            raise PlainFault("merging lists cannot yet be specified in the patch")
        if _DIRECTIVE in item and directive not in {"delete", "replace"}:
            raise _unknown_directive(directive, item)
        if directive != "replace" and merge_key not in item:
            raise PlainFault(f"map: {go_text.plain(item)} does not contain declared merge key: {merge_key}")


def _absent_from(known: list[Any], items: list[Any]) -> list[Any]:
    """The items that are not among `known`. Compared by their text, since lists can be long and hold dicts."""
    texts = {repr(item) for item in known}
    return [item for item in items if repr(item) not in texts]


def _reorder_untouched(result: Object, patch: Mapping[str, Any], schema: PatchSchema) -> None:
    """`$setElementOrder` also stands for lists that the patch does not touch."""
    for key, order in patch.items():
        field = key.removeprefix(_ELEMENT_ORDER)
        if key == field or field in patch or not isinstance(result.get(field), list):
            continue
        result[field] = _ordered(result[field], order, result[field], _identity_by(schema.lookup(field)[2]))


def _identity_by(merge_key: str) -> Callable[[Any], Any]:
    """What tells items apart: their merge key's value, or themselves."""

    def identity(item: Any) -> Any:
        return item.get(merge_key) if merge_key and isinstance(item, Mapping) else item

    return identity


def _ordered(items: list[Any], order: Any, server: list[Any], key_of: Callable[[Any], Any]) -> list[Any]:
    """The items that `order` names in that order; the server's own ones before those that they preceded there.

    Mirrors normalizeElementOrder and mergeSortedSlice.
    """
    if not isinstance(order, list):
        return items
    ranks = {repr(key_of(entry)): rank for rank, entry in enumerate(order)}
    places = {repr(key_of(item)): place for place, item in enumerate(server)}
    named = [item for item in items if repr(key_of(item)) in ranks]
    named.sort(key=lambda item: ranks[repr(key_of(item))])
    others = [item for item in items if repr(key_of(item)) not in ranks]
    others.sort(key=lambda item: places.get(repr(key_of(item)), len(places)))
    result: list[Any] = []
    taken = 0
    for item in named:
        place = places.get(repr(key_of(item)), -1)
        while taken < len(others) and 0 <= places.get(repr(key_of(others[taken])), -1) < place:
            result.append(others[taken])
            taken += 1
        result.append(item)
    return result + others[taken:]


def three_way(original: Object, modified: Object, current: Object, schema: PatchSchema) -> Object:
    """The strategic patch of client-side apply (CreateThreeWayMergePatch).

    `original` is what was applied last, `modified` what is to be applied, `current` what the server has. The patch
    adds and changes what `modified` says otherwise than `current`, and deletes what `original` had and `modified`
    has not. Empty when there is nothing to do.
    """
    return _three_way_map(original, modified, current, schema)


def _three_way_map(original: Object, modified: Object, current: Object, schema: PatchSchema) -> Object:
    patch: Object = {}
    for key in sorted(original.keys() | modified.keys()):
        if key not in modified:
            if key in current:
                patch[key] = None
        elif key not in current:
            patch[key] = copied(modified[key])
        else:
            _three_way_field(patch, key, (original.get(key), modified[key], current[key]), schema)
    return patch


def _three_way_field(patch: Object, key: str, values: tuple[Any, Any, Any], schema: PatchSchema) -> None:
    original, modified, current = values
    inner, strategies, merge_key = schema.lookup(key)
    if isinstance(modified, dict) and isinstance(current, dict) and "replace" not in strategies:
        within = _three_way_map(original if isinstance(original, dict) else {}, modified, current, inner)
        if "retainKeys" in strategies and within:
            within[_RETAIN_KEYS] = sorted(modified)
        if within:
            patch[key] = within
    elif isinstance(modified, list) and isinstance(current, list) and "merge" in strategies:
        before = original if isinstance(original, list) else []
        if merge_key:
            _three_way_keyed(patch, key, (before, modified, current), (merge_key, inner))
        else:
            _three_way_primitives(patch, key, (before, modified, current))
    elif modified != current:
        patch[key] = copied(modified)


def _three_way_keyed(
    patch: Object, field: str, lists: tuple[list[Any], list[Any], list[Any]], by: tuple[str, PatchSchema]
) -> None:
    merge_key, schema = by
    before, wanted, present = ({item.get(merge_key): item for item in items} for items in lists)
    changes: list[Any] = []
    for identity, item in wanted.items():
        if identity not in present:
            changes.append(copied(item))
            continue
        within = _three_way_map(before.get(identity, {}), item, present[identity], schema)
        if within:
            changes.append({**within, merge_key: identity})
    gone = [identity for identity in before if identity not in wanted and identity in present]
    changes += [{_DIRECTIVE: "delete", merge_key: identity} for identity in gone]
    if changes or _order_differs(list(wanted), list(present)):
        patch[_ELEMENT_ORDER + field] = [{merge_key: identity} for identity in wanted]
    if changes:
        patch[field] = changes


def _three_way_primitives(patch: Object, field: str, lists: tuple[list[Any], list[Any], list[Any]]) -> None:
    before, wanted, present = lists
    added = _absent_from(present, wanted)
    gone = _absent_from(_absent_from(present, before) + wanted, before)
    if gone:
        patch[_DELETE_PRIMITIVES + field] = gone
    if added or gone or _order_differs(wanted, present):
        patch[_ELEMENT_ORDER + field] = list(wanted)
    if added:
        patch[field] = added


def _order_differs(wanted: list[Any], present: list[Any]) -> bool:
    """Whether what both lists hold stands in another order."""
    shared = _absent_from(_absent_from(wanted, present), present)
    return shared != _absent_from(_absent_from(present, wanted), wanted)
