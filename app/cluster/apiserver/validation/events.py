"""Rules for Events (pkg/apis/core/validation/events.go); fields go by the names that are stored."""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, required
from app.apis import internal_types

_MOST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
"""Bytes of the texts that the newer form limits."""
_FIXED = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingController",
    "reportingInstance",
)
"""What an update through the newer form may not change, in the order in which it is looked at."""
_STORED = {"reportingController": "reportingComponent"}
_NUMBERS = {"count"}
_TYPES = {"involvedObject": "ObjectReference", "related": "ObjectReference", "source": "EventSource"}
_TIMES = {"firstTimestamp", "lastTimestamp", "eventTime"}


def legacy(event: Object) -> list[FieldError]:
    """What every event must fulfil (legacyValidateEvent)."""
    namespace = meta.namespace_of(event)
    about = (event.get("involvedObject") or {}).get("namespace") or ""
    mismatch = invalid("involvedObject.namespace", about, "does not match event.namespace")
    if event.get("eventTime"):
        errors = [] if about or namespace in {"default", "kube-system"} else [mismatch]
        errors += _reported(event)
    else:
        errors = [] if about == namespace or (not about and namespace == "default") else [mismatch]
    return errors + [invalid("namespace", namespace, text) for text in validation.dns1123_subdomain(namespace)]


def _reported(event: Object) -> list[FieldError]:
    """Who reports and what was done: an event with an eventTime says so."""
    controller = event.get("reportingComponent") or ""
    errors = [] if controller else [required("reportingController")]
    errors += [invalid("reportingController", controller, text) for text in validation.qualified_name(controller)]
    for field, most in _MOST.items():
        text = event.get(field) or ""
        if not text and field != "message":
            errors.append(required(field))
        if len(text.encode()) > most:
            errors.append(invalid(field, "", f"can have at most {most} characters"))
    return errors


def new_event(event: Object) -> list[FieldError]:
    """A new event that comes through events.k8s.io/v1 (ValidateEventCreate)."""
    errors = legacy(event) + _series(event)
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    kind = event.get("type") or ""
    if kind not in {"Normal", "Warning"}:
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    unset = ("firstTimestamp", "lastTimestamp", "count")
    errors += [invalid(field, "", "needs to be unset") for field in unset if event.get(field)]
    if any((event.get("source") or {}).values()):
        errors.append(invalid("source", "", "needs to be unset"))
    return errors


def new_event_update(new: Object, old: Object) -> list[FieldError]:
    """A change that comes through events.k8s.io/v1 (ValidateEventUpdate)."""
    errors = legacy(new)
    if new.get("series") != old.get("series"):
        errors += _series(new)
    for field in _FIXED:
        name = _STORED.get(field, field)
        if (new.get(name) or None) != (old.get(name) or None):
            errors.append(invalid(field, _printed(field, new.get(name)), "field is immutable"))
    return errors


def _series(event: Object) -> list[FieldError]:
    """validateV1EventSeries."""
    series = event.get("series")
    if series is None:
        return []
    errors = []
    if (series.get("count") or 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors


def _printed(field: str, value: Any) -> Any:
    """A value as the server prints its own form of it."""
    if field in _TYPES:
        return internal_types.shown(_TYPES[field], value or ({} if field != "related" else None))
    if field in _NUMBERS:
        return value or 0
    return value if field in _TIMES else value or ""
