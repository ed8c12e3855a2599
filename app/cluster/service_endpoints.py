"""Which pods stand behind a service, and where: what both endpoint controllers share.

Mirrors k8s.io/endpointslice/util/controller_utils.go (ShouldPodBeInEndpoints, GetServicesToUpdateOnPodChange,
ShouldSetHostname) and pkg/api/v1/pod/util.go (FindPort).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import clock, labels, meta
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.client import Client
from app.cluster.loops import Context

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"


def concerned(context: Context) -> list[str]:
    """The keys of the services that the news are about; all of them for a loop that knows nothing yet."""
    services = context.client.list("services")
    if utils.first_look(context):
        return [meta.key_of(service) for service in services]
    keys = {meta.key_of(change.object) for change in context.changes if change.resource == "services"}
    selectors = [
        (meta.key_of(service), meta.namespace_of(service), labels.from_map(chosen))
        for service in services
        if (chosen := selector_of(service))
    ]
    for change in context.changes:
        if change.resource != "pods" or not selectors:
            continue
        pods = [pod for pod in (change.previous, change.object) if pod is not None]
        if len(pods) == 2 and change.type == "MODIFIED" and _shown(pods[0]) == _shown(pods[1]):
            continue
        for key, namespace, selector in selectors:
            if namespace == meta.namespace_of(pods[0]) and any(selector.matches(meta.labels_of(p)) for p in pods):
                keys.add(key)
    return sorted(keys)


def _shown(pod: Object) -> tuple[Any, ...]:
    """What of a pod an endpoint shows (podEndpointsChanged)."""
    status, spec = pod.get("status") or {}, pod["spec"]
    place = (status.get("podIPs"), spec.get("nodeName"), spec.get("hostname"), spec.get("subdomain"))
    return (*place, _is_over(pod), utils.is_terminating(pod), utils.is_ready(pod), meta.labels_of(pod))


def selector_of(service: Object) -> dict[str, str]:
    """The service's selector; empty where somebody else keeps its endpoints."""
    spec = service.get("spec") or {}
    return {} if spec.get("type") == "ExternalName" else dict(spec.get("selector") or {})


def pods_of(client: Client, service: Object) -> list[Object]:
    """The pods that the service selects."""
    selector = labels.from_map(selector_of(service))
    pods = client.list("pods", meta.namespace_of(service))
    return [pod for pod in pods if selector.matches(meta.labels_of(pod))]


def takes_part(pod: Object, *, even_terminating: bool) -> bool:
    """Whether a pod belongs among the endpoints at all."""
    if _is_over(pod) or not address_of(pod):
        return False
    return even_terminating or not utils.is_terminating(pod)


def _is_over(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


def address_of(pod: Object) -> str:
    """The pod's address."""
    return str((pod.get("status") or {}).get("podIP") or "")


def ports_of(service: Object, pod: Object) -> list[dict[str, Any]]:
    """The service's ports as the pod serves them; one that the pod does not name is left out."""
    found = []
    for port in (service.get("spec") or {}).get("ports") or []:
        number = _find_port(pod, port)
        if number is None:
            continue
        made = {"name": str(port.get("name") or ""), "port": number, "protocol": str(port.get("protocol") or "TCP")}
        if port.get("appProtocol"):
            made["appProtocol"] = port["appProtocol"]
        found.append(made)
    return found


def _find_port(pod: Object, port: Mapping[str, Any]) -> int | None:
    target = port.get("targetPort") or port.get("port")
    if isinstance(target, int):
        return target
    sidecars = [c for c in pod["spec"].get("initContainers") or [] if c.get("restartPolicy") == "Always"]
    for container in (*pod["spec"]["containers"], *sidecars):
        for offered in container.get("ports") or []:
            same = (offered.get("protocol") or "TCP") == (port.get("protocol") or "TCP")
            if offered.get("name") == target and same:
                return int(offered["containerPort"])
    return None


def hostname_of(service: Object, pod: Object) -> str:
    """The name under which DNS shows the pod."""
    spec = pod["spec"]
    return str(spec.get("hostname") or "") if spec.get("subdomain") == meta.name_of(service) else ""


def target_of(pod: Object) -> dict[str, Any]:
    """An endpoint's reference to its pod."""
    metadata = pod["metadata"]
    return {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}


def is_headless(service: Object) -> bool:
    """Whether the service has no address of its own."""
    return (service.get("spec") or {}).get("clusterIP") in {None, "", "None"}


def labels_for(service: Object, own: Mapping[str, str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """The service's labels, and the ones that mark what a controller made."""
    taken = {key: value for key, value in meta.labels_of(service).items() if key not in {*own, *reserved, HEADLESS}}
    return {**taken, **({HEADLESS: ""} if is_headless(service) else {}), **own}


def trigger(now: Instant) -> dict[str, str]:
    """The annotation that says when the change came about that led to a write."""
    return {TRIGGER_TIME: clock.rfc3339(now)}
