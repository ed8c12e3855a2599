"""Recorders of events, as components of 1.35 write them.

Controllers and kubelets use the older recorder (client-go/tools/record: source, count, first and last time); the
schedulers use the newer one (client-go/tools/events: reportingController, eventTime, action, series). Both end as
core/v1 Events. Names end in the hex nanoseconds of the simulated instant.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import Instant, SimulatedClock
from app.apimachinery.errors import Forbidden, NotFound
from app.apimachinery.meta import Object
from app.cluster.client import Client

NORMAL = "Normal"
WARNING = "Warning"
NOTE_LIMIT = 1024
"""Bytes of a note that the events API takes (pkg/apis/core/validation/events.go)."""

_ANNOUNCED = {"apiVersion": "v1", "kind": "Event"}


def reference(obj: Object, field_path: str = "", *, with_version: bool = True) -> dict[str, Any]:
    """An ObjectReference to a stored object (client-go/tools/reference/ref.go: GetReference)."""
    metadata = obj.get("metadata") or {}
    found = {
        "kind": obj.get("kind"),
        "namespace": metadata.get("namespace"),
        "name": metadata.get("name"),
        "uid": metadata.get("uid"),
        "apiVersion": obj.get("apiVersion"),
        "resourceVersion": metadata.get("resourceVersion") if with_version else None,
        "fieldPath": field_path,
    }
    return {key: value for key, value in found.items() if value}


def shortened(note: str) -> str:
    """A note cut to what the events API takes, ending in ` ...` (pkg/scheduler: truncateMessage)."""
    data = note.encode()
    if len(data) <= NOTE_LIMIT:
        return note
    suffix = " ..."
    return data[: NOTE_LIMIT - len(suffix)].decode(errors="ignore") + suffix


class Recorder:
    """Writes events through the client; a repeated one raises the count of the one that is there."""

    def __init__(self, client: Client, moment: SimulatedClock) -> None:
        self._client = client
        self._clock = moment
        self._known: dict[tuple[Any, ...], tuple[str, str]] | None = None

    def record(
        self,
        obj: Object,
        kind: str,
        reason: str,
        message: str,
        *,
        component: str,
        host: str = "",
        field_path: str = "",
    ) -> None:
        """Record as controllers and kubelets do (client-go/tools/record/event.go)."""
        source = {"component": component, "host": host} if host else {"component": component}
        involved = reference(obj, field_path)
        key = _key(source, {**involved, "resourceVersion": ""}, kind, reason, message)
        now = clock.rfc3339(self._clock.now())
        if existing := self._existing(key):
            self._replace({**existing, "count": existing.get("count", 1) + 1, "lastTimestamp": now})
            return
        self._add(
            key,
            obj,
            {
                "involvedObject": involved,
                "reason": reason,
                "message": message,
                "source": source,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "type": kind,
                "eventTime": None,
                "reportingComponent": component,
                "reportingInstance": host,
            },
        )

    def record_series(
        self,
        obj: Object,
        kind: str,
        reason: str,
        action: str,
        note: str,
        *,
        controller: str,
        instance: str,
        related: Object | None = None,
    ) -> None:
        """Record as the schedulers do (client-go/tools/events/event_recorder.go, event_broadcaster.go)."""
        involved = reference(obj)
        key = _key({"controller": controller}, involved, kind, reason, action)
        now = clock.rfc3339_micro(self._clock.now())
        if existing := self._existing(key):
            count = (existing.get("series") or {}).get("count", 1) + 1
            self._replace({**existing, "series": {"count": count, "lastObservedTime": now}})
            return
        event: Object = {
            "involvedObject": involved,
            "reason": reason,
            "message": shortened(note),
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": kind,
            "eventTime": now,
            "action": action,
            "reportingComponent": controller,
            "reportingInstance": instance,
        }
        if related:
            event["related"] = reference(related)
        self._add(key, obj, event)

    def _existing(self, key: tuple[Any, ...]) -> Object | None:
        place = self._index().get(key)
        if place is None:
            return None
        try:
            return self._client.get("events", place[1], place[0])
        except NotFound:
            self._index().pop(key, None)
            return None

    def _index(self) -> dict[tuple[Any, ...], tuple[str, str]]:
        # Derived from the stored events alone, so that a loaded cluster goes on exactly as the one that was saved.
        if self._known is None:
            self._known = {}
            for event in self._client.list("events"):
                self._known[_key_of(event)] = (meta.namespace_of(event), meta.name_of(event))
        return self._known

    def _replace(self, event: Object) -> None:
        try:
            self._client.update(event)
        except NotFound:
            return

    def _add(self, key: tuple[Any, ...], obj: Object, event: Object) -> None:
        namespace = meta.namespace_of(obj) or "default"
        name = self._free_name(meta.name_of(obj), namespace)
        metadata = {"name": name, "namespace": namespace}
        try:
            self._client.create({**_ANNOUNCED, "metadata": metadata, **event}, namespace)
        except (NotFound, Forbidden):  # the namespace is gone or going: upstream drops the event too
            return
        self._index()[key] = (namespace, name)

    def _free_name(self, subject: str, namespace: str) -> str:
        """`subject.<hex nanoseconds>`; of several at one instant each gets its own nanosecond."""
        nanoseconds = self._clock.now() * 1000
        while self._client.find("events", name := f"{subject}.{nanoseconds:x}", namespace) is not None:
            nanoseconds += 1
        return name


def last_seen(event: Object) -> Instant:
    """When an event was last observed, in microseconds since the epoch."""
    series = (event.get("series") or {}).get("lastObservedTime")
    stamp = series or event.get("lastTimestamp") or event.get("eventTime")
    return clock.parse(stamp or event["metadata"]["creationTimestamp"])


def _key(source: dict[str, str], involved: dict[str, Any], kind: str, reason: str, message: str) -> tuple[Any, ...]:
    where = tuple(sorted((name, value) for name, value in involved.items() if value))
    return (tuple(sorted(source.items())), where, kind, reason, message)


def _key_of(event: Object) -> tuple[Any, ...]:
    involved = event.get("involvedObject") or {}
    kind, reason = event.get("type", ""), event.get("reason", "")
    if source := event.get("source"):
        return _key(source, {**involved, "resourceVersion": ""}, kind, reason, event.get("message", ""))
    controller = {"controller": event.get("reportingComponent", "")}
    return _key(controller, involved, kind, reason, event.get("action", ""))
