"""The client: every name of a kind, selectors, dry runs, and who asks."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import AlreadyExists, BadRequest, NotFound
from app.apis.scheme import NoKindMatchError, NoResourceMatchError
from app.cluster import users
from tests.cluster.apiserver.making import named, node, pod, server


def names(objects: list[dict]) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


def labelled(name: str, **labels: str) -> dict:
    obj = pod(name)
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def test_it_reads_what_it_wrote_by_any_name_of_the_kind():
    client, _ = server()
    stored = client.create(pod())
    for kind in ("pods", "pod", "po", "Pod"):
        assert client.get(kind, "bee") is stored
        assert client.list(kind) == [stored]
    assert client.find("pods", "wasp") is None
    with pytest.raises(NotFound, match='pods "wasp" not found'):
        client.get("pods", "wasp")
    with pytest.raises(NoResourceMatchError):
        client.get("foo", "bee")
    with pytest.raises(NoKindMatchError):
        client.create({**pod(), "kind": "pod"})


def test_namespaces_are_given_by_object_or_request_and_must_agree():
    client, _ = server("blue")
    assert client.create(pod(), "blue")["metadata"]["namespace"] == "blue"
    assert client.create(pod())["metadata"]["namespace"] == "default"
    assert names(client.list("pods", "blue")) == ["bee"]
    assert len(client.list("pods")) == 2
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        client.create({**pod(), "metadata": {"name": "x", "namespace": "blue"}}, "default")


def test_it_selects_by_labels():
    client, _ = server()
    client.create(labelled("a", env="prod", tier="web"))
    client.create(labelled("b", env="dev"))
    assert names(client.list("pods", label_selector="env=prod,tier=web")) == ["a"]
    assert names(client.list("pods", label_selector="env in (prod, dev),!tier")) == ["b"]
    assert names(client.list("pods", label_selector="")) == ["a", "b"]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("spec.nodeName=node01", ["a"]),
        ("spec.nodeName!=node01", ["b"]),
        ("spec.nodeName==node01,metadata.name=a", ["a"]),
        ("status.phase=Running", []),
        ("spec.schedulerName=default-scheduler", ["a", "b"]),
        ("metadata.namespace=default", ["a", "b"]),
        ("", ["a", "b"]),
    ],
)
def test_it_selects_by_fields(selector, found):
    client, _ = server()
    client.create(pod("a", nodeName="node01"))
    client.create(pod("b"))
    assert names(client.list("pods", field_selector=selector)) == found


def test_it_refuses_a_label_selector_that_is_none():
    client, _ = server()
    with pytest.raises(BadRequest):
        client.list("pods", label_selector="a in b")


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("spec.foo=x", "field label not supported: spec.foo"),
        ("spec.nodeName", "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'"),
    ],
)
def test_it_refuses_field_selectors_in_the_servers_words(selector, text):
    client, _ = server()
    client.create(pod())
    with pytest.raises(BadRequest) as caught:
        client.list("pods", field_selector=selector)
    assert caught.value.message == text


def test_events_nodes_and_namespaces_have_their_own_fields():
    client, _ = server()
    involved = {"kind": "Pod", "name": "bee", "namespace": "default"}
    client.create(
        named("v1", "Event", "e", namespace="default", involvedObject=involved, reason="Scheduled", type="Normal")
    )
    client.create(node("n", unschedulable=True))
    assert names(client.list("events", field_selector="involvedObject.name=bee,type=Normal,reason=Scheduled")) == ["e"]
    assert names(client.list("nodes", field_selector="spec.unschedulable=true")) == ["n"]
    assert names(client.list("ns", field_selector="status.phase=Active")) == ["default", "kube-system"]


def test_a_dry_run_answers_and_writes_nothing():
    client, store = server()
    before = store.state()
    assert client.create(pod(), dry_run=True)["metadata"]["uid"]
    assert store.state() == before
    stored = client.create(pod())
    before = store.state()
    with pytest.raises(AlreadyExists):
        client.create(pod(), dry_run=True)
    changed = client.patch("pods", "bee", "default", {"metadata": {"labels": {"a": "b"}}}, dry_run=True)
    assert changed["metadata"]["labels"] == {"a": "b"}
    client.delete("pods", "bee", dry_run=True)
    assert store.state() == before
    assert client.get("pods", "bee") is stored


def test_it_tells_the_writes_since_a_revision():
    client, _ = server()
    start = client.revision
    client.create(pod())
    client.create(node())
    assert [event.type for event in client.events_since(start)] == ["ADDED", "ADDED"]
    assert [event.object["kind"] for event in client.events_since(start, "po")] == ["Pod"]


def test_it_acts_for_a_user():
    client, _ = server()
    assert client.user == users.ADMIN
    assert client.acting_as("system:serviceaccount:default:bob").user == "system:serviceaccount:default:bob"
    assert client.acting_as(users.named("x")).create(pod())["metadata"]["name"] == "bee"


def test_a_dry_run_hands_out_no_version():
    client, _ = server()
    made = client.create(pod(), dry_run=True)
    assert "uid" in made["metadata"]
    assert "resourceVersion" not in made["metadata"]
    stored = client.create(pod())
    changed = client.patch("pods", "bee", "default", {"metadata": {"labels": {"a": "b"}}}, dry_run=True)
    assert changed["metadata"]["labels"]["a"] == "b"
    assert changed["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]
