"""Rules for Endpoints and EndpointSlices.

Mirrors pkg/apis/core/validation/validation.go (ValidateEndpoints) and pkg/apis/discovery/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import addresses, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, duplicate, invalid, not_supported, required, too_many

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ADDRESSES, _MOST_PORTS, _MOST_ENDPOINTS, _MOST_LABELS, _MOST_ZONES = 100, 20000, 1000, 16, 8


def endpoints(obj: Object) -> list[FieldError]:
    """Each subset's addresses and ports (validateEndpointSubsets)."""
    errors: list[FieldError] = []
    for index, subset in enumerate(obj.get("subsets") or []):
        here = f"subsets[{index}]"
        ready, unready = subset.get("addresses") or [], subset.get("notReadyAddresses") or []
        if not ready and not unready:
            errors.append(required(here, "must specify `addresses` or `notReadyAddresses`"))
        for name, listed in (("addresses", ready), ("notReadyAddresses", unready)):
            for place, address in enumerate(listed):
                errors += _address(address, f"{here}.{name}[{place}]")
        ports = subset.get("ports") or []
        for place, port in enumerate(ports):
            errors += _port(port, f"{here}.ports[{place}]", named=len(ports) > 1)
    return errors


def _address(address: Mapping[str, Any], field: str) -> list[FieldError]:
    text, host, node = address.get("ip") or "", address.get("hostname") or "", address.get("nodeName")
    errors = [] if addresses.parse(text) else [invalid(f"{field}.ip", text, addresses.ADDRESS_TEXT)]
    if host:
        errors += [invalid(f"{field}.hostname", host, wrong) for wrong in validation.dns1123_label(host)]
    if node is not None:
        errors += [invalid(f"{field}.nodeName", node, wrong) for wrong in validation.dns1123_subdomain(node)]
    return errors + _special(text, f"{field}.ip")


def _special(text: str, field: str) -> list[FieldError]:
    """Addresses that are nobody's (ValidateEndpointIP)."""
    found = addresses.parse(text)
    if found is None:
        return []
    errors: list[FieldError] = []
    if found.is_unspecified:
        errors.append(invalid(field, text, "may not be unspecified (0.0.0.0 or ::)"))
    if found.is_loopback:
        errors.append(invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if found.is_link_local and not found.is_multicast:
        errors.append(invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if found.is_multicast and str(found).startswith(("224.0.0.", "ff02:")):
        errors.append(invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
    return errors


def _port(port: Mapping[str, Any], field: str, *, named: bool) -> list[FieldError]:
    """validateEndpointPort: of several ports each has a name."""
    name, number = port.get("name") or "", port.get("port") or 0
    errors: list[FieldError] = []
    if named and not name:
        errors.append(required(f"{field}.name"))
    elif name:
        errors += [invalid(f"{field}.name", name, text) for text in validation.dns1123_label(name)]
    errors += [invalid(f"{field}.port", number, text) for text in validation.port_number(number)]
    return errors + _protocols(port, field)


def _protocols(port: Mapping[str, Any], field: str) -> list[FieldError]:
    protocol, app_protocol = port.get("protocol") or "", port.get("appProtocol")
    errors: list[FieldError] = []
    if not protocol:
        errors.append(required(f"{field}.protocol"))
    elif protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{field}.protocol", protocol, _PROTOCOLS))
    if app_protocol is not None:
        wrong = validation.qualified_name(app_protocol)
        errors += [invalid(f"{field}.appProtocol", app_protocol, text) for text in wrong]
    return errors


def endpoint_slice(obj: Object) -> list[FieldError]:
    """Kind of addresses, endpoints, ports (ValidateEndpointSlice)."""
    kind = obj.get("addressType") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    return errors + _slice_endpoints(obj.get("endpoints") or [], kind) + _slice_ports(obj.get("ports") or [])


def endpoint_slice_update(new: Object, old: Object) -> list[FieldError]:
    """The kind of addresses is fixed (ValidateEndpointSliceUpdate)."""
    errors = endpoint_slice(new)
    if new.get("addressType") != old.get("addressType"):
        errors.append(invalid("addressType", new.get("addressType"), "field is immutable"))
    return errors


def _slice_endpoints(listed: Sequence[Mapping[str, Any]], kind: str) -> list[FieldError]:
    if len(listed) > _MOST_ENDPOINTS:
        return [too_many("endpoints", len(listed), _MOST_ENDPOINTS)]
    errors: list[FieldError] = []
    for index, endpoint in enumerate(listed):
        here, given = f"endpoints[{index}]", endpoint.get("addresses") or []
        if not given:
            errors.append(required(f"{here}.addresses", "must contain at least 1 address"))
        elif len(given) > _MOST_ADDRESSES:
            errors.append(too_many(f"{here}.addresses", len(given), _MOST_ADDRESSES))
        for place, text in enumerate(given):
            errors += _slice_address(text, kind, f"{here}.addresses[{place}]")
        node, host = endpoint.get("nodeName"), endpoint.get("hostname")
        if node is not None:
            errors += [invalid(f"{here}.nodeName", node, text) for text in validation.dns1123_subdomain(node)]
        topology = endpoint.get("deprecatedTopology") or {}
        if len(topology) > _MOST_LABELS:
            errors.append(too_many(f"{here}.deprecatedTopology", len(topology), _MOST_LABELS))
        errors += validation.labels(topology, f"{here}.deprecatedTopology")
        if host is not None:
            errors += [invalid(f"{here}.hostname", host, text) for text in validation.dns1123_label(host)]
        errors += _hints(endpoint.get("hints") or {}, f"{here}.hints")
    return errors


def _slice_address(text: str, kind: str, field: str) -> list[FieldError]:
    if kind == "FQDN":
        return validation.fully_qualified_name(text, field)
    if kind not in {"IPv4", "IPv6"}:
        return []
    found = addresses.parse(text)
    if found is None or f"IPv{found.version}" != kind:
        return [invalid(field, text, f"must be a valid {kind} address")]
    return _special(text, field)


def _hints(hints: Mapping[str, Any], field: str) -> list[FieldError]:
    """validateHints: zones and nodes, each once."""
    errors: list[FieldError] = []
    for name, rule in (("forZones", validation.label_value), ("forNodes", validation.dns1123_subdomain)):
        listed, here, seen = hints.get(name) or [], f"{field}.{name}", set()
        if len(listed) > _MOST_ZONES:
            errors.append(too_many(here, len(listed), _MOST_ZONES))
            continue
        for index, one in enumerate(listed):
            value = one.get("name") or ""
            if value in seen:
                errors.append(duplicate(f"{here}[{index}].name", value))
            seen.add(value)
            if not value:
                errors.append(required(f"{here}[{index}].name"))
            else:
                errors += [invalid(f"{here}[{index}].name", value, text) for text in rule(value)]
    return errors


def _slice_ports(ports: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    if len(ports) > _MOST_PORTS:
        return [too_many("ports", len(ports), _MOST_PORTS)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        here, name = f"ports[{index}]", port.get("name") or ""
        if name:
            errors += [invalid(f"{here}.name", name, text) for text in validation.dns1123_label(name)]
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        errors += _protocols(port, here)
    return errors
