"""Keeps the EndpointSlices of services with a selector.

Mirrors k8s.io/endpointslice/reconciler.go: reconcileByAddressType, reconcileByPortMapping, finalize.
"""

from __future__ import annotations

from typing import Any

import orjson

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, Forbidden, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import service_endpoints as shared
from app.cluster.client import Client
from app.cluster.loops import Context

NAME = "endpointslice-controller"
WATCHES = frozenset({"services", "pods", "endpointslices"})
MANAGER = "endpointslice-controller.k8s.io"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
SERVICE_NAME = "kubernetes.io/service-name"
MAX_ENDPOINTS = 100
"""Endpoints of one slice (--max-endpoints-per-slice)."""

Endpoint = dict[str, Any]
Ports = list[dict[str, Any]]


def sync(context: Context) -> None:
    """Look at the services that the news are about, and at those whose slices somebody changed."""
    for key in sorted({*shared.concerned(context), *_touched(context)}):
        namespace, _, name = key.partition("/")
        service = context.client.find("services", name, namespace)
        # What a service leaves behind is the garbage collector's.
        if service is not None and shared.selector_of(service):
            _reconcile(context, service)


def _touched(context: Context) -> set[str]:
    """Services whose slices were deleted or are not as this controller left them (onEndpointSliceUpdate)."""
    found = set()
    for change in context.changes:
        labels = meta.labels_of(change.object)
        if change.resource == "endpointslices" and labels.get(MANAGED_BY) == MANAGER and labels.get(SERVICE_NAME):
            found.add(f"{meta.namespace_of(change.object)}/{labels[SERVICE_NAME]}")
    return found


def _reconcile(context: Context, service: Object) -> None:
    existing = _slices_of(context, service)
    mine = [one for one in existing if _is_owned(one, service)]
    desired = endpoints_of(context.client, service)
    kept: list[tuple[Object, list[Endpoint]]] = []
    spare = [one for one in existing if one not in mine]
    made: list[tuple[Ports, list[Endpoint]]] = []
    for ports, endpoints in desired:
        same = [one for one in mine if (one.get("ports") or []) == ports]
        filled, new, empty = _fill(same, endpoints)
        kept += filled
        spare += empty
        made += [(ports, part) for part in new]
    wanted = [ports for ports, _ in desired]
    spare += [one for one in mine if (one.get("ports") or []) not in wanted]
    if not kept and not made:
        if len(spare) == 1 and spare[0] in mine and not spare[0].get("ports") and not spare[0].get("endpoints"):
            kept, spare = [(spare[0], [])], []
        else:
            made = [([], [])]
    _write(context, service, kept, made, spare)


def _slices_of(context: Context, service: Object) -> list[Object]:
    wanted = {SERVICE_NAME: meta.name_of(service), MANAGED_BY: MANAGER}
    return [
        one
        for one in context.client.list("endpointslices", meta.namespace_of(service))
        if wanted.items() <= meta.labels_of(one).items() and not utils.is_terminating(one)
    ]


def _is_owned(one: Object, service: Object) -> bool:
    references = one["metadata"].get("ownerReferences") or []
    return any(r.get("uid") == service["metadata"]["uid"] and r.get("kind") == "Service" for r in references)


def endpoints_of(client: Client, service: Object) -> list[tuple[Ports, list[Endpoint]]]:
    """The endpoints that there should be, by the ports that they serve."""
    groups: dict[bytes, tuple[Ports, list[Endpoint]]] = {}
    for pod in shared.pods_of(client, service):
        if not shared.takes_part(pod, even_terminating=True):
            continue
        node = client.find("nodes", str(pod["spec"].get("nodeName") or ""))
        if node is None and not (service.get("spec") or {}).get("publishNotReadyAddresses"):
            continue
        ports = shared.ports_of(service, pod)
        groups.setdefault(orjson.dumps(ports), (ports, []))[1].append(endpoint_of(service, pod, node))
    return [groups[key] for key in sorted(groups)]


def endpoint_of(service: Object, pod: Object, node: Object | None) -> Endpoint:
    """One pod as an endpoint (utils.go: podToEndpoint)."""
    serving, terminating = utils.is_ready(pod), utils.is_terminating(pod)
    ready = bool((service.get("spec") or {}).get("publishNotReadyAddresses")) or (serving and not terminating)
    endpoint: Endpoint = {
        "addresses": [shared.address_of(pod)],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": shared.target_of(pod),
    }
    if hostname := shared.hostname_of(service, pod):
        endpoint["hostname"] = hostname
    if pod["spec"].get("nodeName"):
        endpoint["nodeName"] = pod["spec"]["nodeName"]
    if zone := meta.labels_of(node or {}).get("topology.kubernetes.io/zone"):
        endpoint["zone"] = zone
    return endpoint


def _fill(
    slices: list[Object], endpoints: list[Endpoint]
) -> tuple[list[tuple[Object, list[Endpoint]]], list[list[Endpoint]], list[Object]]:
    """What each slice is to hold, the contents of new slices, and the slices that nothing is left for."""
    desired = {_identity(endpoint): endpoint for endpoint in endpoints}
    held: list[tuple[Object, list[Endpoint]]] = []
    for one in slices:
        old = one.get("endpoints") or []
        held.append((one, [desired.pop(key) for found in old if (key := _identity(found)) in desired]))
    left = list(desired.values())
    changed = [row for row in held if row[1] and row[1] != (row[0].get("endpoints") or [])]
    for _, content in sorted(changed, key=lambda row: -len(row[1])):
        room = max(MAX_ENDPOINTS - len(content), 0)
        content.extend(left[:room])
        left = left[room:]
    unchanged = [row for row in held if row[1] and row not in changed]
    fitting = [row for row in unchanged if len(row[1]) + len(left) <= MAX_ENDPOINTS]
    if left and len(left) < MAX_ENDPOINTS and fitting:
        max(fitting, key=lambda row: len(row[1]))[1].extend(left)
        left = []
    new = [left[start : start + MAX_ENDPOINTS] for start in range(0, len(left), MAX_ENDPOINTS)]
    return [row for row in held if row[1]], new, [one for one, content in held if not content]


def _identity(endpoint: Endpoint) -> tuple[Any, ...]:
    """What makes an endpoint the same one (util/endpointset.go: hashEndpoint)."""
    target = (endpoint.get("targetRef") or {}).get("uid")
    return (tuple(endpoint.get("addresses") or []), endpoint.get("hostname"), target)


def _write(
    context: Context,
    service: Object,
    kept: list[tuple[Object, list[Endpoint]]],
    made: list[tuple[Ports, list[Endpoint]]],
    spare: list[Object],
) -> None:
    """Update, re-use, create and delete slices (finalize)."""
    for one, endpoints in kept:
        _update(context, service, one, one.get("ports") or [], endpoints)
    for ports, endpoints in made:
        reused = next((one for one in spare if _is_owned(one, service)), None)
        if reused is not None:
            spare.remove(reused)
            _update(context, service, reused, ports, endpoints)
        elif not utils.is_terminating(service):
            _create(context, service, ports, endpoints)
    for one in spare:
        try:
            context.client.delete("endpointslices", meta.name_of(one), meta.namespace_of(one))
        except NotFound:
            continue


def _update(context: Context, service: Object, one: Object, ports: Ports, endpoints: list[Endpoint]) -> None:
    labels = _labels(service)
    same = (one.get("endpoints") or []) == endpoints and (one.get("ports") or []) == ports
    if same and meta.labels_of(one) == labels:
        return
    annotations = {**meta.annotations_of(one), **shared.trigger(context.now)}
    metadata = {**one["metadata"], "labels": labels, "annotations": annotations}
    try:
        context.client.update({**one, "metadata": metadata, "endpoints": endpoints, "ports": ports})
    except (NotFound, Conflict):
        context.wake(f"again:{meta.key_of(service)}", context.now)


def _create(context: Context, service: Object, ports: Ports, endpoints: list[Endpoint]) -> None:
    made = made_of(service, ports, endpoints)
    made["metadata"] = {**made["metadata"], "annotations": shared.trigger(context.now)}
    try:
        context.client.create(made, meta.namespace_of(service))
    except (Forbidden, NotFound):
        # The namespace is going or gone.
        return


def made_of(service: Object, ports: Ports, endpoints: list[Endpoint]) -> Object:
    """A new slice of a service (utils.go: newEndpointSlice)."""
    families = (service.get("spec") or {}).get("ipFamilies") or ["IPv4"]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{meta.name_of(service)}-",
            "namespace": meta.namespace_of(service),
            "labels": _labels(service),
            "ownerReferences": [utils.owner_reference(service)],
        },
        "addressType": families[0],
        "endpoints": endpoints,
        "ports": ports,
    }


def _labels(service: Object) -> dict[str, str]:
    return shared.labels_for(service, {SERVICE_NAME: meta.name_of(service), MANAGED_BY: MANAGER})
