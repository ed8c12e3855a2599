"""JSON patch (RFC 6902), bounded: operations, depth, and what `copy` may add.

The refusals are those of github.com/evanphx/json-patch, which the API server uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.apimachinery import go_text
from app.apimachinery.errors import BadRequest, Hint, Invalid, RequestEntityTooLarge
from app.apimachinery.messages import Message
from app.apimachinery.meta import Object, copied, size_of, too_deep

MAX_OPERATIONS = 10_000
"""Operations that one JSON patch may hold (apiserver: maxJSONPatchOperations)."""

REJECTED = "the server rejected our request due to an error in our request"
"""All that upstream says of a patch that cannot be carried out (handlers/patch.go, NewGenericServerResponse)."""

_GO_TYPE = "handlers.jsonPatchOp"

MAX_DEPTH = 100
"""Levels of a patch, of a JSON pointer, and of what one operation copies."""

MAX_COPIED = 20_000
"""Values that the operations of a patch may copy in all: doubling by `copy` ends there."""


def json_patch(original: Object, operations: Sequence[Any]) -> Object:
    """A JSON patch applied.

    Raises:
        BadRequest: an operation that is none.
        RequestEntityTooLarge: too many operations.
        Invalid: an operation that does not fit the object; its hint says which and why.
    """
    if len(operations) > MAX_OPERATIONS:
        limit = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise RequestEntityTooLarge(limit)
    document: Any = copied(original)
    budget = MAX_COPIED
    for operation in operations:
        _check_form(operation)
        perform = _OPERATIONS.get(str(operation.get("op")))
        if perform is None:
            raise _rejected(f"Unexpected kind: {operation.get('op')}")
        if operation["op"] == "copy":
            budget -= _copied_size(document, operation, budget)
        document = perform(document, operation)
    if not isinstance(document, dict):
        raise _rejected("the patch does not leave an object")
    return document


def _check_form(operation: Any) -> None:
    """The strict decoding of one operation (handlers/patch.go: jsonPatchOp)."""
    if not isinstance(operation, Mapping):
        kind = go_text.json_type(operation)
        raise BadRequest(f"error decoding patch: json: cannot unmarshal {kind} into Go value of type {_GO_TYPE}")
    for name in ("op", "path", "from"):
        value = operation.get(name)
        if value is not None and not isinstance(value, str):
            place = f"Go struct field jsonPatchOp.{name} of type string"
            raise BadRequest(f"error decoding patch: json: cannot unmarshal {go_text.json_type(value)} into {place}")
    if not isinstance(operation.get("path"), str):
        raise _rejected("an operation has no path")


def _rejected(cause: str) -> Invalid:
    return Invalid(REJECTED, hints=[Hint("", Message("{cause}", {"cause": cause}))])


def _tokens(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise _rejected(f"a JSON pointer starts with /: {pointer}")
    if pointer.count("/") > MAX_DEPTH:
        raise _rejected("a JSON pointer is too long")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _value_of(operation: Mapping[str, Any]) -> Any:
    if "value" not in operation:
        raise _rejected(f"the {operation['op']} operation of {operation['path']} has no value")
    return copied(operation["value"])


def _missing(operation: Mapping[str, Any], path: str) -> Invalid:
    return _rejected(f"{operation['op']} operation does not apply: doc is missing path: {path}: missing value")


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
    """A list index that must be there, negative ones from the end; with `end=1` the place after the last item too."""
    digits = token.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise _missing(operation, path)
    place = int(token) + (len(items) + end if token.startswith("-") else 0)
    if not 0 <= place < len(items) + end:
        raise _missing(operation, path)
    return place


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
    if isinstance(parent, list):
        parent[_index(parent, tokens[-1], operation, operation["path"])] = value
    else:
        parent[tokens[-1]] = value
    return document


def _source(operation: Mapping[str, Any]) -> str:
    source = operation.get("from")
    if not isinstance(source, str):
        raise _rejected(f"the {operation['op']} operation of {operation['path']} has no from")
    return source


def _move(document: Any, operation: Mapping[str, Any]) -> Any:
    document, value = _cut(document, _source(operation), operation)
    if too_deep(value, MAX_DEPTH):
        raise _rejected("Unable to move what is nested so deep")
    return _put(document, operation["path"], value, operation)


def _copy(document: Any, operation: Mapping[str, Any]) -> Any:
    value = _look(document, _tokens(_source(operation)), operation, operation["from"])
    return _put(document, operation["path"], copied(value), operation)


def _copied_size(document: Any, operation: Mapping[str, Any], budget: int) -> int:
    """How many values a copy adds; Invalid where that is more than the budget, or too deep."""
    value = _look(document, _tokens(_source(operation)), operation, operation["from"])
    if too_deep(value, MAX_DEPTH, budget):
        raise _rejected("Unable to complete the copy, the accumulated size increase of copy is too large")
    return size_of(value)


def _test(document: Any, operation: Mapping[str, Any]) -> Any:
    if _look(document, _tokens(operation["path"]), operation, operation["path"]) != _value_of(operation):
        raise _rejected(f"testing path {operation['path']} failed")
    return document


_OPERATIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
