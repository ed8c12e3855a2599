"""Cluster addresses and node ports: given out by the API server as a service is stored.

Mirrors pkg/registry/core/service/storage/alloc.go and transaction of ipallocator and portallocator. What is taken
is what the stored services have, so nothing is kept beside them. Upstream chooses by chance; here
it is drawn from the cluster's seed, in the part of the range that is meant for it.
"""

from __future__ import annotations

import ipaddress

from app.apimachinery.meta import Object, name_of, namespace_of
from app.apimachinery.validation import FieldError, invalid
from app.cluster.apiserver.validation import services
from app.cluster.store import Store

RANGE = ipaddress.IPv4Network("10.96.0.0/12")
NODE_PORTS = range(30_000, 32_768)
_FREE_ADDRESSES = 256
"""The first addresses are left to those who name one (KEP-3070)."""
_FREE_PORTS = 86
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_TAKEN = "provided port is already allocated"
_OUTSIDE = "provided port is not in the valid range. The range of valid ports is 30000-32767"


def begin_create(new: Object, store: Store) -> list[FieldError]:
    """Fill in address, families and node ports of a new service (allocateCreate)."""
    spec = new.setdefault("spec", {})
    _normalise(spec, {})
    errors = services.cluster_ips(spec)
    if errors or spec.get("type") == "ExternalName":
        return errors
    _families(spec)
    errors = _address(new, store)
    return errors or _node_ports(new, store)


def begin_update(new: Object, old: Object, store: Store) -> list[FieldError]:
    """Keep what the service has, drop what its type no longer has, give what it newly needs (allocateUpdate)."""
    spec, before = new.setdefault("spec", {}), old.get("spec") or {}
    _normalise(spec, before)
    _drop_by_type(spec, before)
    _take_over(spec, before)
    if spec.get("type") == "ExternalName":
        return []
    errors = services.cluster_ips(spec)
    if errors:
        return errors
    _families(spec)
    if not before.get("clusterIPs") or before.get("type") == "ExternalName":
        errors = _address(new, store)
    return errors or _node_ports(new, store)


def _normalise(spec: Object, before: Object) -> None:
    """ClusterIP and the first of clusterIPs are one thing (normalizeClusterIPs)."""
    one, several = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if one and not several:
        spec["clusterIPs"] = [one]
    elif before and one != (before.get("clusterIP") or "") and several == (before.get("clusterIPs") or []):
        if one:
            spec["clusterIPs"] = [one, *several[1:]]
        else:
            spec.pop("clusterIPs", None)


def _take_over(spec: Object, before: Object) -> None:
    """What the writer left out stays as it was (patchAllocatedValues)."""
    if spec.get("type") == "ExternalName" or before.get("type") == "ExternalName":
        return
    if not spec.get("clusterIP") and before.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs") or []
    if spec.get("type") in _WITH_NODE_PORTS and before.get("type") in _WITH_NODE_PORTS:
        known = {_port_key(port): port.get("nodePort") for port in before.get("ports") or []}
        for port in spec.get("ports") or []:
            former = known.get(_port_key(port))
            if not port.get("nodePort") and former:
                port["nodePort"] = former


def _port_key(port: Object) -> tuple[str, object]:
    return str(port.get("protocol") or ""), port.get("name") or port.get("port")


def _drop_by_type(spec: Object, before: Object) -> None:
    """A type that has no address or node ports takes them from no one (dropTypeDependentFields)."""
    kind, former = spec.get("type"), before.get("type")
    if kind == "ExternalName" != former:
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name) == before.get(name):
                spec.pop(name, None)
    if kind not in _WITH_NODE_PORTS and former in _WITH_NODE_PORTS:
        held = {_port_key(port): port.get("nodePort") for port in before.get("ports") or []}
        for port in spec.get("ports") or []:
            if port.get("nodePort") == held.get(_port_key(port)):
                port.pop("nodePort", None)
        if spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy"):
            spec.pop("externalTrafficPolicy", None)
        if spec.get("allocateLoadBalancerNodePorts") == before.get("allocateLoadBalancerNodePorts"):
            spec.pop("allocateLoadBalancerNodePorts", None)


def _families(spec: Object) -> None:
    """One stack, IPv4; a headless service that selects nothing may be of both (initIPFamilyFields)."""
    both = services.is_headless(spec) and not spec.get("selector")
    spec["ipFamilyPolicy"] = spec.get("ipFamilyPolicy") or ("RequireDualStack" if both else "SingleStack")
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4", "IPv6"] if both else ["IPv4"]


def _address(new: Object, store: Store) -> list[FieldError]:
    spec = new["spec"]
    if services.is_headless(spec):
        spec["clusterIP"], spec["clusterIPs"] = "None", ["None"]
        return []
    taken = {
        address
        for service in _others(new, store)
        for address in [(service.get("spec") or {}).get("clusterIP")]
        if address and address != "None"
    }
    wanted = spec.get("clusterIP")
    if not wanted:
        spec["clusterIP"] = _free_address(taken, store)
        spec["clusterIPs"] = [spec["clusterIP"]]
        return []
    problem = ""
    if ipaddress.ip_address(wanted) not in RANGE:
        problem = "the provided network does not match the current range"
    elif wanted in taken:
        problem = "provided IP is already allocated"
    if not problem:
        return []
    return [invalid("spec.clusterIPs", spec["clusterIPs"], f"failed to allocate IP {wanted}: {problem}")]


def _others(new: Object, store: Store) -> list[Object]:
    own = (namespace_of(new), name_of(new))
    return [service for service in store.list("services") if (namespace_of(service), name_of(service)) != own]


def _drawn(store: Store) -> int:
    return int(store.draw_uid()[:8], 16)


def _free_address(taken: set[str], store: Store) -> str:
    size = RANGE.num_addresses - 2 - _FREE_ADDRESSES
    offset = _drawn(store) % size
    while (found := str(RANGE[_FREE_ADDRESSES + 1 + offset])) in taken:
        offset = (offset + 1) % size
    return found


def _node_ports(new: Object, store: Store) -> list[FieldError]:
    spec = new["spec"]
    if spec.get("type") not in _WITH_NODE_PORTS or spec.get("allocateLoadBalancerNodePorts") is False:
        return []
    taken = {
        (port.get("protocol"), port.get("nodePort"))
        for service in _others(new, store)
        for port in (service.get("spec") or {}).get("ports") or []
        if port.get("nodePort")
    }
    ports = spec.get("ports") or []
    for index, port in enumerate(ports):
        number = port.get("nodePort")
        if number and (number not in NODE_PORTS or (port.get("protocol"), number) in taken):
            detail = _TAKEN if number in NODE_PORTS else _OUTSIDE
            return [invalid(f"spec.ports[{index}].nodePort", number, detail)]
    numbers = {number for _, number in taken} | {port.get("nodePort") for port in ports}
    for index, port in enumerate(ports):
        if port.get("nodePort"):
            continue
        free = [number for number in NODE_PORTS[_FREE_PORTS:] if number not in numbers]
        if not free:
            detail = "failed to allocate a nodePort: range is full"
            return [invalid(f"spec.ports[{index}].nodePort", 0, detail)]
        port["nodePort"] = free[_drawn(store) % len(free)]
        numbers.add(port["nodePort"])
    return []
