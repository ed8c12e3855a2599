"""A node with its pods and their sums (pkg/scheduler/framework/types.go: NodeInfo)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import amounts
from app.scheduler.framework.amounts import Amounts
from app.scheduler.framework.host_ports import HostPortInfo
from app.scheduler.framework.pod_info import PodInfo

_KEPT = 512
"""How many nodes are remembered in parsed form."""


class NodeInfo:
    """Aggregates of one node. Snapshots share it; whoever wants to change it clones it first."""

    __slots__ = (
        "allocatable", "allowed_pods", "claims", "labels", "name", "node", "non_zero", "pods", "pods_with_affinity",
        "pods_with_required_anti_affinity", "requested", "taints", "used_ports",
    )  # fmt: skip

    def __init__(self, node: Object) -> None:
        self.node = node
        self.name = meta.name_of(node)
        self.labels = meta.labels_of(node)
        self.taints: list[dict[str, str]] = (node.get("spec") or {}).get("taints") or []
        self.allocatable: Amounts = amounts.allocatable(node)
        self.allowed_pods = self.allocatable.get(amounts.PODS, 0)
        self.pods: list[PodInfo] = []
        self.requested: Amounts = {}
        self.non_zero = (0, 0)
        self.used_ports = HostPortInfo()
        self.pods_with_affinity: list[PodInfo] = []
        self.pods_with_required_anti_affinity: list[PodInfo] = []
        self.claims: dict[str, int] = {}

    @staticmethod
    def of(node: Object, pods: Sequence[PodInfo]) -> NodeInfo:
        """The node with these pods; the same one as before where node and pods are the same. Not to be changed."""
        kept = _known.get(id(node))
        if kept is not None and kept.node is node and _same(kept.pods, pods):
            return kept
        found = NodeInfo.with_pods(node, pods)
        if len(_known) >= _KEPT:
            _known.clear()
        _known[id(node)] = found
        return found

    @staticmethod
    def with_pods(node: Object, pods: Iterable[PodInfo]) -> NodeInfo:
        """The node with these pods, worked out anew."""
        found = NodeInfo(node)
        for pod in pods:
            found.add_pod(pod)
        return found

    @property
    def unschedulable(self) -> bool:
        """Whether the node is cordoned."""
        return bool((self.node.get("spec") or {}).get("unschedulable"))

    def add_pod(self, pod: PodInfo) -> None:
        """Count a pod in."""
        self.pods.append(pod)
        if pod.has_affinity:
            self.pods_with_affinity.append(pod)
        if pod.required_anti_affinity:
            self.pods_with_required_anti_affinity.append(pod)
        self._count(pod, 1)
        self.used_ports.add(pod.host_ports)

    def remove_pod(self, pod: PodInfo) -> None:
        """Count a pod out; ValueError when it is not here."""
        others = [other for other in self.pods if other.uid != pod.uid]
        if len(others) == len(self.pods):
            raise ValueError(f"no corresponding pod {pod.key} in pods of node {self.name}")
        self.pods = others
        self.pods_with_affinity = [other for other in self.pods_with_affinity if other.uid != pod.uid]
        self.pods_with_required_anti_affinity = [
            other for other in self.pods_with_required_anti_affinity if other.uid != pod.uid
        ]
        self._count(pod, -1)
        self.used_ports.remove(pod.host_ports)

    def clone(self) -> NodeInfo:
        """A copy that may be changed."""
        copy = object.__new__(NodeInfo)
        copy.node, copy.name, copy.labels, copy.taints = self.node, self.name, self.labels, self.taints
        copy.allocatable, copy.allowed_pods = self.allocatable, self.allowed_pods
        copy.pods = list(self.pods)
        copy.requested = dict(self.requested)
        copy.non_zero = self.non_zero
        copy.used_ports = self.used_ports.copy()
        copy.pods_with_affinity = list(self.pods_with_affinity)
        copy.pods_with_required_anti_affinity = list(self.pods_with_required_anti_affinity)
        copy.claims = dict(self.claims)
        return copy

    def _count(self, pod: PodInfo, sign: int) -> None:
        amounts.add(self.requested, pod.requests, sign)
        cpu, memory = pod.non_zero
        self.non_zero = (self.non_zero[0] + sign * cpu, self.non_zero[1] + sign * memory)
        for claim in pod.claims:
            key = f"{pod.namespace}/{claim}"
            self.claims[key] = self.claims.get(key, 0) + sign


def _same(left: Sequence[PodInfo], right: Sequence[PodInfo]) -> bool:
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


_known: dict[int, NodeInfo] = {}
