"""Which evaluator counts which kind, and what a namespace uses (pkg/quota/v1/install/registry.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster.attributes import Attributes
from app.cluster.quota import amounts
from app.cluster.quota.amounts import ONE, ZERO, Amounts
from app.cluster.quota.evaluator import Evaluator, in_scopes, named_in
from app.cluster.quota.pods import PodEvaluator

Lister = Callable[[str, str], list[Object]]
"""The objects of a resource in a namespace."""

_OF_CLASS = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_STORAGE = "requests.storage"
_CLAIMS = "persistentvolumeclaims"
_ALIASES = ("configmaps", "secrets", "resourcequotas", "replicationcontrollers")
_IGNORED = frozenset({"events", "events.events.k8s.io", "bindings"})


class ServiceEvaluator(Evaluator):
    """Services, their load balancers and node ports (evaluator/core/services.go)."""

    def __init__(self, info: KindInfo) -> None:
        super().__init__(info, "services")
        self.names = (*self.names, "services.loadbalancers", "services.nodeports")

    def handles(self, attributes: Attributes) -> bool:
        """Updates count: a service may change its type."""
        return attributes.operation in {"CREATE", "UPDATE"}

    def usage(self, obj: Object) -> Amounts:
        """A node port for each port where the type has them."""
        spec = obj.get("spec") or {}
        ports = spec.get("ports") or []
        used = {**super().usage(obj), "services.loadbalancers": ZERO, "services.nodeports": ZERO}
        if spec.get("type") == "LoadBalancer":
            used["services.loadbalancers"] = ONE
            if spec.get("allocateLoadBalancerNodePorts") is False:
                ports = [port for port in ports if port.get("nodePort")]
        if spec.get("type") in {"NodePort", "LoadBalancer"}:
            used["services.nodeports"] = amounts.parsed({"n": len(ports)})["n"]
        return used


class ClaimEvaluator(Evaluator):
    """PersistentVolumeClaims and their storage, also by class (evaluator/core/persistent_volume_claims.go)."""

    def __init__(self, info: KindInfo) -> None:
        super().__init__(info, _CLAIMS)

    def handles(self, attributes: Attributes) -> bool:
        """Updates count: a claim may grow."""
        return attributes.operation in {"CREATE", "UPDATE"}

    def matching(self, names: Iterable[str]) -> list[str]:
        """Its own names, and those of any storage class."""
        suffixes = (f"{_OF_CLASS}{_STORAGE}", f"{_OF_CLASS}{_CLAIMS}")
        return [name for name in names if name in self.names or name == _STORAGE or name.endswith(suffixes)]

    def in_scope(self, selector: Mapping[str, Any], obj: Object) -> bool:
        """By its VolumeAttributesClass: the wanted, the present and the one under way."""
        if selector.get("scopeName") != "VolumeAttributesClass":
            return False
        status = obj.get("status") or {}
        found = {
            (obj.get("spec") or {}).get("volumeAttributesClassName"),
            status.get("currentVolumeAttributesClassName"),
            (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
        }
        named = sorted(name for name in found if name)
        if not named:
            return selector.get("operator") in {"NotIn", "DoesNotExist"}
        return selector.get("operator") == "Exists" or named_in(selector, named)

    def usage(self, obj: Object) -> Amounts:
        """One claim and the larger of what it requests and what it was given."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        used = super().usage(obj)
        wanted = amounts.parsed((spec.get("resources") or {}).get("requests")).get("storage")
        given = amounts.parsed(status.get("allocatedResources")).get("storage")
        storage = max(filter(None, (wanted, given)), default=None)
        name = meta.annotations_of(obj).get(_CLASS_ANNOTATION) or spec.get("storageClassName") or ""
        if name:
            used[f"{name}{_OF_CLASS}{_CLAIMS}"] = ONE
        if storage is not None:
            used[_STORAGE] = storage
            if name:
                used[f"{name}{_OF_CLASS}{_STORAGE}"] = storage
        return used


def _evaluator(info: KindInfo) -> Evaluator:
    match info.group_resource:
        case "pods":
            return PodEvaluator(info)
        case "services":
            return ServiceEvaluator(info)
        case "persistentvolumeclaims":
            return ClaimEvaluator(info)
        case name:
            return Evaluator(info, name if name in _ALIASES else "")


EVALUATORS: dict[str, Evaluator] = {
    info.group_resource: _evaluator(info)
    for info in scheme.KINDS
    if info.namespaced and not info.stored_as and info.group_resource not in _IGNORED
}
"""By group resource; events are not counted (plugin/pkg/admission/resourcequota: DefaultIgnoredResources)."""


def used_in_namespace(quota: Object, objects: Lister) -> Amounts:
    """What the namespace uses of the quota's resources (quota/v1/resources.go: CalculateUsage).

    A resource that nothing here counts is left out.
    """
    hard = list((quota.get("spec") or {}).get("hard") or {})
    used: Amounts = {}
    for evaluator in EVALUATORS.values():
        names = evaluator.matching(hard)
        if not names:
            continue
        total: Amounts = dict.fromkeys(names, ZERO)
        for obj in objects(evaluator.info.plural, meta.namespace_of(quota)):
            if in_scopes(evaluator, quota, obj):
                total = amounts.added(total, amounts.masked(evaluator.usage(obj), names))
        used = amounts.added(used, total)
    return used


def status_of(quota: Object, objects: Lister) -> dict[str, Any]:
    """The quota's status when everything is counted anew (resource_quota_controller.go: syncResourceQuota)."""
    hard = amounts.parsed((quota.get("spec") or {}).get("hard"))
    known = amounts.parsed((quota.get("status") or {}).get("used"))
    used = amounts.masked({**known, **used_in_namespace(quota, objects)}, hard)
    status: dict[str, Any] = {"hard": amounts.shown(hard)} if hard else {}
    if used:
        status["used"] = amounts.shown(used)
    return status


def is_counted(quota: Object) -> bool:
    """Whether the status speaks of the limits that the spec has now."""
    hard = amounts.parsed((quota.get("spec") or {}).get("hard"))
    return hard == amounts.parsed((quota.get("status") or {}).get("hard"))
