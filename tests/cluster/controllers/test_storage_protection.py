"""Claims and volumes that are deleted stay for as long as they are used."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import fresh, phase, pod


def claim() -> Object:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "",
        "volumeName": "disk",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}


def volume() -> Object:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/data"},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": spec}


def in_use() -> Cluster:
    cluster = fresh()
    cluster.client.create(volume())
    cluster.client.create(claim())
    cluster.client.create(pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]))
    cluster.settle()
    assert phase(cluster) == "Running"
    return cluster


def test_a_claim_in_use_stays_until_its_pod_is_gone() -> None:
    cluster = in_use()
    cluster.client.delete("pvc", "data")
    cluster.settle()
    assert "deletionTimestamp" in cluster.client.get("pvc", "data")["metadata"]
    cluster.client.delete("pods", "bee")
    cluster.settle()
    assert cluster.client.find("pvc", "data") is None


def test_a_claim_that_nobody_uses_goes_at_once() -> None:
    cluster = fresh()
    cluster.client.create(claim())
    cluster.client.delete("pvc", "data")
    cluster.settle()
    assert cluster.client.find("pvc", "data") is None


def test_a_bound_volume_stays_until_its_claim_is_gone() -> None:
    cluster = in_use()
    cluster.client.delete("pv", "disk")
    cluster.settle()
    assert "deletionTimestamp" in cluster.client.get("pv", "disk")["metadata"]
    cluster.client.delete("pods", "bee")
    cluster.client.delete("pvc", "data")
    cluster.settle()
    assert cluster.client.find("pv", "disk") is None


def test_a_namespace_with_a_claim_in_use_can_be_deleted() -> None:
    cluster = fresh()
    cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"}})
    cluster.settle()
    cluster.client.create(volume())
    cluster.client.create(claim(), "blue")
    cluster.client.create(pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]), "blue")
    cluster.settle()
    cluster.client.delete("ns", "blue")
    cluster.settle()
    assert cluster.client.find("ns", "blue") is None
