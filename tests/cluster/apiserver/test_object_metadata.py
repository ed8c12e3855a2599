"""What every kind's metadata must fulfil, in the server's words."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused, server


def config_map(**metadata) -> Object:
    made = named("v1", "ConfigMap", "c")
    return {**made, "metadata": {**made["metadata"], **metadata}}


def owner(**fields) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", **fields}


REFUSED = [
    (config_map(name="A"), 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of'),
    (config_map(name="a" * 254), "must be no more than 253 bytes"),
    (config_map(labels={"a b": "c"}), 'metadata.labels: Invalid value: "a b": name part must consist of'),
    (config_map(labels={"a": "b c"}), 'metadata.labels: Invalid value: "b c": a valid label must be an empty string'),
    (config_map(annotations={"a b": "c"}), 'metadata.annotations: Invalid value: "a b": name part must consist of'),
    (
        config_map(annotations={"a": "x" * 262_144}),
        "metadata.annotations: Too long: may not be more than 262144 bytes",
    ),
    (
        config_map(finalizers=["mine"]),
        (
            'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully '
            "qualified"
        ),
    ),
    (config_map(finalizers=["a.b/c d"]), 'metadata.finalizers: Invalid value: "a.b/c d": name part must consist of'),
    (
        config_map(finalizers=["orphan", "foregroundDeletion"]),
        (
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion '
            "cannot be both set"
        ),
    ),
    (
        config_map(ownerReferences=[owner(apiVersion="")]),
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    ),
    (
        config_map(ownerReferences=[owner(uid="")]),
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ),
    (
        config_map(ownerReferences=[owner(kind="Event")]),
        "/v1, Kind=Event is disallowed from being an owner",
    ),
    (
        config_map(ownerReferences=[owner(controller=True), owner(name="q", uid="v", controller=True)]),
        'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    ),
    (named("v1", "Namespace", "a.b"), 'metadata.name: Invalid value: "a.b": must not contain dots'),
    (
        named("v1", "Service", "1a", spec={"ports": [{"port": 80}]}),
        'metadata.name: Invalid value: "1a": a DNS-1035 label must consist of',
    ),
    (
        named("rbac.authorization.k8s.io/v1", "ClusterRole", "a/b"),
        "metadata.name: Invalid value: \"a/b\": may not contain '/'",
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


@pytest.mark.parametrize(
    "metadata",
    [
        {"finalizers": ["orphan"]},
        {"finalizers": ["example.com/mine", "kubernetes"]},
        {"ownerReferences": [owner(controller=True), owner(name="q", uid="v")]},
        {"annotations": {"UPPER.example.com/Case": "x"}},
        {"generateName": "a-", "name": ""},
    ],
    ids=range(5),
)
def test_it_takes_what_kubernetes_takes(metadata):
    client, _ = server()
    assert client.create(config_map(**metadata))["metadata"]["uid"]


def test_an_object_that_goes_gets_no_more_finalizers():
    client, _ = server()
    client.create(config_map(finalizers=["example.com/a"]))
    client.delete("cm", "c")
    more = {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}
    with pytest.raises(Invalid) as caught:
        client.patch("cm", "c", "default", more, "merge")
    assert caught.value.message == (
        'ConfigMap "c" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is '
        'being deleted, found new finalizers []string{"example.com/b"}'
    )
