"""JSON values as Go's fmt package prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> str:
    """`%v`: `map[spec:map[replicas:1]]`."""
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(plain(item) for item in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


def type_of(value: Any) -> str:
    """`%T` of a value that was decoded from JSON."""
    if isinstance(value, Mapping):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    return "float64" if isinstance(value, float) else "string"


def json_type(value: Any) -> str:
    """What encoding/json calls a value that it cannot decode."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return "array" if isinstance(value, list) else "string"
