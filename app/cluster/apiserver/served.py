"""What the handlers need of a cluster: the layers above (`cluster.client`, `cluster.cluster`) provide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.apiserver.token_requests import Bearer
from app.cluster.store import WatchEvent
from app.cluster.users import User


class Client(Protocol):
    """What the handlers need of `cluster.client.Client`."""

    def acting_as(self, user: User) -> Client:
        """The same API for another user."""

    @property
    def revision(self) -> int:
        """The number of the store's last write."""

    def events_since(self, revision: int, kind: KindInfo | None = None) -> Sequence[WatchEvent]:
        """The writes after a revision; Expired where the log does not reach back so far."""

    def get(self, kind: KindInfo, name: str, namespace: str = "") -> Object:
        """One object; NotFound."""

    def find(self, kind: KindInfo, name: str, namespace: str = "") -> Object | None:
        """One object, or None."""

    def list(self, kind: KindInfo, namespace: str | None = None) -> list[Object]:
        """All objects of a kind, or of one namespace."""

    def create(
        self,
        obj: Object,
        namespace: str = "",
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "Strict",
    ) -> Object:
        """Create an object."""

    def update(
        self,
        obj: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "Strict",
    ) -> Object:
        """Replace an object or its status."""

    def patch(  # noqa: PLR0913 (an API call's options, each by name)
        self,
        kind: KindInfo,
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
        """Change parts of an object."""

    def delete(
        self,
        kind: KindInfo,
        name: str,
        namespace: str = "",
        grace_seconds: int | None = None,
        propagation: str | None = None,
        *,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Delete an object, or mark its deletion."""

    def evict(self, namespace: str, pod: str, eviction: Object | None = None, *, dry_run: bool = False) -> None:
        """Delete a pod as its disruption budget allows."""

    def create_token(self, namespace: str, account: str, request: Object | None = None) -> Object:
        """A TokenRequest with its token."""

    def bearer(self, token: str, audiences: Sequence[str] = ()) -> Bearer:
        """Who bears a token."""

    def bind(self, namespace: str, pod: str, binding: Object, *, dry_run: bool = False) -> Object:
        """Assign a pod to a node."""


class Served(Protocol):
    """What the handlers need of a cluster."""

    @property
    def now(self) -> Instant:
        """The simulated instant, to which ages are counted."""

    @property
    def client(self) -> Client:
        """The door to the cluster's objects."""

    def unreachable(self) -> str:
        """Why the API server does not answer: `refused` or `timeout`; empty where it does."""

    def logs(self, namespace: str, pod: str, container: str, *, previous: bool = False) -> list[str]:
        """What a container has printed in its current run, or in the one before."""
