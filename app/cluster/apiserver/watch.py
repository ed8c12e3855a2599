"""Watches: what a stream still has to be sent, asked for as often as the caller likes.

A stream is its request and the revision that it has seen; nothing else is kept between two questions. Mirrors
k8s.io/apiserver/pkg/storage/cacher: an object that comes to match the selectors is ADDED, one that ceases to
match is DELETED as it last matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson

from app.apimachinery.errors import Expired
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster import ownership
from app.cluster.apiserver import list_options
from app.cluster.store import WatchEvent

ENDED = -1
"""The revision after which a stream has nothing more to come."""

BOOKMARK_AFTER = 100
"""Writes without news for a stream after which it is told how far it has come, where it asked to be."""

_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


@dataclass(frozen=True)
class Stream:
    """One watch: what it is about, which objects it wants, and in which form."""

    info: KindInfo
    matches: Callable[[Object], bool]
    encode: Callable[[Object], Object]
    """The object as the client wants it: itself, its metadata, a Table of one row."""
    bookmarks: bool = False

    def line(self, kind: str, obj: Object) -> bytes:
        """One event on the wire."""
        return orjson.dumps({"type": kind, "object": obj}) + b"\n"

    def bookmark(self, revision: int, annotations: dict[str, str] | None = None) -> bytes:
        """How far the stream has come."""
        metadata: Object = {"resourceVersion": str(revision), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        obj = {"kind": self.info.kind, "apiVersion": self.info.api_version, "metadata": metadata}
        return self.line("BOOKMARK", obj)

    def initial(self, objects: Iterable[Object], revision: int, *, mark_end: bool) -> list[bytes]:
        """The objects that are there already, each as ADDED; with a bookmark at the end where asked for."""
        lines = [self.line("ADDED", self.encode(obj)) for obj in objects]
        if mark_end and self.bookmarks:
            lines.append(self.bookmark(revision, _INITIAL_EVENTS_END))
        return lines

    def expired(self, error: Expired) -> list[bytes]:
        """The event that ends a stream whose revision is gone."""
        return [self.line("ERROR", error.status())]

    def changes(self, events: Iterable[WatchEvent]) -> list[bytes]:
        """The events as this stream sees them."""
        lines = []
        for event in events:
            was = event.previous is not None and self.matches(event.previous)
            now = event.type != "DELETED" and self.matches(event.object)
            if now:
                lines.append(self.line("MODIFIED" if was else "ADDED", self.encode(event.object)))
            elif was and event.previous is not None:
                metadata = {**event.previous["metadata"], **_version(event.revision)}
                last = ownership.like({**event.previous, "metadata": metadata}, event.previous)
                lines.append(self.line("DELETED", self.encode(last)))
        return lines


def _version(revision: int) -> Object:
    return {"resourceVersion": str(revision)}


def start_of(resource_version: str) -> int | None:
    """Where a stream begins: None is "with the objects that are there", else after that revision. Invalid."""
    return list_options.version_of(resource_version) or None
