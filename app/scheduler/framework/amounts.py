"""Resource amounts as ints: CPU in milli, all else in units (pkg/scheduler/framework/types.go: Resource)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.quantity import Quantity
from app.apis import helpers
from app.apis.helpers import Requests

Amounts = dict[str, int]

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
NON_ZERO: Mapping[str, Quantity] = {CPU: quantity.parse("100m"), MEMORY: quantity.parse("200Mi")}
"""What scoring assumes of a container that requests nothing (pkg/scheduler/util/pod_resources.go)."""


def amounts(requests: Requests) -> Amounts:
    """Quantities as ints, rounded up."""
    return {name: amount.milli_value() if name == CPU else amount.value() for name, amount in requests.items()}


def allocatable(node: Mapping[str, Any]) -> Amounts:
    """What the node can give, `pods` included."""
    listed = (node.get("status") or {}).get("allocatable") or {}
    return amounts({name: quantity.of(amount) for name, amount in listed.items()})


def pod_amounts(pod: Mapping[str, Any]) -> Amounts:
    """What the pod asks for."""
    return amounts(helpers.pod_requests(pod))


def non_zero_amounts(pod: Mapping[str, Any]) -> tuple[int, int]:
    """CPU and memory with the assumed requests filled in (types.go: CalculateResource)."""
    missing: Mapping[str, Quantity] = NON_ZERO
    if helpers.has_pod_level_requests(pod):
        requests = helpers.pod_requests(pod)
        missing = {name: amount for name, amount in NON_ZERO.items() if name not in requests}
    found = amounts(helpers.pod_requests(pod, missing=missing))
    return found.get(CPU, 0), found.get(MEMORY, 0)


def scoring_amounts(pod: Mapping[str, Any], *, true_requests: bool) -> Amounts:
    """What scoring counts for the incoming pod (resource_allocation.go: calculatePodResourceRequest).

    The two scorers differ upstream: BalancedAllocation takes true requests with pod-level ones; NodeResourcesFit
    fills in assumed requests and knows nothing of pod-level ones.
    """
    if true_requests:
        return pod_amounts(pod)
    return amounts(helpers.pod_requests(pod, pod_level=False, missing=NON_ZERO))


def add(total: Amounts, more: Mapping[str, int], sign: int = 1) -> None:
    """Add in place; `sign=-1` takes away."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + sign * amount
