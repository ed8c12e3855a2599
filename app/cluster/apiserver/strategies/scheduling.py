"""PriorityClasses (pkg/registry/scheduling/priorityclass/strategy.go)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import scheduling


class PriorityClassStrategy(Strategy):
    """PriorityClasses: the value never changes; its generation stays at 1."""

    def prepare_for_create(self, obj: Object) -> None:
        """Count from 1."""
        obj["metadata"]["generation"] = 1

    def validate(self, obj: Object) -> list[FieldError]:
        """Value, name and preemption policy."""
        return scheduling.priority_class(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Value and preemption policy are fixed."""
        return scheduling.priority_class_update(new, old)


STRATEGIES: dict[str, Strategy] = {"priorityclasses.scheduling.k8s.io": PriorityClassStrategy()}
