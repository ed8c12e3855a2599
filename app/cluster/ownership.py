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


class Texts:
    """Owners as JSON values: their fields are written once, under a name that follows from them.

    So a snapshot holds what thirty pods share once, and an entry never moves when another one comes or goes.
    """

    def __init__(self, fields: Mapping[str, str] | None = None) -> None:
        self.fields = dict(fields or {})

    def packed(self, owners: Owners) -> list[list[str]]:
        """A row for each owner."""
        return [self._row(owner) for owner in owners]

    def _row(self, owner: Owner) -> list[str]:
        name = hashlib.sha256(owner.fields.encode()).hexdigest()[:10]
        self.fields[name] = owner.fields
        return [*owner[:5], name]

    def unpacked(self, rows: Sequence[Sequence[str]]) -> Owners:
        """The inverse of `packed`."""
        return tuple(Owner._make([*row[:5], self.fields[row[5]]]) for row in rows)


def packed(objects: Mapping[str, Mapping[str, Object]], texts: Texts) -> dict[str, dict[str, list[list[str]]]]:
    """The owners of all objects of which account is kept: {resource: {key: rows}}."""
    kept: dict[str, dict[str, list[list[str]]]] = {}
    for resource, stored in sorted(objects.items()):
        for key in sorted(stored):
            owners = owners_of(stored[key])
            if owners is not None:
                kept.setdefault(resource, {})[key] = texts.packed(owners)
    return kept
