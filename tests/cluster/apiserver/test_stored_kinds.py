"""Secrets, volumes, claims, classes and disruption budgets: what is refused, in the server's words."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Invalid
from tests.cluster.apiserver.making import named, refused, refused_change, server


def secret(kind: str = "Opaque", **fields) -> dict:
    return named("v1", "Secret", "s", type=kind, **fields)


def volume(**spec) -> dict:
    given = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, **spec}
    return named("v1", "PersistentVolume", "v", spec={name: value for name, value in given.items() if value})


def claim(**spec) -> dict:
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return named("v1", "PersistentVolumeClaim", "c", spec=given)


def storage_class(**fields) -> dict:
    return named("storage.k8s.io/v1", "StorageClass", "fast", **{"provisioner": "example.com/disk", **fields})


def budget(**spec) -> dict:
    return named("policy/v1", "PodDisruptionBudget", "b", spec=spec)


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (
            secret(data={"a b": "eA=="}),
            'Secret "s" is invalid: data[a b]: Invalid value: "a b": a valid config key must',
        ),
        (secret("kubernetes.io/tls", data={}), "[data[tls.crt]: Required value, data[tls.key]: Required value]"),
        (secret("kubernetes.io/dockerconfigjson"), "data[.dockerconfigjson]: Required value"),
        (secret("kubernetes.io/basic-auth"), "[data[username]: Required value, data[password]: Required value]"),
        (
            secret("kubernetes.io/service-account-token"),
            "metadata.annotations[kubernetes.io/service-account.name]: Required value",
        ),
        (volume(capacity=None), 'PersistentVolume "v" is invalid: spec.capacity: Required value'),
        (volume(accessModes=None), "spec.accessModes: Required value: at least 1 access mode is required"),
        (
            volume(accessModes=["ReadWrite"]),
            'spec.accessModes: Unsupported value: "ReadWrite": supported values: "ReadOnlyMany", "ReadWriteMany", ',
        ),
        (volume(hostPath=None), "spec: Required value: must specify a volume type"),
        (
            volume(hostPath=None, local={"path": "/x"}),
            "spec.nodeAffinity: Required value: Local volume requires node affinity",
        ),
        (volume(nfs={"server": "a", "path": "/"}), "spec.nfs: Forbidden: may not specify more than 1 volume type"),
        (claim(accessModes=[]), "spec.accessModes: Required value: at least 1 access mode is required"),
        (claim(resources={}), 'PersistentVolumeClaim "c" is invalid: spec.resources[storage]: Required value'),
        (
            claim(resources={"requests": {"storage": "0"}}),
            'spec.resources[storage]: Invalid value: "0": must be greater than zero',
        ),
        (
            claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        ),
        (storage_class(provisioner=""), 'StorageClass.storage.k8s.io "fast" is invalid: provisioner: Required value'),
        (
            storage_class(volumeBindingMode="Later"),
            'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
        ),
        (budget(minAvailable=1, maxUnavailable=1), "minAvailable and maxUnavailable cannot be both set"),
        (budget(minAvailable=-1), "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"),
        (budget(minAvailable="120%"), 'spec.minAvailable: Invalid value: "120%": must not be greater than 100%'),
        (budget(maxUnavailable="half"), 'spec.maxUnavailable: Invalid value: "half": a valid percent string must be'),
    ],
    ids=range(21),
)
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


CLAIM_FIXED = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for "
    "bound claims"
)


@pytest.mark.parametrize(
    ("obj", "changes", "text"),
    [
        (secret(), {"type": "other"}, 'type: Invalid value: "other": field is immutable'),
        (
            secret(data={"a": "eA=="}, immutable=True),
            {"data": {"a": "eQ=="}},
            "data: Forbidden: field is immutable when `immutable` is set",
        ),
        (volume(), {"spec": {"hostPath": {"path": "/y"}}}, "spec.persistentvolumesource is immutable after creation"),
        (claim(), {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}, CLAIM_FIXED),
        (claim(), {"spec": {"accessModes": ["ReadWriteMany"]}}, CLAIM_FIXED),
        (
            storage_class(),
            {"provisioner": "example.com/other"},
            "provisioner: Forbidden: updates to provisioner are forbidden.",
        ),
        (
            storage_class(),
            {"parameters": {"a": "b"}},
            "parameters: Forbidden: updates to parameters are forbidden.",
        ),
        (
            storage_class(),
            {"volumeBindingMode": "WaitForFirstConsumer"},
            'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
        ),
    ],
    ids=range(8),
)
def test_some_fields_never_change(obj, changes, text):
    assert text in refused_change(obj, changes)


def test_a_bound_claim_may_grow_and_not_shrink():
    client, _ = server()
    client.create(storage_class(allowVolumeExpansion=True))
    stored = client.create(claim(storageClassName="fast"))
    client.update_status({**stored, "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}})
    grown = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    client.patch("pvc", "c", "default", grown, "merge")
    with pytest.raises(Invalid, match=r"spec\.resources\.requests\.storage: Forbidden: field can not be less than"):
        client.patch("pvc", "c", "default", {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}, "merge")


def test_a_claim_may_be_bound_to_a_volume_once():
    client, _ = server()
    client.create(claim())
    client.patch("pvc", "c", "default", {"spec": {"volumeName": "v"}}, "merge")
    with pytest.raises(Invalid, match="spec is immutable after creation"):
        client.patch("pvc", "c", "default", {"spec": {"volumeName": "other"}}, "merge")


def test_what_a_secret_says_as_text_is_kept_as_data():
    client, _ = server()
    secret = named("v1", "Secret", "s", data={"a": "b2xk", "b": "Yg=="}, stringData={"a": "new"})
    created = client.create(secret)
    assert created["data"] == {"a": "bmV3", "b": "Yg=="}
    assert "stringData" not in created
    patched = client.patch("secrets", "s", "default", {"stringData": {"c": "é"}}, "merge")
    assert patched["data"] == {"a": "bmV3", "b": "Yg==", "c": "w6k="}
