"""The kubelet's own check of pods that are bound to its node: what bites after manual binding.

Mirrors pkg/kubelet/lifecycle/predicate.go: Admit, generalFilter and the scheduler's AdmissionCheck
(pkg/scheduler/framework/plugins… : GeneralPredicates), which reports the first reason only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta, quantity
from app.apimachinery.meta import Object
from app.apis import helpers

_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_NAME = "node(s) didn't match the requested node name"
_PORTS = "node(s) didn't have free ports for the requested pod ports"
_WILDCARD = {"", "0.0.0.0", "::"}  # noqa: S104 (compared with, never bound to)


@dataclass(frozen=True)
class Rejection:
    """Why the kubelet refuses a pod: `status.reason` and `status.message`."""

    reason: str
    message: str


def admit(pod: Object, node: Object, others: Iterable[Object]) -> Rejection | None:
    """The refusal, or None. `others` are the pods that the kubelet already runs on the node."""
    others = [other for other in others if not helpers.is_terminal(other)]
    if rejection := _resources(pod, node, others):
        return rejection
    if not helpers.node_affinity_matches(pod, node):
        return _predicate("NodeAffinity", _AFFINITY)
    if pod["spec"].get("nodeName") not in {None, "", meta.name_of(node)}:
        return _predicate("NodeName", _NAME)
    taken = [port for other in others for port in host_ports(other)]
    if any(_clash(port, held) for port in host_ports(pod) for held in taken):
        return _predicate("NodePorts", _PORTS)
    return _taints(pod, node)


def _predicate(name: str, description: str) -> Rejection:
    return Rejection(name, f"Pod was rejected: Predicate {name} failed: {description}")


def _resources(pod: Object, node: Object, others: list[Object]) -> Rejection | None:
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    limit = value("pods", allocatable.get("pods"))
    if len(others) + 1 > limit:
        return _insufficient("pods", 1, len(others), limit)
    for name, amount in sorted(helpers.pod_requests(pod).items(), key=lambda item: _order(item[0])):
        wanted = value(name, str(amount))
        if wanted == 0 or ("/" in name and name not in allocatable):
            continue
        used = sum(value(name, str(helpers.pod_requests(other).get(name, "0"))) for other in others)
        capacity = value(name, allocatable.get(name))
        if wanted > capacity - used:
            return _insufficient(name, wanted, used, capacity)
    return None


def _order(name: str) -> tuple[int, str]:
    known = ("cpu", "memory", "ephemeral-storage")
    return (known.index(name), "") if name in known else (len(known), name)


def value(name: str, amount: object) -> int:
    """An amount as the kubelet counts it: CPU in milli, the rest in units."""
    found = quantity.parse(str(amount or "0"))
    return found.milli_value() if name == "cpu" else found.value()


def _insufficient(name: str, wanted: int, used: int, capacity: int) -> Rejection:
    numbers = f"requested: {wanted}, used: {used}, capacity: {capacity}"
    return Rejection(f"OutOf{name}", f"Pod was rejected: Node didn't have enough resource: {name}, {numbers}")


def _taints(pod: Object, node: Object) -> Rejection | None:
    if "kubernetes.io/config.source" in meta.annotations_of(pod):
        return None
    taints = (node.get("spec") or {}).get("taints") or []
    tolerations = pod["spec"].get("tolerations") or []
    untolerated = helpers.find_untolerated_taint(taints, tolerations, ("NoExecute",))
    if untolerated is None:
        return None
    return _predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")


def host_ports(pod: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(address, protocol, port) of every host port."""
    for container in (pod.get("spec") or {}).get("containers") or []:
        for port in container.get("ports") or []:
            if port.get("hostPort"):
                yield str(port.get("hostIP") or ""), str(port.get("protocol") or "TCP"), int(port["hostPort"])


def _clash(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    if one[1:] != other[1:]:
        return False
    return one[0] == other[0] or one[0] in _WILDCARD or other[0] in _WILDCARD
