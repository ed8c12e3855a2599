"""The status that a kubelet writes for a pod, computed from its record (kubelet_pods.go: generateAPIPodStatus).

A record is the kubelet's own JSON memory of one pod; `pod_worker` changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.nodes import images, resize_status, restart_policy
from app.cluster.nodes.admit import Rejection

Record = dict[str, Any]
_KUBELETS = (
    resize_status.PENDING,
    resize_status.IN_PROGRESS,
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
_RESTARTABLE = "Always"


def containers_of(pod: Object) -> list[dict[str, Any]]:
    """The init containers and the containers, in starting order."""
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """An init container that keeps running (restartPolicy: Always)."""
    return container.get("restartPolicy") == _RESTARTABLE


def rejected(pod: Object, rejection: Rejection, now: Instant) -> dict[str, Any]:
    """The status of a pod that the kubelet refuses (pkg/kubelet/kubelet.go: rejectPod)."""
    status = {**(pod.get("status") or {})}
    status.update(
        {
            "phase": "Failed",
            "reason": rejection.reason,
            "message": rejection.message,
            "startTime": clock.rfc3339(now),
        }
    )
    return status


def of(pod: Object, record: Record, host_ip: str, now: Instant) -> dict[str, Any]:
    """The whole status at `now`."""
    init = pod["spec"].get("initContainers") or []
    main = pod["spec"]["containers"]
    states = record["containers"]
    phase = _last_phase(pod, states) if record["stage"] == "ended" else _phase(pod, states)
    before = pod.get("status") or {}
    status: dict[str, Any] = {key: before[key] for key in ("nominatedNodeName", "resize") if key in before}
    generation = pod["metadata"].get("generation")
    if generation:
        status["observedGeneration"] = generation
    status["phase"] = phase
    status["conditions"] = _conditions(pod, record, phase, now)
    status["hostIP"] = host_ip
    status["hostIPs"] = [{"ip": host_ip}]
    ip = host_ip if pod["spec"].get("hostNetwork") else record.get("ip")
    if ip and record.get("sandbox"):
        status["podIP"] = ip
        status["podIPs"] = [{"ip": ip}]
    status["startTime"] = clock.rfc3339(record["since"])
    if init:
        status["initContainerStatuses"] = [_container(container, record, init=True) for container in init]
    status["containerStatuses"] = [_container(container, record, init=False) for container in main]
    added = [container for container in pod["spec"].get("ephemeralContainers") or [] if container["name"] in states]
    if added:
        status["ephemeralContainerStatuses"] = [_ephemeral(container, record) for container in added]
    status["qosClass"] = before.get("qosClass") or qos_class(pod)
    return status


def _phase(pod: Object, states: Mapping[str, Record]) -> str:
    """Mirrors pkg/kubelet/kubelet_pods.go: getPhase."""
    for container in pod["spec"].get("initContainers") or []:
        state = states[container["name"]]
        if is_sidecar(container):
            if state["state"] == "waiting" and not state.get("last"):
                return "Pending"
        elif state["state"] == "terminated" and state["code"] != 0:
            return "Pending" if restart_policy.starts_again(pod, container, state["code"]) else "Failed"
        elif state["state"] != "terminated":
            return "Pending"
    main = [states[container["name"]] for container in pod["spec"]["containers"]]
    if any(state["state"] == "waiting" and not state.get("last") for state in main):
        return "Pending"
    if any(state["state"] == "running" for state in main):
        return "Running"
    if any(state["state"] == "waiting" for state in main) or any(
        restart_policy.starts_again(pod, container, states[container["name"]]["code"])
        for container in pod["spec"]["containers"]
    ):
        return "Running"
    return "Succeeded" if all(state["code"] == 0 for state in main) else "Failed"


def _last_phase(pod: Object, states: Mapping[str, Record]) -> str:
    """The phase of a pod that has been stopped, whatever its restart policy (getPhase, of a terminal pod)."""
    if "kubernetes.io/config.source" in meta.annotations_of(pod):
        return _phase(pod, states)
    main = [states[container["name"]] for container in pod["spec"]["containers"]]
    return "Succeeded" if all(_succeeded(state) for state in main) else "Failed"


def is_initialized(pod: Object, states: Mapping[str, Record]) -> bool:
    """Whether every init container is done, and every sidecar has started."""
    for container in pod["spec"].get("initContainers") or []:
        state = states[container["name"]]
        if is_sidecar(container):
            if state["state"] != "running":
                return False
        elif not (state["state"] == "terminated" and state["code"] == 0):
            return False
    return True


def _conditions(pod: Object, record: Record, phase: str, now: Instant) -> list[dict[str, Any]]:
    """The kubelet's own conditions in front of everybody else's (pkg/kubelet/status/generate.go)."""
    states = record["containers"]
    old = (pod.get("status") or {}).get("conditions") or []
    done = phase in {"Succeeded", "Failed"}
    initialized = done or is_initialized(pod, states)
    unready = [c["name"] for c in pod["spec"]["containers"] if not states[c["name"]].get("ready")]
    generation = pod["metadata"].get("generation")

    def make(kind: str, holds: bool, reason: str = "", message: str = "") -> dict[str, Any]:
        made: dict[str, Any] = {"type": kind, "status": "True" if holds else "False", "lastProbeTime": None}
        if reason:
            made["reason"] = reason
        if message:
            made["message"] = message
        if generation:
            made["observedGeneration"] = generation
        return made

    if phase == "Succeeded":
        why = ("PodCompleted", "")
    elif phase == "Failed":
        why = ("PodFailed", "")
    else:
        why = ("ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    incomplete = [
        c["name"] for c in pod["spec"].get("initContainers") or [] if states[c["name"]]["state"] != "terminated"
    ]
    not_initialized = ("ContainersNotInitialized", f"containers with incomplete status: [{' '.join(incomplete)}]")
    ready = not unready and not done
    own = [
        make("PodReadyToStartContainers", bool(record.get("sandbox")) and not done),
        make(
            "Initialized",
            initialized,
            *(() if initialized and not done else ("PodCompleted",) if done else not_initialized),
        ),
        make("Ready", ready, *(() if ready else why)),
        make("ContainersReady", ready, *(() if ready else why)),
        make("PodScheduled", True),
    ]
    if not done and initialized:
        own[1].pop("reason", None)
    result: list[dict[str, Any]] = []
    for new in [*resize_status.conditions(record), *own]:
        result += utils.with_condition([found for found in old if found.get("type") == new["type"]], new, now)
    return result + [dict(found) for found in old if found.get("type") not in _KUBELETS]


def _container(container: Mapping[str, Any], record: Record, *, init: bool) -> dict[str, Any]:
    name = container["name"]
    state = record["containers"][name]
    reference = images.parse(str(container.get("image") or ""))
    status: dict[str, Any] = {
        "name": name,
        "state": _state(state),
        "lastState": {"terminated": _terminated(state["last"])} if state.get("last") else {},
        "ready": bool(state.get("ready")) or (init and not is_sidecar(container) and _succeeded(state)),
        "restartCount": state.get("restarts", 0),
        "image": str(reference) if reference and state.get("id") else container.get("image", ""),
        "imageID": _image_id(reference) if reference and state.get("id") else "",
    }
    if state.get("id"):
        status["containerID"] = f"containerd://{state['id']}"
    status["started"] = state["state"] == "running"
    if state["state"] == "running":
        allocated, actual = resize_status.shown(record, container)
        if allocated.get("requests"):
            status["allocatedResources"] = allocated["requests"]
        status["resources"] = {part: actual[part] for part in ("limits", "requests") if actual.get(part)}
    return status


def _ephemeral(container: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """An ephemeral container is never ready: nothing probes it."""
    status = _container(container, record, init=False)
    del status["started"]
    return {**status, "ready": False}


def _succeeded(state: Record) -> bool:
    return bool(state["state"] == "terminated" and state["code"] == 0)


def _image_id(reference: images.Reference) -> str:
    return f"{reference.repository}@sha256:{hashlib.sha256(str(reference).encode()).hexdigest()}"


def _state(state: Record) -> dict[str, Any]:
    if state["state"] == "running":
        return {"running": {"startedAt": clock.rfc3339(state["since"])}}
    if state["state"] == "terminated":
        return {"terminated": _terminated(state)}
    waiting = {"reason": state["reason"]}
    if state.get("message"):
        waiting["message"] = state["message"]
    return {"waiting": waiting}


def _terminated(state: Record) -> dict[str, Any]:
    code = state["code"]
    ended: dict[str, Any] = {
        "exitCode": code,
        "reason": state.get("ending") or ("Completed" if code == 0 else "Error"),
        "startedAt": clock.rfc3339(state["since"]) if state["since"] else None,
        "finishedAt": clock.rfc3339(state["until"]) if state["until"] else None,
    }
    if state.get("detail"):
        ended["message"] = state["detail"]
    if state.get("id"):
        ended["containerID"] = f"containerd://{state['id']}"
    return ended


def qos_class(pod: Object) -> str:
    """Guaranteed, Burstable or BestEffort (pkg/apis/core/v1/helper/qos/qos.go: ComputePodQOS)."""
    found: dict[str, list[Mapping[str, Any]]] = {"requests": [], "limits": []}
    for container in containers_of(pod):
        resources = container.get("resources") or {}
        for part, lists in found.items():
            lists.append({k: v for k, v in (resources.get(part) or {}).items() if k in {"cpu", "memory"}})
    if not any(found["requests"]) and not any(found["limits"]):
        return "BestEffort"
    full = all(set(limits) == {"cpu", "memory"} for limits in found["limits"])
    same = all(
        {**limits, **requests} == dict(limits)
        for requests, limits in zip(found["requests"], found["limits"], strict=True)
    )
    return "Guaranteed" if full and same else "Burstable"


def status_key(pod: Object) -> str:
    """How a pod is named in the kubelet's messages: `name_namespace(uid)`."""
    return f"{meta.name_of(pod)}_{meta.namespace_of(pod)}({pod['metadata']['uid']})"
