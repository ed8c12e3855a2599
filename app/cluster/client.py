"""The only door for whoever reads or changes objects: controllers, kubelets, schedulers, kubectl, checks.

Objects that come back are the stored ones: copy before changing (`meta.copied`). Kinds go by any name that
kubectl takes: `pods`, `pod`, `po`, `Pod`, `deployments.apps`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.apimachinery import labels, meta
from app.apimachinery.errors import BadRequest
from app.apimachinery.labels import Selector
from app.apimachinery.meta import Object
from app.apis import conversion, scheme
from app.apis.scheme import KindInfo
from app.cluster.apiserver import applying, field_selectors, patching, strategies_table, token_requests
from app.cluster.apiserver import binding as bindings
from app.cluster.apiserver import eviction as evictions
from app.cluster.apiserver.registry import DeleteOptions, Registry, WriteOptions, info_of
from app.cluster.attributes import DEFAULT_USER
from app.cluster.heartbeats import BEATING
from app.cluster.store import Store, WatchEvent
from app.cluster.users import User

Kind = str | KindInfo
Shown = Callable[[str, Object], Object]
"""A stored object of a resource as readers see it."""


class Client:
    """One user's view of one cluster's API."""

    def __init__(
        self, registry: Registry, user: User = DEFAULT_USER, shown: Shown | None = None, manager: str = ""
    ) -> None:
        self._registry = registry
        self._manager = manager
        self._user = user
        self._shown = shown

    @classmethod
    def over(cls, store: Store, user: User = DEFAULT_USER, shown: Shown | None = None) -> Client:
        """A client of the API server that serves `store`; `shown` changes what it reads."""
        return cls(Registry(store), user, shown)

    def acting_as(self, user: User) -> Client:
        """The same API for another user."""
        return Client(self._registry, user, self._shown, self._manager)

    def managed_by(self, manager: str) -> Client:
        """The same API for a program: what it changes is this field manager's where a write names no other."""
        return Client(self._registry, self._user, self._shown, manager)

    @property
    def user(self) -> User:
        """Who asks."""
        return self._user

    @property
    def revision(self) -> int:
        """The number of the cluster's last write: a list's resourceVersion."""
        return self._registry.store.revision

    def events_since(self, revision: int, kind: Kind | None = None) -> Sequence[WatchEvent]:
        """The writes after a revision, oldest first; Expired where the log no longer reaches back."""
        return self._registry.store.events_since(revision, None if kind is None else info_of(kind).plural)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Object:
        """One object (namespace `default` where none is given); NotFound where there is none."""
        info = info_of(kind)
        found = self._registry.get(info, name, namespace)
        return found if self._shown is None else self._shown(info.plural, found)

    def find(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """One object, or None."""
        info = info_of(kind)
        key = f"{namespace or 'default'}/{name}" if info.namespaced else name
        found = self._registry.store.get(info.plural, key)
        if found is None:
            return None
        found = conversion.shown(info, found)
        return found if self._shown is None else self._shown(info.plural, found)

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        label_selector: str | Selector | None = None,
        field_selector: str | None = None,
    ) -> list[Object]:
        """The kind's objects in name order, of one namespace or of all.

        Raises:
            BadRequest: a selector that cannot be parsed, or a field that the kind cannot be selected by.
        """
        info = info_of(kind)
        found = self._registry.store.list(info.plural, namespace or None)
        if self._shown is not None and info.plural in BEATING:
            found = [self._shown(info.plural, obj) for obj in found]
        if label_selector is not None:
            chosen = _parsed(label_selector)
            found = [obj for obj in found if chosen.matches(meta.labels_of(obj))]
        if field_selector:
            wanted = field_selectors.parse(field_selector, info)
            fields_of = strategies_table.strategy_for(info).selectable_fields
            found = [obj for obj in found if wanted.matches(obj, fields_of)]
        return [conversion.shown(info, obj) for obj in found] if info.stored_as else found

    def create(
        self,
        obj: Object,
        namespace: str = "",
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "Strict",
        user: User | None = None,
    ) -> Object:
        """Create an object. A Binding binds its pod.

        Raises:
            NoKindMatchError, BadRequest, Forbidden, NotFound, AlreadyExists, Invalid
        """
        info = scheme.of(obj)
        options = WriteOptions(dry_run, field_manager or self._manager, user or self._user, field_validation)
        if info.kind == "Binding":
            return bindings.create(self._registry, obj, namespace, options)
        return conversion.shown(info, self._registry.create(info, obj, namespace, options))

    def update(
        self,
        obj: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "Strict",
        user: User | None = None,
    ) -> Object:
        """Replace an object. A resourceVersion in it must be the stored one (else Conflict); without one it wins."""
        options = WriteOptions(dry_run, field_manager or self._manager, user or self._user, field_validation)
        info = scheme.of(obj)
        return conversion.shown(info, self._registry.update(info, obj, namespace, options, subresource))

    def update_status(self, obj: Object, namespace: str = "") -> Object:
        """Replace an object's status and nothing else of it."""
        return self.update(obj, namespace, subresource="status")

    def patch(  # noqa: PLR0913 (an API call's options, each by name)
        self,
        kind: Kind,
        name: str,
        namespace: str,
        patch: Mapping[str, Any] | Sequence[Any],
        patch_type: str = "strategic",
        subresource: str | None = None,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "Strict",
        force: bool = False,
        door: str = "",
    ) -> Object:
        """Change parts of an object. `patch_type` is `strategic`, `merge`, `json` or `apply`, or its content type.

        `force` lets an apply take fields from others. `door` names the subresource that a request came by which
        changes the object itself (`scale`).
        """
        manager = field_manager or self._manager
        options = WriteOptions(dry_run, manager, self._user, field_validation, force, door)
        target = applying.Target(info_of(kind), name, namespace, subresource or "")
        return conversion.shown(target.info, patching.patch(self._registry, target, patch, patch_type, options))

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        grace_seconds: int | None = None,
        propagation: str | None = None,
        *,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Delete an object, or mark its deletion; returns it as it then is. `propagation` as in DeleteOptions."""
        options = DeleteOptions(grace_seconds, propagation or "Background", uid, dry_run, self._user, resource_version)
        info = info_of(kind)
        return conversion.shown(info, self._registry.delete(info, name, namespace, options))

    def evict(self, namespace: str, pod: str, eviction: Object | None = None, *, dry_run: bool = False) -> None:
        """Delete a pod as its disruption budget allows. TooManyRequests where it does not."""
        if eviction is None:
            metadata = {"name": pod, "namespace": namespace}
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        evictions.evict(self._registry, pod, namespace, eviction, WriteOptions(dry_run, user=self._user))

    def create_token(self, namespace: str, account: str, request: Object | None = None) -> Object:
        """A TokenRequest with its token (`status.token`) for a service account."""
        return token_requests.create(self._registry, account, namespace, request or {}, self._user)

    def lasting_token(self, account: Object, secret: Object) -> str:
        """The token of a service account for a Secret that is to hold it."""
        return token_requests.lasting(self._registry.store, account, secret)

    def bearer(self, token: str, audiences: Sequence[str] = ()) -> token_requests.Bearer:
        """Who bears a token."""
        return token_requests.bearer(self._registry.store, token, audiences)

    def bind(self, namespace: str, pod: str, binding: Object | str, *, dry_run: bool = False) -> Object:
        """Assign a pod by a v1 Binding or a node's name; returns the bound pod. Conflict where it is bound."""
        if isinstance(binding, str):
            binding = bindings.make(pod, namespace, binding)
        return bindings.bind(self._registry, pod, namespace, binding, WriteOptions(dry_run, user=self._user))


def _parsed(selector: str | Selector) -> Selector:
    if isinstance(selector, Selector):
        return selector
    try:
        return labels.parse_selector(selector)
    except labels.SelectorError as error:
        raise BadRequest(str(error)) from error
