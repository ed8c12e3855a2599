"""Kubernetes protobuf to JSON values: what kubectl's typed commands (`create deployment`, `auth can-i`) post.

The wire numbers lie in `schema/protobuf.json`, for the kinds that a kubectl sends in this form:
{"kinds": {"apps/v1/Deployment": message}, "messages": {message: {number: "name type"}}}. A type is written as in
`schema`; `*` before it says that its zero is a value: Go holds a pointer, or writes the field always. A field without
a name is embedded: its own fields belong to the message around it.

Mirrors k8s.io/apimachinery/pkg/runtime/serializer/protobuf/protobuf.go (the envelope) and the generated.proto files
of k8s.io/api; what is left out of the JSON follows the `omitempty` of the Go types.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.apimachinery import clock
from app.apimachinery.errors import BadRequest, UnsupportedMediaType
from app.apimachinery.protobuf import Value, WireError, fields, signed

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_MAX_DEPTH = 100
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800  # seconds since 1970


@dataclass(frozen=True)
class _Field:
    """One field of a message; `shape` is `[]` for a list, `{}` for a map."""

    name: str
    type: str
    shape: str
    keeps_zero: bool


def decode(body: bytes) -> dict[str, Any]:
    """The object in an envelope, with its apiVersion and kind.

    Raises:
        UnsupportedMediaType: it is of a kind that is not read in this form.
        BadRequest: the bytes are not what they claim to be.
    """
    if not body.startswith(_MAGIC):
        wanted = " ".join(str(byte) for byte in _MAGIC)
        raise BadRequest(f"provided data does not appear to be a protobuf message, expected prefix [{wanted}]")
    try:
        envelope = dict(fields(memoryview(body)[len(_MAGIC) :]))
        names = {number: _text(value) for number, value in fields(_message(envelope.get(1, memoryview(b""))))}
        api_version, kind = names.get(1, ""), names.get(2, "")
        message = _data()["kinds"].get(f"{api_version}/{kind}")
        if message is None:
            raise UnsupportedMediaType(
                f"this cluster does not read {kind} in version {api_version!r} as Kubernetes protobuf; "
                "send application/json"
            )
        content = _object(_message(envelope.get(2, memoryview(b""))), message, 0)
    except WireError as error:
        raise BadRequest(f"unable to decode the body as Kubernetes protobuf: {error}") from error
    return {"apiVersion": api_version, "kind": kind, **content}


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((Path(__file__).parent / "schema" / "protobuf.json").read_bytes())
    return data


@cache
def _fields_of(message: str) -> dict[int, _Field]:
    return {int(number): _field(text) for number, text in _data()["messages"][message].items()}


def _field(text: str) -> _Field:
    name, _, kind = text.partition(" ")
    bare = kind.removeprefix("*")
    shape = bare[:2] if bare[:2] in {"[]", "{}"} else ""
    return _Field(name, bare.removeprefix(shape), shape, kind.startswith("*"))


def _object(data: memoryview, message: str, depth: int) -> dict[str, Any]:
    """A message as a JSON object; unknown numbers are left out, as Go's generated code does."""
    if depth > _MAX_DEPTH:
        raise WireError("exceeded the maximum depth of nested messages")
    known = _fields_of(message)
    found: dict[str, Any] = {}
    for number, value in fields(data):
        field = known.get(number)
        if field is None:
            continue
        if not field.name:
            found |= _object(_message(value), field.type, depth + 1)
        elif field.shape == "[]":
            found.setdefault(field.name, []).append(_value(value, field.type, depth + 1))
        elif field.shape == "{}":
            found.setdefault(field.name, {}).update([_entry(value, field.type, depth + 1)])
        else:
            _set(found, field, _value(value, field.type, depth + 1))
    return found


def _set(found: dict[str, Any], field: _Field, value: Any) -> None:
    """Go writes its zero values to the wire, and `omitempty` keeps them out of the JSON."""
    if value is None or (not field.keeps_zero and not isinstance(value, dict | list) and not value):
        found.pop(field.name, None)
    else:
        found[field.name] = value


def _entry(value: Value, kind: str, depth: int) -> tuple[str, Any]:
    parts = dict(fields(_message(value)))
    return _text(parts.get(1, memoryview(b""))), _value(parts.get(2, _EMPTY.get(kind, memoryview(b""))), kind, depth)


def _value(value: Value, kind: str, depth: int) -> Any:
    read = _READERS.get(kind)
    return _object(_message(value), kind, depth) if read is None else read(value)


def _message(value: Value) -> memoryview:
    if isinstance(value, int):
        raise WireError("wrong wireType = 0 for a field with a length")
    return value


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise WireError("wrong wireType = 2 for a number")
    return signed(value)


def _text(value: Value) -> str:
    try:
        return str(_message(value), "utf-8")
    except UnicodeDecodeError as error:
        raise WireError("string field contains invalid UTF-8") from error


def _int32(value: Value) -> int:
    number = _number(value) & 0xFFFF_FFFF
    return number - (1 << 32) if number >> 31 else number


def _quantity(value: Value) -> str:
    return _text(dict(fields(_message(value))).get(1, memoryview(b"")))


def _int_or_string(value: Value) -> int | str:
    """intstr.IntOrString: type 1 is a string, all else a number."""
    parts = dict(fields(_message(value)))
    is_text = _number(parts.get(1, 0)) == 1
    return _text(parts.get(3, memoryview(b""))) if is_text else _int32(parts.get(2, 0))


def _time(value: Value) -> str | None:
    """metav1.Time in whole seconds; nothing stands for the zero time, which JSON writes as null."""
    parts = dict(fields(_message(value)))
    seconds = _number(parts.get(1, 0))
    if not parts or seconds == _YEAR_1:
        return None
    if not _YEAR_1 < seconds < _YEAR_10000:
        raise WireError(f"a time of {seconds} seconds is out of range")
    return clock.rfc3339(seconds * clock.SECOND)


def _fields_v1(value: Value) -> Any:
    raw = _message(dict(fields(_message(value))).get(1, memoryview(b"{}")))
    try:
        return json.loads(_text(raw))
    except (ValueError, RecursionError) as error:
        raise WireError(f"managed fields are no JSON: {error}") from error


def _strings(value: Value) -> list[str]:
    """Types that are a list of strings in Go, and a message with that list on the wire (ExtraValue)."""
    return [_text(item) for _, item in fields(_message(value))]


_READERS: dict[str, Callable[[Value], Any]] = {
    "string": _text,
    "int32": _int32,
    "int64": _number,
    "bool": lambda value: _number(value) != 0,
    "bytes": lambda value: base64.b64encode(_message(value)).decode(),
    "quantity": _quantity,
    "intstr": _int_or_string,
    "time": _time,
    "fields": _fields_v1,
    "strings": _strings,
}
_EMPTY: dict[str, Value] = {"int32": 0, "int64": 0, "bool": 0}
