"""Scales workloads by what their pods use (pkg/controller/podautoscaler/horizontal.go).

An autoscaler is looked at 15 s after its creation and every 15 s from then on, by an idle timer of its own; nothing is
written where nothing changes. What upstream's controller keeps in its process (recommendations, changes, selectors) is
the loop's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery import clock, labels, meta, quantity
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster import controller_utils as utils
from app.cluster import events, traffic
from app.cluster.apiserver.printers.base import selector_text
from app.cluster.loops import Context
from app.cluster.podautoscaler import metric_specs, scaling_rules
from app.cluster.podautoscaler.metric_specs import MetricError, Scaled
from app.cluster.podautoscaler.replica_calculator import TOLERANCE, Tolerances
from app.cluster.podautoscaler.scaling_rules import Bounds

NAME = "horizontal-pod-autoscaler-controller"
COMPONENT = "horizontal-pod-autoscaler"
WATCHES = frozenset({"horizontalpodautoscalers"})
RESYNC: Micros = 15 * SECOND
"""How often each autoscaler is looked at (--horizontal-pod-autoscaler-sync-period)."""

_SYNC = "sync:"
_UNABLE_TO_GET = "the HPA controller was unable to get the target's current scale: "


class ScaleError(Exception):
    """The target has no scale that can be read."""


class NoReplicasError(Exception):
    """No metric says how many replicas there should be."""


def sync(context: Context) -> None:
    """Look at the autoscalers whose time has come, and begin with new ones."""
    if utils.first_look(context):
        _begin_all(context)
    for change in context.changes:
        uid = str(change.object["metadata"]["uid"])
        if change.type == "DELETED":
            context.state.pop(uid, None)
            context.cancel(_SYNC + uid)
        elif context.timers.get(context.loop, _SYNC + uid) is None and _SYNC + uid not in context.fired:
            context.wake(_SYNC + uid, context.now + RESYNC, idle=True)
    due = {key.removeprefix(_SYNC) for key in context.fired}
    if not due:
        return
    for autoscaler in context.client.list("horizontalpodautoscalers"):
        uid = autoscaler["metadata"]["uid"]
        if uid in due:
            _Reconciliation(context, autoscaler, context.state.setdefault(uid, {})).run()
            context.wake(_SYNC + uid, context.now + RESYNC, idle=True)


def _begin_all(context: Context) -> None:
    uids = {str(found["metadata"]["uid"]) for found in context.client.list("horizontalpodautoscalers")}
    for uid in sorted(uids):
        if context.timers.get(context.loop, _SYNC + uid) is None and _SYNC + uid not in context.fired:
            context.wake(_SYNC + uid, context.now + RESYNC, idle=True)
    for uid in [key for key in context.state if key != "begun" and key not in uids]:
        del context.state[uid]
        context.cancel(_SYNC + uid)


@dataclass
class _Reconciliation:
    """One look at one autoscaler (reconcileAutoscaler)."""

    context: Context
    autoscaler: Object
    memory: dict[str, Any]
    conditions: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.spec: Mapping[str, Any] = self.autoscaler.get("spec") or {}
        self.status: Mapping[str, Any] = self.autoscaler.get("status") or {}
        self.conditions = list(self.status.get("conditions") or ())
        self.namespace = meta.namespace_of(self.autoscaler)

    def run(self) -> None:
        """Find the size, scale, and write the status where it changed."""
        try:
            info, target = self._target()
        except ScaleError as error:
            self._record(events.WARNING, "FailedGetScale", str(error))
            self._condition("AbleToScale", "FailedGetScale", _UNABLE_TO_GET + str(error), true=False)
            self._write(dict(self.status))
            return
        told = "the HPA controller was able to get the target's current scale"
        self._condition("AbleToScale", "SucceededGetScale", told)
        current = int((target.get("spec") or {}).get("replicas", 1))
        scaling_rules.begin(self.memory, current, self.context.now)
        try:
            desired, reason = self._desired(target, current)
        except NoReplicasError as error:
            self._write_sizes(current, int(self.status.get("desiredReplicas") or 0))
            self._record(events.WARNING, "FailedComputeMetricsReplicas", str(error))
            return
        if desired == current:
            self._write_sizes(current, current)
        else:
            self._rescale(info, target, current, desired, reason)

    def _target(self) -> tuple[KindInfo, Object]:
        """What is scaled. ScaleError."""
        reference = self.spec.get("scaleTargetRef") or {}
        version, kind, name = (str(reference.get(part) or "") for part in ("apiVersion", "kind", "name"))
        if version.count("/") > 1:
            raise ScaleError(f"unexpected GroupVersion string: {version}")
        group = version.rpartition("/")[0]
        info = next((one for one in scheme.KINDS if (one.group, one.kind) == (group, kind)), None)
        if info is None:
            raise ScaleError(f'no matches for kind "{kind}" in group "{group}"')
        if "scale" not in info.subresources:
            raise ScaleError("the server could not find the requested resource")
        target = self.context.client.find(info, name, self.namespace)
        if target is None:
            raise ScaleError(_not_found(info, name))
        return info, target

    def _desired(self, target: Object, current: int) -> tuple[int, str]:
        """(size, why). NoReplicasError."""
        lowest, highest = int(self.spec.get("minReplicas", 1)), int(self.spec.get("maxReplicas") or 0)
        if current == 0 and lowest != 0:
            told = "scaling is disabled since the replica count of the target is zero"
            self._condition("ScalingActive", "ScalingDisabled", told, true=False)
            return 0, ""
        if current > highest:
            return highest, "Current number of replicas above Spec.MaxReplicas"
        if current < lowest:
            return lowest, "Current number of replicas below Spec.MinReplicas"
        wanted, metric = self._proposed(target, current)
        reason = f"{metric if wanted > 0 else ''} above target" if wanted > current else "All metrics below target"
        behavior = self.spec.get("behavior")
        result = scaling_rules.normalized(
            Bounds(current, wanted, lowest, highest), behavior, self.memory, self.context.now
        )
        self._condition("AbleToScale", *result.able)
        self._condition("ScalingLimited", *result.limit, true=result.limited)
        return result.replicas, reason

    def _proposed(self, target: Object, current: int) -> tuple[int, str]:
        """The largest proposal and its metric (computeReplicasForMetrics). NoReplicasError."""
        pods = self._pods(target)
        served = traffic.served(self.context.client.list("pods"), self.context.client.list("services"))
        scaled = Scaled(self.namespace, pods, current, self._tolerances(), self.context.now, served)
        specs = self.spec.get("metrics") or ()
        self.statuses = [{"type": ""} for _ in specs]
        replicas, metric = 0, ""
        failures: list[MetricError] = []
        for index, spec in enumerate(specs):
            try:
                found = metric_specs.proposal(spec, scaled)
            except MetricError as error:
                self._record(events.WARNING, error.reason, error.told)
                failures.append(error)
                continue
            self.statuses[index] = found.status
            if replicas == 0 or found.replicas > replicas:
                replicas, metric = found.replicas, found.name
        if len(failures) >= len(specs) or (failures and replicas < current):
            first = failures[0]
            told = f"the HPA was unable to compute the replica count: {first.told}"
            self._condition("ScalingActive", first.reason, told, true=False)
            counts = f"{len(failures)} invalid out of {len(specs)}"
            raise NoReplicasError(f"invalid metrics ({counts}), first error is: {first}")
        told = f"the HPA was able to successfully calculate a replica count from {metric}"
        self._condition("ScalingActive", "ValidMetricFound", told)
        return replicas, metric

    def _pods(self, target: Object) -> list[Object]:
        """The pods that the target's scale selects (validateAndParseSelector). NoReplicasError."""
        selector = (target.get("spec") or {}).get("selector")
        if target["kind"] == "ReplicationController":
            selector = {"matchLabels": selector} if selector else None
        text = selector_text(selector)
        if not text:
            told = "selector is required"
            self._record(events.WARNING, "SelectorRequired", told)
            missing = "the HPA target's scale is missing a selector"
            self._condition("ScalingActive", "InvalidSelector", missing, true=False)
            raise NoReplicasError(told)
        chosen = labels.from_label_selector(selector)
        self.memory["selector"] = text
        pods = [pod for pod in self.context.client.list("pods", self.namespace) if chosen.matches(meta.labels_of(pod))]
        rivals = self._selecting(pods)
        if len(rivals) > 1:
            told = f"pods by selector {text} are controlled by multiple HPAs: [{' '.join(rivals)}]"
            self._record(events.WARNING, "AmbiguousSelector", told)
            self._condition("ScalingActive", "AmbiguousSelector", told, true=False)
            raise NoReplicasError(told)
        return pods

    def _selecting(self, pods: list[Object]) -> list[str]:
        """The autoscalers of the namespace that select any of the pods (hpasControllingPodsUnderSelector)."""
        found = []
        for other in self.context.client.list("horizontalpodautoscalers", self.namespace):
            text = (self.context.state.get(other["metadata"]["uid"]) or {}).get("selector")
            if text:
                chosen = labels.parse_selector(text)
                if any(chosen.matches(meta.labels_of(pod)) for pod in pods):
                    found.append(meta.key_of(other))
        return found

    def _tolerances(self) -> Tolerances:
        behavior = self.spec.get("behavior") or {}
        given = [(behavior.get(side) or {}).get("tolerance") for side in ("scaleDown", "scaleUp")]
        down, up = (TOLERANCE if one is None else quantity.of(one).nanos / quantity.ONE for one in given)
        return Tolerances(down, up)

    def _rescale(self, info: KindInfo, target: Object, current: int, desired: int, reason: str) -> None:
        change = {"spec": {"replicas": desired}}
        try:
            self.context.client.patch(info, meta.name_of(target), self.namespace, change, "merge", door="scale")
        except StatusError as error:
            told = f"New size: {desired}; reason: {reason}; error: {error.message}"
            self._record(events.WARNING, "FailedRescale", told)
            unable = f"the HPA controller was unable to update the target scale: {error.message}"
            self._condition("AbleToScale", "FailedUpdateScale", unable, true=False)
            self.statuses = self.status.get("currentMetrics")
            self._write_sizes(current, int(self.status.get("desiredReplicas") or 0))
            return
        told = f"the HPA controller was able to update the target scale to {desired}"
        self._condition("AbleToScale", "SucceededRescale", told)
        self._record(events.NORMAL, "SuccessfulRescale", f"New size: {desired}; reason: {reason}")
        now = self.context.now
        scaling_rules.store_change(self.spec.get("behavior"), self.memory, current, desired, now)
        self._write_sizes(current, desired, clock.rfc3339(now))

    def _record(self, kind: str, reason: str, message: str) -> None:
        self.context.recorder.record(self.autoscaler, kind, reason, message, component=COMPONENT)

    def _condition(self, kind: str, reason: str, message: str, *, true: bool = True) -> None:
        new = {"type": kind, "status": "True" if true else "False", "reason": reason, "message": message}
        self.conditions = utils.with_condition(self.conditions, new, self.context.now)

    def _write_sizes(self, current: int, desired: int, scaled_at: str = "") -> None:
        """The whole status anew (setStatus)."""
        status: dict[str, Any] = {"desiredReplicas": desired, "currentMetrics": self.statuses}
        if current:
            status["currentReplicas"] = current
        last = scaled_at or self.status.get("lastScaleTime")
        if last:
            status["lastScaleTime"] = last
        self._write(status)

    def _write(self, status: dict[str, Any]) -> None:
        utils.write_status(self.context, self.autoscaler, {**status, "conditions": self.conditions})


def _not_found(info: KindInfo, name: str) -> str:
    """A missing target in the words of its scale (pkg/registry/apps/*/storage: ScaleREST.Get)."""
    if info.kind == "StatefulSet":
        return f'{info.group_resource} "{name}" not found'
    group = info.group or "autoscaling"
    return f'{info.plural}/scale.{group} "{name}" not found'
