"""The generic create, update and delete."""

from __future__ import annotations

import pytest

from app.apimachinery import clock as clocks
from app.apimachinery.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Invalid,
    MethodNotAllowed,
    NotFound,
    RequestEntityTooLarge,
)
from tests.cluster.apiserver.making import NOW, RBAC, named, node, pod, server, workload


def config_map(name: str = "c", **fields) -> dict:
    return named("v1", "ConfigMap", name, **fields)


def test_the_system_gives_the_identity_whatever_the_client_sends():
    client, _ = server()
    sent = {**config_map(), "metadata": {"name": "c", "uid": "mine", "creationTimestamp": None, "generation": 9}}
    metadata = client.create(sent)["metadata"]
    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"] == "2026-03-01T09:00:00Z"
    assert "generation" not in metadata


def test_a_resource_version_may_not_be_sent_on_create():
    client, _ = server()
    with pytest.raises(BadRequest, match="resourceVersion should not be set on objects to be created"):
        client.create({**config_map(), "metadata": {"name": "c", "resourceVersion": "1"}})


def test_names_are_generated():
    client, _ = server()
    first, second = (client.create({**pod(), "metadata": {"generateName": "web-"}}) for _ in range(2))
    for obj in (first, second):
        assert obj["metadata"]["name"].startswith("web-")
        assert len(obj["metadata"]["name"]) == 9
    assert first["metadata"]["name"] != second["metadata"]["name"]
    long = client.create({**pod(), "metadata": {"generateName": "x" * 70 + "-"}})
    assert len(long["metadata"]["name"]) == 63


def test_a_taken_name_is_refused():
    client, _ = server()
    client.create(config_map())
    with pytest.raises(AlreadyExists, match='configmaps "c" already exists'):
        client.create(config_map())


def test_unknown_fields_are_refused_or_dropped_as_asked():
    client, _ = server()
    odd = config_map(datta={"a": "b"})
    with pytest.raises(BadRequest) as caught:
        client.create(odd)
    assert caught.value.message == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"'
    )
    assert str(caught.value.hints[0].advice) == "Write “data” instead of “datta”."
    assert "datta" not in client.create(odd, field_validation="Ignore")


def test_wrong_types_are_refused_however_lenient():
    client, _ = server()
    for mode in ("Strict", "Ignore"):
        with pytest.raises(
            BadRequest, match=r"json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        ):
            client.create(config_map(data={"a": 1}), field_validation=mode)


def test_an_update_keeps_the_identity_and_counts_the_spec():
    client, _ = server()
    first = client.create(workload("Deployment"))
    sent = workload("Deployment", replicas=3)
    second = client.update(sent)
    assert second["metadata"]["uid"] == first["metadata"]["uid"]
    assert second["metadata"]["creationTimestamp"] == first["metadata"]["creationTimestamp"]
    assert [obj["metadata"]["generation"] for obj in (first, second)] == [1, 2]
    labelled = client.update({**sent, "metadata": {"name": "web", "labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 2


def test_an_update_of_a_stale_or_another_object_conflicts():
    client, _ = server()
    first = client.create(config_map())
    client.update(config_map(data={"a": "1"}))
    with pytest.raises(Conflict, match='on configmaps "c": the object has been modified'):
        client.update({**first, "data": {"a": "2"}})
    with pytest.raises(Conflict, match="Precondition failed: UID in precondition: other"):
        client.update({**config_map(), "metadata": {"name": "c", "uid": "other"}})
    with pytest.raises(NotFound, match='configmaps "d" not found'):
        client.update(config_map("d"))


def test_status_and_the_rest_are_written_apart():
    client, _ = server()
    created = client.create({**pod(), "status": {"phase": "Running"}})
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    moved = client.update_status({**created, "spec": {"containers": []}, "status": {"phase": "Running"}})
    assert moved["spec"] == created["spec"]
    assert moved["status"] == {"phase": "Running", "qosClass": "BestEffort"}
    assert client.update({**moved, "status": {"phase": "Failed"}}) is moved
    with pytest.raises(NotFound, match="could not find the requested resource"):
        client.update_status(client.create(config_map()))


def test_deleting_removes_at_once_what_has_nothing_to_wait_for():
    client, _ = server()
    stored = client.create(config_map())
    assert client.delete("cm", "c") is stored
    assert client.find("cm", "c") is None
    with pytest.raises(NotFound):
        client.delete("cm", "c")


def test_a_uid_guards_a_delete():
    client, _ = server()
    client.create(config_map())
    with pytest.raises(Conflict, match="Precondition failed"):
        client.delete("cm", "c", uid="other")
    assert client.find("cm", "c")


def test_finalizers_hold_an_object_back_until_the_last_is_gone():
    client, _ = server()
    client.create({**config_map(), "metadata": {"name": "c", "finalizers": ["example.com/a", "example.com/b"]}})
    marked = client.delete("cm", "c")
    assert marked["metadata"]["deletionTimestamp"] == clocks.rfc3339(NOW)
    assert client.delete("cm", "c") is marked
    half = client.update({**marked, "metadata": {**marked["metadata"], "finalizers": ["example.com/b"]}})
    assert client.get("cm", "c") is half
    client.update({**half, "metadata": {**half["metadata"], "finalizers": []}})
    assert client.find("cm", "c") is None


@pytest.mark.parametrize(("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_a_propagation_policy_waits_for_the_garbage_collector(policy, finalizer):
    client, _ = server()
    client.create(workload("Deployment"))
    marked = client.delete("deploy", "web", propagation=policy)
    assert marked["metadata"]["finalizers"] == [finalizer]
    assert marked["metadata"]["generation"] == 2


def test_bindings_cannot_be_deleted():
    client, _ = server()
    with pytest.raises(MethodNotAllowed):
        client.delete("bindings", "x")


def test_an_object_too_large_for_etcd_is_refused():
    client, store = server()
    before = store.revision
    bloated = {"metadata": {"name": "c", "annotations": {}}, "data": {f"k{n}": "x" * 100_000 for n in range(10)}}
    client.create({**config_map(), **bloated})
    roles = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["x" * 1_600_000]}]
    with pytest.raises(RequestEntityTooLarge, match="etcdserver: request is too large"):
        client.create(named(f"{RBAC}/v1", "ClusterRole", "r", rules=roles))
    assert store.revision == before + 1


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({}, "metadata.name: Required value: name or generateName is required"),
        ({"name": "A"}, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of'),
        ({"generateName": "A-"}, 'metadata.generateName: Invalid value: "A-": a lowercase RFC 1123'),
        ({"name": "c", "labels": {"a b": "c"}}, 'metadata.labels: Invalid value: "a b": name part must consist'),
        ({"name": "c", "labels": {"a": "-"}}, 'metadata.labels: Invalid value: "-": a valid label must be'),
        ({"name": "c", "annotations": {"a b": ""}}, 'metadata.annotations: Invalid value: "a b": name part'),
        (
            {"name": "c", "annotations": {"a": "x" * 300_000}},
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
        ({"name": "c", "finalizers": ["a b"]}, 'metadata.finalizers: Invalid value: "a b": name part'),
        (
            {"name": "c", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
        ),
    ],
)
def test_metadata_is_judged(metadata, text):
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create({**config_map(), "metadata": metadata})
    assert text in caught.value.message


def test_an_owner_can_be_the_controller_only_once():
    client, _ = server()
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
    with pytest.raises(Invalid, match="Only one reference can have Controller set to true"):
        client.create({**config_map(), "metadata": {"name": "c", "ownerReferences": [owner, {**owner, "uid": "v"}]}})


def test_cluster_scoped_kinds_have_no_namespace():
    client, _ = server()
    with pytest.raises(Invalid, match=r"metadata.namespace: Forbidden: not allowed on this type"):
        client.create({**node(), "metadata": {"name": "n", "namespace": "default"}})
