"""Pods (pkg/registry/core/pod/strategy.go)."""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery import quantity
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import pod, pod_update


class PodStrategy(Strategy):
    """Pods end gracefully, and most of their spec is fixed."""

    has_status = True
    has_generation = True

    def prepare_for_create(self, obj: Object) -> None:
        """A new pod is Pending, with its QoS class; one with scheduling gates says so (podSchedulingGates)."""
        super().prepare_for_create(obj)
        spec = obj.get("spec") or {}
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
        if spec.get("schedulingGates"):
            obj["status"]["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                }
            ]

    def prepare_for_status_update(self, new: Object, old: Object) -> None:
        """The QoS class never changes."""
        super().prepare_for_status_update(new, old)
        status = new.get("status") or {}
        former = old.get("status") or {}
        if "qosClass" in former:
            new["status"] = {**status, "qosClass": former["qosClass"]}

    def validate(self, obj: Object) -> list[FieldError]:
        """The pod's spec."""
        return pod.validate(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """What may change in a pod."""
        return pod_update.validate(new, old)

    def grace_seconds(self, obj: Object, asked: int | None) -> int:
        """The pod's own grace, unless asked otherwise; none for pods that run nowhere (CheckGracefulDelete)."""
        spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
        if not spec.get("nodeName") or phase in {"Succeeded", "Failed"}:
            return 0
        if asked is None:
            asked = spec.get("terminationGracePeriodSeconds", 30)
        return 1 if asked < 0 else int(asked)

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """By placement, scheduler, account and phase (ToSelectableFields)."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        return {
            **super().selectable_fields(obj),
            "spec.nodeName": spec.get("nodeName") or "",
            "spec.restartPolicy": spec.get("restartPolicy") or "",
            "spec.schedulerName": spec.get("schedulerName") or "",
            "spec.serviceAccountName": spec.get("serviceAccountName") or "",
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase") or "",
            "status.podIP": status.get("podIP") or "",
            "status.nominatedNodeName": status.get("nominatedNodeName") or "",
        }


_QOS_RESOURCES = ("cpu", "memory")


def qos_class(spec: Mapping[str, object]) -> str:
    """Guaranteed, Burstable or BestEffort (pkg/apis/core/v1/helper/qos/qos.go: ComputePodQOS)."""
    containers = [*_containers(spec, "containers"), *_containers(spec, "initContainers")]
    requests = [_positive(container, "requests") for container in containers]
    limits = [_positive(container, "limits") for container in containers]
    if not any(requests) and not any(limits):
        return "BestEffort"
    guaranteed = all(
        set(limit) == set(_QOS_RESOURCES) and all(request.get(name) == limit[name] for name in limit)
        for request, limit in zip(requests, limits, strict=True)
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _containers(spec: Mapping[str, object], field: str) -> list[Object]:
    found = spec.get(field)
    return found if isinstance(found, list) else []


def _positive(container: Object, side: str) -> dict[str, int]:
    listed = (container.get("resources") or {}).get(side) or {}
    amounts = {name: quantity.parse(str(listed[name])).milli_value() for name in _QOS_RESOURCES if name in listed}
    return {name: amount for name, amount in amounts.items() if amount > 0}


STRATEGIES: dict[str, Strategy] = {"pods": PodStrategy()}
