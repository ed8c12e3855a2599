"""The form of bodies that are no stored kind (Eviction, TokenRequest, access reviews): what each field may hold.

Mirrors what decoding into Go structs refuses (k8s.io/apimachinery/pkg/runtime/serializer/json).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo

Shape = Mapping[str, Any]
"""Field name to Go type, to a list of one shape, or to the shape of a struct. Other fields are not looked at."""

METADATA: Shape = {
    "name": "string",
    "generateName": "string",
    "namespace": "string",
    "uid": "string",
    "labels": "map[string]string",
    "annotations": "map[string]string",
}

_BITS = {"int32": 31, "int64": 63}
_JSON = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


def check(body: Object, info: KindInfo, shape: Shape) -> None:
    """Refuse the first field that does not fit its type. BadRequest."""
    for path, value, wanted in _misfits(body, {"metadata": METADATA, **shape}, ""):
        raise BadRequest(
            f'{info.kind} in version "{info.version}" cannot be handled as a {info.kind}: json: cannot unmarshal '
            f"{_told(value, wanted)} into Go struct field {info.kind}.{path} of type {wanted}"
        )


def _told(value: Any, wanted: str) -> str:
    """What encoding/json calls a value that does not fit; a number is named (UnmarshalTypeError)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"number {value}" if number and wanted in _BITS else _JSON[type(value)]


def _misfits(value: Mapping[str, Any], shape: Shape, above: str) -> Iterator[tuple[str, Any, str]]:
    for name, wanted in shape.items():
        found = value.get(name)
        if found is None:
            continue
        path = f"{above}.{name}" if above else name
        if isinstance(wanted, str):
            if not _fits(found, wanted):
                yield path, found, wanted
        elif isinstance(wanted, list):
            yield from _items(found, wanted[0], path)
        elif isinstance(found, dict):
            yield from _misfits(found, wanted, path)
        else:
            yield path, found, f"struct {name}"


def _items(found: Any, shape: Shape, path: str) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(found, list):
        yield path, found, "[]struct"
        return
    for item in found:
        if isinstance(item, dict):
            yield from _misfits(item, shape, path)
        else:
            yield path, item, "struct"


def _fits(value: Any, wanted: str) -> bool:
    if wanted.startswith("[]"):
        return isinstance(value, list) and all(_fits(item, wanted[2:]) for item in value)
    if wanted.startswith("map[string]"):
        return isinstance(value, dict) and all(_fits(item, wanted[11:]) for item in value.values())
    if wanted in _BITS:
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and -(2 ** _BITS[wanted]) <= value < 2 ** _BITS[wanted]
        )
    return isinstance(value, bool if wanted == "bool" else str)
