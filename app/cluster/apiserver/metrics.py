"""metrics.k8s.io: what `kubectl top` reads (sigs.k8s.io/metrics-server/pkg/api: node.go, pod.go).

The lab has these figures without a metrics-server Deployment: they are computed from the objects when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from app.apimachinery import clock
from app.apimachinery.errors import MethodNotAllowed, NotFound
from app.apimachinery.meta import Object, key_of, labels_of, name_of, namespace_of
from app.apis import scheme
from app.cluster import traffic, usage
from app.cluster.apiserver import reading, tables
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.measured_kinds import NODE_METRICS, VERSION
from app.cluster.apiserver.negotiation import Form, negotiate
from app.cluster.apiserver.paths import NO_RESOURCE, Target
from app.cluster.apiserver.printers.base import NAME, Cells, Column, Printer
from app.cluster.apiserver.served import Served

_NODES, _PODS = scheme.for_resource("nodes"), scheme.for_resource("pods")
_SERVICES = scheme.for_resource("services")
_WINDOW = f"{usage.RESOLUTION // clock.SECOND}s"
_COLUMNS = (NAME, Column("cpu"), Column("memory"), Column("Window"))


def serve(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """GET of one measurement or of those that the selectors leave. MethodNotAllowed, NotFound."""
    if target.subresource:
        raise NotFound(NO_RESOURCE)
    if request.method != "GET" or request.is_watch:
        raise MethodNotAllowed("the server does not allow this method on the requested resource")
    form = negotiate(request.accept, Form.TABLE)
    measured = _nodes if target.info == NODE_METRICS else _pods
    found = list(measured(cluster, target, reading.selector(request, target)))
    if form is Form.TABLE:
        return ApiResponse.of(tables.table(Printer(_COLUMNS, _cells), found, cluster.now))
    if not target.name:
        return ApiResponse.of(_list(target, found))
    if not found:
        name = f"{target.namespace}/{target.name}" if target.namespace else target.name
        resource = target.info.kind.lower()
        details = {"name": name, "group": target.info.group, "kind": resource}
        raise NotFound(f'{resource}.{target.info.group} "{name}" not found', details=details)
    return ApiResponse.of(found[0])


def _list(target: Target, found: list[Object]) -> Object:
    items = [{key: value for key, value in one.items() if key not in {"kind", "apiVersion"}} for one in found]
    info = target.info
    return {"kind": f"{info.kind}List", "apiVersion": info.api_version, "metadata": {}, "items": items}


def _pods(cluster: Served, target: Target, about: Callable[[Object], bool]) -> Iterable[Object]:
    served = traffic.served(cluster.client.list(_PODS), cluster.client.list(_SERVICES))
    for pod in cluster.client.list(_PODS, target.namespace or None):
        if about(pod) and (used := usage.of_pod(pod, cluster.now, served.get(key_of(pod), 0))):
            containers = [{"name": name, "usage": _quantities(one)} for name, one in used.items()]
            yield {**_head(cluster, target, pod), "containers": containers}


def _nodes(cluster: Served, target: Target, about: Callable[[Object], bool]) -> Iterable[Object]:
    """Nodes whose kubelet answers and has been asked twice."""
    served = traffic.served(cluster.client.list(_PODS), cluster.client.list(_SERVICES))
    placed: dict[str, list[Object]] = {}
    for pod in cluster.client.list(_PODS):
        placed.setdefault((pod.get("spec") or {}).get("nodeName") or "", []).append(pod)
    for node in cluster.client.list(_NODES):
        age = cluster.now - clock.parse(node["metadata"]["creationTimestamp"])
        if about(node) and age >= usage.FIRST_MEASURED and _is_ready(node):
            used = usage.of_node(node, placed.get(name_of(node), ()), served)
            yield {**_head(cluster, target, node), "usage": _quantities(used)}


def _is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _head(cluster: Served, target: Target, obj: Object) -> Object:
    """What both kinds begin with; the measurement is of the last whole interval."""
    metadata: dict[str, Any] = {"name": name_of(obj), "creationTimestamp": clock.rfc3339(cluster.now)}
    if namespace := namespace_of(obj):
        metadata["namespace"] = namespace
    if labels := labels_of(obj):
        metadata["labels"] = dict(labels)
    measured = cluster.now - cluster.now % usage.RESOLUTION
    return {
        "kind": target.info.kind,
        "apiVersion": f"{target.info.group}/{VERSION}",
        "metadata": metadata,
        "timestamp": clock.rfc3339(measured),
        "window": _WINDOW,
    }


def _quantities(used: usage.Usage) -> dict[str, str]:
    """CPU in billionths of a core and memory in KiB, as kubelets measure."""
    return {"cpu": f"{used['cpu'] * 1_000_000}n" if used["cpu"] else "0", "memory": f"{used['memory'] >> 10}Ki"}


def _cells(obj: Object, _: int) -> Cells:
    parts = [one["usage"] for one in obj.get("containers") or ({"usage": obj.get("usage") or {}},)]
    cpu = sum(int(part["cpu"].removesuffix("n")) for part in parts)
    memory = sum(int(part["memory"].removesuffix("Ki")) for part in parts)
    return [name_of(obj), f"{cpu}n" if cpu else "0", f"{memory}Ki", obj["window"]]
