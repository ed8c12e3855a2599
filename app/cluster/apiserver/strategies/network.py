"""Ingresses, policies, endpoints, drivers, leases and runtimes (pkg/registry/networking, discovery, storage, node)."""

from __future__ import annotations

from typing import ClassVar

from app.apimachinery.meta import Object
from app.cluster.apiserver.strategies.ruled import Ruled
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import drivers, endpoints, networking, small_kinds


class _Counted(Ruled):
    """A kind whose generation counts changes of its spec."""

    has_generation: ClassVar[bool] = True


class IngressStrategy(_Counted):
    """Ingresses (networking/ingress/strategy.go)."""

    has_status: ClassVar[bool] = True

    def prepare_for_create(self, obj: Object) -> None:
        """No controller has looked at it yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"loadBalancer": {}}


class _WholeCounted(Ruled):
    """A kind without a spec whose generation counts changes of all but its metadata (endpointslice/strategy.go)."""

    def prepare_for_create(self, obj: Object) -> None:
        """Count from 1."""
        super().prepare_for_create(obj)
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """Count what changes."""
        super().prepare_for_update(new, old)
        generation = int(old["metadata"].get("generation") or 1)
        new["metadata"]["generation"] = generation + (_content(new) != _content(old))


def _content(obj: Object) -> Object:
    metadata = obj.get("metadata") or {}
    rest = {name: value for name, value in obj.items() if name not in {"metadata", "apiVersion", "kind"} and value}
    return {**rest, "labels": metadata.get("labels") or {}}


class VolumeAttachmentStrategy(Ruled):
    """VolumeAttachments (storage/volumeattachment/strategy.go)."""

    has_status: ClassVar[bool] = True

    def prepare_for_create(self, obj: Object) -> None:
        """Nothing is attached yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"attached": False}


STRATEGIES: dict[str, Strategy] = {
    "ingresses.networking.k8s.io": IngressStrategy(
        networking.ingress, networking.ingress_update, networking.ingress_status
    ),
    "ingressclasses.networking.k8s.io": _Counted(networking.ingress_class, networking.ingress_class_update),
    "networkpolicies.networking.k8s.io": _Counted(networking.network_policy),
    "endpoints": Ruled(endpoints.endpoints),
    "endpointslices.discovery.k8s.io": _WholeCounted(endpoints.endpoint_slice, endpoints.endpoint_slice_update),
    "csinodes.storage.k8s.io": Ruled(drivers.csi_node, drivers.csi_node_update),
    "csidrivers.storage.k8s.io": Ruled(drivers.csi_driver, drivers.csi_driver_update),
    "csistoragecapacities.storage.k8s.io": Ruled(drivers.storage_capacity, drivers.storage_capacity_update),
    "volumeattachments.storage.k8s.io": VolumeAttachmentStrategy(
        drivers.volume_attachment, drivers.volume_attachment_update
    ),
    "leases.coordination.k8s.io": Ruled(small_kinds.lease),
    "runtimeclasses.node.k8s.io": Ruled(small_kinds.runtime_class, small_kinds.runtime_class_update),
}
