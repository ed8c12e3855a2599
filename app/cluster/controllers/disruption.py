"""Counts what each PodDisruptionBudget allows (pkg/controller/disruption/disruption.go).

The eviction subresource reads the status that is written here, and notes in `disruptedPods` which pods it let go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock, labels, meta
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

NAME = "disruption-controller"
COMPONENT = "controllermanager"
WATCHES = frozenset({"poddisruptionbudgets", "pods"})
DELETION_TIMEOUT: Micros = 2 * MINUTE
"""How long an eviction that was let through may take to become a deletion (DeletionTimeout)."""
STALE_TIMEOUT: Micros = 2 * MINUTE
"""How long a pod may carry DisruptionTarget without being deleted (stalePodDisruptionTimeout)."""
CONDITION = "DisruptionAllowed"
_STALE = "stale:"


class ScaleError(Exception):
    """The number of pods that there should be cannot be found out."""


def sync(context: Context) -> None:
    """Look at the budgets that changed and at those of the pods that changed."""
    budgets = context.client.list("poddisruptionbudgets")
    due = {key for key in context.fired if not key.startswith(_STALE)}
    if budgets:
        due |= _concerned(context, budgets)
    everything = utils.first_look(context)
    for budget in budgets:
        if everything or meta.key_of(budget) in due:
            _sync_budget(context, budget)
    _clear_stale_targets(context)


def _concerned(context: Context, budgets: list[Object]) -> set[str]:
    """The keys of budgets that news are about (addPod, updatePod, deletePod, addDB, updateDB)."""
    due = set()
    selectors = {meta.key_of(budget): (meta.namespace_of(budget), _selector(budget)) for budget in budgets}
    for change in context.changes:
        if change.resource == "poddisruptionbudgets":
            due.add(meta.key_of(change.object))
            continue
        pod = change.object
        mine = [
            key
            for key, (namespace, selector) in selectors.items()
            if namespace == meta.namespace_of(pod) and selector.matches(meta.labels_of(pod))
        ]
        due.update(mine)
        if len(mine) > 1:
            chosen = mine[0].rpartition("/")[2]
            name = f'"{meta.namespace_of(pod)}"/"{meta.name_of(pod)}"'
            message = f'Pod {name} matches multiple PodDisruptionBudgets.  Chose "{chosen}" arbitrarily.'
            reason = "MultiplePodDisruptionBudgets"
            context.recorder.record(pod, events.WARNING, reason, message, component=COMPONENT)
    return due


def _spec(budget: Object) -> dict[str, Any]:
    return budget.get("spec") or {}


def _selector(budget: Object) -> labels.Selector:
    """The budget's selector; one that makes no sense selects nothing."""
    try:
        return labels.from_label_selector(_spec(budget).get("selector"))
    except labels.SelectorError:
        return labels.NOTHING


def _sync_budget(context: Context, budget: Object) -> None:
    """Write the budget's status (trySync); no disruption where it cannot be known (failSafe)."""
    selector = _selector(budget)
    pods = [
        pod for pod in context.client.list("pods", meta.namespace_of(budget)) if selector.matches(meta.labels_of(pod))
    ]
    if not pods:
        _record(context, budget, events.NORMAL, "NoPods", "No matching pods found")
    try:
        expected, desired, unmanaged = _expected(context, budget, pods)
    except ScaleError as error:
        message = f"Failed to calculate the number of expected pods: {error}"
        _record(context, budget, events.WARNING, "CalculateExpectedPodCountFailed", message)
        _fail_safe(context, budget, str(error))
        return
    if unmanaged:
        _record(context, budget, events.WARNING, "UnmanagedPods", _unmanaged_message(budget))
    disrupted = _disrupted(context, budget, pods)
    healthy = sum(
        utils.is_ready(pod) for pod in pods if not utils.is_terminating(pod) and meta.name_of(pod) not in disrupted
    )
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    counts = {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
    }
    _write(context, budget, counts, disrupted)


def _record(context: Context, obj: Object, kind: str, reason: str, message: str) -> None:
    context.recorder.record(obj, kind, reason, message, component=COMPONENT)


def _unmanaged_message(budget: Object) -> str:
    selector = utils.go_selector(_spec(budget).get("selector") or {})
    return (
        f"Pods selected by this PodDisruptionBudget (selector: {selector}) "
        "were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may "
        'result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to '
        "an integer value."
    )


def _expected(context: Context, budget: Object, pods: list[Object]) -> tuple[int, int, bool]:
    """How many pods there should be, how many must stay healthy, whether some have no controller."""
    spec = _spec(budget)
    at_most, at_least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if at_most is None and at_least is None:
        return 0, 0, False
    if at_most is None and isinstance(at_least, int):
        return len(pods), at_least, False
    expected, unmanaged = _scale(context, pods)
    try:
        if at_most is not None:
            return expected, max(expected - utils.int_or_percent(at_most, expected, round_up=True), 0), unmanaged
        return expected, utils.int_or_percent(at_least, expected, round_up=True), unmanaged
    except ValueError as error:
        raise ScaleError(f"invalid value for IntOrString: {error}") from error


def _scale(context: Context, pods: list[Object]) -> tuple[int, bool]:
    """The sum of what the pods' controllers want (getExpectedScale)."""
    scales: dict[str, int] = {}
    seen: set[str] = set()
    unmanaged = False
    for pod in pods:
        reference = meta.controller_of(pod)
        if reference is None:
            unmanaged = True
            continue
        if reference["uid"] in seen:
            continue
        seen.add(reference["uid"])
        found = _controller(context, reference, meta.namespace_of(pod))
        if found is None:
            raise ScaleError(f'found no controllers for pod "{meta.name_of(pod)}"')
        scales[found["metadata"]["uid"]] = int((found.get("spec") or {}).get("replicas", 1))
    return sum(scales.values()), unmanaged


def _controller(context: Context, reference: Mapping[str, Any], namespace: str) -> Object | None:
    """What a pod's controller reference leads to: a Deployment in place of its ReplicaSet (finders)."""
    try:
        info = scheme.for_kind(str(reference.get("apiVersion")), str(reference.get("kind")))
    except StatusError as error:
        raise ScaleError(error.message) from error
    found = context.client.find(info, str(reference["name"]), namespace)
    if "scale" not in info.subresources:
        raise ScaleError(f"{info.group_resource} does not implement the scale subresource")
    if found is None or found["metadata"]["uid"] != reference["uid"]:
        return None
    above = meta.controller_of(found)
    if info.kind == "ReplicaSet" and above is not None and above.get("kind") == "Deployment":
        deployment = context.client.find("deployments", str(above["name"]), namespace)
        if deployment is not None and deployment["metadata"]["uid"] == above["uid"]:
            return deployment
    return found


def _disrupted(context: Context, budget: Object, pods: list[Object]) -> dict[str, str]:
    """The evictions under way, without those that are done or were forgotten (buildDisruptedPodMap)."""
    standing = (budget.get("status") or {}).get("disruptedPods") or {}
    kept: dict[str, str] = {}
    ends: list[Instant] = []
    for pod in pods:
        stamp = standing.get(meta.name_of(pod))
        if stamp is None or utils.is_terminating(pod):
            continue
        end = clock.parse(stamp) + DELETION_TIMEOUT
        if end < context.now:
            # Upstream prints the namespace twice, and so do we.
            namespace = meta.namespace_of(budget)
            message = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
            _record(context, pod, events.WARNING, "NotDeleted", message)
            continue
        kept[meta.name_of(pod)] = stamp
        ends.append(end)
    if ends:
        context.wake(meta.key_of(budget), max(min(ends), context.now) + SECOND, idle=True)
    return kept


def _write(context: Context, budget: Object, counts: dict[str, Any], disrupted: dict[str, str]) -> None:
    """Write the counts and the condition that follows from them (updatePdbStatus)."""
    generation = budget["metadata"].get("generation", 0)
    allowed = counts["disruptionsAllowed"] > 0
    status = budget.get("status") or {}
    new = {
        "type": CONDITION,
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
    }
    _update(context, budget, status, new, counts, disrupted, generation)


def _fail_safe(context: Context, budget: Object, message: str) -> None:
    status = budget.get("status") or {}
    zero = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    counts = {name: status.get(name, 0) for name in zero} | {"disruptionsAllowed": 0}
    new = {"type": CONDITION, "status": "False", "reason": "SyncFailed", "message": message}
    disrupted = status.get("disruptedPods") or {}
    _update(context, budget, status, new, counts, disrupted, status.get("observedGeneration", 0))


def _update(
    context: Context,
    budget: Object,
    status: Mapping[str, Any],
    condition: dict[str, Any],
    counts: dict[str, Any],
    disrupted: dict[str, str],
    generation: int,
) -> None:
    seen = {"observedGeneration": generation} if generation else {}
    conditions = utils.with_condition(status.get("conditions") or [], {**condition, **seen}, context.now)
    pods = {"disruptedPods": disrupted} if disrupted else {}
    utils.write_status(context, budget, {**counts, **seen, **pods, "conditions": conditions})


def _clear_stale_targets(context: Context) -> None:
    """Take back DisruptionTarget from pods that were to go and did not (syncStalePodDisruption)."""
    keys = {key.removeprefix(_STALE) for key in context.fired if key.startswith(_STALE)}
    keys |= {meta.key_of(change.object) for change in context.changes if _may_be_stale(change.object)}
    if context.full:
        keys |= {meta.key_of(pod) for pod in context.client.list("pods") if _may_be_stale(pod)}
    for key in sorted(keys):
        namespace, _, name = key.partition("/")
        pod = context.client.find("pods", name, namespace)
        if pod is None or not _may_be_stale(pod):
            continue
        found = utils.condition(pod, "DisruptionTarget") or {}
        end = clock.parse(found["lastTransitionTime"]) + STALE_TIMEOUT
        if context.now < end:
            context.wake(_STALE + key, end, idle=True)
            continue
        status = pod["status"]
        cleared = {"type": "DisruptionTarget", "status": "False"}
        conditions = utils.with_condition(status["conditions"], cleared, context.now)
        utils.write_status(context, pod, {**status, "conditions": conditions})


def _may_be_stale(pod: Mapping[str, Any]) -> bool:
    if pod.get("kind") != "Pod" or utils.is_terminating(pod):
        return False
    if (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
        return False
    found = utils.condition(pod, "DisruptionTarget")
    if found is None or found.get("status") != "True" or not found.get("lastTransitionTime"):
        return False
    return found.get("reason") != "TerminationByKubelet"
