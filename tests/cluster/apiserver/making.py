"""A bare API server over a store, and short ways to make objects."""

from __future__ import annotations

from typing import Any

import pytest

from app.apimachinery import clock
from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from app.cluster.client import Client
from app.cluster.store import Store

NOW = clock.parse("2026-03-01T09:00:00Z")
RBAC = "rbac.authorization.k8s.io"


def server(*namespaces: str) -> tuple[Client, Store]:
    """A client and its store, with namespaces and their default accounts; nothing runs in it."""
    store = Store(clock.SimulatedClock(NOW), seed=7)
    client = Client.over(store)
    for name in ("default", "kube-system", *namespaces):
        client.create(named("v1", "Namespace", name))
        client.create(named("v1", "ServiceAccount", "default", namespace=name))
    return client, store


def named(api_version: str, kind: str, name: str, *, namespace: str = "", **fields: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def pod(name: str = "bee", *, container: Object | None = None, **spec: Any) -> Object:
    one = {"name": "c", "image": "nginx", **(container or {})}
    return named("v1", "Pod", name, spec={"containers": [one], **spec})


def node(name: str = "node01", **spec: Any) -> Object:
    ready = [{"type": "Ready", "status": "True"}]
    return named("v1", "Node", name, spec=spec, status={"conditions": ready, "capacity": {"cpu": "2", "pods": "110"}})


def workload(kind: str, name: str = "web", *, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    template = {"metadata": {"labels": labels or {"app": name}}, "spec": pod()["spec"]}
    selector = {"matchLabels": {"app": name}}
    return named("apps/v1", kind, name, spec={"selector": selector, "template": template, **spec})


def refused_change(obj: Object, changes: Object) -> str:
    """The server's words against a merge patch of an object that was just made."""
    client, _ = server()
    client.create(obj)
    with pytest.raises(Invalid) as caught:
        client.patch(obj["kind"], obj["metadata"]["name"], "default", changes, "merge")
    return caught.value.message


def refused(obj):
    """The words with which the server refuses a new object; nothing of it is left."""
    client, store = server()
    before = store.revision
    with pytest.raises(Invalid) as caught:
        client.create(obj)
    assert store.revision == before
    return caught.value.message
