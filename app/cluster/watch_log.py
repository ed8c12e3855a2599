"""The watch log as compact JSON: what can be read off the stored objects is not written twice.

An event's object is the previous object of the key's next event, or the stored object after its last one; so a
packed row holds only how the previous object differs from it. A pod's ten status changes cost ten small
differences and no copy of its spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object

Row = tuple[int, str, str, Object, Object | None]
"""(revision, type, resource, object, previous)"""

_Objects = Mapping[str, Mapping[str, Object]]


def pack(rows: Sequence[Row], stored: _Objects) -> list[list[Any]]:
    """Rows as JSON: [revision, type, resource, key, object or null, difference to the previous or null]."""
    later: dict[tuple[str, str], Object | None] = {}
    packed: list[list[Any]] = []
    for revision, kind, resource, obj, previous in reversed(rows):
        key = meta.key_of(obj)
        known = later.get((resource, key), stored.get(resource, {}).get(key))
        inline = None if known is not None and known == obj else obj
        difference = None if previous is None else _difference(obj, previous)
        packed.append([revision, kind, resource, key, inline, difference])
        later[(resource, key)] = previous
    packed.reverse()
    return packed


def unpack(packed: Sequence[Sequence[Any]], stored: _Objects) -> list[Row]:
    """The inverse of `pack`, given the same stored objects."""
    later: dict[tuple[str, str], Object | None] = {}
    rows: list[Row] = []
    for revision, kind, resource, key, inline, difference in reversed(packed):
        known = later.get((resource, key), stored.get(resource, {}).get(key))
        obj = known if inline is None else inline
        if obj is None:
            raise ValueError(f"the watch log names {resource} {key}, which the state does not hold")
        previous = None if difference is None else _changed(obj, difference)
        rows.append((revision, kind, resource, obj, previous))
        later[(resource, key)] = previous
    rows.reverse()
    return rows


def _difference(base: Object, other: Object) -> list[Any]:
    """How to get from `base` to `other`: [fields set, fields removed, differences within]."""
    changed: Object = {}
    within: dict[str, list[Any]] = {}
    for key, value in other.items():
        if key not in base:
            changed[key] = value
        elif base[key] is not value and base[key] != value:
            if isinstance(value, dict) and isinstance(base[key], dict):
                within[key] = _difference(base[key], value)
            else:
                changed[key] = value
    return [changed, sorted(base.keys() - other.keys()), within]


def _changed(base: Object, difference: Sequence[Any]) -> Object:
    changed, removed, within = difference
    other = {key: value for key, value in base.items() if key not in removed}
    other.update(changed)
    for key, inner in within.items():
        other[key] = _changed(base[key], inner)
    return other
