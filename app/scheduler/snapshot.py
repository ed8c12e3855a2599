"""The world as one scheduling cycle sees it (pkg/scheduler/backend/cache/snapshot.go).

`Snapshot.of(objects)` takes any objects of the API and keeps those that plugins ask about. It is not changed after
it is built; `assume` answers a new one that shares all nodes but one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo, with_node

HOSTNAME_LABEL = "kubernetes.io/metadata.name"

LISTED = frozenset(
    {
        "Service", "ReplicationController", "ReplicaSet", "StatefulSet", "PersistentVolume", "PersistentVolumeClaim",
        "StorageClass", "CSINode", "PodDisruptionBudget", "Namespace",
    }
)  # fmt: skip
"""Kinds that are kept as they are, besides Node and Pod."""

KINDS = LISTED | {"Node", "Pod"}
"""All kinds that a snapshot keeps anything of."""


@dataclass(frozen=True)
class ImageState:
    """How large an image is, and how many nodes have it."""

    size: int
    nodes: int


@dataclass(frozen=True)
class Snapshot:
    """Nodes with their pods, pods nominated to nodes, and the other objects by kind and key."""

    nodes: Mapping[str, NodeInfo]
    nominated: Mapping[str, tuple[PodInfo, ...]] = field(default_factory=dict)
    listed: Mapping[str, Mapping[str, Object]] = field(default_factory=dict)
    images: Mapping[str, Mapping[str, ImageState]] = field(default_factory=dict)

    @staticmethod
    def of(objects: Iterable[Object]) -> Snapshot:
        """A snapshot of the objects. Ended pods and pods on unknown nodes do not count; node order is kept."""
        found: dict[str, Object] = {}
        pods: dict[str, list[PodInfo]] = {}
        nominated: dict[str, tuple[PodInfo, ...]] = {}
        listed: dict[str, dict[str, Object]] = {kind: {} for kind in LISTED}
        for obj in objects:
            kind = obj.get("kind")
            if kind == "Node":
                found[meta.name_of(obj)] = obj
            elif kind == "Pod":
                pod = PodInfo.of(obj)
                if pod.ended:
                    continue
                if pod.node_name:
                    pods.setdefault(pod.node_name, []).append(pod)
                elif pod.nominated_node:
                    nominated[pod.nominated_node] = (*nominated.get(pod.nominated_node, ()), pod)
            elif kind in LISTED:
                listed[str(kind)][meta.key_of(obj)] = obj
        nodes = {name: NodeInfo.of(node, pods.get(name, ())) for name, node in found.items()}
        return Snapshot(nodes, nominated, listed, image_states(nodes.values()))

    def assume(self, pod: Object, node: str) -> Snapshot:
        """The snapshot after the pod was placed on the node, and without its nomination."""
        info = self.nodes[node].clone()
        placed = PodInfo.of(with_node(pod, node))
        info.add_pod(placed)
        nominated = {
            name: tuple(other for other in pods if other.uid != placed.uid) for name, pods in self.nominated.items()
        }
        return replace(self, nodes={**self.nodes, node: info}, nominated=nominated)

    def list(self, kind: str) -> Mapping[str, Object]:
        """Objects of a kind by `namespace/name` (or name)."""
        return self.listed.get(kind) or {}

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """A namespace's labels; one that is not listed has none but its name."""
        found = self.list("Namespace").get(namespace)
        return {HOSTNAME_LABEL: namespace, **(meta.labels_of(found) if found else {})}


def image_states(nodes: Iterable[NodeInfo]) -> dict[str, dict[str, ImageState]]:
    """Image states by node and name (cache.go: addNodeImageStates); the first node that lists one tells its size."""
    sizes: dict[str, int] = {}
    holders: dict[str, set[str]] = {}
    by_node: dict[str, list[str]] = {}
    for info in nodes:
        for image in (info.node.get("status") or {}).get("images") or ():
            for name in image.get("names") or ():
                sizes.setdefault(name, int(image.get("sizeBytes") or 0))
                holders.setdefault(name, set()).add(info.name)
                by_node.setdefault(info.name, []).append(name)
    return {
        node: {name: ImageState(sizes[name], len(holders[name])) for name in names} for node, names in by_node.items()
    }
