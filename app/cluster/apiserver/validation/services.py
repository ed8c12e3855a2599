"""Rules for Services (pkg/apis/core/validation/validation.go: ValidateService, ValidateServiceUpdate)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import addresses, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import ErrorKind, FieldError, forbidden, invalid, not_supported, required

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_FAMILIES = ("IPv4", "IPv6")
_AFFINITIES = ("ClientIP", "None")
_TRAFFIC = ("Cluster", "Local")
_LONGEST_AFFINITY = 86_400


def service(obj: Object) -> list[FieldError]:
    """Type, ports, selector, addresses."""
    spec = obj.get("spec") or {}
    kind, ports, headless = spec.get("type") or "", spec.get("ports") or [], is_headless(spec)
    errors: list[FieldError] = []
    if not ports and not headless and kind != "ExternalName":
        errors.append(required("spec.ports"))
    errors += _by_type(spec, kind)
    names: set[str] = set()
    for index, port in enumerate(ports):
        errors += _port(port, f"spec.ports[{index}]", names, several=len(ports) > 1, headless=headless)
    errors += validation.labels(spec.get("selector") or {}, "spec.selector")
    errors += _affinity(spec) + cluster_ips(spec)
    for index, address in enumerate(spec.get("externalIPs") or []):
        errors += _address(address, f"spec.externalIPs[{index}]")
    errors += _type(kind) + _node_ports(ports, kind) + _repeated(ports) + _traffic(spec, kind)
    return errors


def is_headless(spec: Object) -> bool:
    """Whether the service has no address of its own, by wish."""
    return spec.get("clusterIP") == "None" or "None" in (spec.get("clusterIPs") or [])


def _by_type(spec: Object, kind: str) -> list[FieldError]:
    if kind in {"LoadBalancer", "NodePort"} and is_headless(spec):
        return [invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")]
    if kind != "ExternalName":
        return []
    errors: list[FieldError] = []
    if spec.get("clusterIPs"):
        errors.append(forbidden("spec.clusterIPs", "may not be set for ExternalName services"))
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        return [*errors, required("spec.externalName")]
    return errors + [invalid("spec.externalName", name, text) for text in validation.dns1123_subdomain(name)]


def _port(port: Object, field: str, names: set[str], *, several: bool, headless: bool) -> list[FieldError]:
    """ValidateServicePort."""
    errors: list[FieldError] = []
    name = port.get("name") or ""
    if several and not name:
        errors.append(required(f"{field}.name"))
    elif name:
        errors += [invalid(f"{field}.name", name, text) for text in validation.dns1123_label(name)]
        if name in names:
            errors.append(FieldError(f"{field}.name", ErrorKind.DUPLICATE, name))
        names.add(name)
    number = port.get("port") or 0
    errors += [invalid(f"{field}.port", number, text) for text in validation.port_number(number)]
    protocol = port.get("protocol") or ""
    if not protocol:
        errors.append(required(f"{field}.protocol"))
    elif protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{field}.protocol", protocol, _PROTOCOLS))
    target = port.get("targetPort")
    rule: Any = validation.port_name if isinstance(target, str) else validation.port_number
    errors += [invalid(f"{field}.targetPort", target or 0, text) for text in rule(target or 0)]
    if headless and port.get("appProtocol"):
        errors += [
            invalid(f"{field}.appProtocol", port["appProtocol"], text)
            for text in validation.qualified_name(port["appProtocol"])
        ]
    return errors


def _affinity(spec: Object) -> list[FieldError]:
    affinity = spec.get("sessionAffinity") or ""
    if not affinity:
        return [required("spec.sessionAffinity")]
    if affinity not in _AFFINITIES:
        return [not_supported("spec.sessionAffinity", affinity, _AFFINITIES)]
    config = spec.get("sessionAffinityConfig")
    if affinity == "None":
        detail = "must not be set when session affinity is None"
        return [] if config is None else [forbidden("spec.sessionAffinityConfig", detail)]
    seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
    if seconds is not None and not 0 < seconds <= _LONGEST_AFFINITY:
        field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        return [invalid(field, seconds, f"must be greater than 0 and less than {_LONGEST_AFFINITY}")]
    return []


def cluster_ips(spec: Object) -> list[FieldError]:
    """ValidateServiceClusterIPsRelatedFields."""
    if (spec.get("type") or "") == "ExternalName":
        return []
    errors: list[FieldError] = []
    listed = spec.get("clusterIPs") or []
    for index, family in enumerate(spec.get("ipFamilies") or []):
        if family not in _FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES))
        elif family in spec["ipFamilies"][:index]:
            errors.append(FieldError(f"spec.ipFamilies[{index}]", ErrorKind.DUPLICATE, family))
    if listed and (spec.get("clusterIP") or "") != listed[0]:
        detail = "first value must match `clusterIP`"
        errors.append(invalid("spec.clusterIPs", listed, detail))
    if len(listed) > 2:
        errors.append(invalid("spec.clusterIPs", listed, "may only hold up to 2 values"))
    for index, address in enumerate(listed):
        if address == "None":
            if len(listed) > 1:
                detail = "'None' must be the first and only value"
                errors.append(invalid(f"spec.clusterIPs[{index}]", address, detail))
            continue
        errors += _address(address, f"spec.clusterIPs[{index}]")
    return errors


def _address(text: str, field: str) -> list[FieldError]:
    """IsValidIPForLegacyField."""
    return [] if addresses.parse(text) is not None else [invalid(field, text, addresses.ADDRESS_TEXT)]


def _type(kind: str) -> list[FieldError]:
    if not kind:
        return [required("spec.type")]
    return [] if kind in _TYPES else [not_supported("spec.type", kind, _TYPES)]


def _node_ports(ports: list[Object], kind: str) -> list[FieldError]:
    """Only NodePort and LoadBalancer have node ports, each once by protocol."""
    errors: list[FieldError] = []
    taken: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        number = port.get("nodePort") or 0
        if not number:
            continue
        if kind == "ClusterIP":
            detail = "may not be used when `type` is 'ClusterIP'"
            errors.append(forbidden(f"spec.ports[{index}].nodePort", detail))
        key = (port.get("protocol") or "", number)
        if key in taken:
            shown = _shown_port(key[0], node_port=number)
            errors.append(FieldError(f"spec.ports[{index}].nodePort", ErrorKind.DUPLICATE, shown))
        taken.add(key)
    return errors


def _repeated(ports: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    taken: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol") or "", port.get("port") or 0)
        if key in taken:
            errors.append(FieldError(f"spec.ports[{index}]", ErrorKind.DUPLICATE, _shown_port(key[0], port=key[1])))
        taken.add(key)
    return errors


def _shown_port(protocol: str, *, port: int = 0, node_port: int = 0) -> Object:
    return {
        "Name": "",
        "Protocol": protocol,
        "AppProtocol": None,
        "Port": port,
        "TargetPort": 0,
        "NodePort": node_port,
    }


def _traffic(spec: Object, kind: str) -> list[FieldError]:
    """validateServiceExternalTrafficPolicy, validateServiceInternalTrafficFieldsValue."""
    errors: list[FieldError] = []
    external, internal = spec.get("externalTrafficPolicy") or "", spec.get("internalTrafficPolicy")
    if kind not in {"NodePort", "LoadBalancer"} and not (kind == "ClusterIP" and spec.get("externalIPs")):
        if external:
            detail = "may only be set for externally-accessible services"
            errors.append(invalid("spec.externalTrafficPolicy", external, detail))
    elif external and external not in _TRAFFIC:
        errors.append(not_supported("spec.externalTrafficPolicy", external, _TRAFFIC))
    if internal is not None and internal not in _TRAFFIC:
        errors.append(not_supported("spec.internalTrafficPolicy", internal, _TRAFFIC))
    return errors


def service_update(new: Object, old: Object) -> list[FieldError]:
    """The address stays while the service has one (ValidateServiceUpdate)."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors: list[FieldError] = []
    if now.get("type") != "ExternalName" != before.get("type"):
        listed, former = now.get("clusterIPs") or [], before.get("clusterIPs") or []
        if former and listed[:1] != former[:1]:
            errors.append(invalid("spec.clusterIPs[0]", listed or None, "may not change once set"))
    return errors + service(new)
