"""How many replicas a measurement asks for (pkg/controller/podautoscaler/replica_calculator.go).

Pods that are not measured, or not ready, count as what holds a change back: as idle when it would grow, as fully used
when it would shrink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.apimachinery import clock, quantity
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.meta import Object, name_of
from app.cluster import controller_utils as utils
from app.cluster.podautoscaler import metrics_client
from app.cluster.podautoscaler.metrics_client import Metrics, MetricsError, PodMetric

TOLERANCE = 0.1
"""How far a ratio may be from 1 without a change (--horizontal-pod-autoscaler-tolerance)."""
CPU_INITIALIZATION: Micros = 5 * MINUTE
"""How long a pod's first CPU measurements are looked at with care (--…-cpu-initialization-period)."""
INITIAL_READINESS_DELAY: Micros = 30 * SECOND
"""Within which after its start a pod that is unready counts as never ready (--…-initial-readiness-delay)."""

_NO_PODS = "no pods returned by selector while calculating replica count"
_NO_METRICS = "did not receive metrics for any ready pods"


@dataclass(frozen=True)
class Tolerances:
    """How far from 1 a ratio may be, downwards and upwards."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    def within(self, ratio: float) -> bool:
        """Whether nothing is to change."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True)
class Groups:
    """Pods by what is known of them (groupPods)."""

    ready: int
    unready: tuple[str, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """What all proposals start from."""

    pods: Sequence[Object]
    replicas: int
    resource: str
    container: str
    tolerances: Tolerances
    now: Instant
    served: Mapping[str, int]


def by_utilization(asked: Question, target: int) -> tuple[int, int, int]:
    """(replicas, percentage, average) for a share of the requests (GetResourceReplicas)."""
    metrics = _metrics(asked)
    if not asked.pods:
        raise MetricsError(_NO_PODS)
    groups = _settled(asked, metrics)
    requests = pod_requests(asked.pods, asked.container, asked.resource)
    if not metrics:
        raise MetricsError(_NO_METRICS)
    ratio, percentage, average = metrics_client.utilization_ratio(metrics, requests, target)

    def again(adjusted: Metrics) -> float:
        return metrics_client.utilization_ratio(adjusted, requests, target)[0]

    fallback = max(100, target)
    full = {name: requests[name] * fallback // 100 for name in groups.missing}
    return _proposal(asked, metrics, groups, ratio, again, full), percentage, average


def by_average(asked: Question, target: int) -> tuple[int, int]:
    """(replicas, average) for an amount a pod in thousandths (GetRawResourceReplicas, calcPlainMetricReplicas)."""
    metrics = _metrics(asked)
    if not asked.pods:
        raise MetricsError(_NO_PODS)
    groups = _settled(asked, metrics)
    if not metrics:
        raise MetricsError(_NO_METRICS)
    ratio, average = metrics_client.usage_ratio(metrics, target)

    def again(adjusted: Metrics) -> float:
        return metrics_client.usage_ratio(adjusted, target)[0]

    full = dict.fromkeys(groups.missing, target)
    return _proposal(asked, metrics, groups, ratio, again, full), average


def _metrics(asked: Question) -> Metrics:
    try:
        return metrics_client.resource_metric(asked.pods, asked.resource, asked.container, asked.now, asked.served)
    except MetricsError as error:
        raise MetricsError(f"unable to get metrics for resource {asked.resource}: {error}") from error


def _settled(asked: Question, metrics: Metrics) -> Groups:
    """The groups; the measurements of pods that are ignored or unready are dropped."""
    groups = group(asked.pods, metrics, asked.resource, asked.now)
    for name in (*groups.ignored, *groups.unready):
        metrics.pop(name, None)
    return groups


def _proposal(
    asked: Question,
    metrics: Metrics,
    groups: Groups,
    ratio: float,
    again: Callable[[Metrics], float],
    full: Mapping[str, int],
) -> int:
    rebalance = bool(groups.unready) and ratio > 1.0
    if not rebalance and not groups.missing:
        return asked.replicas if asked.tolerances.within(ratio) else math.ceil(ratio * groups.ready)
    adjusted = dict(metrics)
    if ratio < 1.0:
        adjusted.update({name: PodMetric(value, asked.now) for name, value in full.items()})
    elif ratio > 1.0:
        adjusted.update({name: PodMetric(0, asked.now) for name in groups.missing})
    if rebalance:
        adjusted.update({name: PodMetric(0, asked.now) for name in groups.unready})
    second = again(adjusted)
    turned = (ratio < 1.0 < second) or (second < 1.0 < ratio)
    if asked.tolerances.within(second) or turned:
        return asked.replicas
    proposed = math.ceil(second * len(adjusted))
    if (second < 1.0 and proposed > asked.replicas) or (second > 1.0 and proposed < asked.replicas):
        return asked.replicas
    return proposed


def group(pods: Iterable[Object], metrics: Metrics, resource: str, now: Instant) -> Groups:
    """Sort the pods by whether their measurements count (groupPods)."""
    ready = 0
    unready, missing, ignored = [], [], []
    for pod in pods:
        name, phase = name_of(pod), (pod.get("status") or {}).get("phase")
        if utils.is_terminating(pod) or phase == "Failed":
            ignored.append(name)
        elif phase == "Pending":
            unready.append(name)
        elif name not in metrics:
            missing.append(name)
        elif resource == "cpu" and _is_initializing(pod, metrics[name], now):
            unready.append(name)
        else:
            ready += 1
    return Groups(ready, tuple(unready), tuple(missing), tuple(ignored))


def _is_initializing(pod: Object, metric: PodMetric, now: Instant) -> bool:
    """Whether the CPU measurement may only show that the pod is starting."""
    condition, started = utils.condition(pod, "Ready"), (pod.get("status") or {}).get("startTime")
    if condition is None or not started or not condition.get("lastTransitionTime"):
        return True
    start, changed = clock.parse(started), clock.parse(condition["lastTransitionTime"])
    unready = condition.get("status") == "False"
    if start + CPU_INITIALIZATION > now:
        return unready or metric.timestamp < changed + metric.window
    return unready and start + INITIAL_READINESS_DELAY > changed


def pod_requests(pods: Iterable[Object], container: str, resource: str) -> dict[str, int]:
    """What each pod, or one container of it, requests in thousandths (calculatePodRequests)."""
    found: dict[str, int] = {}
    for pod in pods:
        spec = pod.get("spec") or {}
        whole = ((spec.get("resources") or {}).get("requests") or {}).get(resource)
        if whole is not None and not container:
            found[name_of(pod)] = quantity.of(whole).milli_value()
            continue
        sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
        total = 0
        for one in [*(spec.get("containers") or ()), *sidecars]:
            if container and one.get("name") != container:
                continue
            request = ((one.get("resources") or {}).get("requests") or {}).get(resource)
            if request is None:
                told = f"missing request for {resource} in container {one.get('name')} of Pod {name_of(pod)}"
                raise MetricsError(told)
            total += quantity.of(request).milli_value()
        found[name_of(pod)] = total
    return found
