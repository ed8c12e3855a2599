"""ObjectMeta and the few questions that every kind answers.

Objects are plain JSON dicts in the shape of the API (k8s.io/apimachinery/pkg/apis/meta/v1). Once an object is
in a store nobody changes it in place: a writer makes a new dict, because the watch log shares the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Object = dict[str, Any]


def name_of(obj: Mapping[str, Any]) -> str:
    """The object's name, or an empty string."""
    return str((obj.get("metadata") or {}).get("name") or "")


def namespace_of(obj: Mapping[str, Any]) -> str:
    """The object's namespace, or an empty string for cluster-scoped objects."""
    return str((obj.get("metadata") or {}).get("namespace") or "")


def key_of(obj: Mapping[str, Any]) -> str:
    """`namespace/name`, or `name` where there is no namespace (client-go: MetaNamespaceKeyFunc)."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)


def labels_of(obj: Mapping[str, Any]) -> dict[str, str]:
    """The object's labels; never None."""
    return (obj.get("metadata") or {}).get("labels") or {}


def annotations_of(obj: Mapping[str, Any]) -> dict[str, str]:
    """The object's annotations; never None."""
    return (obj.get("metadata") or {}).get("annotations") or {}


def controller_of(obj: Mapping[str, Any]) -> dict[str, Any] | None:
    """The owner reference with `controller: true` (metav1.GetControllerOf)."""
    for reference in (obj.get("metadata") or {}).get("ownerReferences") or []:
        if reference.get("controller"):
            return dict(reference)
    return None


def copied(value: Any) -> Any:
    """A deep copy of a JSON value; several times faster than copy.deepcopy, because JSON holds no cycles."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def _levels(value: Any) -> Iterator[list[Any]]:
    """The values within a JSON value, level by level, without recursion."""
    level: list[Any] = [value]
    while level:
        yield level
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = inner


def size_of(value: Any) -> int:
    """How many values a JSON value holds, itself included."""
    return sum(len(level) for level in _levels(value))


def too_deep(value: Any, limit: int, most: int = 1_000_000) -> bool:
    """Whether a JSON value is nested deeper than `limit` levels or holds more than `most` values."""
    seen = 0
    for depth, level in enumerate(_levels(value)):
        seen += len(level)
        if depth > limit or seen > most:
            return True
    return False
