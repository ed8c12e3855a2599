"""The machines of a template: Node objects as their kubelets would report them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.nodes import service
from app.cluster.nodes.images import IMAGES

VERSION = "v1.35.7"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_SYSTEM_IMAGES = {
    "all": (
        "registry.k8s.io/kube-proxy:" + VERSION,
        "registry.k8s.io/pause:3.10",
        "registry.k8s.io/coredns/coredns:v1.13.1",
    ),
    "controlplane": (
        "registry.k8s.io/etcd:3.6.6-0",
        "registry.k8s.io/kube-apiserver:" + VERSION,
        "registry.k8s.io/kube-controller-manager:" + VERSION,
        "registry.k8s.io/kube-scheduler:" + VERSION,
    ),
}


def nodes(names: Sequence[str], now: Instant) -> list[Object]:
    """The template's nodes; the first is the control plane."""
    return [_node(name, number, now) for number, name in enumerate(names)]


def labels(name: str) -> dict[str, str]:
    """The labels that a kubelet puts on its node."""
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }


def _node(name: str, number: int, now: Instant) -> Object:
    is_control_plane = number == 0
    own = labels(name)
    spec: dict[str, Any] = {"podCIDR": f"10.244.{number}.0/24", "podCIDRs": [f"10.244.{number}.0/24"]}
    if is_control_plane:
        own |= {CONTROL_PLANE: "", "node.kubernetes.io/exclude-from-external-load-balancers": ""}
        spec["taints"] = [{"key": CONTROL_PLANE, "effect": "NoSchedule"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": own,
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
        },
        "spec": spec,
        "status": status(name, number + 1, now, control_plane=is_control_plane),
    }


def status(name: str, number: int, now: Instant, *, control_plane: bool = False) -> dict[str, Any]:
    """What a healthy kubelet reports of the machine with this number (from 1)."""
    stamp = clocks.rfc3339(now)
    amounts = {"cpu": "2", "ephemeral-storage": "40Gi", "hugepages-2Mi": "0", "memory": "4Gi", "pods": "110"}
    conditions = [
        {
            "type": kind,
            "status": state,
            "lastHeartbeatTime": stamp,
            "lastTransitionTime": stamp,
            "reason": reason,
            "message": message,
        }
        for kind, state, reason, message in service.HEALTHY
    ]
    here = [*_SYSTEM_IMAGES["all"], *(_SYSTEM_IMAGES["controlplane"] if control_plane else ())]
    listed = [{"names": [image], "sizeBytes": IMAGES[image.rpartition(":")[0]].size} for image in here]
    listed.sort(key=lambda image: (-int(str(image["sizeBytes"])), str(image["names"])))
    return {
        "addresses": [
            {"type": "InternalIP", "address": f"172.30.1.{number + 1}"},
            {"type": "Hostname", "address": name},
        ],
        "allocatable": dict(amounts),
        "capacity": amounts,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "images": listed,
        "nodeInfo": _node_info(name),
    }


def _node_info(name: str) -> dict[str, Any]:
    identity = hashlib.sha256(name.encode()).hexdigest()
    uuid = f"{identity[:8]}-{identity[8:12]}-4{identity[13:16]}-8{identity[17:20]}-{identity[20:32]}"
    return {
        "architecture": "amd64",
        "bootID": uuid,
        "containerRuntimeVersion": "containerd://2.1.5",
        "kernelVersion": "6.8.0-94-generic",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": identity[:32],
        "operatingSystem": "linux",
        "osImage": "Ubuntu 24.04.3 LTS",
        "systemUUID": uuid,
    }


def address_of(node: Object) -> str:
    """The node's internal address."""
    return str(node["status"]["addresses"][0]["address"])
