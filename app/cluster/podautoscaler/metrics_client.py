"""Measurements by pod, as the autoscaler gets them (pkg/controller/podautoscaler/metrics/client.go, utilization.go).

Resource metrics come from the simulated usage, which metrics.k8s.io serves too; the cluster has no custom or external
metrics API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.apimachinery.clock import Instant, Micros
from app.apimachinery.meta import Object, key_of, name_of, namespace_of
from app.cluster import usage

NO_CUSTOM_METRICS = (
    "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
)
_MILLI = {"cpu": 1, "memory": 1000}


class MetricsError(Exception):
    """There is no measurement to go by; the message is the controller's."""


@dataclass(frozen=True)
class PodMetric:
    """A pod's measurement in thousandths, when it ended and how long it took."""

    value: int
    timestamp: Instant
    window: Micros = usage.RESOLUTION


Metrics = dict[str, PodMetric]


def resource_metric(
    pods: Iterable[Object], resource: str, container: str, now: Instant, served: Mapping[str, int]
) -> Metrics:
    """The usage of each measured pod, or of one container of it (GetResourceMetric); `served` as in `traffic`.

    Raises:
        MetricsError: nothing was measured, or a measured pod has no such container.
    """
    measured = [(pod, used) for pod in pods if (used := usage.of_pod(pod, now, served.get(key_of(pod), 0)))]
    if not measured:
        raise MetricsError("no metrics returned from resource metrics API")
    timestamp = now - now % usage.RESOLUTION
    found: Metrics = {}
    for pod, used in measured:
        if container and container not in used:
            where = f"{namespace_of(pod)}/{name_of(pod)}"
            told = f"container {container} not present in metrics for pod {where}"
            raise MetricsError(f"failed to get container metrics: {told}")
        parts = [used[container]] if container else list(used.values())
        if all(resource in part for part in parts):
            total = sum(part[resource] for part in parts) * _MILLI[resource]
            found[name_of(pod)] = PodMetric(total, timestamp)
    return found


def utilization_ratio(metrics: Metrics, requests: Mapping[str, int], target: int) -> tuple[float, int, int]:
    """The ratio to the target, the percentage of what is requested, the average (GetResourceUtilizationRatio)."""
    known = [name for name in metrics if name in requests]
    total = sum(metrics[name].value for name in known)
    requested = sum(requests[name] for name in known)
    if requested == 0:
        raise MetricsError("no metrics returned matched known pods")
    percentage = total * 100 // requested
    return percentage / target, percentage, total // len(known)


def usage_ratio(metrics: Metrics, target: int) -> tuple[float, int]:
    """The ratio of the average to the target, and the average (GetMetricUsageRatio)."""
    average = sum(metric.value for metric in metrics.values()) // len(metrics)
    return average / target, average
