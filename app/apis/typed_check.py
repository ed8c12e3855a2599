"""Whether an applied configuration fits its schema, in upstream's words.

Mirrors sigs.k8s.io/structured-merge-diff/typed: validate.go and helpers.go. Unlike decoding it knows no Go types: it
looks at atomic parts too, and finds every fault at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from app.apimachinery import fieldpath, go_text
from app.apimachinery.meta import Object
from app.apis import schema, typed
from app.apis.scheme import KindInfo

_NUMERIC = frozenset({"int32", "int64", "double"})
_ANY_SCALAR = frozenset({"quantity", "intstr", "time"})


def problems(obj: Object, info: KindInfo) -> str:
    """What keeps the object from being typed; nothing where it fits."""
    found = list(_struct(obj, schema.type_of_kind(info).name, ""))
    if len(found) <= 1:
        return "".join(found)
    return "errors:\n" + "\n".join(f"  {text}" for text in found)


def _value(value: Any, kind: str, path: str, field: schema.Field | None = None) -> Iterator[str]:
    if value is None or kind == "any":
        return
    if kind.startswith("[]"):
        yield from _list(value, kind, path, field)
    elif kind.startswith("{}"):
        yield from _map(value, kind[2:], path)
    elif schema.type_of(kind) is not None:
        yield from _struct(value, kind, path)
    elif problem := _scalar(value, kind):
        yield f"{path}: {problem}"


def _scalar(value: Any, kind: str) -> str:
    scalar = not isinstance(value, Mapping | list)
    if kind in _NUMERIC:
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if numeric else f"expected numeric (int or float), got {go_text.type_of(value)}"
    if kind == "bool":
        return "" if isinstance(value, bool) else f"expected boolean, got &{{{go_text.plain(value)}}}"
    if kind in _ANY_SCALAR:
        return "" if scalar else f"expected any scalar, got &{{{go_text.plain(value)}}}"
    if isinstance(value, str):
        return ""
    shown = orjson.dumps(value).decode() if scalar else f"{go_text.type_of(value)}{{...}}"
    return f"expected string, got &value.valueUnstructured{{Value:{shown}}}"


def _map(value: Any, kind: str, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path}: expected map, got &{{{go_text.plain(value)}}}"
        return
    for key, item in value.items():
        yield from _value(item, kind, f"{path}.{key}")


def _struct(value: Any, kind: str, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path}: expected map, got &{{{go_text.plain(value)}}}"
        return
    known = schema.type_of(kind)
    fields = known.fields if known else {}
    for key, item in value.items():
        field = fields.get(key)
        if field is not None:
            yield from _value(item, field.type, f"{path}.{key}", field)
        elif fields:
            yield f"{path}.{key}: field not declared in schema"


def _list(value: Any, kind: str, path: str, field: schema.Field | None) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected list, got &{{{go_text.plain(value)}}}"
        return
    shape = typed.shape_of_field(field) if field is not None else typed.LEAF
    seen: set[str] = set()
    for index, item in enumerate(value):
        if shape.kind == "leaf":
            yield from _value(item, kind[2:], f"{path}[{index}]")
            continue
        if problem := _unnamed(item, shape):
            yield f"{path}: element {index}: {problem}"
            continue
        element = typed.item_element(item, shape)
        told = fieldpath.element_text(element)
        if element in seen:
            yield f"{path}: duplicate entries for key {told}"
        seen.add(element)
        yield from _value(item, kind[2:], path + told)


def _unnamed(item: Any, shape: typed.Shape) -> str:
    """Why an item of an associative list has no name (listItemToPathElement)."""
    if shape.kind == "set":
        if item is None:
            return "associative list without keys has an element that's an explicit null"
        if isinstance(item, Mapping):
            return "associative list without keys has an element that's a map type"
        return "not supported: associative list with lists as elements" if isinstance(item, list) else ""
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, Mapping):
        return "associative list with keys may not have non-map elements"
    lacking = next((key for key in shape.keys if key not in item and key not in typed.KEY_DEFAULTS), "")
    if not lacking:
        return ""
    return (
        f'associative list with keys has an element that omits key field "{lacking}" (and doesn\'t have default value)'
    )
