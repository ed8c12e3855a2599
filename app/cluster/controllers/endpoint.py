"""Keeps the Endpoints of services with a selector (pkg/controller/endpoint/endpoints_controller.go: syncService)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, Forbidden, NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster import service_endpoints as shared
from app.cluster.loops import Context

NAME = "endpoint-controller"
WATCHES = frozenset({"services", "pods", "endpoints"})
_MANAGED_BY = {"endpoints.kubernetes.io/managed-by": NAME}

Address = dict[str, Any]
Port = dict[str, Any]


def sync(context: Context) -> None:
    """Look at the services that the news are about, and at those whose Endpoints were deleted."""
    deleted = {
        meta.key_of(change.object)
        for change in context.changes
        if change.resource == "endpoints" and change.type == "DELETED"
    }
    for key in sorted({*shared.concerned(context), *deleted}):
        namespace, _, name = key.partition("/")
        service = context.client.find("services", name, namespace)
        if service is None:
            _remove(context, name, namespace)
        elif shared.selector_of(service):
            _write(context, service)


def _remove(context: Context, name: str, namespace: str) -> None:
    try:
        context.client.delete("endpoints", name, namespace)
    except NotFound:
        return


def _write(context: Context, service: Object) -> None:
    name, namespace = meta.name_of(service), meta.namespace_of(service)
    made = made_of(service, shared.pods_of(context.client, service))
    current = context.client.find("endpoints", name, namespace)
    if current is not None and _same(current, made):
        return
    annotations = {**meta.annotations_of(current or {}), **shared.trigger(context.now)}
    metadata = {**(current or made)["metadata"], "labels": made["metadata"]["labels"], "annotations": annotations}
    written = {**made, "metadata": metadata}
    try:
        if current is None:
            context.client.create(written, namespace)
        else:
            context.client.update(written)
    except (Conflict, NotFound):
        context.wake(f"again:{namespace}/{name}", context.now)
    except Forbidden:
        # The namespace is going.
        return
    except StatusError as error:
        reason, verb = ("FailedToCreateEndpoint", "create") if current is None else ("FailedToUpdateEndpoint", "update")
        about = f"for service {namespace}/{name}" if current is None else f"{namespace}/{name}"
        message = f"Failed to {verb} endpoint {about}: {error.message}"
        context.recorder.record(service, events.WARNING, reason, message, component=NAME)


def _same(current: Object, made: Object) -> bool:
    if (current.get("subsets") or []) != (made.get("subsets") or []):
        return False
    return meta.labels_of(current) == meta.labels_of(made)


def made_of(service: Object, pods: list[Object]) -> Object:
    """The Endpoints of a service that selects these pods."""
    spec = service.get("spec") or {}
    unready = bool(spec.get("publishNotReadyAddresses"))
    by_port: dict[tuple[Any, ...], tuple[Port | None, list[tuple[bool, Address]]]] = {}
    for pod in pods:
        if not shared.takes_part(pod, even_terminating=unready):
            continue
        found = (unready or utils.is_ready(pod), _address(service, pod))
        ports: list[Port] | list[None] = shared.ports_of(service, pod)
        if not spec.get("ports") and spec.get("clusterIP") == "None":
            ports = [None]
        for port in ports:
            by_port.setdefault(tuple(sorted((port or {}).items())), (port, []))[1].append(found)
    metadata = {
        "name": meta.name_of(service),
        "namespace": meta.namespace_of(service),
        "labels": shared.labels_for(service, _MANAGED_BY),
    }
    made: Object = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
    if subsets := _packed([by_port[key] for key in sorted(by_port)]):
        made["subsets"] = subsets
    return made


def _address(service: Object, pod: Object) -> Address:
    address: Address = {"ip": shared.address_of(pod)}
    if hostname := shared.hostname_of(service, pod):
        address["hostname"] = hostname
    return {**address, "nodeName": pod["spec"].get("nodeName"), "targetRef": shared.target_of(pod)}


def _packed(found: list[tuple[Port | None, list[tuple[bool, Address]]]]) -> list[dict[str, Any]]:
    """Ports that the same addresses serve, in one subset (pkg/api/v1/endpoints/util.go: RepackSubsets)."""
    groups: dict[tuple[Any, ...], tuple[list[Port], list[tuple[bool, Address]]]] = {}
    for port, addresses in found:
        ordered = sorted(addresses, key=lambda one: (one[1]["ip"], one[1]["targetRef"]["uid"]))
        key = tuple((ready, address["ip"], address["targetRef"]["uid"]) for ready, address in ordered)
        ports = groups.setdefault(key, ([], ordered))[0]
        if port is not None:
            ports.append({name: value for name, value in port.items() if value != ""})
    subsets = []
    for ports, addresses in groups.values():
        subset: dict[str, Any] = {}
        for field, wanted in (("addresses", True), ("notReadyAddresses", False)):
            if chosen := [address for ready, address in addresses if ready is wanted]:
                subset[field] = chosen
        subsets.append({**subset, "ports": ports} if ports else subset)
    return subsets
