"""What admission adds to claims, volumes, Ingresses and pods with a RuntimeClass, and what it refuses of them."""

from __future__ import annotations

from typing import Any

import pytest

from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster.client import Client
from tests.cluster.apiserver.making import named, pod, server

DEFAULT_CLASS = {"storageclass.kubernetes.io/is-default-class": "true"}


def storage_class(name: str, *, default: bool = False, **fields: Any) -> Object:
    made = named("storage.k8s.io/v1", "StorageClass", name, provisioner="example.com/disk", **fields)
    if default:
        made["metadata"]["annotations"] = dict(DEFAULT_CLASS)
    return made


def claim(name: str = "data", **spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return named("v1", "PersistentVolumeClaim", name, spec={**wanted, **spec})


def refusal(client: Client, obj: Object) -> str:
    with pytest.raises(Forbidden) as caught:
        client.create(obj)
    return caught.value.message


def test_a_claim_without_a_class_gets_the_default_one() -> None:
    client, _ = server()
    assert "storageClassName" not in client.create(claim("early"))["spec"]
    client.create(storage_class("usual", default=True))
    assert client.create(claim())["spec"]["storageClassName"] == "usual"


def test_an_empty_class_is_a_choice() -> None:
    client, _ = server()
    client.create(storage_class("usual", default=True))
    assert client.create(claim(storageClassName=""))["spec"]["storageClassName"] == ""


def test_claims_and_volumes_are_protected() -> None:
    client, _ = server()
    assert client.create(claim())["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    volume = client.create(named("v1", "PersistentVolume", "disk", spec=spec))
    assert volume["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]


def bound(client: Client, **fields: Any) -> None:
    client.create(storage_class("gold", **fields))
    made = client.create(claim(storageClassName="gold"))
    client.update_status({**made, "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}})


def grow(client: Client) -> Object:
    return client.patch("pvc", "data", "default", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})


def test_a_claim_grows_where_its_class_allows_it() -> None:
    client, _ = server()
    bound(client, allowVolumeExpansion=True)
    assert grow(client)["spec"]["resources"]["requests"]["storage"] == "2Gi"


def test_a_claim_of_another_class_does_not_grow() -> None:
    client, _ = server()
    bound(client)
    with pytest.raises(Forbidden) as caught:
        grow(client)
    assert caught.value.message == (
        'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the '
        "storageclass that provisions the pvc must support resize"
    )


def runtime_class(**fields: Any) -> Object:
    return named("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata", **fields)


def test_a_runtime_class_adds_its_overhead_and_placement() -> None:
    client, _ = server()
    toleration = {"key": "kata", "operator": "Exists", "effect": "NoSchedule"}
    client.create(
        runtime_class(
            overhead={"podFixed": {"cpu": "250m"}},
            scheduling={"nodeSelector": {"runtime": "kata"}, "tolerations": [toleration]},
        )
    )
    spec = client.create(pod(runtimeClassName="kata", nodeSelector={"disk": "ssd"}))["spec"]
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["nodeSelector"] == {"disk": "ssd", "runtime": "kata"}
    assert spec["tolerations"].count(toleration) == 1


def test_an_unknown_runtime_class_is_refused() -> None:
    client, _ = server()
    assert refusal(client, pod(runtimeClassName="kata")) == (
        'pods "bee" is forbidden: pod rejected: RuntimeClass "kata" not found'
    )


def test_a_contradicting_node_selector_is_refused() -> None:
    client, _ = server()
    client.create(runtime_class(scheduling={"nodeSelector": {"runtime": "kata"}}))
    assert refusal(client, pod(runtimeClassName="kata", nodeSelector={"runtime": "runc"})) == (
        'pods "bee" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; '
        "pod.spec.nodeSelector[runtime] = runc"
    )


def test_an_overhead_of_ones_own_is_refused() -> None:
    client, _ = server()
    assert refusal(client, pod(overhead={"cpu": "1"})).endswith(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    )


def test_an_ingress_without_a_class_gets_the_default_one() -> None:
    client, _ = server()
    made = named("networking.k8s.io/v1", "IngressClass", "nginx", spec={"controller": "example.com/nginx"})
    made["metadata"]["annotations"] = {"ingressclass.kubernetes.io/is-default-class": "true"}
    client.create(made)
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    ingress = client.create(named("networking.k8s.io/v1", "Ingress", "web", spec={"defaultBackend": backend}))
    assert ingress["spec"]["ingressClassName"] == "nginx"
