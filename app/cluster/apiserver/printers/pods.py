"""The row of a pod (pkg/printers/internalversion/printers.go: printPod)."""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import (
    AGE,
    NAME,
    NONE,
    Cells,
    Column,
    Printer,
    age,
    name_of,
    since,
    text,
)

_COMPLETED = {
    "Succeeded": {
        "type": "Completed",
        "status": "True",
        "reason": "Succeeded",
        "message": "The pod has completed successfully.",
    },
    "Failed": {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."},
}


@dataclass
class _Tally:
    """What the container statuses add up to while they are walked through."""

    reason: str
    total: int
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count(self, status: Object) -> None:
        self.restarts += int(status.get("restartCount", 0))
        ended = status.get("lastState", {}).get("terminated") or {}
        self.last_restart = max(self.last_restart, ended.get("finishedAt") or "")


def status_of(pod: Object) -> str:
    """The STATUS column of a pod: `Pending`, `Init:0/1`, `CrashLoopBackOff`, `Terminating` and so on."""
    return _tally(pod).reason


def _tally(pod: Object) -> _Tally:
    status = pod.get("status", {})
    init_containers = {c.get("name"): c for c in pod.get("spec", {}).get("initContainers") or []}
    sidecars = {name for name, c in init_containers.items() if c.get("restartPolicy") == "Always"}
    conditions = {c.get("type"): c for c in status.get("conditions") or []}
    reason = status.get("reason") or status.get("phase", "")
    if conditions.get("PodScheduled", {}).get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    tally = _Tally(reason=reason, total=len(pod.get("spec", {}).get("containers") or []) + len(sidecars))
    initializing = _walk_init_containers(tally, status, sidecars, len(init_containers))
    if not initializing or conditions.get("Initialized", {}).get("status") == "True":
        tally.restarts, tally.last_restart = 0, ""
        for container in status.get("initContainerStatuses") or []:
            if container.get("name") in sidecars:
                tally.count(container)
        _walk_containers(tally, status, pod_ready=conditions.get("Ready", {}).get("status") == "True")
    if pod.get("metadata", {}).get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            tally.reason = "Unknown"
        elif status.get("phase") not in ("Succeeded", "Failed"):
            tally.reason = "Terminating"
    return tally


def _walk_init_containers(tally: _Tally, status: Object, sidecars: set[str], total: int) -> bool:
    """Whether an init container is what the pod waits for; its state is then the reason."""
    for index, container in enumerate(status.get("initContainerStatuses") or []):
        tally.count(container)
        state = container.get("state", {})
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if terminated is not None and not terminated.get("exitCode", 0):
            continue
        if container.get("name") in sidecars and container.get("started"):
            tally.ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            tally.reason = f"Init:{_termination(terminated)}"
        elif waiting.get("reason") not in (None, "", "PodInitializing"):
            tally.reason = f"Init:{waiting['reason']}"
        else:
            tally.reason = f"Init:{index}/{total}"
        return True
    return False


def _walk_containers(tally: _Tally, status: Object, *, pod_ready: bool) -> None:
    running = False
    for container in reversed(status.get("containerStatuses") or []):
        tally.count(container)
        state = container.get("state", {})
        if (state.get("waiting") or {}).get("reason"):
            tally.reason = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            tally.reason = _termination(state["terminated"])
        elif container.get("ready") and state.get("running") is not None:
            running = True
            tally.ready += 1
    if tally.reason == "Completed" and running:
        tally.reason = "Running" if pod_ready else "NotReady"


def _termination(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _readiness_gates(pod: Object) -> str:
    gates = pod.get("spec", {}).get("readinessGates") or []
    if not gates:
        return NONE
    status = {c.get("type"): c.get("status") for c in pod.get("status", {}).get("conditions") or []}
    return f"{sum(status.get(gate.get('conditionType')) == 'True' for gate in gates)}/{len(gates)}"


def _cells(pod: Object, now: Instant) -> Cells:
    tally = _tally(pod)
    restarts = str(tally.restarts)
    if tally.restarts and tally.last_restart:
        restarts = f"{tally.restarts} ({since(tally.last_restart, now)} ago)"
    status = pod.get("status", {})
    addresses = status.get("podIPs") or [{}]
    return [
        name_of(pod),
        f"{tally.ready}/{tally.total}",
        tally.reason,
        restarts,
        age(pod, now),
        addresses[0].get("ip") or NONE,
        pod.get("spec", {}).get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(pod),
    ]


def _conditions(pod: Object) -> list[Object]:
    condition = _COMPLETED.get(pod.get("status", {}).get("phase", ""))
    return [dict(condition)] if condition else []


PRINTERS = {
    "pods": Printer(
        columns=(
            NAME,
            text("Ready"),
            text("Status"),
            Column("Restarts"),
            AGE,
            text("IP", wide=True),
            text("Node", wide=True),
            text("Nominated Node", wide=True),
            text("Readiness Gates", wide=True),
        ),
        cells=_cells,
        conditions=_conditions,
    ),
}
