"""Whatever a client sends, the answer is a response: no request may raise, hang, or leave half a write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cluster.apiserver import dispatch
from app.cluster.apiserver.dispatch import ApiRequest
from tests.kubeapi.asking import TABLE, Server, node, pod

ACCEPTS = [
    "application/json",
    TABLE,
    "*/*",
    "",
    "application/json;as=",
    ";;;,=,",
    "a" * 3000,
    "application/json;as=Table;g=meta.k8s.io;v=v9",
]
TYPES = [
    "application/json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "",
    "\x7f",
]
PARTS = [
    "api",
    "apis",
    "v1",
    "apps",
    "pods",
    "nodes",
    "namespaces",
    "default",
    "bee",
    "status",
    "binding",
    "bindings",
    "log",
    "scale",
    "deployments",
    "",
    ".",
    "..",
    "%2e",
    "é",
    "\0",
]
PARAMS = [
    "watch",
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "includeObject",
    "dryRun",
    "fieldValidation",
    "gracePeriodSeconds",
    "tailLines",
    "sendInitialEvents",
]

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "labels", "spec", "containers", "$patch", "key", "op"]) | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def server():
    server = Server()
    server.client.create(pod("bee"))
    server.client.create(node("node01"))
    return server


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    path=st.lists(st.sampled_from(PARTS), max_size=8).map("/".join),
    query=st.lists(
        st.tuples(
            st.sampled_from(PARAMS),
            st.sampled_from(["", "1", "true", "-5", "a=b", "a in (", "=", "x" * 50]) | st.text(max_size=8),
        ),
        max_size=3,
    ),
    accept=st.sampled_from(ACCEPTS),
    content_type=st.sampled_from(TYPES),
    body=st.binary(max_size=20),
)
def test_any_path_and_query_is_answered(server, method, path, query, accept, content_type, body):
    headers = {"accept": accept, "content-type": content_type}
    answer = dispatch.handle(server, ApiRequest(method, f"/{path}", query, headers, body))
    assert 200 <= answer.code < 500
    assert answer.body.decode()


BASE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
PLACES = [
    "metadata",
    "metadata.name",
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.finalizers",
    "spec",
    "spec.containers",
    "spec.tolerations",
    "spec.affinity",
    "spec.nodeSelector",
    "spec.volumes",
    "spec.priority",
    "status",
]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(place=st.sampled_from(PLACES), value=JSON, validation=st.sampled_from(["Strict", "Ignore", "Warn"]))
def test_any_value_in_any_place_of_a_pod_is_answered(server, place, value, validation):
    body = placed(BASE, place.split("."), value)
    answer = server.ask(
        "POST", f"/api/v1/namespaces/default/pods?dryRun=All&fieldValidation={validation}", encoded(body)
    )
    assert answer.code in (201, 400, 403, 422), answer.body


@settings(max_examples=150, deadline=None, derandomize=True)
@given(value=JSON, content_type=st.sampled_from(TYPES[1:4]), path=st.sampled_from(["pods/bee", "pods/bee/status"]))
def test_any_patch_is_answered(server, value, content_type, path):
    answer = server.ask(
        "PATCH", f"/api/v1/namespaces/default/{path}?dryRun=All", encoded(value), content_type=content_type
    )
    # The real server has no status for a directive that it does not know: its handler's plain error is a 500.
    assert answer.code in (200, 400, 409, 422) or b"unknown patch type: " in answer.body, answer.body


def placed(base, path, value):
    first, *rest = path
    return {**base, first: placed(base.get(first, {}), rest, value) if rest else value}


def encoded(value):
    import json

    return json.dumps(value).encode()
