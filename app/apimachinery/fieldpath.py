"""Sets of field paths as `FieldsV1` writes them: `{"f:spec":{"f:replicas":{}}}`.

A set is a tree of path elements. A leaf `{}` is a member; an inner node is one where it holds `"."`. Elements are
`f:name`, `k:{"name":"c"}` (an item of a list of maps) and `v:"x"` (an item of a set). Sets are never changed in place.
Mirrors sigs.k8s.io/structured-merge-diff: fieldpath/set.go, element.go and path.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

Tree = dict[str, Any]
"""A set of field paths; at the root `{}` is the empty set."""

SELF = "."


def key_element(key: Mapping[str, Any]) -> str:
    """The element of a list's item, named by its keys."""
    return "k:" + orjson.dumps(key, option=orjson.OPT_SORT_KEYS).decode()


def value_element(value: Any) -> str:
    """The element of a set's item, which is the value itself."""
    return "v:" + orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def is_member(node: Tree) -> bool:
    """Whether the path to this node is in the set."""
    return not node or SELF in node


def union(one: Tree, other: Tree) -> Tree:
    """The paths of either set."""
    if not one or not other:
        return one or other
    return _joined(one, other)


def _joined(one: Tree, other: Tree) -> Tree:
    result = dict(one)
    for element, inner in other.items():
        result[element] = _node_union(result[element], inner) if element in result else inner
    return result


def _node_union(one: Tree, other: Tree) -> Tree:
    if one is other or (not one and not other):
        return one
    if not one or not other:
        return {SELF: {}, **(one or other)}
    return _joined(one, other)


def difference(one: Tree, other: Tree) -> Tree:
    """The paths of `one` that are not in `other`; a path's children stay although it goes."""
    if not one or not other:
        return one
    result: Tree = {}
    for element, inner in one.items():
        if element == SELF:
            continue
        if element not in other:
            result[element] = inner
        elif (left := _node_difference(inner, other[element])) is not None:
            result[element] = left
    return result


def _node_difference(one: Tree, other: Tree) -> Tree | None:
    """What is left of a node; None where nothing is."""
    stays = is_member(one) and not is_member(other)
    below = difference(one, other) if one and other else {key: node for key, node in one.items() if key != SELF}
    if stays:
        return {SELF: {}, **below} if below else {}
    return below or None


def intersection(one: Tree, other: Tree) -> Tree:
    """The paths that both sets have."""
    result: Tree = {}
    for element, inner in one.items():
        if element == SELF or element not in other:
            continue
        both = is_member(inner) and is_member(other[element])
        below = intersection(inner, other[element])
        if below:
            result[element] = {SELF: {}, **below} if both else below
        elif both:
            result[element] = {}
    return result


def paths(tree: Tree) -> Iterator[tuple[str, ...]]:
    """The members, each as its elements: of one level first those that end there (Set.Iterate)."""
    inner = [element for element in sorted(tree) if element != SELF]
    for element in inner:
        if is_member(tree[element]):
            yield (element,)
    for element in inner:
        for below in paths(tree[element]):
            yield (element, *below)


def text(path: tuple[str, ...]) -> str:
    """`.spec.containers[name="c"].image`."""
    return "".join(element_text(element) for element in path)


def element_text(element: str) -> str:
    """One element as messages print it."""
    kind, _, rest = element.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    key = orjson.loads(rest)
    told = ",".join(f"{name}={orjson.dumps(key[name]).decode()}" for name in sorted(key))
    return f"[{told}]"


def is_tree(value: Any, depth: int = 100) -> bool:
    """Whether a JSON value is a set of paths as FieldsV1 writes it."""
    if not isinstance(value, dict) or depth <= 0:
        return False
    return all(_is_element(element) and is_tree(inner, depth - 1) for element, inner in value.items())


def _is_element(element: str) -> bool:
    if element == SELF or element.startswith("f:"):
        return True
    if not element.startswith(("k:{", "v:")):
        return False
    try:
        orjson.loads(element[2:])
    except orjson.JSONDecodeError:
        return False
    return True
