"""Secrets, storage and disruption budgets (pkg/registry/core, storage, policy)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategies.ruled import Ruled
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import stored, templates


class PodTemplateStrategy(Ruled):
    """PodTemplates (core/podtemplate/strategy.go): their generation counts changes of the template."""

    def prepare_for_create(self, obj: Object) -> None:
        """Count from 1."""
        super().prepare_for_create(obj)
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """Count what changes."""
        super().prepare_for_update(new, old)
        generation = int(old["metadata"].get("generation") or 1)
        new["metadata"]["generation"] = generation + (new.get("template") != old.get("template"))


def _pod_template(obj: Object) -> list[FieldError]:
    """ValidatePodTemplate."""
    return templates.pod_template(obj.get("template") or {}, "template")


class SecretStrategy(Ruled):
    """Secrets (core/secret/strategy.go)."""

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """Also by type."""
        return {**super().selectable_fields(obj), "type": obj.get("type") or ""}


class _WithPhase(Ruled):
    """A volume or a claim is pending at first."""

    has_status: ClassVar[bool] = True

    def prepare_for_create(self, obj: Object) -> None:
        """Nothing has looked at it yet."""
        super().prepare_for_create(obj)
        obj["status"] = {"phase": "Pending"}


class DisruptionBudgetStrategy(Ruled):
    """PodDisruptionBudgets (policy/poddisruptionbudget/strategy.go)."""

    has_status = True
    has_generation = True


STRATEGIES: dict[str, Strategy] = {
    "podtemplates": PodTemplateStrategy(_pod_template),
    "secrets": SecretStrategy(stored.secret, stored.secret_update),
    "persistentvolumes": _WithPhase(stored.persistent_volume, stored.persistent_volume_update),
    "persistentvolumeclaims": _WithPhase(stored.claim, stored.claim_update),
    "storageclasses.storage.k8s.io": Ruled(stored.storage_class, stored.storage_class_update),
    "poddisruptionbudgets.policy": DisruptionBudgetStrategy(stored.disruption_budget),
}
