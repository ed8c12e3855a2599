"""Rules for a pod's containers (pkg/apis/core/validation/validation.go: validateContainers)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, required
from app.cluster.apiserver.validation import environment, mounts, probes, resources, restarts, security
from app.cluster.apiserver.validation.taints import unsupported

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_SIDECAR_TEXT = "may not be set for init containers without restartPolicy=Always"


def validate(spec: Object, field: str, volumes: mounts.Volumes) -> list[FieldError]:
    """All containers of a pod's spec; names are unique over containers and init containers."""
    grace = spec.get("terminationGracePeriodSeconds")
    regular, initial = spec.get("containers") or [], spec.get("initContainers") or []
    errors: list[FieldError] = []
    if not regular:
        advice = Message(N_("Add “containers:” with at least one item: “- name: …” and “image: …”."))
        errors.append(required(f"{field}.containers", advice=advice))
    names: set[str] = set()
    for index, container in enumerate(regular):
        here = f"{field}.containers[{index}]"
        errors += common(container, here, volumes) + _name_once(container, here, names)
        errors += probes.of_container(container, here, grace) + restarts.validate(container, here)
    errors += _host_ports(regular, f"{field}.containers")
    if spec.get("hostNetwork"):
        errors += _host_network(regular, f"{field}.containers")
    for index, container in enumerate(initial):
        here = f"{field}.initContainers[{index}]"
        errors += common(container, here, volumes) + _name_once(container, here, names)
        errors += _init_container(container, here, grace) + restarts.validate(container, here)
    return errors


def _name_once(container: Object, here: str, names: set[str]) -> list[FieldError]:
    name = container.get("name") or ""
    if name and name in names:
        return [duplicate(f"{here}.name", name)]
    names.add(name)
    return []


def _init_container(container: Object, here: str, grace: int | None) -> list[FieldError]:
    """validateInitContainers: probes and hooks are for those that go on running."""
    policy = container.get("restartPolicy")
    if policy == "Always":
        return probes.of_container(container, here, grace)
    return [
        forbidden(f"{here}.{name}", _SIDECAR_TEXT)
        for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
        if container.get(name) is not None
    ]


def common(container: Object, here: str, volumes: mounts.Volumes) -> list[FieldError]:
    """ValidateContainerCommon."""
    name, image = container.get("name") or "", container.get("image") or ""
    errors = [invalid(f"{here}.name", name, text) for text in validation.dns1123_label(name)] if name else []
    if not name:
        errors.append(required(f"{here}.name"))
    if not image:
        errors.append(required(f"{here}.image", advice=Message(N_("Add a line such as “image: nginx”."))))
    elif image != image.strip():
        errors.append(invalid(f"{here}.image", image, "must not have leading or trailing whitespace"))
    policy = container.get("terminationMessagePolicy")
    if policy and policy not in _MESSAGE_POLICIES:
        errors.append(unsupported(f"{here}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    errors += _ports(container.get("ports") or [], f"{here}.ports")
    errors += environment.variables(container.get("env") or [], f"{here}.env")
    errors += environment.all_from(container.get("envFrom") or [], f"{here}.envFrom")
    errors += mounts.validate(container, here, volumes)
    pull = container.get("imagePullPolicy") or ""
    if pull not in _PULL_POLICIES:
        errors.append(unsupported(f"{here}.imagePullPolicy", pull, _PULL_POLICIES))
    errors += security.of_container(container.get("securityContext"), f"{here}.securityContext")
    return errors + resources.requirements(container.get("resources") or {}, f"{here}.resources")


def _ports(ports: list[Object], field: str) -> list[FieldError]:
    """ValidateContainerPorts."""
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        here = f"{field}[{index}]"
        name = port.get("name") or ""
        if name:
            errors += [invalid(f"{here}.name", name, text) for text in validation.port_name(name)]
            if name in names:
                errors.append(duplicate(f"{here}.name", name))
            names.add(name)
        number = port.get("containerPort") or 0
        if number:
            errors += [invalid(f"{here}.containerPort", number, text) for text in validation.port_number(number)]
        else:
            errors.append(required(f"{here}.containerPort"))
        host_port = port.get("hostPort") or 0
        if host_port:
            errors += [invalid(f"{here}.hostPort", host_port, text) for text in validation.port_number(host_port)]
        protocol = port.get("protocol") or ""
        if not protocol:
            errors.append(required(f"{here}.protocol"))
        elif protocol not in _PROTOCOLS:
            errors.append(unsupported(f"{here}.protocol", protocol, _PROTOCOLS))
    return errors


def _host_ports(containers: list[Object], field: str) -> list[FieldError]:
    """A port of the host is taken once (checkHostPortConflicts)."""
    errors: list[FieldError] = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for place, port in enumerate(container.get("ports") or []):
            if not port.get("hostPort"):
                continue
            text = f"{port.get('protocol')}/{port.get('hostIP') or ''}/{port['hostPort']}"
            if text in taken:
                errors.append(duplicate(f"{field}[{index}].ports[{place}].hostPort", text))
            taken.add(text)
    return errors


def _host_network(containers: list[Object], field: str) -> list[FieldError]:
    """ValidateHostNetwork."""
    return [
        invalid(
            f"{field}[{index}].ports[{place}].containerPort",
            port.get("containerPort"),
            "must match `hostPort` when `hostNetwork` is true",
        )
        for index, container in enumerate(containers)
        for place, port in enumerate(container.get("ports") or [])
        if port.get("hostPort") != port.get("containerPort")
    ]
