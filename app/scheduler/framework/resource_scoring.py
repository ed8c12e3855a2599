"""What the two resource scorers share (pkg/scheduler/framework/plugins/noderesources/resource_allocation.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.scheduler.framework.amounts import CPU, MEMORY, Amounts
from app.scheduler.framework.interface import ArgsError
from app.scheduler.framework.node_info import NodeInfo

_NATIVE = frozenset({CPU, MEMORY, "ephemeral-storage", "pods", "storage"})


def is_extended(name: str) -> bool:
    """Whether the resource is a device of some vendor (v1helper.IsExtendedResourceName)."""
    if "/" not in name or "kubernetes.io/" in name:
        return False
    return not name.startswith("requests.")


def is_scalar(name: str) -> bool:
    """Whether the scheduler counts the resource among the scalars: extended, huge pages, prefixed native ones."""
    return (
        is_extended(name)
        or name.startswith(("hugepages-", "attachable-volumes-"))
        or ("kubernetes.io/" in name and name not in _NATIVE)
    )


@dataclass(frozen=True)
class Usage:
    """One resource on one node as if the pod were there: in milli for CPU, in units else."""

    name: str
    weight: int
    requested: int
    allocatable: int


def usages(node: NodeInfo, pod: Amounts, resources: Sequence[tuple[str, int]], *, true_requests: bool) -> list[Usage]:
    """Usage of each resource the node has and, for extended ones, the pod asks for.

    `true_requests` counts what pods request; else CPU and memory count with assumed requests filled in.
    """
    found = []
    for name, weight in resources:
        wanted = pod.get(name, 0)
        if wanted == 0 and is_scalar(name):
            continue
        allocatable = node.allocatable.get(name, 0)
        if allocatable == 0:
            continue
        used = node.requested.get(name, 0)
        if not true_requests and name in {CPU, MEMORY}:
            used = node.non_zero[0 if name == CPU else 1]
        found.append(Usage(name, weight, used + wanted, allocatable))
    return found


def read_resources(listed: Sequence[Mapping[str, Any]] | None, path: str) -> tuple[tuple[str, int], ...]:
    """(name, weight) pairs; CPU and memory alike where nothing is given. Raises ArgsError as the validation does."""
    if not listed:
        return ((CPU, 1), (MEMORY, 1))
    found = []
    for index, item in enumerate(listed):
        weight = int(item.get("weight") or 1)
        if not 1 <= weight <= 100:
            field = f"{path}[{index}].weight"
            raise ArgsError(
                f"{field}: Invalid value: {weight}: resource weight of {item.get('name')} not in valid range [1, 100]"
            )
        found.append((str(item.get("name") or ""), weight))
    return tuple(found)
