"""Objects as the schema sees them: which fields they have, how two differ, and how an applied one merges.

Structures and maps are walked field by field, lists of type `map` by their keys, sets by their values; everything
else, atomic structures included, is one field. Mirrors sigs.k8s.io/structured-merge-diff/typed (tofieldset.go,
compare.go, merge.go, remove.go) over the types of `schema`; which lists and maps are walked is decided as in
k8s.io/kube-openapi/pkg/schemaconv. Paths are trees of `apimachinery.fieldpath`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.apimachinery import fieldpath
from app.apimachinery.fieldpath import SELF, Tree
from app.apimachinery.meta import Object, copied
from app.apis import schema
from app.apis.scheme import KindInfo

KEY_DEFAULTS = {"protocol": "TCP"}
"""What a list's key is where an item does not say it."""

_VALUE_STRUCTS = frozenset(
    {
        "daemonEndpoints",
        "devices",
        "involvedObject",
        "jobTemplate",
        "kubeletEndpoint",
        "loadBalancer",
        "metadata",
        "nodeInfo",
        "pool",
        "resources",
        "scaleTargetRef",
        "source",
        "spec",
        "status",
        "strategy",
        "template",
        "updateStrategy",
    }
)
"""Structures that Go holds by value where all above them is held by value: a new object has them, empty."""

_POINTERS = frozenset({"core.v1.PodSpec", "core.v1.ReplicationControllerSpec"})
"""Types that hold none of them by value."""

_HOLDERS = (dict, list)
"""JSON values that hold others."""

_ZEROES: Mapping[str, Any] = {"string": "", "int32": 0, "int64": 0, "bool": False, "double": 0}


@dataclass(frozen=True)
class Shape:
    """How a value is walked: `leaf`, `struct`, `map`, `listmap` or `set`."""

    kind: str
    element: str = ""
    keys: tuple[str, ...] = ()


LEAF = Shape("leaf")


def root(info: KindInfo) -> Shape:
    """The shape of a kind's objects."""
    return Shape("struct", schema.type_of_kind(info).name)


@cache
def _shapes(name: str) -> Mapping[str, Shape]:
    """The shapes of a structure's fields."""
    known = schema.type_of(name)
    return {key: shape_of_field(field) for key, field in known.fields.items()} if known else {}


def shape_of_field(field: schema.Field) -> Shape:
    """The shape of a field's value."""
    if field.map_type == "atomic":
        return LEAF
    if not field.type.startswith("[]"):
        return _shape_of(field.type)
    merges = not field.list_type and "merge" in field.strategies
    if field.list_type == "map" or (merges and field.merge_key):
        return Shape("listmap", field.element, field.list_keys or (field.merge_key,))
    return Shape("set", field.element) if merges or field.list_type == "set" else LEAF


@cache
def _shape_of(name: str) -> Shape:
    """The shape of a value of a type, outside of a field that says more."""
    if name.startswith("{}"):
        return Shape("map", name[2:])
    known = None if name in schema.atomic_types() or name.startswith("[]") else schema.type_of(name)
    return Shape("struct", name) if known and known.fields else LEAF


@cache
def zero(name: str) -> Object:
    """What Go prints of a structure without any value; shared, never to be changed."""
    known = schema.type_of(name)
    result: Object = {}
    for key, field in (known.fields if known else {}).items():
        if key in _VALUE_STRUCTS and name not in _POINTERS and shape_of_field(field).kind == "struct":
            result[key] = zero(field.type)
        elif field.required:
            result[key] = _ZEROES.get(field.type)
    return result


def _children(value: Any, shape: Shape) -> Iterator[tuple[str, Any, Shape]]:
    """(element, value, shape) of what a value holds; of list items with the same key the first."""
    if shape.kind in {"struct", "map"} and isinstance(value, dict):
        shapes = _shapes(shape.element) if shape.kind == "struct" else {}
        other = _shape_of(shape.element) if shape.kind == "map" else LEAF
        for key, item in value.items():
            yield f"f:{key}", item, shapes.get(key, other)
    elif shape.kind in {"listmap", "set"} and isinstance(value, list):
        inner = _shape_of(shape.element) if shape.kind == "listmap" else LEAF
        seen = set()
        for item in value:
            element = item_element(item, shape)
            if element not in seen:
                seen.add(element)
                yield element, item, inner


def item_element(item: Any, shape: Shape) -> str:
    """The path element of a list's item."""
    if shape.kind == "set" or not isinstance(item, dict):
        return fieldpath.value_element(item)
    found = {key: item.get(key, KEY_DEFAULTS.get(key)) for key in shape.keys}
    return fieldpath.key_element({key: value for key, value in found.items() if value is not None})


def _walks(value: Any, shape: Shape) -> bool:
    """Whether there is something below the value."""
    return shape.kind != "leaf" and bool(value) and isinstance(value, _HOLDERS)


def field_set(value: Any, shape: Shape) -> Tree:
    """The fields of an applied configuration: leaves, and the items of lists (ToFieldSet)."""
    tree: Tree = {}
    for element, item, inner in _children(value, shape):
        if not _walks(item, inner):
            if item != [] or inner.kind == "leaf":
                tree[element] = {}
            continue
        below = field_set(item, inner)
        if shape.kind == "listmap":
            tree[element] = {SELF: {}, **below} if below else {}
        elif below:
            tree[element] = below
    return tree


def _whole(value: Any, shape: Shape) -> Tree:
    """A value and all that is in it, as what was added or removed."""
    if not _walks(value, shape):
        return {}
    return {SELF: {}, **{element: _whole(item, inner) for element, item, inner in _children(value, shape)}}


def compare(old: Any, new: Any, shape: Shape) -> tuple[Tree, Tree]:
    """(what was added or changed, what was removed) (TypedValue.Compare)."""
    changed: Tree = {}
    removed: Tree = {}
    before = {element: item for element, item, _ in _children(old, shape)}
    for element, item, inner in _children(new, shape):
        if element not in before:
            changed[element] = _whole(item, inner)
            continue
        previous = before.pop(element)
        if previous == item:
            continue
        if not (_walks(item, inner) or _walks(previous, inner)):
            changed[element] = {}
            continue
        added, lost = compare(previous, item, inner)
        if added:
            changed[element] = added
        if lost:
            removed[element] = lost
    if before:
        gone = (row for row in _children(old, shape) if row[0] in before)
        removed.update({element: _whole(item, inner) for element, item, inner in gone})
    return changed, removed


def merge(live: Any, applied: Any, shape: Shape) -> Any:
    """The live value with an applied one on top; lists are merged by their items (TypedValue.Merge)."""
    if shape.kind == "leaf" or not applied or not isinstance(applied, _HOLDERS):
        # what is applied empty takes nothing away from what is there
        return live if shape.kind != "leaf" and live and applied is not None else copied(applied)
    if isinstance(applied, list):
        return _merged_list(live if isinstance(live, list) else [], applied, shape)
    result = dict(live) if isinstance(live, dict) else {}
    for element, item, inner in _children(applied, shape):
        key = element[2:]
        result[key] = merge(result.get(key), item, inner)
    return result


def _merged_list(live: list[Any], applied: list[Any], shape: Shape) -> list[Any]:
    """Applied items in their order; live ones that are not applied stay before what followed them (visitListItems)."""
    present = {element: item for element, item, _ in _children(live, shape)}
    wanted = {element: (item, inner) for element, item, inner in _children(applied, shape)}
    left, right = list(present), list(wanted)
    shared = [element for element in right if element in present]
    result: list[Any] = []
    place = 0
    while left[place:] or right:
        here = left[place] if place < len(left) else None
        if here is not None and right and here != right[0] and here in wanted and shared and here != shared[0]:
            place += 1
            continue
        if here is not None and here not in wanted:
            result.append(present[here])
            place += 1
            continue
        if not right:
            break
        element = right.pop(0)
        item, inner = wanted[element]
        result.append(merge(present.get(element), item, inner))
        if element == here:
            place += 1
        if shared and shared[0] == element:
            shared.pop(0)
    return result


def pruned(value: Any, shape: Shape, former: Tree, owned: Tree) -> Any:
    """The value without what `former` holds and nobody owns any more; None where nothing is left (Updater.prune)."""
    if shape.kind == "leaf" or not former or not isinstance(value, _HOLDERS):
        return value
    kept: list[tuple[str, Any]] = []
    for element, item, inner in _children(value, shape):
        named = shape.kind == "struct"
        before, still = former.get(element), owned.get(element)
        was_mine = before is not None and (named or fieldpath.is_member(before))
        is_owned = still is not None and (named or fieldpath.is_member(still))
        if was_mine and not is_owned:
            continue
        left = item if before is None else pruned(item, inner, before, still or {})
        if left is not None or item is None:
            kept.append((element, left))
    if not kept and value:
        return None
    return {element[2:]: item for element, item in kept} if isinstance(value, dict) else [item for _, item in kept]
