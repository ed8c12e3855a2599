"""Rows of services, endpoints, ingresses and network policies (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    UNSET,
    Cells,
    Printer,
    age,
    format_label_selector,
    format_labels,
    name_of,
    text,
)

_SHOWN = 3
"""How many addresses, ports or hosts a cell names before it counts the rest."""


def _some(items: Sequence[str], none: str) -> str:
    """The first items and how many more there are."""
    shown = ",".join(items[:_SHOWN])
    if len(items) > _SHOWN:
        return f"{shown} + {len(items) - _SHOWN} more..."
    return shown or none


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
    return ",".join([*_balanced(service), *external]) or "<pending>"


def _balanced(obj: Object) -> list[str]:
    ingress = obj.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    return sorted({i.get("ip") or i.get("hostname") for i in ingress if i.get("ip") or i.get("hostname")})


def _endpoints(obj: Object, now: Instant) -> Cells:
    listed = []
    for subset in obj.get("subsets") or []:
        addresses = [str(address.get("ip", "")) for address in subset.get("addresses") or []]
        ports = subset.get("ports") or []
        listed += [f"{ip}:{port.get('port')}" for port in ports for ip in addresses] if ports else addresses
    return [name_of(obj), _some(listed, NONE), age(obj, now)]


def _endpoint_slice(obj: Object, now: Instant) -> Cells:
    ports = [str(port.get("port") or port.get("name") or "*") for port in obj.get("ports") or []]
    addresses = [str(ip) for endpoint in obj.get("endpoints") or [] for ip in endpoint.get("addresses") or []]
    return [name_of(obj), obj.get("addressType", ""), _some(ports, UNSET), _some(addresses, UNSET), age(obj, now)]


def _ingress(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    rules = spec.get("rules") or []
    hosts = [str(rule["host"]) for rule in rules if rule.get("host")]
    shown = ",".join(hosts[:_SHOWN]) or "*"
    if len(hosts) >= _SHOWN and len(rules) > _SHOWN:
        shown += f" + {len(rules) - _SHOWN} more..."
    return [
        name_of(obj),
        spec.get("ingressClassName", NONE),
        shown,
        ",".join(_balanced(obj)),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now),
    ]


def _ingress_class(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    reference = spec.get("parameters")
    parameters = NONE
    if reference:
        group = f".{reference['apiGroup']}" if reference.get("apiGroup") else ""
        parameters = f"{reference.get('kind', '')}{group}/{reference.get('name', '')}"
    return [name_of(obj), spec.get("controller", ""), parameters, age(obj, now)]


def _network_policy(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), format_label_selector(obj.get("spec", {}).get("podSelector")), age(obj, now)]


PRINTERS = {
    "services": Printer(
        (NAME, text("Type"), text("Cluster-IP"), text("External-IP"), text("Port(s)"), AGE, SELECTOR), _service
    ),
    "endpoints": Printer((NAME, text("Endpoints"), AGE), _endpoints),
    "endpointslices.discovery.k8s.io": Printer(
        (NAME, text("AddressType"), text("Ports"), text("Endpoints"), AGE), _endpoint_slice
    ),
    "ingresses.networking.k8s.io": Printer(
        (NAME, text("Class"), text("Hosts"), text("Address"), text("Ports"), AGE), _ingress
    ),
    "ingressclasses.networking.k8s.io": Printer((NAME, text("Controller"), text("Parameters"), AGE), _ingress_class),
    "networkpolicies.networking.k8s.io": Printer((NAME, text("Pod-Selector"), AGE), _network_policy),
}
