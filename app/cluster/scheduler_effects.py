"""What a scheduling cycle wants written, as API calls and events (pkg/scheduler/schedule_one.go, framework/preemption).

The engine names the effects (see `app.scheduler.schedule_one`); this module carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, Forbidden, NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import logs, persistent_volumes, rbac, users
from app.cluster.loops import Context
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.schedule_one import ScheduleResult, preempted_event

Process = Mapping[str, Any]
Effect = Mapping[str, Any]


def carry_out(context: Context, process: Process, pod: Object, result: ScheduleResult) -> None:
    """Write every effect, in order. StatusError where the API refuses one."""
    context = _as_itself(context, process)
    for effect in result.effects:
        _EFFECTS[effect["effect"]](context, process, pod, effect)
    if result.node:
        _record(context, process, pod, result.event())
        tried, fit = len(result.record.evaluated), len(result.record.feasible)
        told = f'node="{result.node}" evaluatedNodes={tried} feasibleNodes={fit}'
        _log(
            context, process, "schedule_one.go:314", f'"Successfully bound pod to node" pod="{meta.key_of(pod)}" {told}'
        )


def report_failure(context: Context, process: Process, pod: Object, result: ScheduleResult) -> None:
    """The event and the condition of a pod that was not placed, and its nomination (handleSchedulingFailure)."""
    context = _as_itself(context, process)
    _record(context, process, pod, result.event())
    told = f'pod="{meta.key_of(pod)}" err="{result.message}"'
    _log(context, process, "schedule_one.go:1070", f'"Unable to schedule pod; no fit; waiting" {told}')
    _set_condition(context, pod, result.reason, result.message, result.nominated_node)


def report(context: Context, process: Process, pod: Object, reason: str, message: str) -> None:
    """The same for a failure that the engine does not know of."""
    context = _as_itself(context, process)
    event = {"type": "Warning", "reason": "FailedScheduling", "action": "Scheduling", "note": message}
    _record(context, process, pod, event)
    _set_condition(context, pod, reason, message, None)


def _as_itself(context: Context, process: Process) -> Context:
    return context.acting_as(users.named(process["user"]))


def _record(context: Context, process: Process, pod: Object, event: Mapping[str, str]) -> None:
    name = str(pod["spec"].get("schedulerName") or "default-scheduler")
    context.recorder.record_series(
        pod,
        event["type"],
        event["reason"],
        event["action"],
        event["note"],
        controller=name,
        instance=f"{name}-{process['host']}",
    )


def _log(context: Context, process: Process, where: str, message: str) -> None:
    """A line that a scheduler writes from `--v=2` on."""
    if process["verbosity"] >= 2:
        line = logs.klog(context.now, where, message)
        context.logs.write(process["uid"], process["container"], [line])


def _set_condition(context: Context, pod: Object, reason: str, message: str, nominated: str | None) -> None:
    """Write PodScheduled=False; a nomination of None leaves the standing one (updatePod)."""
    current = context.client.find("pods", meta.name_of(pod), meta.namespace_of(pod))
    if current is None or current["metadata"]["uid"] != pod["metadata"]["uid"]:
        return
    new: dict[str, Any] = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "reason": reason,
        "message": message,
    }
    if generation := current["metadata"].get("generation"):
        new["observedGeneration"] = generation
    status = dict(current.get("status") or {})
    status["conditions"] = utils.with_condition(status.get("conditions") or [], new, context.now)
    if nominated is not None:
        status.pop("nominatedNodeName", None)
        if nominated:
            status["nominatedNodeName"] = nominated
    utils.write_status(context, current, status)


def _bind(context: Context, process: Process, pod: Object, effect: Effect) -> None:
    """Assign the pod (plugins/defaultbinder); whoever is no scheduler any more is refused."""
    namespace, name = meta.namespace_of(pod), meta.name_of(pod)
    try:
        request = rbac.Request(process["user"], "create", "pods/binding", "", namespace, name)
        if not process.get("binds") and not rbac.allowed(context.client, request):
            raise Forbidden(rbac.denial(request))
        context.client.bind(namespace, name, effect["node"])
    except StatusError as error:
        raise type(error)(f'running Bind plugin "DefaultBinder": {error.message}') from error


def _evict(context: Context, process: Process, pod: Object, effect: Effect) -> None:
    """End a victim of preemption (framework/preemption/executor.go: preemptPod)."""
    namespace, _, name = str(effect["pod"]).partition("/")
    victim = context.client.find("pods", name, namespace)
    if victim is None:
        return
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{pod['spec'].get('schedulerName')}: preempting to accommodate a higher priority pod",
    }
    status = victim.get("status") or {}
    conditions = utils.with_condition(status.get("conditions") or [], marked, context.now)
    utils.write_status(context, victim, {**status, "conditions": conditions})
    try:
        context.client.delete("pods", name, namespace)
    except (NotFound, Conflict):
        return
    preemptor = str(pod["spec"].get("schedulerName") or "default-scheduler")
    event = preempted_event(PodInfo.of(pod), effect["node"])
    context.recorder.record_series(
        victim,
        event["type"],
        event["reason"],
        event["action"],
        event["note"],
        controller=preemptor,
        instance=f"{preemptor}-{process['host']}",
        related=pod,
    )


def _clear_nomination(context: Context, process: Process, pod: Object, effect: Effect) -> None:
    """A less important pod no longer waits for the node that is being made free."""
    del process, pod
    namespace, _, name = str(effect["pod"]).partition("/")
    found = context.client.find("pods", name, namespace)
    if found is not None:
        status = {key: value for key, value in (found.get("status") or {}).items() if key != "nominatedNodeName"}
        utils.write_status(context, found, status)


def _bind_volume(context: Context, process: Process, pod: Object, effect: Effect) -> None:
    del process
    claim = _claim(context, pod, effect)
    persistent_volumes.tie(context, claim, context.client.get("persistentvolumes", str(effect["volume"])))


def _provision(context: Context, process: Process, pod: Object, effect: Effect) -> None:
    del process
    claim = _claim(context, pod, effect)
    persistent_volumes.tie(context, *persistent_volumes.provision(context, claim, str(effect["node"])))


def _claim(context: Context, pod: Object, effect: Effect) -> Object:
    name = str(effect["claim"]).rpartition("/")[2]
    return context.client.get("persistentvolumeclaims", name, meta.namespace_of(pod))


_EFFECTS: dict[str, Callable[[Context, Process, Object, Effect], None]] = {
    "bind": _bind,
    "bindVolume": _bind_volume,
    "provision": _provision,
    "evict": _evict,
    "clearNomination": _clear_nomination,
}
