"""Patches: JSON merge patch (RFC 7386), JSON patch (RFC 6902), and Kubernetes' strategic merge patch.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/patch.go. All functions return new objects and leave their
arguments as they are; unchanged parts may be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from app.apimachinery.errors import BadRequest, Invalid
from app.apimachinery.meta import Object, copied, size_of, too_deep

MAX_OPERATIONS = 10_000
"""Operations that one JSON patch may hold (apiserver: maxJSONPatchOperations)."""

MAX_DEPTH = 100
"""Levels of a patch, of a JSON pointer, and of what one operation copies."""

MAX_COPIED = 20_000
"""Values that the operations of a patch may copy in all: doubling by `copy` ends there."""

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


def json_patch(original: Object, operations: Sequence[Any]) -> Object:
    """A JSON patch applied.

    Raises:
        BadRequest: an operation that is none.
        Invalid: an operation that does not fit the object.
    """
    if len(operations) > MAX_OPERATIONS:
        limit = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise Invalid(limit)
    document: Any = copied(original)
    budget = MAX_COPIED
    for operation in operations:
        if not isinstance(operation, Mapping) or not isinstance(operation.get("path"), str):
            raise BadRequest("a JSON patch is a list of operations, each with op and path")
        perform = _OPERATIONS.get(str(operation.get("op")))
        if perform is None:
            raise Invalid(f"Unexpected kind: {operation.get('op')}")
        if operation["op"] == "copy":
            budget -= _copied_size(document, operation, budget)
        document = perform(document, operation)
    if not isinstance(document, dict):
        raise Invalid("the patch does not leave an object")
    return document


def _tokens(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise BadRequest(f"a JSON pointer starts with /: {pointer}")
    if pointer.count("/") > MAX_DEPTH:
        raise BadRequest("a JSON pointer is too long")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _value_of(operation: Mapping[str, Any]) -> Any:
    if "value" not in operation:
        raise Invalid(f"the {operation['op']} operation of {operation['path']} has no value")
    return copied(operation["value"])


def _missing(operation: Mapping[str, Any], path: str) -> Invalid:
    return Invalid(f"{operation['op']} operation does not apply: doc is missing path: {path}: missing value")


def _look(document: Any, tokens: Sequence[str], operation: Mapping[str, Any], path: str) -> Any:
    for token in tokens:
        if isinstance(document, dict) and token in document:
            document = document[token]
        elif isinstance(document, list):
            document = document[_index(document, token, operation, path)]
        else:
            raise _missing(operation, path)
    return document


def _index(items: list[Any], token: str, operation: Mapping[str, Any], path: str, *, end: int = 0) -> int:
    """A list index that must be there; with `end=1` the place after the last item counts too."""
    if not token.isascii() or not token.isdigit() or len(token) > 9 or int(token) >= len(items) + end:
        raise _missing(operation, path)
    return int(token)


def _add(document: Any, operation: Mapping[str, Any]) -> Any:
    return _put(document, operation["path"], _value_of(operation), operation)


def _put(document: Any, path: str, value: Any, operation: Mapping[str, Any]) -> Any:
    tokens = _tokens(path)
    if not tokens:
        return value
    parent = _look(document, tokens[:-1], operation, path)
    if isinstance(parent, dict):
        parent[tokens[-1]] = value
    elif isinstance(parent, list):
        place = len(parent) if tokens[-1] == "-" else _index(parent, tokens[-1], operation, path, end=1)
        parent.insert(place, value)
    else:
        raise _missing(operation, path)
    return document


def _remove(document: Any, operation: Mapping[str, Any]) -> Any:
    return _cut(document, operation["path"], operation)[0]


def _cut(document: Any, path: str, operation: Mapping[str, Any]) -> tuple[Any, Any]:
    """(the document without what stands at the path, what stood there)."""
    tokens = _tokens(path)
    if not tokens:
        raise _missing(operation, path)
    parent = _look(document, tokens[:-1], operation, path)
    if isinstance(parent, dict) and tokens[-1] in parent:
        return document, parent.pop(tokens[-1])
    if isinstance(parent, list):
        return document, parent.pop(_index(parent, tokens[-1], operation, path))
    raise _missing(operation, path)


def _replace(document: Any, operation: Mapping[str, Any]) -> Any:
    tokens = _tokens(operation["path"])
    value = _value_of(operation)
    if not tokens:
        return value
    _look(document, tokens, operation, operation["path"])
    parent = _look(document, tokens[:-1], operation, operation["path"])
    parent[int(tokens[-1]) if isinstance(parent, list) else tokens[-1]] = value
    return document


def _source(operation: Mapping[str, Any]) -> str:
    source = operation.get("from")
    if not isinstance(source, str):
        raise BadRequest(f"the {operation['op']} operation of {operation['path']} has no from")
    return source


def _move(document: Any, operation: Mapping[str, Any]) -> Any:
    document, value = _cut(document, _source(operation), operation)
    if too_deep(value, MAX_DEPTH):
        raise Invalid("Unable to move what is nested so deep")
    return _put(document, operation["path"], value, operation)


def _copy(document: Any, operation: Mapping[str, Any]) -> Any:
    value = _look(document, _tokens(_source(operation)), operation, operation["from"])
    return _put(document, operation["path"], copied(value), operation)


def _copied_size(document: Any, operation: Mapping[str, Any], budget: int) -> int:
    """How many values a copy adds; Invalid where that is more than the budget, or too deep."""
    value = _look(document, _tokens(_source(operation)), operation, operation["from"])
    if too_deep(value, MAX_DEPTH, budget):
        raise Invalid("Unable to complete the copy, the accumulated size increase of copy is too large")
    return size_of(value)


def _test(document: Any, operation: Mapping[str, Any]) -> Any:
    if _look(document, _tokens(operation["path"]), operation, operation["path"]) != _value_of(operation):
        raise Invalid(f"testing path {operation['path']} failed")
    return document


_OPERATIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def strategic(original: Object, patch: Mapping[str, Any], schema: PatchSchema) -> Object:
    """A strategic merge patch applied (StrategicMergeMapPatch).

    Understands `$patch: delete | replace | merge`, `$retainKeys`, `$deleteFromPrimitiveList/…` and
    `$setElementOrder/…`.

    Raises:
        BadRequest: a directive that is none, a list where a map is due, an item without its merge key.
    """
    return _merge_map(original, patch, schema)


def _merge_map(original: Mapping[str, Any], patch: Mapping[str, Any], schema: PatchSchema) -> Object:
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return {key: copied(value) for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    if directive not in {None, "merge"}:
        raise BadRequest(f"unknown patch type found: {directive}")
    result = dict(original)
    retained = patch.get(_RETAIN_KEYS)
    if isinstance(retained, list):
        result = {key: value for key, value in result.items() if key in retained}
    _delete_primitives(result, patch)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_field(key, result.get(key), value, patch, schema)
    _reorder_untouched(result, patch, schema)
    return result


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
    order = patch.get(_ELEMENT_ORDER + key)
    if merge_key:
        return _merge_keyed(base_list, value, (merge_key, inner), order)
    merged = base_list + _absent_from(base_list, value)
    return _ordered(merged, order, _identity_by(""))


def _merge_keyed(current: list[Any], patch: list[Any], by: tuple[str, PatchSchema], order: Any) -> list[Any]:
    """A list of maps merged by key: known items in place, new ones at the end, then as `$setElementOrder` says."""
    merge_key, schema = by
    if any(not isinstance(item, Mapping) for item in [*current, *patch]):
        raise BadRequest("invalid list item: a list of maps has an item that is none")
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return [copied(item) for item in patch if _DIRECTIVE not in item]
    result: dict[str, Any] = {repr(item.get(merge_key)): item for item in current}
    for item in patch:
        if merge_key not in item:
            raise BadRequest(f"map: {dict(item)} does not contain declared merge key: {merge_key}")
        identity = repr(item[merge_key])
        if item.get(_DIRECTIVE) == "delete":
            result.pop(identity, None)
        else:
            result[identity] = _merge_map(result.get(identity, {}), item, schema)
    return _ordered(list(result.values()), order, _identity_by(merge_key))


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
        result[field] = _ordered(result[field], order, _identity_by(schema.lookup(field)[2]))


def _identity_by(merge_key: str) -> Callable[[Any], Any]:
    """What tells items apart: their merge key's value, or themselves."""

    def identity(item: Any) -> Any:
        return item.get(merge_key) if merge_key and isinstance(item, Mapping) else item

    return identity


def _ordered(items: list[Any], order: Any, key_of: Callable[[Any], Any]) -> list[Any]:
    """The items that `order` names in that order; the server's own ones stay before those they preceded."""
    if not isinstance(order, list):
        return items
    ranks = {repr(key_of(entry)): rank for rank, entry in enumerate(order)}
    named = [item for item in items if repr(key_of(item)) in ranks]
    waiting = iter(sorted(named, key=lambda item: ranks[repr(key_of(item))]))
    return [next(waiting) if repr(key_of(item)) in ranks else item for item in items]


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
