"""How pods count (pkg/quota/v1/evaluator/core/pods.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apis import helpers
from app.apis.scheme import KindInfo
from app.cluster.attributes import Attributes
from app.cluster.quota import amounts
from app.cluster.quota.amounts import ONE, Amounts
from app.cluster.quota.evaluator import LIMITS, REQUESTS, Evaluator, named_in

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_HUGEPAGES = "hugepages-"
_REQUIRED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""What each container must state once a quota limits it; no later resource joins them (validationSet)."""
_KNOWN = frozenset({*_COMPUTE, *(f"{part}{name}" for part in (REQUESTS, LIMITS) for name in _COMPUTE), "pods"})


class PodEvaluator(Evaluator):
    """Pods: what they request and are limited to, until they have ended."""

    def __init__(self, info: KindInfo) -> None:
        super().__init__(info)

    def handles(self, attributes: Attributes) -> bool:
        """A create or a resize."""
        if attributes.subresource == "resize":
            return attributes.operation == "UPDATE"
        return super().handles(attributes)

    def matching(self, names: Iterable[str]) -> list[str]:
        """Compute resources, huge pages, extended resources by their requests, and the two counts."""
        return [name for name in names if name in self.names or name in _KNOWN or _is_prefixed(name)]

    def in_scope(self, selector: Mapping[str, Any], obj: Object) -> bool:
        """The scopes of pods (podMatchesScopeFunc)."""
        spec = obj.get("spec") or {}
        match selector.get("scopeName"):
            case "Terminating":
                return spec.get("activeDeadlineSeconds") is not None
            case "NotTerminating":
                return spec.get("activeDeadlineSeconds") is None
            case "BestEffort":
                return _is_best_effort(spec)
            case "NotBestEffort":
                return not _is_best_effort(spec)
            case "PriorityClass":
                return _in_priority_class(selector, spec.get("priorityClassName") or "")
            case "CrossNamespacePodAffinity":
                return any(_crosses_namespaces(term) for term in _affinity_terms(spec))
        return False

    def missing(self, required: Sequence[str], obj: Object) -> str:
        """`must specify limits.cpu for: c; …`: containers that state nothing of a limited resource (Constraints)."""
        spec = obj.get("spec") or {}
        whole = compute(*_resources(spec))
        wanted = sorted(_REQUIRED.intersection(required) - whole.keys())
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        lacking: dict[str, set[str]] = {}
        for container in containers:
            stated = compute(*_resources(container))
            for name in wanted:
                if name not in stated:
                    lacking.setdefault(name, set()).add(str(container.get("name")))
        if not lacking:
            return ""
        parts = (f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))
        return f"must specify {'; '.join(parts)}"

    def usage(self, obj: Object) -> Amounts:
        """One object, and while it has not ended one pod with its requests and limits (PodUsageFunc)."""
        counted = super().usage(obj)
        if helpers.is_terminal(obj):
            return counted
        return {**counted, "pods": ONE, **compute(helpers.pod_requests(obj), helpers.pod_limits(obj))}


def compute(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits under the names that quotas give them (podComputeUsageHelper)."""
    found: Amounts = {}
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith(_HUGEPAGES):
            found[name] = found[f"{REQUESTS}{name}"] = amount
        elif _is_extended(name):
            found[f"{REQUESTS}{name}"] = amount
    for name in _COMPUTE:
        if name in limits:
            found[f"{LIMITS}{name}"] = limits[name]
    return found


def _resources(holder: Mapping[str, Any]) -> tuple[Amounts, Amounts]:
    resources = holder.get("resources") or {}
    return amounts.parsed(resources.get("requests")), amounts.parsed(resources.get("limits"))


def _is_prefixed(name: str) -> bool:
    if name.startswith((_HUGEPAGES, f"{REQUESTS}{_HUGEPAGES}")):
        return True
    return name.startswith(REQUESTS) and not is_native(name)


def is_native(name: str) -> bool:
    """Whether the resource is Kubernetes' own (helper.IsNativeResource)."""
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    if is_native(name) or name.startswith(REQUESTS):
        return False
    return not validation.qualified_name(f"{REQUESTS}{name}")


def _is_best_effort(spec: Mapping[str, Any]) -> bool:
    """Whether nothing asks for CPU or memory (helper/qos: ComputePodQOS)."""
    holders = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    for holder in holders:
        for stated in _resources(holder):
            if any(stated.get(name) for name in ("cpu", "memory")):
                return False
    return True


def _in_priority_class(selector: Mapping[str, Any], name: str) -> bool:
    if selector.get("operator") == "Exists":
        return bool(name)
    return named_in(selector, [name]) if name else selector.get("operator") in {"NotIn", "DoesNotExist"}


def _affinity_terms(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    affinity = spec.get("affinity") or {}
    for part in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(part) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}


def _crosses_namespaces(term: Mapping[str, Any]) -> bool:
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None
