"""Questions about objects that several parts ask: plugins, controllers and the kubelet get one answer.

Mirrors k8s.io/component-helpers (scheduling/corev1, resource) and k8s.io/api/core/v1/toleration.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.apimachinery import labels, meta, quantity
from app.apimachinery.quantity import Quantity

Requests = dict[str, Quantity]

_POD_LEVEL = ("cpu", "memory")
_HUGEPAGES = "hugepages-"


def is_terminal(pod: Mapping[str, Any]) -> bool:
    """Whether the pod has ended: it holds its node's resources no longer (podutil.IsPodTerminal)."""
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any], *, compare: bool = False) -> bool:
    """Whether one toleration covers one taint (core/v1/toleration.go: ToleratesTaint).

    An empty effect covers every effect, an empty key with Exists every key. `compare` switches on the numeric
    operators Lt and Gt (feature gate TaintTolerationComparisonOperators).
    """
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    mine, its = toleration.get("value") or "", taint.get("value") or ""
    match toleration.get("operator") or "Equal":
        case "Equal":
            return bool(mine == its)
        case "Exists":
            return True
        case "Lt" | "Gt" as operator if compare:
            return _numerically(operator, mine, its)
    return False


def _numerically(operator: str, mine: str, its: str) -> bool:
    """`Gt` tolerates a taint whose value is greater than the toleration's. Texts that are no integers never match."""
    if not _is_integer(mine) or not _is_integer(its):
        return False
    return int(its) > int(mine) if operator == "Gt" else int(its) < int(mine)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or not digits.startswith("0"))


def find_untolerated_taint(
    taints: Iterable[Mapping[str, Any]] | None,
    tolerations: Sequence[Mapping[str, Any]] | None,
    effects: Iterable[str],
    *,
    compare: bool = False,
) -> Mapping[str, Any] | None:
    """The first taint with one of these effects that nothing tolerates (helpers.go: FindMatchingUntoleratedTaint)."""
    wanted = frozenset(effects)
    for taint in taints or ():
        if taint.get("effect") not in wanted:
            continue
        if not any(tolerates(toleration, taint, compare=compare) for toleration in tolerations or ()):
            return taint
    return None


def node_affinity_matches(pod: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether the node satisfies nodeSelector and required node affinity (nodeaffinity.go: GetRequiredNodeAffinity)."""
    spec = pod.get("spec") or {}
    if not labels.from_map(spec.get("nodeSelector")).matches(meta.labels_of(node)):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or node_selector_matches(required, node)


def node_selector_matches(selector: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether any term of a NodeSelector holds; no term at all matches no node."""
    return any(node_selector_term_matches(term, node) for term in selector.get("nodeSelectorTerms") or ())


def node_selector_term_matches(term: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether all expressions and fields of one term hold; an empty term matches no node."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = {"metadata.name": meta.name_of(node)}
    return all(_holds(expression, meta.labels_of(node)) for expression in expressions) and all(
        _holds(field, named) for field in fields
    )


def _holds(expression: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    requirement = labels.Requirement(
        str(expression.get("key", "")),
        str(expression.get("operator", "")),
        tuple(expression.get("values") or ()),
    )
    return requirement.matches(values)


def has_pod_level_requests(pod: Mapping[str, Any]) -> bool:
    """Whether the pod itself, not only its containers, requests something (IsPodLevelRequestsSet)."""
    requests = ((pod.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return any(_at_pod_level(name) for name in requests)


def _at_pod_level(name: str) -> bool:
    return name in _POD_LEVEL or name.startswith(_HUGEPAGES)


def pod_requests(
    pod: Mapping[str, Any], *, pod_level: bool = True, missing: Mapping[str, Quantity] | None = None
) -> Requests:
    """What the pod asks of its node, by resource (resource/helpers.go: PodRequests).

    Containers add up, and so do sidecars (init containers with restartPolicy Always). Other init containers run
    one after another, each beside the sidecars before it, so the largest counts where it exceeds that sum:
    containers 200m + 300m with an init container of 600m ask for 600m. Pod-level requests replace the sum for
    the resources they name (unless `pod_level` is off), and the runtime class's overhead comes on top.
    `missing` is what each container counts with where it requests nothing.
    """
    spec = pod.get("spec") or {}
    statuses = _status_by_name(pod, "containerStatuses")
    wanted = not _resize_is_infeasible(pod)
    total: Requests = {}
    for container in spec.get("containers") or ():
        _add(total, {**(missing or {}), **_container_requests(container, statuses, wanted=wanted)})
    started: Requests = {}
    peak: Requests = {}
    init_statuses = _status_by_name(pod, "initContainerStatuses")
    for container in spec.get("initContainers") or ():
        requests = {**(missing or {}), **_container_requests(container, init_statuses, wanted=wanted)}
        if container.get("restartPolicy") == "Always":
            _add(total, requests)
            _add(started, requests)
            requests = dict(started)
        else:
            _add(requests, started)
        _raise(peak, requests)
    _raise(total, peak)
    if pod_level:
        for name, amount in _amounts((spec.get("resources") or {}).get("requests")).items():
            if _at_pod_level(name):
                total[name] = amount
    _add(total, _amounts(spec.get("overhead")))
    return total


def pod_limits(pod: Mapping[str, Any]) -> Requests:
    """What the pod is limited to, by resource (resource/helpers.go: PodLimits): summed up as requests are.

    The overhead raises only what has a limit.
    """
    spec = pod.get("spec") or {}
    total: Requests = {}
    for container in spec.get("containers") or ():
        _add(total, _amounts((container.get("resources") or {}).get("limits")))
    started: Requests = {}
    peak: Requests = {}
    for container in spec.get("initContainers") or ():
        limits = _amounts((container.get("resources") or {}).get("limits"))
        if container.get("restartPolicy") == "Always":
            _add(total, limits)
            _add(started, limits)
            limits = dict(started)
        else:
            _add(limits, started)
        _raise(peak, limits)
    _raise(total, peak)
    pod_level = _amounts((spec.get("resources") or {}).get("limits"))
    total.update({name: amount for name, amount in pod_level.items() if _at_pod_level(name)})
    overhead = _amounts(spec.get("overhead"))
    _add(total, {name: amount for name, amount in overhead.items() if name in total})
    return total


def _container_requests(
    container: Mapping[str, Any], statuses: Mapping[str, Mapping[str, Any]], *, wanted: bool
) -> Requests:
    """The container's requests; during an in-place resize the larger of what is wanted, allocated and in force.

    What is wanted counts for nothing (not `wanted`) where the node can never allocate it (determineContainerReqs).
    """
    requests = _amounts((container.get("resources") or {}).get("requests"))
    status = statuses.get(str(container.get("name")))
    if status is None:
        return requests
    running = (status.get("allocatedResources"), (status.get("resources") or {}).get("requests"))
    if not wanted and any(running):
        requests = {}
    for amounts in running:
        _raise(requests, _amounts(amounts))
    return requests


def _resize_is_infeasible(pod: Mapping[str, Any]) -> bool:
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


def _status_by_name(pod: Mapping[str, Any], field: str) -> dict[str, Mapping[str, Any]]:
    return {str(status.get("name")): status for status in (pod.get("status") or {}).get(field) or ()}


def _amounts(listed: Mapping[str, Any] | None) -> Requests:
    return {name: quantity.of(amount) for name, amount in (listed or {}).items()}


def _add(total: Requests, more: Mapping[str, Quantity]) -> None:
    _merge(total, more, lambda left, right: left + right)


def _raise(total: Requests, other: Mapping[str, Quantity]) -> None:
    _merge(total, other, max)


def _merge(total: Requests, more: Mapping[str, Quantity], combine: Callable[[Quantity, Quantity], Quantity]) -> None:
    for name, amount in more.items():
        total[name] = combine(total[name], amount) if name in total else amount
