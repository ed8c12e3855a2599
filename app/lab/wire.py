"""The envelope that crosses the pipe to a worker: a JSON header and any number of blobs, as they are stored.

`4 bytes length of the header, big endian | header, JSON | blobs`. The header's `blobs` holds their lengths. A
lab's state stays compressed on its way.
"""

from __future__ import annotations

import struct
from typing import Any

import orjson

_LENGTH = struct.Struct(">I")


class WireError(ValueError):
    """These bytes are no message."""


def pack(header: dict[str, Any], *blobs: bytes) -> bytes:
    """One message. Dataclasses in the header become JSON objects."""
    encoded = orjson.dumps({**header, "blobs": [len(blob) for blob in blobs]})
    return b"".join((_LENGTH.pack(len(encoded)), encoded, *blobs))


def unpack(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The message's header and blobs. Raises WireError when it is cut short or no JSON object."""
    if len(message) < _LENGTH.size:
        raise WireError("a message without a header")
    (length,) = _LENGTH.unpack_from(message)
    end = _LENGTH.size + length
    try:
        header = orjson.loads(message[_LENGTH.size : end])
    except orjson.JSONDecodeError as error:
        raise WireError(f"the header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise WireError("the header is no object")
    blobs = []
    for size in header.pop("blobs", []):
        blobs.append(message[end : end + size])
        end += size
    if end != len(message):
        raise WireError("the blobs do not add up to the message")
    return header, blobs
