"""Who owns which fields of a stored object: what `metadata.managedFields` is made of when it leaves through the API.

Ownership is not part of the object: it is kept beside it, as an attribute that a copy of the object does not have,
so that neither views nor comparisons see it. None means that no account is kept: whoever makes objects of that kind
in every cluster made this one too, and the account follows from the object.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.apimachinery.meta import Object


class Owner(NamedTuple):
    """One entry of managedFields; `fields` is its FieldsV1 as JSON text."""

    manager: str
    operation: str
    api_version: str
    time: str
    subresource: str
    fields: str

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells managers apart (internal/managedfields.go: BuildManagerIdentifier)."""
        version = self.api_version if self.operation == "Update" else ""
        return (self.manager, self.operation, version, self.subresource)


Owners = tuple[Owner, ...]


class Stored(dict[str, Any]):
    """An object as the store holds it, with its owners."""

    __slots__ = ("owners",)

    def __init__(self, obj: Object, owners: Owners | None) -> None:
        super().__init__(obj)
        self.owners = owners


def owners_of(obj: Object | None) -> Owners | None:
    """The object's owners; None where no account is kept, as for a copy."""
    return obj.owners if isinstance(obj, Stored) else None


def like(obj: Object, original: Object) -> Object:
    """The object with the owners of the stored one that it shows."""
    return Stored(obj, owners_of(original))


def same(one: Owners | None, other: Owners | None) -> bool:
    """Whether two accounts differ in nothing but times (handlers/fieldmanager/equality.go)."""
    if one is None or other is None:
        return one is other
    return [(*owner[:3], *owner[4:]) for owner in one] == [(*owner[:3], *owner[4:]) for owner in other]


def packed(objects: Mapping[str, Mapping[str, Object]]) -> dict[str, Any]:
    """The owners of all objects of which account is kept, as JSON values: {"fields": …, "of": resource: key: rows}.

    What objects share is written once, under a name that follows from it, so that other entries never move.
    """
    fields: dict[str, str] = {}
    kept: dict[str, dict[str, list[list[str]]]] = {}
    for resource, stored in sorted(objects.items()):
        for key in sorted(stored):
            owners = owners_of(stored[key])
            if owners is not None:
                kept.setdefault(resource, {})[key] = [_row(owner, fields) for owner in owners]
    return {"fields": fields, "of": kept} if kept else {}


def _row(owner: Owner, fields: dict[str, str]) -> list[str]:
    name = hashlib.sha256(owner.fields.encode()).hexdigest()[:10]
    fields[name] = owner.fields
    return [*owner[:5], name]


class Kept:
    """What `packed` gave, by resource and key."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._fields: Mapping[str, str] = document.get("fields", {})
        self._of: Mapping[str, Mapping[str, Sequence[Sequence[str]]]] = document.get("of", {})

    def owners(self, resource: str, key: str) -> Owners | None:
        """The object's owners, or None."""
        rows = self._of.get(resource, {}).get(key)
        if rows is None:
            return None
        return tuple(Owner._make([*row[:5], self._fields[row[5]]]) for row in rows)
