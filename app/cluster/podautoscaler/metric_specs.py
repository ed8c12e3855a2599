"""One metric of an autoscaler: the size it proposes, and its status.

Mirrors pkg/controller/podautoscaler/horizontal.go: computeReplicasForMetric and the computeStatusFor… functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.apimachinery.quantity import MILLI, Quantity
from app.apimachinery.validation import quoted
from app.cluster import controller_utils as utils
from app.cluster.podautoscaler import replica_calculator as calculator
from app.cluster.podautoscaler.metrics_client import NO_CUSTOM_METRICS, MetricsError
from app.cluster.podautoscaler.replica_calculator import Question, Tolerances

_NO_TARGET = (
    "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
)


class MetricError(Exception):
    """A metric that proposes nothing: the event's and condition's reason and text, and the text of the whole."""

    def __init__(self, reason: str, told: str, whole: str) -> None:
        super().__init__(whole)
        self.reason = reason
        self.told = told


@dataclass(frozen=True)
class Proposal:
    """How many replicas a metric asks for, what it is called, and its status."""

    replicas: int
    name: str
    status: dict[str, Any]


@dataclass(frozen=True)
class Scaled:
    """What is measured: the pods of the target, its wanted size, and how exact the ratio must be."""

    namespace: str
    pods: Sequence[Object]
    replicas: int
    tolerances: Tolerances
    now: Instant
    served: Mapping[str, int]
    """What the pods spend on answering others."""


def proposal(spec: Mapping[str, Any], scaled: Scaled) -> Proposal:
    """What one metric proposes. MetricError."""
    kind = str(spec.get("type") or "")
    if kind == "Resource":
        return _resource(spec["resource"], scaled)
    if kind == "ContainerResource":
        return _container_resource(spec["containerResource"], scaled)
    if kind == "Pods":
        told = f"unable to get metric {_name(spec['pods'])}: {NO_CUSTOM_METRICS}"
        raise MetricError("FailedGetPodsMetric", told, f"failed to get pods metric value: {told}")
    if kind == "Object":
        raise _no_object(spec["object"], scaled)
    if kind == "External":
        raise _no_external(spec["external"], scaled)
    told = f"unknown metric source type {quoted(kind)}"
    raise MetricError("InvalidMetricSourceType", told, told)


def _name(source: Mapping[str, Any]) -> str:
    return str((source.get("metric") or {}).get("name") or "")


def _resource(source: Mapping[str, Any], scaled: Scaled) -> Proposal:
    """The usage of whole pods (computeStatusForResourceMetric)."""
    try:
        replicas, name, current = _measured(source, "", scaled)
    except MetricsError as error:
        whole = f"failed to get {source['name']} resource metric value: {error}"
        raise MetricError("FailedGetResourceMetric", str(error), whole) from error
    status = {"type": "Resource", "resource": {"name": source["name"], "current": current}}
    return Proposal(replicas, name, status)


def _container_resource(source: Mapping[str, Any], scaled: Scaled) -> Proposal:
    """The usage of one container of each pod (computeStatusForContainerResourceMetric)."""
    container = str(source["container"])
    try:
        replicas, name, current = _measured(source, container, scaled)
    except MetricsError as error:
        whole = f"failed to get {container} container metric value: {error}"
        raise MetricError("FailedGetContainerResourceMetric", str(error), whole) from error
    shown = {"container": container, "name": source["name"], "current": current}
    return Proposal(replicas, name, {"type": "ContainerResource", "containerResource": shown})


def _measured(source: Mapping[str, Any], container: str, scaled: Scaled) -> tuple[int, str, dict[str, Any]]:
    """(replicas, name, current value) (computeStatusForResourceMetricGeneric)."""
    resource, target = str(source["name"]), source["target"]
    asked = Question(scaled.pods, scaled.replicas, resource, container, scaled.tolerances, scaled.now, scaled.served)
    if target.get("averageValue") is not None:
        wanted = quantity.of(target["averageValue"]).milli_value()
        try:
            replicas, average = calculator.by_average(asked, wanted)
        except MetricsError as error:
            raise MetricsError(f"failed to get {resource} usage: {error}") from error
        return replicas, f"{resource} resource", {"averageValue": _milli(average)}
    if target.get("averageUtilization") is None:
        raise MetricsError(_NO_TARGET)
    try:
        replicas, percentage, average = calculator.by_utilization(asked, target["averageUtilization"])
    except MetricsError as error:
        raise MetricsError(f"failed to get {resource} utilization: {error}") from error
    current = {"averageUtilization": percentage, "averageValue": _milli(average)}
    return replicas, f"{resource} resource utilization (percentage of request)", current


def _milli(thousandths: int) -> str:
    return str(Quantity(thousandths * MILLI))


def _no_object(source: Mapping[str, Any], scaled: Scaled) -> MetricError:
    """The arguments stand in upstream's own order (GetObjectMetricReplicas)."""
    described = source.get("describedObject") or {}
    where = f"{described.get('kind')} on {scaled.namespace} {described.get('name')}"
    told = f"unable to get metric {_name(source)}: {where}/{NO_CUSTOM_METRICS}"
    whole = f"failed to get object metric value: failed to get {_name(source)} object metric: {told}"
    return MetricError("FailedGetObjectMetric", told, whole)


def _no_external(source: Mapping[str, Any], scaled: Scaled) -> MetricError:
    name = _name(source)
    selector = (source.get("metric") or {}).get("selector")
    told = (
        f"unable to get external metric {scaled.namespace}/{name}/{utils.go_selector(selector)}: "
        "unable to fetch metrics from external metrics API: "
        f"the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
    )
    whole = f"failed to get {name} external metric value: failed to get {name} external metric: {told}"
    return MetricError("FailedGetExternalMetric", told, whole)
