"""Workloads (pkg/registry/apps)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from app.apimachinery import meta, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import stateful_sets, workload_status, workloads

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""How often a DaemonSet's template has changed: a field inside, in apps/v1 an annotation."""

Rule = Callable[[Object], list[FieldError]]
UpdateRule = Callable[[Object, Object], list[FieldError]]


class _WorkloadStrategy(Strategy):
    """Rules for the spec, for changes beyond it, and for the status; the status starts empty."""

    has_status = True
    has_generation = True
    first_status: ClassVar[tuple[str, ...]] = ()
    """Fields of the status that are shown although they are 0."""

    def __init__(self, rule: Rule, update_rule: UpdateRule, status_rule: UpdateRule) -> None:
        self._rule = rule
        self._update_rule = update_rule
        self._status_rule = status_rule

    def prepare_for_create(self, obj: Object) -> None:
        """The status counts from the start."""
        super().prepare_for_create(obj)
        obj["status"] = dict.fromkeys(self.first_status, 0)

    def validate(self, obj: Object) -> list[FieldError]:
        """The kind's rules."""
        return self._rule(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same, and what may not change."""
        return self._update_rule(new, old)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """Counts that fit together."""
        return self._status_rule(new, old)


class ReplicaSetStrategy(_WorkloadStrategy):
    """ReplicaSets (apps/replicaset/strategy.go)."""

    first_status = ("replicas",)


class DaemonSetStrategy(_WorkloadStrategy):
    """DaemonSets (apps/daemonset/strategy.go)."""

    first_status = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")

    def prepare_for_create(self, obj: Object) -> None:
        """The template's generation is 1, or what a client says."""
        super().prepare_for_create(obj)
        _set_template_generation(obj, max(template_generation(obj) or 1, 1))

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """The template's generation counts its changes."""
        super().prepare_for_update(new, old)
        changed = (new.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template")
        _set_template_generation(new, (template_generation(old) or 0) + changed)


def template_generation(daemon_set: Object) -> int | None:
    """How often the template has changed, or None (daemonset_util.go: GetTemplateGeneration)."""
    text = meta.annotations_of(daemon_set).get(TEMPLATE_GENERATION, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None


def _set_template_generation(obj: Object, generation: int) -> None:
    annotations = {**meta.annotations_of(obj), TEMPLATE_GENERATION: str(generation)}
    obj["metadata"]["annotations"] = annotations


class StatefulSetStrategy(_WorkloadStrategy):
    """StatefulSets (apps/statefulset/strategy.go)."""

    first_status = ("availableReplicas", "replicas")

    def prepare_for_create(self, obj: Object) -> None:
        """A field whose feature is off is dropped (dropStatefulSetDisabledFields)."""
        super().prepare_for_create(obj)
        _rolling(obj).pop("maxUnavailable", None)

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """The same, unless it was there before."""
        if "maxUnavailable" not in _rolling(old):
            _rolling(new).pop("maxUnavailable", None)
        super().prepare_for_update(new, old)

    def name_problems(self, name: str) -> list[str]:
        """The name becomes a part of host names (ValidateStatefulSetName)."""
        return validation.dns1123_label(name)


def _rolling(stateful_set: Object) -> Object:
    """What may be said of a rolling update, to be changed in place."""
    found: Object = ((stateful_set.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    return found


class ControllerRevisionStrategy(Strategy):
    """ControllerRevisions (apps/controllerrevision/strategy.go)."""

    def validate(self, obj: Object) -> list[FieldError]:
        """They hold data."""
        return workloads.controller_revision(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The data never changes."""
        return workloads.controller_revision_update(new, old)


def _with_fixed_selector(rule: Rule) -> UpdateRule:
    return lambda new, old: rule(new) + workloads.fixed_selector(new, old)


STRATEGIES: dict[str, Strategy] = {
    "deployments.apps": _WorkloadStrategy(
        workloads.deployment, _with_fixed_selector(workloads.deployment), workload_status.deployment
    ),
    "replicasets.apps": ReplicaSetStrategy(
        workloads.replica_set, _with_fixed_selector(workloads.replica_set), workload_status.replica_set
    ),
    "daemonsets.apps": DaemonSetStrategy(
        workloads.daemon_set, _with_fixed_selector(workloads.daemon_set), workload_status.daemon_set
    ),
    "statefulsets.apps": StatefulSetStrategy(
        stateful_sets.validate, stateful_sets.validate_update, workload_status.stateful_set
    ),
    "controllerrevisions.apps": ControllerRevisionStrategy(),
}
