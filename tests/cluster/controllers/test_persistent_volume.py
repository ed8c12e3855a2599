import pytest

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import fresh, phase, pod


def storage_class(name: str, provisioner: str, mode: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def claim(name: str, of_class: str, size: str = "1Gi") -> Object:
    spec = {
        "storageClassName": of_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def volume(name: str, size: str, of_class: str = "", node: str = "") -> Object:
    spec: Object = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": of_class,
        "hostPath": {"path": "/mnt"},
    }
    if node:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def phases(cluster: Cluster) -> dict[str, str]:
    return {
        obj["metadata"]["name"]: obj["status"]["phase"]
        for resource in ("persistentvolumes", "persistentvolumeclaims")
        for obj in cluster.client.list(resource)
    }


def given(*objects: Object) -> Cluster:
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    cluster.settle()
    return cluster


def test_a_claim_gets_the_smallest_volume_that_is_large_enough() -> None:
    cluster = given(volume("small", "500Mi"), volume("large", "5Gi"), volume("right", "2Gi"), claim("c", ""))
    assert cluster.client.get("persistentvolumeclaims", "c")["spec"]["volumeName"] == "right"
    assert phases(cluster) == {"small": "Available", "large": "Available", "right": "Bound", "c": "Bound"}


@pytest.mark.parametrize(
    ("provisioner", "mode", "expected"),
    [
        ("example.com/disk", "Immediate", "Bound"),
        ("kubernetes.io/no-provisioner", "Immediate", "Pending"),
        ("example.com/disk", "WaitForFirstConsumer", "Pending"),
    ],
)
def test_a_class_provisions_at_once_or_waits(provisioner: str, mode: str, expected: str) -> None:
    cluster = given(storage_class("disk", provisioner, mode), claim("c", "disk"))
    assert phases(cluster)["c"] == expected


def test_a_volume_pins_the_pod_that_is_its_first_consumer() -> None:
    cluster = given(
        storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        volume("disk", "2Gi", "local", node="node02"),
        claim("c", "local"),
        pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
    )
    assert phase(cluster) == "Running"
    assert cluster.client.get("pods", "bee")["spec"]["nodeName"] == "node02"
    assert phases(cluster) == {"disk": "Bound", "c": "Bound"}


def test_a_volume_whose_claim_is_gone_is_released() -> None:
    cluster = given(volume("disk", "2Gi"), claim("c", ""))
    cluster.client.delete("persistentvolumeclaims", "c", "default")
    cluster.settle()
    assert phases(cluster) == {"disk": "Released"}
