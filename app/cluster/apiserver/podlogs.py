"""The log subresource of a pod.

Mirrors pkg/registry/core/pod/strategy.go: LogLocation for which container is meant, and
pkg/kubelet/kubelet_pods.go: validateContainerLogStatus for whether there is a log yet.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served

_PULLING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def get(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """What a container has printed, as text. `follow` ends with what is there. BadRequest where there is none."""
    pod = cluster.client.get(target.info, target.name, target.namespace)
    container = _container(pod, request.param("container"))
    previous = request.flag("previous")
    tail, limit = request.number("tailLines"), request.number("limitBytes")
    for name, value in (("tailLines", tail), ("limitBytes", limit)):
        if value is not None and value < 0:
            raise BadRequest(f"{name}: Invalid value: {value}: must be greater than or equal to 0")
    if not pod["spec"].get("nodeName"):
        return ApiResponse.plain("")
    _refuse_unstarted(pod, container, previous=previous)
    lines = cluster.logs(target.namespace, target.name, container, previous=previous)
    if tail is not None:
        lines = lines[max(len(lines) - tail, 0) :]
    text = "".join(f"{line}\n" for line in lines)
    if limit is not None:
        text = text.encode()[:limit].decode(errors="ignore")
    return ApiResponse.plain(text)


def _container(pod: Object, asked: str) -> str:
    spec = pod["spec"]
    names = [str(container["name"]) for container in spec.get("containers") or []]
    init = [str(container["name"]) for container in spec.get("initContainers") or []]
    name = pod["metadata"]["name"]
    ephemeral = [str(container["name"]) for container in spec.get("ephemeralContainers") or []]
    if asked in {*names, *init, *ephemeral}:
        return asked
    if asked:
        raise BadRequest(f"container {asked} is not valid for pod {name}")
    if len(names) == 1 and not init:
        return names[0]
    choice = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    if init:
        choice += f" or one of the init containers: [{' '.join(init)}]"
    raise BadRequest(choice)


def _refuse_unstarted(pod: Object, container: str, *, previous: bool) -> None:
    status = _status_of(pod, container)
    where = f'container "{container}" in pod "{pod["metadata"]["name"]}"'
    ended_before = (status.get("lastState") or {}).get("terminated")
    if previous and not ended_before:
        raise BadRequest(f"previous terminated {where} not found")
    state = status.get("state") or {}
    if previous or ended_before or "running" in state or "terminated" in state:
        return
    reason = str((state.get("waiting") or {}).get("reason") or "")
    if not reason:
        raise BadRequest(f"{where} is not available")
    raise BadRequest(f"{where} is waiting to start: {_PULLING.get(reason, reason)}")


def _status_of(pod: Object, container: str) -> dict[str, Any]:
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for known in status.get(field) or []:
            if known.get("name") == container:
                return dict(known)
    return {}
