"""What a learner has changed since the start: objects created, changed and deleted, field by field.

Status, versions and bookkeeping are left out: they change by themselves.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster.cluster import Cluster

MAX_CHANGES = 200
MAX_FIELDS = 30
_MAX_TEXT = 200
_UNSEEN = frozenset({"Event", "Lease", "Binding", "Endpoints", "EndpointSlice", "ControllerRevision"})
_BOOKKEEPING = frozenset(
    {"resourceVersion", "generation", "managedFields", "creationTimestamp", "selfLink", "deletionGracePeriodSeconds"}
)
_OWN_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"})


@dataclass(frozen=True)
class FieldChange:
    """One field; an absent value is the empty string."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class Change:
    """One object. `fields` are filled in for changed ones; the namespace is empty where the kind has none."""

    kind: str
    namespace: str
    name: str
    verb: Literal["created", "changed", "deleted"]
    fields: tuple[FieldChange, ...] = ()


def since(start: Cluster, now: Cluster) -> list[Change]:
    """What differs between two states of one cluster, by kind and name; at most MAX_CHANGES."""
    found: list[Change] = []
    for info in scheme.KINDS:
        if info.kind in _UNSEEN or info.stored_as:
            continue
        before = {meta.key_of(obj): obj for obj in start.client.list(info)}
        after = {meta.key_of(obj): obj for obj in now.client.list(info)}
        for key in sorted(before.keys() | after.keys()):
            change = _change(info.kind, before.get(key), after.get(key))
            if change is not None:
                found.append(change)
    return found[:MAX_CHANGES]


def _change(kind: str, before: Object | None, after: Object | None) -> Change | None:
    shown = after or before or {}
    identity = (kind, meta.namespace_of(shown), meta.name_of(shown))
    if before is None:
        return Change(*identity, "created")
    if after is None:
        return Change(*identity, "deleted")
    if before is after or before["metadata"].get("resourceVersion") == after["metadata"].get("resourceVersion"):
        return None
    fields = list(_differences("", _visible(before), _visible(after)))
    return Change(*identity, "changed", tuple(fields[:MAX_FIELDS])) if fields else None


def _visible(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _BOOKKEEPING}
    annotations = {key: value for key, value in meta.annotations_of(obj).items() if key not in _OWN_ANNOTATIONS}
    metadata["annotations"] = annotations
    rest = {key: value for key, value in obj.items() if key not in {"status", "metadata", "apiVersion", "kind"}}
    return {"metadata": metadata, **rest}


def _differences(path: str, before: Any, after: Any) -> Iterator[FieldChange]:
    if before == after:
        return
    kinds = {type(value) for value in (before, after) if value is not None}
    # An item of a list that came or went is told as one: its fields mean nothing by themselves.
    is_whole = path.endswith("]") and None in (before, after)
    if kinds == {dict} and not is_whole:
        old, new = before or {}, after or {}
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(_joined(path, key), old.get(key), new.get(key))
    elif kinds == {list}:
        for index, (one, other) in enumerate(itertools.zip_longest(before or [], after or [])):
            yield from _differences(f"{path}[{index}]", one, other)
    else:
        yield FieldChange(path, _text(before), _text(after))


def _joined(path: str, key: str) -> str:
    if not path:
        return key
    return f"{path}.{key}" if "." not in key and "/" not in key else f"{path}[{key}]"


def _text(value: Any) -> str:
    """A value as it would stand in YAML on one line."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
