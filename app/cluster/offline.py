"""A client whose API server does not answer: what it knows is what it saw last, and nothing that it writes arrives."""

from __future__ import annotations

from typing import Any

from app.apimachinery.meta import Object
from app.cluster.client import Client, Kind
from app.cluster.users import User


class Offline(Client):
    """Reads stand still, since nobody can write; writes are given back as they were asked for."""

    def acting_as(self, user: User) -> Client:
        """The same silence for another user."""
        del user
        return self

    def managed_by(self, manager: str) -> Client:
        """The same silence for another program."""
        del manager
        return self

    def create(self, obj: Object, namespace: str = "", **options: Any) -> Object:
        """Nothing is created."""
        del namespace, options
        return obj

    def update(self, obj: Object, namespace: str = "", **options: Any) -> Object:
        """Nothing is changed."""
        del namespace, options
        return obj

    def update_status(self, obj: Object, namespace: str = "") -> Object:
        """Nothing is changed."""
        del namespace
        return obj

    def patch(self, kind: Kind, name: str, namespace: str, *rest: Any, **options: Any) -> Object:
        """Nothing is changed."""
        del rest, options
        return self.get(kind, name, namespace)

    def delete(self, kind: Kind, name: str, namespace: str = "", *rest: Any, **options: Any) -> Object:
        """Nothing is deleted."""
        del rest, options
        return self.get(kind, name, namespace)

    def bind(self, namespace: str, pod: str, *rest: Any, **options: Any) -> Object:
        """Nothing is bound."""
        del rest, options
        return self.get("pods", pod, namespace)
