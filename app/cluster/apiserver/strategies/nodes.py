"""Nodes (pkg/registry/core/node/strategy.go)."""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import node


class NodeStrategy(Strategy):
    """Unlike most kinds, a node may bring its status when it is created: the kubelet registers it so."""

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """The status is the subresource's."""
        super().prepare_for_update(new, old)
        self.keep(new, old, "status")

    def validate(self, obj: Object) -> list[FieldError]:
        """Taints and resources."""
        return node.validate(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """And the fields that are fixed."""
        return node.validate_update(new, old)

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """Also by whether it is cordoned."""
        cordoned = (obj.get("spec") or {}).get("unschedulable")
        return {**super().selectable_fields(obj), "spec.unschedulable": "true" if cordoned else "false"}


STRATEGIES: dict[str, Strategy] = {"nodes": NodeStrategy()}
