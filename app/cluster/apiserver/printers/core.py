"""Rows of the core group without the pod (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    NONE,
    SELECTOR,
    UNKNOWN,
    Cells,
    Column,
    Printer,
    age,
    containers_and_images,
    format_labels,
    integer,
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


def _resource_quota(obj: Object, now: Instant) -> Cells:
    status = obj.get("status", {})
    used = status.get("used") or {}
    columns: dict[bool, list[str]] = {False: [], True: []}
    for resource, hard in sorted((status.get("hard") or {}).items()):
        columns[resource.startswith("limits.")].append(f"{resource}: {used.get(resource, '0')}/{hard}")
    return [name_of(obj), ", ".join(columns[False]), ", ".join(columns[True]), age(obj, now)]


def _replication_controller(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        *containers_and_images(spec.get("template", {}).get("spec", {}).get("containers")),
        format_labels(spec.get("selector")),
    ]


def _pod_template(obj: Object, _: Instant) -> Cells:
    template = obj.get("template", {})
    names, images = containers_and_images(template.get("spec", {}).get("containers"))
    return [name_of(obj), names, images, format_labels(template.get("metadata", {}).get("labels"))]


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
    "resourcequotas": Printer((NAME, text("Request"), text("Limit"), AGE), _resource_quota),
    "replicationcontrollers": Printer(
        (NAME, integer("Desired"), integer("Current"), integer("Ready"), AGE, CONTAINERS, IMAGES, SELECTOR),
        _replication_controller,
    ),
    "podtemplates": Printer((NAME, text("Containers"), text("Images"), text("Pod Labels")), _pod_template),
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
