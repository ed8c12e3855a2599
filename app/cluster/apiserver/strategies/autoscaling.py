"""HorizontalPodAutoscalers (pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import autoscaling


class AutoscalerStrategy(Strategy):
    """The status is the controller's."""

    has_status = True

    def prepare_for_create(self, obj: Object) -> None:
        """Nothing is known of the target yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"currentMetrics": None, "desiredReplicas": 0}

    def validate(self, obj: Object) -> list[FieldError]:
        """Bounds, target, metrics, behavior."""
        return autoscaling.autoscaler(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same; what was taken before goes on being taken."""
        return autoscaling.autoscaler(new, old)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """The counts."""
        del old
        return autoscaling.autoscaler_status(new)


STRATEGIES: dict[str, Strategy] = {"horizontalpodautoscalers.autoscaling": AutoscalerStrategy()}
