"""Pods (pkg/registry/core/pod/strategy.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.apis import label_keys
from app.cluster.apiserver.strategy import Strategy, Subresource
from app.cluster.apiserver.validation import pod, pod_subresources, pod_update


def _prepare_ephemeral_containers(new: Object, old: Object) -> None:
    """Keep all but the ephemeral containers (dropNonEphemeralContainerUpdates)."""
    wanted = (new.get("spec") or {}).get("ephemeralContainers")
    new["spec"] = {**old["spec"]}
    new["spec"].pop("ephemeralContainers", None)
    if wanted:
        new["spec"]["ephemeralContainers"] = wanted


def _prepare_resize(new: Object, old: Object) -> None:
    """Keep all but the containers' resources and how they are resized (dropNonResizeUpdates).

    Where containers came, went or moved, everything is left as it is, for validation to refuse.
    """
    now, before = new.get("spec") or {}, old["spec"]
    kinds = ("containers", "initContainers")
    if any(len(now.get(kind) or []) != len(before.get(kind) or []) for kind in kinds):
        return
    new["spec"] = {**before}
    for kind in kinds:
        pairs = list(zip(now.get(kind) or [], before.get(kind) or [], strict=True))
        if any(container.get("name") != former["name"] for container, former in pairs):
            new["spec"][kind] = now[kind]
        elif pairs:
            new["spec"][kind] = [_resized(container, former) for container, former in pairs]


def _resized(container: Object, former: Object) -> Object:
    fields = ("resources", "resizePolicy")
    kept = {key: value for key, value in former.items() if key not in fields}
    return {**kept, **{field: container[field] for field in fields if field in container}}


class PodStrategy(Strategy):
    """Pods end gracefully, and most of their spec is fixed."""

    has_status = True
    has_generation = True
    subresources: ClassVar[Mapping[str, Subresource]] = {
        "ephemeralcontainers": Subresource(_prepare_ephemeral_containers, pod_subresources.ephemeral_containers),
        "resize": Subresource(_prepare_resize, pod_subresources.resize),
    }

    def prepare_for_create(self, obj: Object) -> None:
        """A new pod is Pending, with its QoS class; one with scheduling gates says so (podSchedulingGates)."""
        super().prepare_for_create(obj)
        spec = obj.get("spec") or {}
        label_keys.merge(obj)
        obj["status"] = {"phase": "Pending", "qosClass": pod.qos_class(spec)}
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


STRATEGIES: dict[str, Strategy] = {"pods": PodStrategy()}
