"""The eviction subresource: a deletion that disruption budgets have a say in.

Mirrors pkg/registry/core/pod/storage/eviction.go: EvictionREST.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import labels, meta
from app.apimachinery.errors import BadRequest, Forbidden, StatusError, TooManyRequests
from app.apimachinery.meta import Object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster.admission import namespace_lifecycle, node_restriction
from app.cluster.apiserver.registry import DeleteOptions, Registry, WriteOptions
from app.cluster.attributes import Attributes

EVICTION = KindInfo("policy", "v1", "Eviction", "evictions", "eviction")
SHAPE = {
    "deleteOptions": {
        "gracePeriodSeconds": "int64",
        "propagationPolicy": "string",
        "preconditions": {"uid": "string", "resourceVersion": "string"},
        "dryRun": "[]string",
    }
}
"""Of the body's fields, those that are read."""
VERSIONS = ("policy/v1", "policy/v1beta1")
"""The versions in which a body may come (AcceptsGroupVersion)."""
MOST_DISRUPTED = 2000
"""Evictions that a budget's controller has not confirmed (MaxDisruptedPodSize)."""

_POD = scheme.for_kind("v1", "Pod")
_BUDGET = scheme.for_kind("policy/v1", "PodDisruptionBudget")
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


class SeveralBudgets(StatusError):
    """The pod has more than one budget; upstream gives no reason with it."""

    reason = ""


def evict(registry: Registry, pod: str, namespace: str, eviction: Object, options: WriteOptions) -> None:
    """Delete the pod if its disruption budget allows.

    Raises:
        BadRequest: the eviction names another pod.
        NotFound: there is no such pod.
        TooManyRequests: the budget allows no disruption now.
        SeveralBudgets: more than one budget selects the pod.
    """
    if meta.name_of(eviction) != pod:
        raise BadRequest("name in URL does not match name in Eviction object")
    asked = _delete_options(eviction, options)
    current = registry.get(_POD, pod, namespace)
    attributes = Attributes("CREATE", _POD, pod, namespace, eviction, None, "eviction", options.user, options.dry_run)
    namespace_lifecycle.admit(attributes, registry.store)
    node_restriction.admit(attributes, registry.store)
    if not _needs_no_budget(current):
        _ask_budget(registry, current, dry_run=asked.dry_run)
    _mark_and_delete(registry, current, asked)


def _delete_options(eviction: Object, options: WriteOptions) -> DeleteOptions:
    """The eviction's own deleteOptions; a dry run is one if either side says so (propagateDryRun)."""
    given = eviction.get("deleteOptions") or {}
    preconditions = given.get("preconditions") or {}
    return DeleteOptions(
        grace_seconds=given.get("gracePeriodSeconds"),
        propagation=given.get("propagationPolicy") or "Background",
        uid=preconditions.get("uid") or "",
        dry_run=options.dry_run or bool(given.get("dryRun")),
        user=options.user,
    )


def _needs_no_budget(pod: Object) -> bool:
    """Pods whose end disrupts nothing (canIgnorePDB)."""
    phase = (pod.get("status") or {}).get("phase")
    return phase in {"Succeeded", "Failed", "Pending"} or bool(pod["metadata"].get("deletionTimestamp"))


def _ask_budget(registry: Registry, pod: Object, *, dry_run: bool) -> None:
    budgets = _budgets_of(registry, pod)
    if len(budgets) > 1:
        raise SeveralBudgets(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if budgets and not _counts_for_nothing(pod, budgets[0]):
        _check_and_decrement(registry, pod, budgets[0], dry_run=dry_run)


def _budgets_of(registry: Registry, pod: Object) -> list[Object]:
    """The budgets that select the pod (getPodDisruptionBudgets)."""
    found = []
    for budget in registry.store.list(_BUDGET.plural, meta.namespace_of(pod)):
        selector = (budget.get("spec") or {}).get("selector")
        try:
            chosen = labels.from_label_selector(selector)
        except labels.SelectorError:
            continue  # it matches no pod
        if selector is not None and chosen.matches(meta.labels_of(pod)):
            found.append(budget)
    return found


def _counts_for_nothing(pod: Object, budget: Object) -> bool:
    """Whether a pod that is not ready may go as it is (spec.unhealthyPodEvictionPolicy)."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    if any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def _check_and_decrement(registry: Registry, pod: Object, budget: Object, *, dry_run: bool) -> None:
    """Take one disruption from the budget (checkAndDecrement)."""
    name, status = meta.name_of(budget), budget.get("status") or {}
    allowed, disrupted = status.get("disruptionsAllowed", 0), status.get("disruptedPods") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refused(f"The disruption budget {name} is still being processed by the server.", retry_after=10)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(disrupted) > MOST_DISRUPTED:
        raise _forbidden(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if allowed == 0:
        raise _refused(_why_none(name, status))
    if dry_run:
        return
    now = clocks.rfc3339(registry.store.clock.now())
    new = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": {**disrupted, meta.name_of(pod): now}}
    if allowed == 1:
        insufficient = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": ""}
        generation = {"observedGeneration": status["observedGeneration"]} if "observedGeneration" in status else {}
        condition = {**insufficient, **generation, "lastTransitionTime": now}
        new["conditions"] = _with_condition(status.get("conditions") or [], condition)
    registry.store.update(_BUDGET.plural, {**budget, "status": new})


def _why_none(name: str, status: Mapping[str, Any]) -> str:
    conditions = status.get("conditions") or []
    told = {}
    for item in conditions:
        if item.get("type") == "DisruptionAllowed" and item.get("status") == "False" and item.get("message"):
            told = item
    desired, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    refusal = f"The disruption budget {name} does not allow evicting pods currently"
    if told.get("reason") == "SyncFailed":
        return f"{refusal} because it failed sync: {told['message']}"
    if healthy <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    return f"{refusal} ({told.get('reason', '')}): {told['message']}" if told else refusal


def _refused(cause: str, retry_after: int = 0) -> TooManyRequests:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return TooManyRequests(_REFUSED, details=details)


def _forbidden(budget: str, problem: str) -> Forbidden:
    details = {"name": budget, "group": "policy", "kind": "poddisruptionbudget"}
    return Forbidden(f'poddisruptionbudget.policy "{budget}" is forbidden: {problem}', details=details)


def _mark_and_delete(registry: Registry, pod: Object, options: DeleteOptions) -> None:
    """The condition DisruptionTarget, then the deletion (addConditionAndDeletePod)."""
    name, namespace = meta.name_of(pod), meta.namespace_of(pod)
    if options.dry_run:
        registry.delete(_POD, name, namespace, options)
        return
    status = pod.get("status") or {}
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": clocks.rfc3339(registry.store.clock.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    conditions = _with_condition(status.get("conditions") or [], condition)
    registry.store.update(_POD.plural, {**pod, "status": {**status, "conditions": conditions}})
    registry.delete(_POD, name, namespace, options)


def _with_condition(conditions: list[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    """The conditions with `new` in its place; its time stays where its status does."""
    for index, old in enumerate(conditions):
        if old.get("type") == new["type"]:
            if old.get("status") == new["status"]:
                new = {**new, "lastTransitionTime": old.get("lastTransitionTime", new["lastTransitionTime"])}
            return [*conditions[:index], new, *conditions[index + 1 :]]
    return [*conditions, new]
