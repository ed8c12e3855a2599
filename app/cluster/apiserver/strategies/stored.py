"""Secrets, storage and disruption budgets (pkg/registry/core, storage, policy)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import stored

Rule = Callable[[Object], list[FieldError]]
UpdateRule = Callable[[Object, Object], list[FieldError]]


class _Ruled(Strategy):
    """A kind whose differences are its rules alone."""

    def __init__(self, rule: Rule, update_rule: UpdateRule | None = None) -> None:
        self._rule = rule
        self._update_rule = update_rule

    def validate(self, obj: Object) -> list[FieldError]:
        """The kind's rule."""
        return self._rule(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The kind's rule for changes, where there is one."""
        return self._rule(new) if self._update_rule is None else self._update_rule(new, old)


class SecretStrategy(_Ruled):
    """Secrets (core/secret/strategy.go)."""

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """Also by type."""
        return {**super().selectable_fields(obj), "type": obj.get("type") or ""}


class _WithPhase(_Ruled):
    """A volume or a claim is pending at first."""

    has_status: ClassVar[bool] = True

    def prepare_for_create(self, obj: Object) -> None:
        """Nothing has looked at it yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"phase": "Pending"}


class DisruptionBudgetStrategy(_Ruled):
    """PodDisruptionBudgets (policy/poddisruptionbudget/strategy.go)."""

    has_status = True
    has_generation = True


STRATEGIES: dict[str, Strategy] = {
    "secrets": SecretStrategy(stored.secret, stored.secret_update),
    "persistentvolumes": _WithPhase(stored.persistent_volume, stored.persistent_volume_update),
    "persistentvolumeclaims": _WithPhase(stored.claim, stored.claim_update),
    "storageclasses.storage.k8s.io": _Ruled(stored.storage_class, stored.storage_class_update),
    "poddisruptionbudgets.policy": DisruptionBudgetStrategy(stored.disruption_budget),
}
