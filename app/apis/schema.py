"""What each kind's fields are called and hold: strict decoding, and the merge keys for patches.

The structure comes from `schema/v1.35.json` (made by `cka-lab schema-data`). Decoding speaks as the API server
does: sigs.k8s.io/json (unknown fields with their full path, one type error with the Go names) and
k8s.io/apimachinery/pkg/api/resource (quantities).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cache
from pathlib import Path
from typing import Any

from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo

RELEASE = "1.35"


@dataclass(frozen=True)
class Field:
    """One field of a type.

    `type` is a scalar (`string`, `int32`, `int64`, `bool`, `double`, `bytes`, `time`, `quantity`, `intstr`, `any`),
    another type's name (`core.v1.PodSpec`), `[]` and a type for a list, or `{}` and a type for a map.
    """

    name: str
    type: str
    required: bool = False
    merge_key: str = ""
    strategies: tuple[str, ...] = ()
    list_type: str = ""
    list_keys: tuple[str, ...] = ()
    map_type: str = ""

    @property
    def element(self) -> str:
        """The type of the list's items or the map's values; the type itself where it is neither."""
        return self.type[2:] if self.type[:2] in {"[]", "{}"} else self.type


@dataclass(frozen=True)
class Type:
    """A structure: its fields by name."""

    name: str
    fields: Mapping[str, Field] = dataclass_field(default_factory=dict)

    @property
    def go_name(self) -> str:
        """`v1.PodSpec`: how Go prints the type."""
        return ".".join(self.name.split(".")[-2:])

    @property
    def struct_name(self) -> str:
        """`PodSpec`."""
        return self.name.rpartition(".")[2]


@cache
def _data() -> dict[str, Any]:
    path = Path(__file__).with_suffix("") / f"v{RELEASE}.json"
    data: dict[str, Any] = json.loads(path.read_bytes())
    return data


@cache
def type_of(name: str) -> Type | None:
    """A type by its name in the data; None for scalars, lists and maps."""
    fields = _data()["types"].get(name)
    if fields is None:
        return None
    return Type(name, {key: _field(key, value) for key, value in fields.items()})


def _field(name: str, value: str | Mapping[str, Any]) -> Field:
    if isinstance(value, str):
        return Field(name, value)
    return Field(
        name=name,
        type=value["type"],
        required=bool(value.get("required")),
        merge_key=value.get("mergeKey", ""),
        strategies=tuple(value.get("strategy", "").split(",")) if value.get("strategy") else (),
        list_type=value.get("listType", ""),
        list_keys=tuple(value.get("listKeys", ())),
        map_type=value.get("mapType", ""),
    )


@cache
def atomic_types() -> frozenset[str]:
    """The structures that have one owner as a whole, such as label selectors (x-kubernetes-map-type: atomic)."""
    return frozenset(_data().get("atomic", ()))


def type_of_kind(info: KindInfo) -> Type:
    """The type of a kind's objects."""
    found = type_of(_data()["kinds"][f"{info.api_version}/{info.kind}"])
    if found is None:
        raise LookupError(f"the schema data lack {info.kind}: run cka-lab schema-data")
    return found


def field(info: KindInfo, path: str) -> Field | None:
    """The field at a path such as `spec.template.spec.containers` (list indices and map keys left out)."""
    current: Type | None = type_of_kind(info)
    found: Field | None = None
    for part in path.split("."):
        if current is None or part not in current.fields:
            return None
        found = current.fields[part]
        current = type_of(found.element)
    return found


@dataclass(frozen=True)
class PatchMeta:
    """What a strategic merge needs to know of one type (satisfies apimachinery.patch.PatchSchema)."""

    type: Type | None

    def lookup(self, name: str) -> tuple[PatchMeta, tuple[str, ...], str]:
        """(the field's own meta, its patch strategies, its merge key); an unknown field has none."""
        known = self.type.fields.get(name) if self.type else None
        if known is None:
            return PatchMeta(None), (), ""
        return PatchMeta(type_of(known.element)), known.strategies, known.merge_key


def patch_meta(info: KindInfo) -> PatchMeta:
    """The merge keys and strategies of a kind."""
    return PatchMeta(type_of_kind(info))


def check(obj: Object) -> list[str]:
    """What strict decoding says against an object, in upstream's words; empty where nothing is wrong.

    Either one text about a value of the wrong type, or one `unknown field "…"` for each.

    Raises:
        NoKindMatchError: the kind is not served.
    """
    from app.apis import decode  # noqa: PLC0415 (decode builds on this module; this is the seam's short form)

    return [problem.text for problem in decode.problems(obj)]
