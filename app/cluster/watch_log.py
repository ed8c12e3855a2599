"""The watch log as compact JSON: what can be read off the stored objects is not written twice.

An event's object is the previous object of the key's next event, or the stored object after its last one; so a
packed row holds only how the previous object differs from it. A pod's ten status changes cost ten small
differences and no copy of its spec. Owners are told where they are not those of the object after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.ownership import Owners, Stored, Texts, owners_of

Row = tuple[int, str, str, Object, Object | None, int]
"""(revision, type, resource, object, previous, instant)"""

_Inner = list[Any] | dict[str, list[Any]]
_Objects = Mapping[str, Mapping[str, Object]]


def pack(rows: Sequence[Row], stored: _Objects, texts: Texts) -> list[list[Any]]:
    """Rows as JSON: [revision, type, resource, key, object or null, difference to the previous or null, more].

    `more` is the instant, where it is not that of the row after it, and then the owners of the object and of the
    previous one, [owners or null] each, null where they are as told already.
    """
    later: dict[tuple[str, str], Object | None] = {}
    packed: list[list[Any]] = []
    after = 0
    for revision, kind, resource, obj, previous, instant in reversed(rows):
        key = meta.key_of(obj)
        known = later.get((resource, key), stored.get(resource, {}).get(key))
        inline = None if known is not None and known == obj else obj
        difference = None if previous is None else _difference(obj, previous)
        more: list[Any] = [] if instant == after else [instant]
        if told := _owners_told(known if inline is None else None, obj, previous, texts):
            more = [instant, told]
        packed.append([revision, kind, resource, key, inline, difference, *more])
        after = instant
        later[(resource, key)] = previous
    packed.reverse()
    return packed


def _owners_told(known: Object | None, obj: Object, previous: Object | None, texts: Texts) -> list[Any]:
    """The owners of an object that is written, or read off `known`, and of the previous one; nothing if they follow."""
    mine = owners_of(obj)
    told = [
        None if mine == owners_of(known) else _packed(mine, texts),
        None if previous is None or owners_of(previous) == mine else _packed(owners_of(previous), texts),
    ]
    return told if any(told) else []


def _packed(owners: Owners | None, texts: Texts) -> list[Any]:
    return [None if owners is None else texts.packed(owners)]


def _owners(told: Sequence[Any], place: int, otherwise: Object | None, texts: Texts) -> Owners | None:
    if len(told) < 2 or told[1][place] is None:
        return owners_of(otherwise)
    (rows,) = told[1][place]
    return None if rows is None else texts.unpacked(rows)


def unpack(packed: Sequence[Sequence[Any]], stored: _Objects, texts: Texts) -> list[Row]:
    """The inverse of `pack`, given the same stored objects."""
    later: dict[tuple[str, str], Object | None] = {}
    rows: list[Row] = []
    instant = 0
    for revision, kind, resource, key, inline, difference, *told in reversed(packed):
        instant = told[0] if told else instant
        known = later.get((resource, key), stored.get(resource, {}).get(key))
        read = known if inline is None else inline
        if read is None:
            raise ValueError(f"the watch log names {resource} {key}, which the state does not hold")
        mine = _owners(told, 0, known if inline is None else None, texts)
        follows = inline is None and mine == owners_of(known)
        obj: Object = read if follows else Stored(read, mine)
        previous = None if difference is None else Stored(_changed(obj, difference), _owners(told, 1, obj, texts))
        rows.append((revision, kind, resource, obj, previous, instant))
        later[(resource, key)] = previous
    rows.reverse()
    return rows


def _difference(base: Object, other: Object) -> list[Any]:
    """How to get from `base` to `other`: [fields set, fields removed, differences within]."""
    changed: Object = {}
    within: dict[str, _Inner] = {}
    for key, value in other.items():
        if key not in base:
            changed[key] = value
        elif base[key] is not value and base[key] != value:
            inner = _inner(base[key], value)
            if inner is None:
                changed[key] = value
            else:
                within[key] = inner
    return [changed, sorted(base.keys() - other.keys()), within]


def _inner(base: Any, other: Any) -> _Inner | None:
    """A difference within an object, or by place within the objects of a list; None where the value is named whole."""
    if isinstance(base, dict) and isinstance(other, dict):
        return _difference(base, other)
    if not (isinstance(base, list) and isinstance(other, list) and len(base) == len(other)):
        return None
    pairs = list(zip(base, other, strict=True))
    if not all(isinstance(one, dict) and isinstance(two, dict) for one, two in pairs):
        return None
    return {str(place): _difference(one, two) for place, (one, two) in enumerate(pairs) if one != two}


def _changed(base: Object, difference: Sequence[Any]) -> Object:
    changed, removed, within = difference
    other = {key: value for key, value in base.items() if key not in removed}
    other.update(changed)
    for key, inner in within.items():
        if isinstance(inner, dict):
            items = enumerate(base[key])
            other[key] = [_changed(item, inner[str(at)]) if str(at) in inner else item for at, item in items]
        else:
            other[key] = _changed(base[key], inner)
    return other
