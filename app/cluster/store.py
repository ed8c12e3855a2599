"""What etcd is to a cluster: objects under revisions, a watch log, and nothing that knows what the objects mean.

One counter numbers all writes; an object's resourceVersion is the number of its last write. Uids and name
suffixes are drawn from the seed and a second counter, so the same seed and the same calls give the same bytes.
Objects go in and out as they are and are never changed in place: a fork shares them.
Mirrors k8s.io/apiserver/pkg/storage/etcd3/store.go and the watch cache's window.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import meta
from app.apimachinery.errors import AlreadyExists, Conflict, Expired, NotFound
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import ownership, watch_log
from app.cluster.ownership import Owners, Stored, Texts

LOG_LIMIT = 500
"""Events kept for watches; an older resume point gets 410 Expired."""

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True)
class WatchEvent:
    """One write. `type` is ADDED, MODIFIED or DELETED; `object` carries `revision` as its resourceVersion."""

    revision: int
    type: str
    resource: str
    object: Object
    previous: Object | None
    instant: clocks.Instant = 0
    """When; an earlier version did not keep it."""


class Store:
    """All objects of one cluster, by resource (plural) and key (`namespace/name` or `name`)."""

    def __init__(self, clock: clocks.SimulatedClock, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._revision = 1
        self._draws = 0
        self._objects: dict[str, dict[str, Object]] = {}
        self._ordered: dict[str, list[Object]] = {}
        self._log: deque[WatchEvent] = deque(maxlen=LOG_LIMIT)
        self._compacted = 1

    @property
    def revision(self) -> int:
        """The number of the last write."""
        return self._revision

    @property
    def clock(self) -> clocks.SimulatedClock:
        """The cluster's clock."""
        return self._clock

    def get(self, resource: str, key: str) -> Object | None:
        """The object, or None."""
        return self._objects.get(resource, {}).get(key)

    def list(self, resource: str, namespace: str | None = None) -> list[Object]:
        """The resource's objects in key order; one namespace's only, where named."""
        ordered = self._ordered.get(resource)
        if ordered is None:
            objects = self._objects.get(resource, {})
            ordered = self._ordered[resource] = [objects[key] for key in sorted(objects)]
        if namespace is None:
            return ordered.copy()
        return [obj for obj in ordered if meta.namespace_of(obj) == namespace]

    def resources(self) -> Iterator[str]:
        """The resources that have objects, sorted."""
        return iter(sorted(resource for resource, objects in self._objects.items() if objects))

    def draw_uid(self) -> str:
        """A new uid in the shape of a version 4 UUID."""
        digest = bytearray(self._draw())
        digest[6] = digest[6] & 0x0F | 0x40
        digest[8] = digest[8] & 0x3F | 0x80
        text = digest[:16].hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def draw_suffix(self, length: int = 5) -> str:
        """Letters for a generated name (k8s.io/apimachinery/pkg/util/rand: String)."""
        return "".join(_SUFFIX_ALPHABET[byte % len(_SUFFIX_ALPHABET)] for byte in self._draw()[:length])

    def suffix(self, length: int = 5) -> str:
        """Letters that no other object gets, without drawing: they go with the next uid."""
        digest = self.key(f"suffix/{self._draws}")
        return "".join(_SUFFIX_ALPHABET[byte % len(_SUFFIX_ALPHABET)] for byte in digest[:length])

    def key(self, purpose: str) -> bytes:
        """A key of this cluster's own for a purpose: nothing is drawn, so that asking for it changes nothing."""
        return hashlib.sha256(f"{self._seed}/key/{purpose}".encode()).digest()

    def _draw(self) -> bytes:
        self._draws += 1
        return hashlib.sha256(f"{self._seed}/{self._draws}".encode()).digest()

    def create(self, resource: str, obj: Object, owners: Owners | None = None) -> Object:
        """Store a new object with uid, creationTimestamp and resourceVersion; AlreadyExists where the key is taken."""
        key = meta.key_of(obj)
        if self.get(resource, key) is not None:
            raise already_exists(resource, meta.name_of(obj))
        given = obj.get("metadata") or {}
        identity = {
            "uid": given.get("uid") or self.draw_uid(),
            "creationTimestamp": given.get("creationTimestamp") or clocks.rfc3339(self._clock.now()),
        }
        return self._write("ADDED", resource, key, {**obj, "metadata": {**given, **identity}}, None, owners)

    def update(self, resource: str, obj: Object, owners: Owners | None = None) -> Object:
        """Replace an object. A resourceVersion in `obj` must be the stored one.

        Writing what is already there writes nothing and returns the stored object. Without `owners` those of the
        stored object stay; other owners are a change, another time of theirs is none.

        Raises:
            NotFound: there is no such object.
            Conflict: the resourceVersion is stale.
        """
        key = meta.key_of(obj)
        current = self.get(resource, key)
        if current is None:
            raise not_found(resource, meta.name_of(obj))
        version = (obj.get("metadata") or {}).get("resourceVersion")
        if version and version != current["metadata"]["resourceVersion"]:
            raise modified(resource, meta.name_of(obj))
        metadata = {**obj["metadata"], "resourceVersion": current["metadata"]["resourceVersion"]}
        changed = {**obj, "metadata": metadata}
        former = ownership.owners_of(current)
        kept = former if owners is None else owners
        if changed == current and (kept is former or ownership.same(kept, former)):
            return current
        return self._write("MODIFIED", resource, key, changed, current, kept)

    def delete(self, resource: str, key: str) -> Object:
        """Remove an object and return it as it was; NotFound where there is none."""
        current = self.get(resource, key)
        if current is None:
            raise not_found(resource, key.rpartition("/")[2])
        self._revision += 1
        del self._objects[resource][key]
        self._ordered.pop(resource, None)
        gone = self._stamped(current, ownership.owners_of(current))
        self._append(WatchEvent(self._revision, "DELETED", resource, gone, current, self._clock.now()))
        return current

    def _write(
        self, kind: str, resource: str, key: str, obj: Object, previous: Object | None, owners: Owners | None
    ) -> Object:
        self._revision += 1
        stored = self._stamped(obj, owners)
        self._objects.setdefault(resource, {})[key] = stored
        self._ordered.pop(resource, None)
        self._append(WatchEvent(self._revision, kind, resource, stored, previous, self._clock.now()))
        return stored

    def _stamped(self, obj: Object, owners: Owners | None) -> Object:
        return Stored({**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._revision)}}, owners)

    def _append(self, event: WatchEvent) -> None:
        if len(self._log) == LOG_LIMIT:
            self._compacted = self._log[0].revision
        self._log.append(event)

    def events_since(self, revision: int, resource: str | None = None) -> Sequence[WatchEvent]:
        """The writes after `revision`, oldest first; one resource's only, where named.

        Raises:
            Expired: the log no longer reaches back to `revision`.
        """
        if revision < self._compacted:
            raise Expired(f"too old resource version: {revision} ({self._compacted})")
        fresh: list[WatchEvent] = []
        for event in reversed(self._log):
            if event.revision <= revision:
                break
            if resource is None or event.resource == resource:
                fresh.append(event)
        fresh.reverse()
        return fresh

    def begin_epoch(self, abandoned: Store, unseen: int = 0) -> None:
        """Go on from here although `abandoned`, a later state of the same cluster, has been seen by clients.

        No number and no uid is handed out twice, every watch that was open is too old, and an object that was seen
        otherwise gets a new resourceVersion. As etcdutl's `snapshot restore --bump-revision --mark-compacted` does.
        `unseen` is how many more writes clients may have seen than `abandoned` holds; any object may be one of them.
        """
        self._revision = max(self._revision, abandoned._revision) + unseen + 1
        self._draws = max(self._draws, abandoned._draws) + unseen
        for resource, objects in self._objects.items():
            seen = abandoned._objects.get(resource, {})
            for key in sorted(objects):
                owners = ownership.owners_of(objects[key])
                known = objects[key] == seen.get(key) and owners == ownership.owners_of(seen[key])
                if unseen or not known:
                    self._revision += 1
                    objects[key] = self._stamped(objects[key], owners)
        self._ordered.clear()
        self.compact()

    def compact_before(self, instant: clocks.Instant, upto: int, keep: int) -> None:
        """Forget the events before the instant that are not among the last `keep`, up to a revision."""
        while len(self._log) > keep and self._log[0].instant < instant and self._log[0].revision <= upto:
            self._compacted = self._log.popleft().revision

    def compact(self) -> None:
        """Forget the events up to now (etcd's compaction)."""
        self._log.clear()
        self._compacted = self._revision

    def fork(self, clock: clocks.SimulatedClock) -> Store:
        """An independent store with the same contents; the objects themselves are shared."""
        other = Store(clock, self._seed)
        other._revision, other._draws, other._compacted = self._revision, self._draws, self._compacted
        other._objects = {resource: dict(objects) for resource, objects in self._objects.items()}
        other._log = self._log.copy()
        return other

    def state(self) -> dict[str, Any]:
        """Everything as JSON values; `restore` is the inverse."""
        texts = Texts()
        owners = ownership.packed(self._objects, texts)
        log = watch_log.pack(_rows(self._log), self._objects, texts)
        return {
            "seed": self._seed,
            "revision": self._revision,
            "draws": self._draws,
            "compacted": self._compacted,
            "objects": {
                resource: [obj for _, obj in sorted(objects.items())]
                for resource, objects in sorted(self._objects.items())
                if objects
            },
            "owners": {"fields": texts.fields, "of": owners} if texts.fields or owners else {},
            "log": log,
        }

    @classmethod
    def restore(cls, state: dict[str, Any], clock: clocks.SimulatedClock) -> Store:
        """A store from what `state` gave."""
        store = cls(clock, state["seed"])
        store._revision, store._draws = state["revision"], state["draws"]
        store._compacted = state["compacted"]
        kept = state.get("owners", {})
        texts, of = Texts(kept.get("fields")), kept.get("of", {})
        for resource, objects in state["objects"].items():
            rows = of.get(resource, {})
            keyed = ((meta.key_of(obj), obj) for obj in objects)
            store._objects[resource] = {
                key: Stored(obj, texts.unpacked(rows[key]) if key in rows else None) for key, obj in keyed
            }
        store._log.extend(WatchEvent(*row) for row in watch_log.unpack(state["log"], store._objects, texts))
        return store


def _rows(log: Iterable[WatchEvent]) -> list[watch_log.Row]:
    return [(event.revision, event.type, event.resource, event.object, event.previous, event.instant) for event in log]


def not_found(resource: str, name: str) -> NotFound:
    """`pods "bee" not found`, with the details that clients read."""
    return NotFound(f'{_named(resource)} "{name}" not found', details=_details(resource, name))


def already_exists(resource: str, name: str) -> AlreadyExists:
    """`pods "bee" already exists`."""
    return AlreadyExists(f'{_named(resource)} "{name}" already exists', details=_details(resource, name))


def no_free_name(resource: str, name: str) -> AlreadyExists:
    """The refusal where every drawn name is taken (api/errors: NewGenerateNameConflict)."""
    problem = "already exists, the server was not able to generate a unique name for the object"
    details = {**_details(resource, name), "retryAfterSeconds": 1}
    return AlreadyExists(f'{_named(resource)} "{name}" {problem}', details=details)


def modified(resource: str, name: str) -> Conflict:
    """The Conflict of optimistic locking (apiserver/pkg/registry/generic/registry: OptimisticLockErrorMsg)."""
    return conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def conflict(resource: str, name: str, problem: str, subresource: str = "") -> Conflict:
    """`Operation cannot be fulfilled on pods "bee": …`."""
    named = f"{_named(resource)}/{subresource}" if subresource else _named(resource)
    details = _details(resource, name)
    if subresource:
        details["kind"] = f"{details['kind']}/{subresource}"
    return Conflict(f'Operation cannot be fulfilled on {named} "{name}": {problem}', details=details)


def _named(resource: str) -> str:
    return scheme.for_resource(resource).group_resource


def _details(resource: str, name: str) -> dict[str, Any]:
    info = scheme.for_resource(resource)
    details = {"name": name, "kind": info.plural}
    return {**details, "group": info.group} if info.group else details
