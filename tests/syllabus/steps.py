"""What learners do, in a cluster of their own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.cluster import Cluster
from tests.cluster.builders import SECOND, fresh, pod

WORKERS = ("node01", "node02")


def lab(*objects: Object, settle: bool = True) -> Cluster:
    """A cluster of one control plane and two workers with these objects in it."""
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    if settle:
        cluster.settle()
    return cluster


def put(cluster: Cluster, *objects: Object) -> None:
    for obj in objects:
        cluster.client.create(obj)
    cluster.settle()


def change(cluster: Cluster, kind: str, name: str, spec: Object, namespace: str = "default") -> None:
    """Replace fields of an object's spec, as `kubectl edit` would."""
    current = cluster.client.get(kind, name, namespace)
    cluster.client.update({**current, "spec": {**current["spec"], **spec}})


def label(cluster: Cluster, kind: str, name: str, namespace: str = "default", **labels: str | None) -> None:
    """Set labels, or take them off with None (the dashes of a key are written as `__`)."""
    wanted = {key.replace("__", "-"): value for key, value in labels.items()}
    cluster.client.patch(kind, name, namespace, {"metadata": {"labels": wanted}}, "merge")


def taint_node(cluster: Cluster, name: str, *taints: str) -> None:
    """Replace a node's taints by those written as `key=value:Effect`."""
    found = []
    for text in taints:
        pair, _, effect = text.partition(":")
        key, _, value = pair.partition("=")
        found.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    change(cluster, "nodes", name, {"taints": found}, "")


def node_of(cluster: Cluster, name: str = "bee") -> str:
    """Where the pod is; empty while it waits."""
    return str(cluster.client.get("pods", name)["spec"].get("nodeName", ""))


def reasons(cluster: Cluster, name: str) -> list[str]:
    """The reasons of the events about an object, oldest first."""
    found = cluster.client.list("events", None, field_selector=f"involvedObject.name={name}")
    return [event["reason"] for event in sorted(found, key=lambda event: int(event["metadata"]["resourceVersion"]))]


def said(cluster: Cluster, name: str, reason: str) -> str:
    """The message of the last event with this reason about an object."""
    found = cluster.client.list("events", None, field_selector=f"involvedObject.name={name},reason={reason}")
    assert found, f"no event {reason} about {name}"
    return str(max(found, key=lambda event: int(event["metadata"]["resourceVersion"]))["message"])


def tolerating(key: str = "", value: str = "", effect: str = "", name: str = "bee", **more: Any) -> Object:
    """A pod with one toleration: Equal where a value is given, Exists elsewhere."""
    toleration: Object = {"operator": "Equal", "value": value} if value else {"operator": "Exists"}
    for field, text in (("key", key), ("effect", effect)):
        if text:
            toleration[field] = text
    return pod(name, tolerations=[{**toleration, **more}])


def refused(cluster: Cluster, obj: Object) -> str:
    """The API server's words against an object."""
    with pytest.raises(StatusError) as caught:
        cluster.client.create(obj)
    return caught.value.message


def wait(cluster: Cluster, seconds: int) -> None:
    cluster.advance_to(cluster.now + seconds * SECOND)


def call(cluster: Cluster, verb: str, path: str, body: Object | None = None, query: str = "") -> tuple[int, Object]:
    """One request to the API, as `curl` sends it."""
    pairs = tuple(tuple(item.split("=", 1)) for item in query.split("&") if item)
    data = orjson.dumps(body) if body is not None else b""
    request = ApiRequest(verb, path, pairs, {"content-type": "application/json"}, data)
    response = dispatch.handle(cluster, request)
    return response.code, orjson.loads(response.body)
