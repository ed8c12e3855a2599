"""Claims and volumes: what is bound, what is provisioned, what keeps a pod away."""

import pytest

from app.scheduler.framework import volumes
from tests.scheduler.builders import attempt, node, pod

GIB = "1Gi"


def _class(name="local", provisioner=volumes.NO_PROVISIONER, **more):
    waits = {"volumeBindingMode": "WaitForFirstConsumer"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        **waits,
        **more,
    }


def _volume(name, size="5Gi", on=None, labels=None, **spec):
    found = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local", **spec}
    if on:
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}
        found["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    metadata = {"name": name, "labels": labels or {}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata,
        "spec": found,
        "status": {"phase": "Available"},
    }


def _claim(name="c", size=GIB, bound=None, modes=("ReadWriteOnce",), **spec):
    requests = {"resources": {"requests": {"storage": size}}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    found = {"accessModes": list(modes), "storageClassName": "local", **requests, **spec}
    if bound:
        found["volumeName"] = bound
        metadata["annotations"] = {volumes.BIND_COMPLETED: "yes"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": found}


def _user(name="p", claim="c", **spec):
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}], **spec)


def test_a_waiting_claim_gets_the_smallest_volume_that_the_node_can_reach():
    objects = [node("a"), node("b"), _class(), _claim(), _volume("big", "9Gi", on="b"), _volume("small", "2Gi", on="b")]
    objects.append(_volume("tiny", "500Mi", on="a"))
    result = attempt(objects, _user())
    assert result.node == "b"
    assert result.effects[0] == {"effect": "bindVolume", "volume": "small", "claim": "default/c"}
    assert result.record.diagnosis.nodes["a"].reasons == ("node(s) didn't find available persistent volumes to bind",)


def test_two_claims_do_not_get_the_same_volume():
    objects = [node("a"), _class(), _claim("c"), _claim("d", "2Gi"), _volume("one"), _volume("two")]
    wanted = pod("p", volumes=[{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in ("d", "c")])
    effects = attempt(objects, wanted).effects
    assert [(e["claim"], e["volume"]) for e in effects[:2]] == [("default/c", "one"), ("default/d", "two")]


def test_a_class_that_provisions_makes_a_volume_where_its_topology_allows():
    topology = [{"matchLabelExpressions": [{"key": "zone", "values": ["z"]}]}]
    objects = [
        node("a"),
        node("b", labels={"zone": "z"}),
        _class(provisioner="csi", allowedTopologies=topology),
        _claim(),
    ]
    result = attempt(objects, _user())
    assert result.effects[0] == {"effect": "provision", "claim": "default/c", "node": "b"}


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], 'persistentvolumeclaim "c" not found. not found'),
        ([_claim(storageClassName="now"), _class("now", volumeBindingMode="Immediate")], "pod has unbound immediate PersistentVolumeClaims. not found"),
        ([{**_claim(), "status": {"phase": "Lost"}}, _class()], 'persistentvolumeclaim "c" bound to non-existent persistentvolume "". not found'),
        ([_claim(bound="gone"), _class()], 'persistentvolume "gone" not found. not found'),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_used_ends_the_cycle(objects, message):
    assert attempt([node("a"), *objects], _user()).message == f"0/1 nodes are available: {message}"


def test_a_bound_volume_ties_the_pod_to_its_node():
    objects = [node("a"), node("b"), _class(), _claim(bound="v"), _volume("v", on="a")]
    result = attempt(objects, _user())
    assert result.node == "a"
    assert result.record.diagnosis.nodes["b"].reasons == ("node(s) didn't match PersistentVolume's node affinity",)


def test_a_volume_of_another_zone_keeps_the_pod_away():
    zone = "topology.kubernetes.io/zone"
    objects = [node("a", labels={zone: "x"}), node("b", labels={zone: "y"}), _class(), _claim(bound="v")]
    objects.append(_volume("v", labels={zone: "y__z"}))
    result = attempt(objects, _user())
    assert result.node == "b"
    assert result.record.diagnosis.nodes["a"].reasons == ("node(s) had no available volume zone",)


def test_a_claim_for_one_pod_alone_keeps_the_second_away():
    objects = [node("a"), _class(), _claim(bound="v", modes=["ReadWriteOncePod"]), _volume("v"), _user("first", on="a")]
    result = attempt(objects, _user("second"))
    assert "ReadWriteOncePod access mode already in-use by another pod" in result.message
    assert attempt(objects, _user("vip", priority=5)).nominated_node == "a"


def test_a_driver_attaches_only_so_many_volumes():
    limit = {"name": "csi", "allocatable": {"count": 1}}
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "a"},
        "spec": {"drivers": [limit]},
    }
    sources = [_volume(name, csi={"driver": "csi", "volumeHandle": name}) for name in ("v", "w")]
    objects = [node("a"), csi_node, _class(), _claim("c", bound="v"), _claim("d", bound="w"), *sources]
    objects.append(_user("first", on="a"))
    assert attempt(objects, _user("same")).node == "a"
    assert "node(s) exceed max volume count" in attempt(objects, _user("other", "d")).message


@pytest.mark.parametrize(
    ("mine", "its", "clash"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, True),
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, False),
        ({"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}}, {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}}, True),
        ({"iscsi": {"iqn": "d"}}, {"iscsi": {"iqn": "e"}}, False),
        ({"rbd": {"monitors": ["m"], "image": "i"}}, {"rbd": {"monitors": ["m", "n"], "image": "i"}}, True),
        ({"rbd": {"monitors": ["m"], "image": "i"}}, {"rbd": {"monitors": ["n"], "image": "i"}}, False),
    ],
)  # fmt: skip
def test_a_disk_is_mounted_once_unless_read_only(mine, its, clash):
    objects = [node("a"), pod("old", volumes=[{"name": "v", **its}], on="a")]
    result = attempt(objects, pod("p", volumes=[{"name": "v", **mine}]))
    assert ("node(s) had no available disk" in result.message) is clash


def test_an_ephemeral_claim_is_waited_for():
    wanted = pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])
    said = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'
    assert said in attempt([node("a")], wanted).message


def test_a_volume_kept_for_a_claim_is_used_or_nothing_is():
    kept = _volume("kept", "9Gi", claimRef={"namespace": "default", "name": "c"})
    other = _volume("other", "2Gi")
    assert volumes.find_matching(_claim(), [other, kept], None) is kept
    assert volumes.find_matching(_claim(size="20Gi"), [other, kept], None) is None
    assert volumes.find_matching(_claim("d"), [other, kept], None) is other
    labelled = _claim("d", selector={"matchLabels": {"tier": "fast"}})
    assert volumes.find_matching(labelled, [other], None) is None
