"""The wire format of protocol buffers: a message as numbered fields.

Only what Kubernetes' generated code writes is read: varints, lengths, and the two fixed sizes for stepping over
them. Nothing is copied and nothing recurses, so a message costs no more than its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

Value = int | memoryview
"""A varint as an unsigned number of 64 bits, or the bytes of a field with a length."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MAX_SHIFT = 63


class WireError(ValueError):
    """The bytes are no message. The text is the cause, as Go's generated code words it."""


def fields(data: memoryview) -> Iterator[tuple[int, Value]]:
    """Each field of a message in its order: (number, value). WireError where the bytes end early or are none."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise WireError(f"illegal tag 0 (wire type {wire})")
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
        elif wire == _LENGTH:
            size, at = _varint(data, at)
            yield number, data[at : (at := _end(data, at, size))]
        elif wire in {_FIXED64, _FIXED32}:
            at = _end(data, at, 8 if wire == _FIXED64 else 4)
        else:
            raise WireError(f"illegal wireType {wire}")


def signed(value: int) -> int:
    """A varint as Go's int64: negative numbers come as their two's complement."""
    return value - (1 << 64) if value >> 63 else value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise WireError("unexpected EOF")
        if shift > _MAX_SHIFT:
            raise WireError("integer overflow")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7


def _end(data: memoryview, at: int, size: int) -> int:
    if size > len(data) - at:
        raise WireError("unexpected EOF")
    return at + size
