"""Asking a store's API server in process: the same functions that the HTTP surface calls."""

import json
from dataclasses import dataclass, field

from app.apimachinery import clock
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.dispatch import ApiRequest
from app.cluster.client import Client
from app.cluster.store import Store

NOW = clock.parse("2026-03-01T12:00:00Z")
TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass
class Server:
    """A bare API server: a store and its clock, no controllers."""

    time: clock.SimulatedClock = field(default_factory=lambda: clock.SimulatedClock(NOW))

    def __post_init__(self):
        self.client = Client.over(Store(self.time, 7))
        for name in ("default", "kube-system"):
            self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            self.client.create(
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
            )

    @property
    def now(self):
        return self.time.now()

    def unreachable(self):
        return ""

    def ask(self, method, url, body=None, accept="application/json", content_type="application/json"):
        return dispatch.handle(self, request(method, url, body, accept, content_type))

    def get(self, url, **options):
        return loaded(self.ask("GET", url, **options))

    def watch(self, url, since, accept="application/json"):
        lines, revision = dispatch.watch(self, request("GET", url, None, accept, ""), since)
        return [json.loads(line) for line in lines], revision


def request(method, url, body, accept, content_type):
    path, _, query = url.partition("?")
    pairs = [tuple(pair.split("=", 1)) for pair in query.split("&") if pair]
    encoded = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return ApiRequest(method, path, pairs, {"accept": accept, "content-type": content_type}, encoded)


def loaded(response, code=200):
    assert response.code == code, response.body
    return json.loads(response.body)


def events(response):
    """The events that a watch begins with, and the revision that it has reached."""
    assert response.code == 200, response.body
    lines = response.body.splitlines()
    return [json.loads(line) for line in lines], int(response.headers[dispatch.WATCH_REVISION])


def pod(name, namespace="default", labels=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}], **spec},
    }


def node(name, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}}
