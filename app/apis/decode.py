"""Strict decoding of objects: unknown fields, and values of the wrong type.

Mirrors sigs.k8s.io/json (UnmarshalStrict) over the types of `schema`, and the custom decoders of Quantity,
IntOrString and Time. Fields are visited in name order, which is the order in which kubectl sends them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock, meta, quantity
from app.apimachinery.meta import Object
from app.apis import schema, scheme
from app.apis.go_types import GO_NAMES
from app.apis.schema import Type

MAX_DEPTH = 100
"""How deep free-form values may go."""

_INT_LIMITS = {"int32": 2**31, "int64": 2**63}
_GO_SCALARS = {
    "string": "string",
    "int32": "int32",
    "int64": "int64",
    "bool": "bool",
    "double": "float64",
    "bytes": "[]uint8",
    "any": "interface {}",
    "quantity": "resource.Quantity",
    "intstr": "intstr.IntOrString",
    "time": "v1.Time",
}


@dataclass(frozen=True)
class Problem:
    """One thing that strict decoding refuses.

    `kind` is `unknown`, `type` or `quantity`; `path` names the field with list indices; `value` is what stood
    there; `wanted` is the field's type as in `schema.Field.type`; `enclosing` are the structures around the field,
    outermost first, each with the name of the field that holds it.
    """

    kind: str
    path: str
    text: str
    value: Any = None
    wanted: str = ""
    enclosing: tuple[tuple[str, Type], ...] = ()


def problems(obj: Object) -> list[Problem]:
    """All unknown fields, or the first value that does not fit: a misfit hides the rest, as in the API server.

    Raises:
        NoKindMatchError: the kind is not served.
    """
    known = schema.type_of_kind(scheme.of(obj))
    found = list(_structure(obj, _Place("", (), (("", known),))))
    misfits = [problem for problem in found if problem.kind != "unknown"]
    return misfits[:1] or found


def normalised(obj: Object) -> Object:
    """A deep copy as Go would read and print the object, which must have no problem but unknown fields.

    Unknown fields, nulls, and empty lists and maps are gone, quantities are canonical (`0.1` is `100m`).
    """
    copy: Object = _normalised(obj, schema.type_of_kind(scheme.of(obj)).name)
    return copy


def _normalised(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_element(item, kind[2:]) for item in value]
    if kind.startswith("{}"):
        return {key: _element(item, kind[2:]) for key, item in value.items()}
    if kind == "quantity":
        return str(quantity.parse(_quantity_text(value)))
    known = schema.type_of(kind)
    if known is None:
        return meta.copied(value)
    copy = {}
    for key, item in value.items():
        declared = known.fields.get(key)
        if declared is None or (item is None and declared.type != "time"):
            continue
        if declared.type[:2] in _COLLECTIONS and not item and not declared.required:
            continue
        copy[key] = _normalised(item, declared.type)
    return copy


def _element(value: Any, kind: str) -> Any:
    """An item of a list or map: null is Go's zero value of the type, as in `volumes: [null]`."""
    if value is not None or kind[:2] in _COLLECTIONS:
        return _normalised(value, kind)
    return {} if schema.type_of(kind) else _ZEROS.get(kind)


_COLLECTIONS = {"[]", "{}"}
_NUMBERS = ("int32", "int64", "double")
_ZEROS: dict[str, Any] = {"string": "", "bytes": "", "bool": False, "quantity": "0", **dict.fromkeys(_NUMBERS, 0)}


@dataclass(frozen=True)
class _Place:
    """Where a value stands: its path, Go's names on the way to it, the structures around it."""

    path: str
    names: tuple[str, ...]
    enclosing: tuple[tuple[str, Type], ...]

    @property
    def within(self) -> Type:
        return self.enclosing[-1][1]

    @property
    def go_field(self) -> str:
        return f"{self.within.struct_name}.{'.'.join(self.names)}"

    def problem(self, kind: str, text: str, value: Any, wanted: str = "") -> Problem:
        return Problem(kind, self.path, text, value, wanted, self.enclosing)


def _structure(value: Object, place: _Place) -> Iterator[Problem]:
    """The fields of an object whose type is the innermost of `place.enclosing`."""
    known = place.within
    for key in sorted(value, key=str):
        path = f"{place.path}.{key}" if place.path else str(key)
        here = _Place(path, (*place.names, key), place.enclosing)
        declared = known.fields.get(key)
        if declared is None:
            yield here.problem("unknown", f'unknown field "{path}"', value[key])
        else:
            yield from _value(value[key], declared.type, here)


def _value(value: Any, kind: str, place: _Place) -> Iterator[Problem]:
    if value is None:
        return
    if kind[:2] in _COLLECTIONS:
        yield from _collection(value, kind, place)
    elif (known := schema.type_of(kind)) is None:
        yield from _scalar(value, kind, place)
    elif isinstance(value, dict):
        inner = _Place(place.path, place.names, (*place.enclosing, (place.names[-1], known)))
        yield from _structure(value, inner)
    else:
        yield _misfit(value, kind, place)


def _collection(value: Any, kind: str, place: _Place) -> Iterator[Problem]:
    if not isinstance(value, list if kind.startswith("[]") else dict):
        yield _misfit(value, kind, place)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _value(item, kind[2:], _Place(f"{place.path}[{index}]", place.names, place.enclosing))
    else:
        for key in sorted(value, key=str):
            yield from _value(value[key], kind[2:], _Place(f"{place.path}.{key}", place.names, place.enclosing))


_JSON_TYPES: dict[str, type] = {"string": str, "bytes": str, "time": str, "bool": bool}


def _scalar(value: Any, kind: str, place: _Place) -> Iterator[Problem]:
    if kind == "quantity":
        yield from _quantity(value, place)
    elif kind == "intstr":
        if isinstance(value, bool) or not isinstance(value, int | str):
            text = f"json: cannot unmarshal {_json_name(value)} into Go value of type int32"
            yield place.problem("type", text, value, kind)
    elif kind == "time" and isinstance(value, str):
        if not _is_time(value):
            text = f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'
            yield place.problem("type", text, value, kind)
    elif kind == "any":
        if meta.too_deep(value, MAX_DEPTH):
            yield place.problem("type", "exceeded max depth", None, kind)
    elif not (isinstance(value, _JSON_TYPES[kind]) if kind in _JSON_TYPES else _is_number(value, kind)):
        yield _misfit(value, kind, place)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _is_time(value: str) -> bool:
    """Whether Go takes the text for a time (RFC 3339, with any fraction of a second)."""
    if not _TIME.fullmatch(value):
        return False
    try:
        clock.parse(value)
    except (ValueError, OverflowError):
        return False
    return True


def _is_number(value: Any, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    limit = _INT_LIMITS.get(kind)
    if limit is None:
        return True
    return isinstance(value, int) and -limit <= value < limit


def _quantity(value: Any, place: _Place) -> Iterator[Problem]:
    try:
        quantity.parse(_quantity_text(value))
    except quantity.QuantityError as error:
        yield place.problem("quantity", str(error), value, "quantity")


def _quantity_text(value: Any) -> str:
    """A quantity is read from the value's JSON text, whatever the value is (Quantity.UnmarshalJSON)."""
    return value.strip() if isinstance(value, str) else str(value).lower()


def _misfit(value: Any, kind: str, place: _Place) -> Problem:
    go_type = _go_type(kind, place)
    shown = _json_name(value)
    if shown == "number" and kind in _INT_LIMITS:
        shown = f"number {value}"
    text = f"json: cannot unmarshal {shown} into Go struct field {place.go_field} of type {go_type}"
    return place.problem("type", text, value, kind)


def _go_type(kind: str, place: _Place) -> str:
    """How Go prints a type: `[]v1.Container`, `map[string]string`, or a named type such as `v1.TaintEffect`."""
    named = GO_NAMES.get(f"{place.within.struct_name}.{place.names[-1]}")
    if named and not place.path.endswith("]"):
        return named
    if kind.startswith("[]"):
        return "[]" + _go_type(kind[2:], place)
    if kind == "{}quantity":
        return "v1.ResourceList"
    if kind.startswith("{}"):
        return "map[string]" + _go_type(kind[2:], place)
    known = schema.type_of(kind)
    return known.go_name if known else _GO_SCALARS[kind]


def _json_name(value: Any) -> str:
    """What Go calls the JSON value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
