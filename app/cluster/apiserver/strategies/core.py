"""Core kinds beside Pod and Node (pkg/registry/core)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver import service_allocation
from app.cluster.apiserver.strategy import Strategy, Subresource
from app.cluster.apiserver.validation import core, services
from app.cluster.store import Store


class NamespaceStrategy(Strategy):
    """Namespaces live on as Terminating until their finalizer is taken off (core/namespace/storage/storage.go)."""

    has_status = True
    subresources: ClassVar[Mapping[str, Subresource]] = {
        "finalize": Subresource(None, core.namespace_finalize, keeps_metadata=False)
    }

    def name_problems(self, name: str) -> list[str]:
        """A label: no dots."""
        return validation.dns1123_label(name)

    def prepare_for_create(self, obj: Object) -> None:
        """A new namespace is active, holds the finalizer, and is labelled with its name."""
        super().prepare_for_create(obj)
        obj["status"] = {"phase": "Active"}
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        _label_with_name(obj)

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """Only the finalize subresource touches the spec."""
        super().prepare_for_update(new, old)
        self.keep(new, old, "spec")
        _label_with_name(new)

    def begin_delete(self, obj: Object) -> None:
        """Show that it goes."""
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def may_be_removed(self, obj: Object) -> bool:
        """Only when the namespace controller has emptied it."""
        return not (obj.get("spec") or {}).get("finalizers")

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """Also by phase."""
        return {**super().selectable_fields(obj), "status.phase": (obj.get("status") or {}).get("phase", "")}


def _label_with_name(obj: Object) -> None:
    metadata = obj["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}


class ConfigMapStrategy(Strategy):
    """ConfigMaps (core/configmap/strategy.go)."""

    def validate(self, obj: Object) -> list[FieldError]:
        """Keys and size."""
        return core.config_map(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """And what immutability forbids."""
        return core.config_map_update(new, old)


class ServiceStrategy(Strategy):
    """Services (core/service/strategy.go)."""

    has_status = True

    def name_problems(self, name: str) -> list[str]:
        """A label that begins with a letter."""
        return validation.dns1035_label(name)

    def begin_create(self, obj: Object, store: Store) -> list[FieldError]:
        """Address and node ports."""
        return service_allocation.begin_create(obj, store)

    def begin_update(self, new: Object, old: Object, store: Store) -> list[FieldError]:
        """Keep them, or give them where the type now has them."""
        return service_allocation.begin_update(new, old, store)

    def prepare_for_create(self, obj: Object) -> None:
        """No load balancer yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"loadBalancer": {}}

    def validate(self, obj: Object) -> list[FieldError]:
        """Type, ports, selector, addresses."""
        return services.service(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The address stays."""
        return services.service_update(new, old)


STRATEGIES: dict[str, Strategy] = {
    "namespaces": NamespaceStrategy(),
    "configmaps": ConfigMapStrategy(),
    "services": ServiceStrategy(),
}
