"""The generic create, update, delete: decode, default, admit, prepare, validate, store.

Mirrors k8s.io/apiserver/pkg/endpoints/handlers and pkg/registry/generic/registry/store.go. What a kind does
differently is in its strategy, what the cluster adds is in admission; this module has no kind's name in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from app.apimachinery import clock as clocks
from app.apimachinery import meta, validation
from app.apimachinery.errors import BadRequest, Conflict, MethodNotAllowed, NotFound, RequestEntityTooLarge
from app.apimachinery.meta import Object
from app.apis import conversion, defaults, scheme
from app.apis.scheme import KindInfo
from app.cluster import ownership
from app.cluster import store as stores
from app.cluster.apiserver import admission_chain, decoding, field_managers, managedfields, strategies_table
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import objectmeta
from app.cluster.attributes import DEFAULT_USER, Attributes
from app.cluster.ownership import Owners
from app.cluster.store import Store
from app.cluster.users import User

_GENERATED_LIMIT = 58
_NAME_ATTEMPTS = 8
"""Draws of a generated name until one is free (registry/generic/registry/store.go: maxNameGenerationCreateAttempts)."""
_LONGEST_GRACE = 100 * 366 * 24 * 3600
"""Seconds; a longer grace, which any int64 may ask for, prints as this one's end."""
_WRITABLE = {"status"}
"""Subresources in which the whole object is sent; kinds have more of their own."""
_SIZE_LIMIT = 1_572_864
_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "generation",
)


@dataclass(frozen=True)
class WriteOptions:
    """What comes with a write beside the object.

    `field_validation` is Strict or Ignore; Ignore drops unknown fields silently, as the API does on request. `force`
    lets an apply take fields from others; `door` is the subresource that the whole object is changed through.
    """

    dry_run: bool = False
    field_manager: str = ""
    user: User = DEFAULT_USER
    field_validation: str = "Strict"
    force: bool = False
    door: str = ""


@dataclass(frozen=True)
class DeleteOptions:
    """How to delete (metav1.DeleteOptions): seconds of grace, propagation policy, preconditions."""

    grace_seconds: int | None = None
    propagation: str = "Background"
    uid: str = ""
    dry_run: bool = False
    user: User = DEFAULT_USER
    resource_version: str = ""


_WRITE = WriteOptions()
_DELETE = DeleteOptions()
_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


class Registry:
    """All resources of one cluster."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, info: KindInfo, name: str, namespace: str = "") -> Object:
        """The object as this kind shows it; NotFound where there is none."""
        return conversion.shown(info, self._stored(info, name, namespace))

    def _stored(self, info: KindInfo, name: str, namespace: str) -> Object:
        found = self.store.get(info.plural, key(info, name, namespace))
        if found is None:
            raise stores.not_found(info.group_resource, name)
        return found

    def create(
        self,
        info: KindInfo,
        obj: Object,
        namespace: str = "",
        options: WriteOptions = _WRITE,
        owners: Owners | None = None,
    ) -> Object:
        """Store a new object. The given one stays untouched; the stored one is returned.

        `owners` are given where an apply has found them.
        """
        strategy = strategies_table.strategy_for(info)
        new = self._decoded(info, obj, namespace, options)
        metadata = new["metadata"]
        if metadata.pop("resourceVersion", ""):
            raise BadRequest("resourceVersion should not be set on objects to be created")
        for field in _SYSTEM_FIELDS:
            metadata.pop(field, None)
        metadata.pop("managedFields", None)
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = self._generated(info, metadata)
        if owners is None:
            owners = self._owners(info, (new, None), obj, options)
        attributes = _attributes("CREATE", info, new, None, "", options)
        admission_chain.admit(attributes, self.store)
        _refuse(info, new, strategy.begin_create(new, self.store))
        strategy.prepare_for_create(new)
        errors = strategy.validate_metadata(new, namespaced=info.namespaced) + strategy.validate(new)
        _refuse(info, new, errors)
        owners = _fitting(new, owners)
        admission_chain.validate(attributes, self.store)
        if options.dry_run:
            return self._dry_created(info, new, owners)
        return self.store.create(info.plural, new, owners)

    def _owners(
        self,
        info: KindInfo,
        change: tuple[Object, Object | None],
        sent: Object,
        options: WriteOptions,
        subresource: str = "",
    ) -> Owners | None:
        """The owners after a write. Invalid for managedFields in what was sent that name impossible managers."""
        new, old = change
        door = options.door or subresource
        write = managedfields.Write(scheme.stored(info), options.field_manager, door, self.store.clock.now())
        given = (sent.get("metadata") or {}).get("managedFields")
        owners = managedfields.after_update(write, old, new, given)
        if given:
            _refuse(info, new, field_managers.of_owners(owners))
        return owners

    def _generated(self, info: KindInfo, metadata: Object) -> str:
        """A free name that begins as wanted (names/generate.go, createWithGenerateNameRetry)."""
        beginning = str(metadata["generateName"])[:_GENERATED_LIMIT]
        name = ""
        for _ in range(_NAME_ATTEMPTS):
            name = beginning + self.store.draw_suffix()
            if self.store.get(info.plural, key(info, name, metadata.get("namespace") or "")) is None:
                return name
        raise stores.no_free_name(info.plural, name)

    def _dry_created(self, info: KindInfo, new: Object, owners: Owners | None) -> Object:
        if self.store.get(info.plural, meta.key_of(new)) is not None:
            raise stores.already_exists(info.plural, meta.name_of(new))
        made = self.store.fork(self.store.clock).create(info.plural, new, owners)
        return _at_version(made, "")

    def update(
        self,
        info: KindInfo,
        obj: Object,
        namespace: str = "",
        options: WriteOptions = _WRITE,
        subresource: str = "",
        owners: Owners | None = None,
    ) -> Object:
        """Replace an object, or one subresource of it. `owners` are given where an apply has found them.

        Raises:
            NotFound: there is no such object, or the kind has no such subresource.
            Conflict: the resourceVersion or the uid is another's.
        """
        strategy = strategies_table.strategy_for(info)
        writable = subresource in _WRITABLE or subresource in strategy.subresources
        if subresource and (not writable or subresource not in info.subresources):
            raise NotFound("the server could not find the requested resource")
        new = self._decoded(info, obj, namespace, options)
        old = self._stored(info, meta.name_of(new), meta.namespace_of(new))
        _match_identity(info, new, old)
        new["metadata"].pop("managedFields", None)
        if owners is None:
            owners = self._owners(info, (new, old), obj, options, subresource)
        return self._updated(info, strategy, (new, old, owners), options, subresource)

    def _updated(
        self,
        info: KindInfo,
        strategy: Strategy,
        change: tuple[Object, Object, Owners | None],
        options: WriteOptions,
        subresource: str,
    ) -> Object:
        new, old, owners = change
        attributes = _attributes("UPDATE", info, new, old, subresource, options)
        admission_chain.admit(attributes, self.store)
        if subresource == "status":
            strategy.prepare_for_status_update(new, old)
            errors = strategy.validate_status_update(new, old)
        elif (part := strategy.subresources.get(subresource)) is not None:
            strategy.prepare_for_subresource_update(part, new, old)
            errors = part.validate(new, old)
        else:
            _refuse(info, new, strategy.begin_update(new, old, self.store))
            strategy.prepare_for_update(new, old)
            errors = strategy.validate_metadata(new, namespaced=info.namespaced)
            errors += objectmeta.validate_update(new["metadata"], old["metadata"])
            errors += strategy.validate_update(new, old)
        _refuse(info, new, errors)
        owners = _fitting(new, owners)
        admission_chain.validate(attributes, self.store)
        if options.dry_run:
            changed = self.store.fork(self.store.clock).update(info.plural, new, owners)
            return _at_version(changed, old["metadata"]["resourceVersion"])
        stored = self.store.update(info.plural, new, owners)
        if _is_finished(stored, strategy):
            return self.store.delete(info.plural, meta.key_of(stored))
        return stored

    def _decoded(self, info: KindInfo, obj: Object, namespace: str, options: WriteOptions) -> Object:
        """The working copy in the form that is stored: strictly decoded, defaulted, with the request's namespace."""
        new = decoding.decoded(info, obj, strict=options.field_validation == "Strict")
        metadata = new["metadata"] = new.get("metadata") or {}
        if info.namespaced:
            given = metadata.get("namespace") or ""
            if given and namespace and given != namespace:
                raise BadRequest(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
            metadata["namespace"] = given or namespace or "default"
        defaults.fill(new)
        return conversion.stored(info, new)

    def delete(self, info: KindInfo, name: str, namespace: str = "", options: DeleteOptions = _DELETE) -> Object:
        """Delete an object, or mark it as being deleted; returns it as it is then (or last was).

        Mirrors pkg/registry/generic/registry/store.go: Delete and pkg/registry/rest/delete.go: BeforeDelete.
        """
        if info.kind == "Binding":
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        strategy = strategies_table.strategy_for(info)
        old = self._stored(info, name, namespace)
        if options.uid and options.uid != old["metadata"]["uid"]:
            raise _uid_conflict(info, name, options.uid, old["metadata"]["uid"])
        version = old["metadata"]["resourceVersion"]
        if options.resource_version and options.resource_version != version:
            raise _version_conflict(info, name, options.resource_version, version)
        asked = WriteOptions(dry_run=options.dry_run, user=options.user)
        admission_chain.validate(_attributes("DELETE", info, None, old, "", asked), self.store)
        store = self.store.fork(self.store.clock) if options.dry_run else self.store
        marked = self._marked(strategy, old, options)
        if marked is None:
            return old
        if _is_finished(marked, strategy):
            return store.delete(info.plural, meta.key_of(old))
        return store.update(info.plural, marked)

    def _marked(self, strategy: Strategy, old: Object, options: DeleteOptions) -> Object | None:
        """The object with its deletion marked; None where a deletion under way needs no change."""
        metadata = old["metadata"]
        grace = max(strategy.grace_seconds(old, options.grace_seconds), 0)
        finalizers = list(metadata.get("finalizers") or [])
        wanted = _FINALIZERS.get(options.propagation)
        if wanted and wanted not in finalizers:
            finalizers.append(wanted)
        under_way = metadata.get("deletionGracePeriodSeconds")
        if metadata.get("deletionTimestamp") and under_way is not None and grace >= under_way and grace > 0:
            return None
        new = meta.copied(old)
        moment = self.store.clock.now() + min(grace, _LONGEST_GRACE) * clocks.SECOND
        earlier = metadata.get("deletionTimestamp") if under_way == grace else None
        new["metadata"]["deletionTimestamp"] = earlier or clocks.rfc3339(moment)
        new["metadata"]["deletionGracePeriodSeconds"] = grace
        if finalizers:
            new["metadata"]["finalizers"] = finalizers
        if strategy.has_generation and not metadata.get("deletionTimestamp"):
            new["metadata"]["generation"] = int(metadata.get("generation") or 0) + 1
        strategy.begin_delete(new)
        return dict(new)


def key(info: KindInfo, name: str, namespace: str = "") -> str:
    """The store's key of a name."""
    return f"{namespace or 'default'}/{name}" if info.namespaced else name


def _is_finished(obj: Object, strategy: Strategy) -> bool:
    metadata = obj["metadata"]
    return bool(
        metadata.get("deletionTimestamp")
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
        and strategy.may_be_removed(obj)
    )


def _attributes(
    operation: str,
    info: KindInfo,
    new: Object | None,
    old: Object | None,
    subresource: str,
    options: WriteOptions,
) -> Attributes:
    known: Mapping[str, Any] = new if new is not None else old or {}
    return Attributes(
        operation=operation,
        info=info,
        name=meta.name_of(known),
        namespace=meta.namespace_of(known),
        object=new,
        old=old,
        subresource=subresource,
        user=options.user,
        dry_run=options.dry_run,
    )


def _match_identity(info: KindInfo, new: Object, old: Object) -> None:
    """Take over what the system gave the object (rest/update.go: BeforeUpdate)."""
    metadata, former = new["metadata"], old["metadata"]
    uid = metadata.get("uid")
    if uid and uid != former["uid"]:
        raise _uid_conflict(info, former["name"], uid, former["uid"])
    for field in _SYSTEM_FIELDS:
        metadata.pop(field, None)
        if field in former:
            metadata[field] = former[field]


def _uid_conflict(info: KindInfo, name: str, wanted: str, found: str) -> Conflict:
    return stores.conflict(
        info.plural, name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    )


def _version_conflict(info: KindInfo, name: str, wanted: str, found: str) -> Conflict:
    """Another's resourceVersion in the preconditions of a delete (storage/interfaces.go: Preconditions.Check)."""
    told = f"ResourceVersion in precondition: {wanted}, ResourceVersion in object meta: {found}"
    return stores.conflict(info.plural, name, f"Precondition failed: {told}")


def _at_version(obj: Object, version: str) -> Object:
    """What a dry run gives: the object with the version that it had, none where it is new (registry/dryrun.go)."""
    metadata = {**obj["metadata"], "resourceVersion": version}
    if not version:
        del metadata["resourceVersion"]
    return ownership.like({**obj, "metadata": metadata}, obj)


def _refuse(info: KindInfo, obj: Object, errors: list[validation.FieldError]) -> None:
    if errors:
        raise validation.invalid_object(scheme.stored(info).group_kind, meta.name_of(obj), errors)


def limit_size(obj: Object, owners: Owners | None = None) -> None:
    """What etcd does not take (etcd: DefaultMaxRequestBytes)."""
    if len(orjson.dumps(obj)) + sum(map(len, itertools.chain(*owners or ()))) > _SIZE_LIMIT:
        raise RequestEntityTooLarge("etcdserver: request is too large")


def _fitting(obj: Object, owners: Owners | None) -> Owners | None:
    """The owners, which are let go of where they make the object too large (handlers/update.go)."""
    try:
        limit_size(obj, owners)
    except RequestEntityTooLarge:
        limit_size(obj)
        return ()
    return owners


def info_of(name_or_info: str | KindInfo) -> KindInfo:
    """A kind by any of its names."""
    return name_or_info if isinstance(name_or_info, KindInfo) else scheme.for_resource(name_or_info)
