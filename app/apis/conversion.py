"""Objects of a kind that is a view of another one, from the form that is stored and back (pkg/apis/*/conversion.go).

`scheme.KindInfo.stored_as` says which kinds are views. A view is made when it is read; nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery.meta import Object
from app.apis import autoscaling_v1
from app.apis.scheme import KindInfo


@dataclass(frozen=True)
class _View:
    """How a kind's fields are called in the view and in what is stored, and what each form prints where it is empty."""

    stored_names: Mapping[str, str]
    always_stored: Mapping[str, Any]
    always_shown: Mapping[str, Any]


_VIEWS = {
    ("events.k8s.io", "Event"): _View(
        stored_names={
            "note": "message",
            "regarding": "involvedObject",
            "reportingController": "reportingComponent",
            "deprecatedSource": "source",
            "deprecatedFirstTimestamp": "firstTimestamp",
            "deprecatedLastTimestamp": "lastTimestamp",
            "deprecatedCount": "count",
        },
        always_stored={
            "involvedObject": {},
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "eventTime": None,
            "reportingComponent": "",
            "reportingInstance": "",
        },
        always_shown={
            "regarding": {},
            "deprecatedSource": {},
            "deprecatedFirstTimestamp": None,
            "deprecatedLastTimestamp": None,
            "eventTime": None,
        },
    )
}
"""pkg/apis/events/v1/conversion.go; what is always printed are the fields without `omitempty` and the structures."""


def stored(info: KindInfo, obj: Object) -> Object:
    """An object of the kind as it is stored: itself, but for views."""
    if info.api_version == autoscaling_v1.SHOWN and info.stored_as:
        return autoscaling_v1.stored(obj)
    view = _VIEWS.get((info.group, info.kind))
    if view is None:
        return obj
    return _renamed(obj, view.stored_names, view.always_stored, info.stored_as)


def shown(info: KindInfo, obj: Object) -> Object:
    """A stored object as the kind shows it: itself, but for views."""
    if info.api_version == autoscaling_v1.SHOWN and info.stored_as:
        return autoscaling_v1.shown(obj)
    view = _VIEWS.get((info.group, info.kind))
    if view is None:
        return obj
    names = {name: shown for shown, name in view.stored_names.items()}
    return _renamed(obj, names, view.always_shown, info.api_version)


def _renamed(obj: Object, names: Mapping[str, str], always: Mapping[str, Any], api_version: str) -> Object:
    given = {names.get(key, key): value for key, value in obj.items()}
    kept = {key: value for key, value in given.items() if key in always or value not in ("", None, 0)}
    return {**always, **kept, "apiVersion": api_version}
