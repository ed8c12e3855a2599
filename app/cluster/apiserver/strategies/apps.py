"""Workloads (pkg/registry/apps)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import workloads


class _WorkloadStrategy(Strategy):
    has_status = True
    has_generation = True

    def prepare_for_create(self, obj: Object) -> None:
        """The status starts empty."""
        super().prepare_for_create(obj)
        obj["status"] = {}


class DeploymentStrategy(_WorkloadStrategy):
    """Deployments (apps/deployment/strategy.go)."""

    def validate(self, obj: Object) -> list[FieldError]:
        """Selector, template, strategy."""
        return workloads.deployment(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is fixed."""
        return workloads.deployment(new) + workloads.fixed_selector(new, old)


class ReplicaSetStrategy(_WorkloadStrategy):
    """ReplicaSets (apps/replicaset/strategy.go)."""

    def prepare_for_create(self, obj: Object) -> None:
        """The status counts from the start."""
        super().prepare_for_create(obj)
        obj["status"] = {"replicas": 0}

    def validate(self, obj: Object) -> list[FieldError]:
        """Selector and template."""
        return workloads.replica_set(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is fixed."""
        return workloads.replica_set(new) + workloads.fixed_selector(new, old)


class DaemonSetStrategy(_WorkloadStrategy):
    """DaemonSets (apps/daemonset/strategy.go)."""

    def prepare_for_create(self, obj: Object) -> None:
        """The status counts from the start."""
        super().prepare_for_create(obj)
        obj["status"] = dict.fromkeys(
            ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"), 0
        )

    def validate(self, obj: Object) -> list[FieldError]:
        """Selector, template, strategy."""
        return workloads.daemon_set(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is fixed."""
        return workloads.daemon_set(new) + workloads.fixed_selector(new, old)


class StatefulSetStrategy(_WorkloadStrategy):
    """StatefulSets (apps/statefulset/strategy.go): generation and status as for the other workloads."""


STRATEGIES: dict[str, Strategy] = {
    "deployments.apps": DeploymentStrategy(),
    "replicasets.apps": ReplicaSetStrategy(),
    "daemonsets.apps": DaemonSetStrategy(),
    "statefulsets.apps": StatefulSetStrategy(),
}
