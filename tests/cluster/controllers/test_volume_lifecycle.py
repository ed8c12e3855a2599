"""What becomes of claims and volumes from the first wish to the last byte."""

from typing import Any

import pytest

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, events, fresh, pod
from tests.cluster.controllers.test_persistent_volume import claim, given, phases, storage_class, volume

FIRST_CONSUMER = "waiting for first consumer to be created before binding"


def changed(obj: Object, **spec: Any) -> Object:
    return {**obj, "spec": {key: value for key, value in {**obj["spec"], **spec}.items() if value is not None}}


def get(cluster: Cluster, name: str = "c") -> Object:
    return cluster.client.get("persistentvolumeclaims", name)


def pv(cluster: Cluster, name: str) -> Object:
    return cluster.client.get("persistentvolumes", name)


def user(claim_name: str = "c", **spec: Any) -> Object:
    return pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}], **spec)


def test_both_sides_of_a_binding_say_who_made_it() -> None:
    cluster = given(volume("disk", "2Gi"), claim("c", ""))
    bound, holder = pv(cluster, "disk"), get(cluster)
    assert bound["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert holder["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    assert bound["spec"]["claimRef"]["uid"] == holder["metadata"]["uid"]
    assert holder["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}
    assert "lastPhaseTransitionTime" in bound["status"]


@pytest.mark.parametrize(
    ("given_class", "wanted", "expected"),
    [
        (None, "", ("FailedBinding", "no persistent volumes available for this claim and no storage class is set")),
        (None, "gone", ("ProvisioningFailed", 'storageclass.storage.k8s.io "gone" not found')),
        (
            storage_class("local", "kubernetes.io/no-provisioner", "Immediate"),
            "local",
            ("ProvisioningFailed", "no volume plugin matched name: kubernetes.io/no-provisioner"),
        ),
        (
            storage_class("lazy", "example.com/disk", "WaitForFirstConsumer"),
            "lazy",
            ("WaitForFirstConsumer", FIRST_CONSUMER),
        ),
    ],
)
def test_a_claim_that_waits_says_what_for(given_class: Object | None, wanted: str, expected: tuple[str, str]) -> None:
    cluster = given(*([given_class] if given_class else []), claim("c", wanted))
    assert events(cluster, "c") == [expected]
    assert phases(cluster)["c"] == "Pending"
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert events(cluster, "c") == [expected]


def test_a_provisioned_volume_comes_with_its_story() -> None:
    cluster = given(storage_class("disk", "example.com/disk", "Immediate"), claim("c", "disk"))
    holder = get(cluster)
    name = f"pvc-{holder['metadata']['uid']}"
    assert holder["spec"]["volumeName"] == name
    assert holder["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"] == "example.com/disk"
    made = pv(cluster, name)
    assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "example.com/disk"
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    assert [reason for reason, _ in events(cluster, "c")] == [
        "ExternalProvisioning",
        "Provisioning",
        "ProvisioningSucceeded",
    ]
    assert events(cluster, "c")[2][1] == f"Successfully provisioned volume {name}"


def test_the_first_consumer_chooses_the_node_of_its_volume() -> None:
    cluster = given(
        storage_class("disk", "example.com/disk", "WaitForFirstConsumer"),
        claim("c", "disk"),
        user(nodeSelector={"kubernetes.io/hostname": "node02"}),
    )
    holder = get(cluster)
    assert holder["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "node02"
    term = pv(cluster, holder["spec"]["volumeName"])["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]
    assert term["matchExpressions"][0]["values"] == ["node02"]
    assert cluster.client.get("pods", "bee")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("policy", "source", "phase", "message"),
    [
        ("Retain", {"hostPath": {"path": "/mnt"}}, "Released", None),
        ("Recycle", {"hostPath": {"path": "/mnt"}}, "Available", None),
        (
            "Delete",
            {"hostPath": {"path": "/mnt"}},
            "Failed",
            "host_path deleter only supports /tmp/.+ but received provided /mnt",
        ),
        (
            "Delete",
            {"hostPath": None, "nfs": {"server": "s", "path": "/"}},
            "Failed",
            'error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
        ),
    ],
)
def test_the_policy_decides_what_becomes_of_a_volume(
    policy: str, source: Object, phase: str, message: str | None
) -> None:
    disk = changed(volume("disk", "2Gi"), persistentVolumeReclaimPolicy=policy, **source)
    cluster = given(disk, claim("c", ""))
    cluster.client.delete("persistentvolumeclaims", "c", "default")
    cluster.settle()
    assert phases(cluster) == {"disk": phase}
    assert pv(cluster, "disk")["status"].get("message") == message
    if message:
        assert ("VolumeFailedDelete", message) in events(cluster, "disk")


@pytest.mark.parametrize("where", ["/tmp/x", None])
def test_a_volume_that_can_be_deleted_is(where: str | None) -> None:
    if where:
        disk = changed(volume("disk", "2Gi"), persistentVolumeReclaimPolicy="Delete", hostPath={"path": where})
        cluster = given(disk, claim("c", ""))
    else:
        cluster = given(storage_class("disk", "example.com/disk", "Immediate"), claim("c", "disk"))
    cluster.client.delete("persistentvolumeclaims", "c", "default")
    cluster.settle()
    assert phases(cluster) == {}


def test_a_released_volume_is_bound_to_nobody_else() -> None:
    cluster = given(volume("disk", "2Gi"), claim("c", ""))
    cluster.client.delete("persistentvolumeclaims", "c", "default")
    cluster.settle()
    cluster.client.create(claim("other", ""))
    cluster.settle()
    assert phases(cluster) == {"disk": "Released", "other": "Pending"}
    cluster.client.patch("persistentvolumes", "disk", "", {"spec": {"claimRef": None}})
    cluster.settle()
    assert phases(cluster) == {"disk": "Bound", "other": "Bound"}


def test_a_volume_may_be_reserved_for_a_claim() -> None:
    reserved = changed(volume("mine", "9Gi"), claimRef={"namespace": "default", "name": "c"})
    cluster = given(volume("small", "1Gi"), reserved)
    assert phases(cluster) == {"small": "Available", "mine": "Available"}
    cluster.client.create(claim("c", ""))
    cluster.settle()
    assert get(cluster)["spec"]["volumeName"] == "mine"
    assert "annotations" not in pv(cluster, "mine")["metadata"]


def test_a_claim_may_name_its_volume() -> None:
    cluster = given(volume("one", "1Gi"), volume("two", "5Gi"), changed(claim("c", ""), volumeName="two"))
    assert phases(cluster) == {"one": "Available", "two": "Bound", "c": "Bound"}


def test_a_named_volume_that_does_not_suit_is_refused() -> None:
    cluster = given(volume("one", "500Mi"), changed(claim("c", ""), volumeName="one"))
    assert phases(cluster) == {"one": "Available", "c": "Pending"}
    assert events(cluster, "c") == [
        ("VolumeMismatch", 'Cannot bind to requested volume "one": requested PV is too small')
    ]


def test_a_named_volume_that_is_taken_is_waited_for() -> None:
    cluster = given(volume("one", "1Gi"), claim("a", ""), changed(claim("c", ""), volumeName="one"))
    assert phases(cluster)["c"] == "Pending"
    assert ("FailedBinding", 'volume "one" already bound to a different claim.') in events(cluster, "c")


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        ({"accessModes": ["ReadWriteMany"]}, False),
        ({"volumeMode": "Block"}, False),
        ({"selector": {"matchLabels": {"kind": "ssd"}}}, False),
        ({}, True),
    ],
)
def test_a_volume_must_suit_in_every_respect(spec: Object, fits: bool) -> None:
    cluster = given(volume("disk", "2Gi"), changed(claim("c", ""), **spec))
    assert phases(cluster)["c"] == ("Bound" if fits else "Pending")


def test_a_volume_with_fewer_access_modes_is_taken_first() -> None:
    generous = changed(volume("generous", "1Gi"), accessModes=["ReadWriteOnce", "ReadOnlyMany"])
    cluster = given(generous, volume("plain", "5Gi"), claim("c", ""))
    assert get(cluster)["spec"]["volumeName"] == "plain"


def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    cluster = given(volume("disk", "2Gi"), claim("c", ""))
    disk = pv(cluster, "disk")
    cluster.store.delete("persistentvolumes", "disk")
    cluster.settle()
    assert phases(cluster) == {"c": "Lost"}
    message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    assert events(cluster, "c") == [("ClaimLost", message)]
    assert disk["spec"]["claimRef"]["name"] == "c"


def test_a_claim_grows_where_its_class_allows_it() -> None:
    growing = {**storage_class("disk", "example.com/disk", "Immediate"), "allowVolumeExpansion": True}
    cluster = given(growing, claim("c", "disk"))
    cluster.client.patch("pvc", "c", "default", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}})
    cluster.settle()
    holder = get(cluster)
    assert holder["status"]["capacity"] == {"storage": "3Gi"}
    assert pv(cluster, holder["spec"]["volumeName"])["spec"]["capacity"] == {"storage": "3Gi"}
    assert [reason for reason, _ in events(cluster, "c")][-3:] == [
        "ExternalExpanding",
        "Resizing",
        "VolumeResizeSuccessful",
    ]


def test_a_claim_without_a_class_gets_the_default_one_even_later() -> None:
    unclassed = changed(claim("c", ""), storageClassName=None)
    cluster = given(unclassed)
    assert phases(cluster)["c"] == "Pending"
    default = storage_class("disk", "example.com/disk", "Immediate")
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    cluster.client.create(default)
    cluster.settle()
    assert get(cluster)["spec"]["storageClassName"] == "disk"
    assert phases(cluster)["c"] == "Bound"


def test_volumes_at_rest_are_not_written() -> None:
    cluster = fresh()
    for obj in (volume("disk", "2Gi"), claim("c", ""), claim("waiting", "gone")):
        cluster.client.create(obj)
    cluster.settle()
    before = cluster.client.revision
    cluster.advance_to(cluster.now + 20 * MINUTE)
    assert cluster.client.revision == before
