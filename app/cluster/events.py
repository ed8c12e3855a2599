"""Recorders of events, as components of 1.35 write them.

Controllers and kubelets use the older recorder (client-go/tools/record: source, count, first and last time); the
schedulers use the newer one (client-go/tools/events: reportingController, eventTime, action, series). Both end as
core/v1 Events. Names end in the hex nanoseconds of the simulated instant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant, Micros, SimulatedClock
from app.apimachinery.errors import Forbidden, NotFound
from app.apimachinery.meta import Object
from app.cluster import event_correlator
from app.cluster.client import Client

NORMAL = "Normal"
WARNING = "Warning"
NOTE_LIMIT = 1024
"""Bytes of a note that the events API takes (pkg/apis/core/validation/events.go)."""

COMBINED = "(combined from similar events): "
MAX_SIMILAR = 10
"""Messages from which on similar events are combined (defaultAggregateMaxEvents)."""
SIMILAR_WITHIN: Micros = 600 * SECOND
"""A longer pause makes similar events a matter of their own again (defaultAggregateIntervalInSeconds)."""

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
    """Writes events through the client; repeated ones are counted, similar ones combined, too many held back.

    `memory` is what stays in mind between events, `wake` has `flush` called at an instant.
    """

    def __init__(
        self,
        client: Client,
        moment: SimulatedClock,
        memory: Callable[[], dict[str, Any]] | None = None,
        wake: Callable[[Instant], None] | None = None,
    ) -> None:
        self._client = client
        self._clock = moment
        own: dict[str, Any] = {}
        self._memory = memory or (lambda: own)
        self._wake = wake or (lambda _: None)
        self._known: dict[tuple[Any, ...], tuple[str, str]] | None = None
        self._groups: dict[tuple[Any, ...], dict[tuple[Any, ...], str]] = {}

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
        """Record as controllers and kubelets do (client-go/tools/record/event.go, events_cache.go: EventCorrelate)."""
        source = {"component": component, "host": host} if host else {"component": component}
        involved = reference(obj, field_path)
        key = _key(source, {**involved, "resourceVersion": ""}, kind, reason, message)
        now = self._clock.now()
        if self._is_one_of_many(key, now):
            message = COMBINED + message
            key = self._combined(key) or _key(source, {**involved, "resourceVersion": ""}, kind, reason, message)
        existing = self._existing(key)
        spam, name = event_correlator.SpamFilter(self._memory()), event_correlator.hashed(key)
        held, since = spam.held(name, now)
        stamp = clock.rfc3339(now)
        count = int((existing or {}).get("count", 0)) + held + 1
        first = since or stamp
        if not spam.accepts(f"{component}/{host}/{involved.get('uid') or involved.get('name')}", now):
            spam.hold(name, held + 1, first, now)
            return
        spam.release(name)
        if existing is not None:
            self._replace({**existing, "count": count, "lastTimestamp": stamp, "message": message})
            return
        self._add(
            key,
            obj,
            {
                "involvedObject": involved,
                "reason": reason,
                "message": message,
                "source": source,
                "firstTimestamp": first,
                "lastTimestamp": stamp,
                "count": count,
                "type": kind,
                "eventTime": None,
                "reportingComponent": component,
                "reportingInstance": host,
            },
        )

    def _is_one_of_many(self, key: tuple[Any, ...], now: Instant) -> bool:
        """Whether similar events with ten different messages came without a pause (EventAggregate)."""
        self._index()
        similar = self._groups.get(_group(key), {})
        if len(similar) < MAX_SIMILAR - 1 or (key in similar and len(similar) < MAX_SIMILAR):
            return False
        found = [event for one in list(similar) if (event := self._existing(one)) is not None]
        messages: set[str] = {key[-1]}
        for event in sorted(found, key=last_seen, reverse=True):
            if now - last_seen(event) > SIMILAR_WITHIN:
                break
            now = clock.parse(event["firstTimestamp"]) if event.get("firstTimestamp") else last_seen(event)
            if not event["message"].startswith(COMBINED):
                messages.add(event["message"])
        return len(messages) >= MAX_SIMILAR

    def _combined(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The key of the event that stands for the similar ones, where there is one."""
        for one in list(self._groups.get(_group(key), {})):
            if one[-1].startswith(COMBINED) and self._existing(one) is not None:
                return one
        return None

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
        now = self._clock.now()
        about = reference(related) if related else {}
        key = event_correlator.hashed((kind, reason, action, controller, instance, involved, about))
        series = self._series()
        entry = series.going_on(key, now)
        if entry is not None:
            if series.count(entry, now):
                self._write_series(entry)
            return
        event: Object = {
            "involvedObject": involved,
            "reason": reason,
            "message": shortened(note),
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": kind,
            "eventTime": clock.rfc3339_micro(now),
            "action": action,
            "reportingComponent": controller,
            "reportingInstance": instance,
        }
        if related:
            event["related"] = about
        place = self._add(None, obj, event)
        if place is not None:
            series.begin(key, place, now)

    def flush(self) -> None:
        """Write the counts of series that are to be written at this instant."""
        for entry in self._series().owed(self._clock.now()):
            self._write_series(entry)

    def _series(self) -> event_correlator.Series:
        return event_correlator.Series(self._memory(), self._wake)

    def _write_series(self, entry: event_correlator.Entry) -> None:
        namespace, name = entry["place"]
        event = self._client.find("events", name, namespace)
        if event is None:
            # It has expired, or somebody deleted it; what follows begins a new series.
            entry["last"] = 0
            return
        seen = clock.rfc3339_micro(entry["last"])
        self._replace({**event, "series": {"count": entry["count"], "lastObservedTime": seen}})

    def _existing(self, key: tuple[Any, ...]) -> Object | None:
        place = self._index().get(key)
        if place is None:
            return None
        found = self._client.find("events", place[1], place[0])
        if found is None:
            self._index().pop(key, None)
            self._groups.get(_group(key), {}).pop(key, None)
        return found

    def _index(self) -> dict[tuple[Any, ...], tuple[str, str]]:
        # Derived from the stored events alone, so that a loaded cluster goes on exactly as the one that was saved.
        if self._known is None:
            self._known = {}
            for event in self._client.list("events"):
                if event.get("source"):
                    self._learn(_key_of(event), (meta.namespace_of(event), meta.name_of(event)))
        return self._known

    def _learn(self, key: tuple[Any, ...], place: tuple[str, str]) -> None:
        assert self._known is not None
        self._known[key] = place
        self._groups.setdefault(_group(key), {})[key] = place[1]

    def _replace(self, event: Object) -> None:
        try:
            self._client.update(event)
        except NotFound:
            return

    def _add(self, key: tuple[Any, ...] | None, obj: Object, event: Object) -> tuple[str, str] | None:
        namespace = meta.namespace_of(obj) or "default"
        name = self._free_name(meta.name_of(obj), namespace)
        metadata = {"name": name, "namespace": namespace}
        try:
            self._client.create({**_ANNOUNCED, "metadata": metadata, **event}, namespace)
        except (NotFound, Forbidden):  # the namespace is gone or going: upstream drops the event too
            return None
        if key is not None:
            self._index()
            self._learn(key, (namespace, name))
        return namespace, name

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
    # The message of an event that stands for many is that of the last one, and says nothing about which event it is.
    said = COMBINED if message.startswith(COMBINED) else message
    return (tuple(sorted(source.items())), where, kind, reason, said)


def _key_of(event: Object) -> tuple[Any, ...]:
    """The key of an event of the older kind."""
    involved = {**(event.get("involvedObject") or {}), "resourceVersion": ""}
    return _key(event["source"], involved, event.get("type", ""), event.get("reason", ""), event.get("message", ""))


def _group(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """What similar events share: all but message and part of the object (EventAggregatorByReasonFunc)."""
    source, where, kind, reason, _ = key
    return (source, tuple(pair for pair in where if pair[0] != "fieldPath"), kind, reason)
