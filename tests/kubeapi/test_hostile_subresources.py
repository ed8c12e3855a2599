"""Whatever is sent to subresources, reviews and views is answered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cluster.apiserver import dispatch
from tests.kubeapi.asking import Server, pod
from tests.kubeapi.asking import request as asked
from tests.kubeapi.test_hostile_requests import JSON, TYPES, encoded, placed
from tests.kubeapi.test_new_events import new_event

DEFAULT = "/api/v1/namespaces/default"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
SIZES = {"requests": {"cpu": "100m", "memory": "1Mi"}}

CONTAINER = {"name": "c", "image": "i", "resources": SIZES}
PLACES = {
    ("PUT", f"{DEFAULT}/pods/bee/resize"): (
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bee"}, "spec": {"containers": [CONTAINER]}},
        ["metadata", "metadata.uid", "spec", "spec.containers", "spec.initContainers", "spec.resources", "status"],
    ),
    ("PUT", f"{DEFAULT}/pods/bee/ephemeralcontainers"): (
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bee"}, "spec": {"ephemeralContainers": []}},
        ["metadata.name", "spec", "spec.ephemeralContainers", "spec.volumes", "kind"],
    ),
    ("POST", f"{DEFAULT}/serviceaccounts/default/token"): (
        {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "bee"}}},
        [
            "metadata",
            "metadata.name",
            "spec",
            "spec.audiences",
            "spec.expirationSeconds",
            "spec.boundObjectRef",
            "spec.boundObjectRef.name",
            "spec.boundObjectRef.apiVersion",
        ],
    ),
    ("POST", REVIEWS): ({"spec": {"token": "x"}}, ["spec", "spec.token", "spec.audiences", "metadata"]),
    ("POST", EVENTS): (
        new_event("hostile"),
        ["metadata", "series", "series.count", "note", "regarding", "eventTime", "type", "deprecatedCount", "related"],
    ),
    ("PUT", "/api/v1/namespaces/default/finalize"): (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}, "spec": {"finalizers": []}},
        ["metadata", "spec", "spec.finalizers", "status"],
    ),
    ("POST", f"{DEFAULT}/pods/bee/binding"): (
        {"target": {"kind": "Node", "name": "node01"}},
        ["metadata", "metadata.uid", "metadata.labels", "target", "target.kind", "target.name"],
    ),
}
CHOICES = [(route, place) for route, (_, places) in PLACES.items() for place in places]


@pytest.fixture(scope="module")
def server():
    made = Server()
    bee = pod("bee")
    bee["spec"]["containers"][0]["resources"] = SIZES
    made.client.create(bee)
    return made


@settings(max_examples=300, deadline=None, derandomize=True)
@given(choice=st.sampled_from(CHOICES), value=JSON, validation=st.sampled_from(["Strict", "Ignore", "Warn"]))
def test_any_value_in_any_place_is_answered(server, choice, value, validation):
    (method, url), place = choice
    body = placed(PLACES[method, url][0], place.split("."), value)
    answer = server.ask(method, f"{url}?dryRun=All&fieldValidation={validation}", encoded(body))
    assert answer.code in (200, 201, 400, 403, 404, 409, 422), answer.body


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    value=JSON,
    content_type=st.sampled_from(TYPES[1:4]),
    url=st.sampled_from(
        [f"{DEFAULT}/pods/bee/resize", f"{DEFAULT}/pods/bee/ephemeralcontainers", f"{EVENTS}/bee.1", EVENTS]
    ),
)
def test_any_patch_is_answered(server, value, content_type, url):
    answer = server.ask("PATCH", f"{url}?dryRun=All", encoded(value), content_type=content_type)
    assert answer.code in (200, 400, 404, 405, 409, 422) or b"unknown patch type: " in answer.body, answer.body


@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=st.text(max_size=40) | st.lists(st.text(max_size=8), max_size=5).map(".".join), scheme=st.text(max_size=7))
def test_any_authorization_is_answered(server, text, scheme):
    for header in (f"Bearer {text}", f"{scheme} {text}", text):
        sent = asked("GET", f"{DEFAULT}/pods", None, "application/json", "")
        sent.headers["authorization"] = header
        assert dispatch.handle(server, sent).code in (200, 401)
