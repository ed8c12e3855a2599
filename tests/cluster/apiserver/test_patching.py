"""PATCH in its three types."""

from __future__ import annotations

from typing import Any

import pytest

from app.apimachinery.errors import BadRequest, Invalid, NotFound, UnsupportedMediaType
from tests.cluster.apiserver.making import node, pod, server, workload


def test_a_strategic_patch_changes_one_container():
    client, _ = server()
    client.create(workload("Deployment"))
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}}}
    changed = client.patch("deploy", "web", "default", change)
    container = changed["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["terminationMessagePolicy"]) == ("nginx:1.27", "File")


def test_a_merge_patch_labels_and_unlabels():
    client, _ = server()
    client.create(pod())
    kind = "application/merge-patch+json"
    assert client.patch("pods", "bee", "", {"metadata": {"labels": {"a": "b"}}}, kind)["metadata"]["labels"] == {
        "a": "b"
    }
    assert "labels" not in client.patch("pods", "bee", "", {"metadata": {"labels": {"a": None}}}, kind)["metadata"]


def test_a_json_patch_cordons():
    client, _ = server()
    client.create(node())
    changed = client.patch("nodes", "node01", "", [{"op": "add", "path": "/spec/unschedulable", "value": True}], "json")
    assert changed["spec"]["unschedulable"] is True


def test_a_patch_of_the_status_changes_nothing_else():
    client, _ = server()
    client.create(pod())
    change = {"status": {"phase": "Running"}, "spec": {"nodeName": "node01"}}
    changed = client.patch("pods", "bee", "default", change, "merge", subresource="status")
    assert changed["status"]["phase"] == "Running"
    assert "nodeName" not in changed["spec"]


def deep(levels: int) -> dict:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return {"metadata": value}


@pytest.mark.parametrize(
    ("change", "patch_type", "kind", "text"),
    [
        ({}, "application/apply-patch+cbor", UnsupportedMediaType, "unknown format"),
        ([], "merge", BadRequest, "cannot unmarshal array"),
        ({}, "json", BadRequest, "cannot unmarshal object"),
        (
            {"spec": {"tolerationz": []}},
            "strategic",
            Invalid,
            (
                ' "" is invalid: patch: Invalid value: "map[spec:map[tolerationz:[]]]": strict decoding error: unknown field '
                '"spec.tolerationz"'
            ),
        ),
        (
            {"spec": {"priority": "high"}},
            "merge",
            Invalid,
            "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32",
        ),
        ({"spec": {"nodeName": "x"}}, "merge", Invalid, "pod updates may not change fields other than"),
        ({"metadata": {"name": "wasp"}}, "merge", BadRequest, "does not match the name on the URL (bee)"),
        (deep(150), "merge", BadRequest, "nested too deep"),
        ([{"op": "remove", "path": "/spec/nowhere"}], "json", Invalid, "the server rejected our request"),
    ],
    ids=range(9),
)
def test_a_wrong_patch_is_refused(change, patch_type, kind, text):
    client, store = server()
    client.create(pod())
    before = store.revision
    with pytest.raises(kind) as caught:
        client.patch("pods", "bee", "default", change, patch_type)
    assert text in caught.value.message
    assert store.revision == before


def test_a_refused_patch_hints_at_the_field():
    client, _ = server()
    client.create(pod())
    with pytest.raises(Invalid) as caught:
        client.patch("pods", "bee", "default", {"spec": {"tolerationz": []}})
    hint = caught.value.hints[0]
    assert (hint.path, str(hint.advice)) == (
        "spec.tolerationz",
        "Write “tolerations” instead of “tolerationz”.",
    )


def test_a_missing_object_cannot_be_patched():
    client, _ = server()
    with pytest.raises(NotFound):
        client.patch("pods", "bee", "default", {})


def test_a_patch_that_changes_nothing_writes_nothing():
    client, store = server()
    stored = client.create(pod())
    before = store.revision
    assert client.patch("pods", "bee", "default", {}) is stored
    assert store.revision == before


def test_a_strategic_patch_has_no_say_in_the_kind():
    client, _ = server()
    client.create(pod())
    assert client.patch("pods", "bee", "default", {"kind": "Wasp"})["kind"] == "Pod"


@pytest.mark.parametrize("patch_type", ["merge", "json"])
def test_what_becomes_another_kind_cannot_be_decoded(patch_type):
    client, _ = server()
    client.create(pod())
    steps = [{"op": "replace", "path": "/kind", "value": "Wasp"}]
    with pytest.raises(Invalid) as caught:
        client.patch("pods", "bee", "default", {"kind": "Wasp"} if patch_type == "merge" else steps, patch_type)
    assert 'no kind "Wasp" is registered for version "v1"' in caught.value.message


def test_a_strict_server_knows_the_fields_of_an_operation():
    client, _ = server()
    client.create(pod())
    steps = [{"op": "add", "path": "/metadata/labels", "value": {}, "why": "so"}]
    with pytest.raises(Invalid) as caught:
        client.patch("pods", "bee", "default", steps, "json")
    assert 'strict decoding error: json patch unknown field "[0].why"' in caught.value.message
    assert client.patch("pods", "bee", "default", steps, "json", field_validation="Ignore")["kind"] == "Pod"
