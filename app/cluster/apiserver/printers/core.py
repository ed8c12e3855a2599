"""Rows of the core group without the pod (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    UNKNOWN,
    Cells,
    Column,
    Printer,
    age,
    format_labels,
    name_of,
    since,
    text,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"


def node_roles(node: Object) -> str:
    """The roles that labels give a node, `<none>` for none (printers.go: findNodeRoles)."""
    roles = set()
    for key, value in (node.get("metadata", {}).get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX) and len(key) > len(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == "kubernetes.io/role" and value:
            roles.add(value)
    return ",".join(sorted(roles)) or NONE


def node_status(node: Object) -> str:
    """`Ready`, `NotReady` or `Unknown`, with `SchedulingDisabled` on a cordoned node."""
    ready = [c for c in node.get("status", {}).get("conditions") or [] if c.get("type") == "Ready"]
    parts = ["Unknown"] if not ready else ["Ready" if ready[-1].get("status") == "True" else "NotReady"]
    if node.get("spec", {}).get("unschedulable"):
        parts.append("SchedulingDisabled")
    return ",".join(parts)


def _node(node: Object, now: Instant) -> Cells:
    status = node.get("status", {})
    info = status.get("nodeInfo", {})
    addresses: dict[str, str] = {}
    for address in status.get("addresses") or []:
        addresses.setdefault(address.get("type"), address.get("address"))
    return [
        name_of(node),
        node_status(node),
        node_roles(node),
        age(node, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", NONE),
        addresses.get("ExternalIP", NONE),
        info.get("osImage") or UNKNOWN,
        info.get("kernelVersion") or UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _namespace(namespace: Object, now: Instant) -> Cells:
    return [name_of(namespace), namespace.get("status", {}).get("phase", ""), age(namespace, now)]


def _config_map(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), len(obj.get("data") or {}) + len(obj.get("binaryData") or {}), age(obj, now)]


def _secret(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), obj.get("type", ""), len(obj.get("data") or {}), age(obj, now)]


def _service_account(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), len(obj.get("secrets") or []), age(obj, now)]


def event_times(event: Object, now: Instant) -> tuple[str, str, int]:
    """When the event was first seen, last seen (as ages), and how often (printers.go: printEvent)."""
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    series = event.get("series")
    if series:
        return first, since(series.get("lastObservedTime"), now), int(series.get("count", 0))
    return first, last, int(event.get("count") or 1)


def _event(event: Object, now: Instant) -> Cells:
    first, last, count = event_times(event, now)
    involved = event.get("involvedObject", {})
    target = str(involved.get("kind", "")).lower()
    if involved.get("name"):
        target = f"{target}/{involved['name']}"
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        target,
        involved.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        str(event.get("message", "")).strip(),
        first,
        count,
        name_of(event),
    ]


def _service(service: Object, now: Instant) -> Cells:
    spec = service.get("spec", {})
    ports = [
        f"{port.get('port')}:{port['nodePort']}/{port.get('protocol', 'TCP')}"
        if port.get("nodePort")
        else f"{port.get('port')}/{port.get('protocol', 'TCP')}"
        for port in spec.get("ports") or []
    ]
    return [
        name_of(service),
        spec.get("type", ""),
        (spec.get("clusterIPs") or [NONE])[0],
        _external_address(service),
        ",".join(ports) or NONE,
        age(service, now),
        format_labels(spec.get("selector")),
    ]


def _external_address(service: Object) -> str:
    spec = service.get("spec", {})
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    external = list(spec.get("externalIPs") or [])
    if spec.get("type") != "LoadBalancer":
        return ",".join(external) or NONE
    ingress = service.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    balanced = sorted({i.get("ip") or i.get("hostname") for i in ingress if i.get("ip") or i.get("hostname")})
    return ",".join([*balanced, *external]) or "<pending>"


PRINTERS = {
    "nodes": Printer(
        columns=(
            NAME,
            text("Status"),
            text("Roles"),
            AGE,
            text("Version"),
            text("Internal-IP", wide=True),
            text("External-IP", wide=True),
            text("OS-Image", wide=True),
            text("Kernel-Version", wide=True),
            text("Container-Runtime", wide=True),
        ),
        cells=_node,
    ),
    "namespaces": Printer((NAME, text("Status"), AGE), _namespace),
    "configmaps": Printer((NAME, Column("Data"), AGE), _config_map),
    "secrets": Printer((NAME, text("Type"), Column("Data"), AGE), _secret),
    "serviceaccounts": Printer((NAME, Column("Secrets"), AGE), _service_account),
    "services": Printer(
        (NAME, text("Type"), text("Cluster-IP"), text("External-IP"), text("Port(s)"), AGE, SELECTOR),
        _service,
    ),
    "events": Printer(
        columns=(
            text("Last Seen"),
            text("Type"),
            text("Reason"),
            text("Object"),
            text("Subobject", wide=True),
            text("Source", wide=True),
            text("Message"),
            text("First Seen", wide=True),
            text("Count", wide=True),
            Column("Name", format="name", priority=1),
        ),
        cells=_event,
    ),
}
