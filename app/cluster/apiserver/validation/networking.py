"""Rules for Ingresses, IngressClasses and NetworkPolicies (pkg/apis/networking/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import addresses, validation
from app.apimachinery.meta import Object, annotations_of
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required, too_long
from app.cluster.apiserver.validation import selectors

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")
_LONGEST_CONTROLLER = 250
_SCOPES = ("Cluster", "Namespace")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_NO_ADDRESS = "must be a DNS name, not an IP address"


def ingress(obj: Object) -> list[FieldError]:
    """A new Ingress (ValidateIngressCreate)."""
    errors = ingress_update(obj, obj)
    given, wanted = annotations_of(obj).get(_CLASS_ANNOTATION), (obj.get("spec") or {}).get("ingressClassName")
    if given is not None and wanted is not None and given != wanted:
        detail = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", given, detail))
    return errors


def ingress_update(new: Object, old: Object) -> list[FieldError]:
    """Backend or rules, TLS and class (ValidateIngressSpec)."""
    del old
    spec = new.get("spec") or {}
    rules = spec.get("rules") or []
    errors: list[FieldError] = []
    if not rules and spec.get("defaultBackend") is None:
        errors.append(invalid("spec", None, "either `defaultBackend` or `rules` must be specified"))
    if spec.get("defaultBackend") is not None:
        errors += _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(rules):
        errors += _rule(rule, f"spec.rules[{index}]")
    for index, entry in enumerate(spec.get("tls") or []):
        for place, host in enumerate(entry.get("hosts") or []):
            errors += [invalid(f"spec.tls[{index}].hosts[{place}]", host, text) for text in _host(host)]
        errors += _named(entry.get("secretName") or "", f"spec.tls[{index}].secretName")
    name = spec.get("ingressClassName")
    if name is not None:
        errors += [invalid("spec.ingressClassName", name, text) for text in validation.dns1123_subdomain(name)]
    return errors


def ingress_status(new: Object, old: Object) -> list[FieldError]:
    """The addresses that a controller writes (ValidateIngressLoadBalancerStatus)."""
    del old
    errors: list[FieldError] = []
    for index, point in enumerate(((new.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []):
        here, address, host = f"status.loadBalancer.ingress[{index}]", point.get("ip"), point.get("hostname")
        if address and addresses.parse(address) is None:
            errors.append(invalid(f"{here}.ip", address, addresses.ADDRESS_TEXT))
        if host:
            errors += [invalid(f"{here}.hostname", host, text) for text in validation.dns1123_subdomain(host)]
            if addresses.parse(host) is not None:
                errors.append(invalid(f"{here}.hostname", host, _NO_ADDRESS))
    return errors


def _named(name: str, field: str) -> list[FieldError]:
    return [invalid(field, name, text) for text in validation.dns1123_subdomain(name)] if name else []


def _host(host: str) -> list[str]:
    return validation.wildcard_subdomain(host) if "*" in host else validation.dns1123_subdomain(host)


def _rule(rule: Mapping[str, Any], field: str) -> list[FieldError]:
    host = rule.get("host") or ""
    errors: list[FieldError] = []
    if host:
        if addresses.parse(host) is not None:
            errors.append(invalid(f"{field}.host", host, _NO_ADDRESS))
        errors += [invalid(f"{field}.host", host, text) for text in _host(host)]
    if rule.get("http") is not None:
        paths = rule["http"].get("paths") or []
        if not paths:
            errors.append(required(f"{field}.http.paths"))
        for index, path in enumerate(paths):
            errors += _path(path, f"{field}.http.paths[{index}]")
    return errors


def _path(path: Mapping[str, Any], field: str) -> list[FieldError]:
    """What is asked for, and who answers (validateHTTPIngressPath)."""
    kind, text = path.get("pathType"), path.get("path") or ""
    if kind is None:
        return [required(f"{field}.pathType", "pathType must be specified")]
    errors: list[FieldError] = []
    relative = invalid(f"{field}.path", text, "must be an absolute path")
    if kind in {"Exact", "Prefix"}:
        errors += [] if text.startswith("/") else [relative]
        errors += [invalid(f"{field}.path", text, f"must not contain '{bad}'") for bad in _BAD_SEQUENCES if bad in text]
        errors += [
            invalid(f"{field}.path", text, f"cannot end with '{bad}'") for bad in _BAD_ENDS if text.endswith(bad)
        ]
    elif kind == "ImplementationSpecific":
        errors += [relative] if text and not text.startswith("/") else []
    else:
        errors.append(not_supported(f"{field}.pathType", kind, _PATH_TYPES))
    return errors + _backend(path.get("backend") or {}, f"{field}.backend")


def _backend(backend: Mapping[str, Any], field: str) -> list[FieldError]:
    """A service or a resource (validateIngressBackend)."""
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(field, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _reference(resource, f"{field}.resource")
    if service is None:
        return [invalid(field, "", "resource or service backend is required")]
    name = service.get("name") or ""
    if name:
        errors = [invalid(f"{field}.service.name", name, text) for text in validation.dns1035_label(name)]
    else:
        errors = [required(f"{field}.service.name")]
    port = service.get("port") or {}
    port_name, number = port.get("name") or "", port.get("number") or 0
    if port_name and number:
        errors.append(invalid(field, "", "cannot set both port name & port number"))
    elif port_name:
        errors += [invalid(f"{field}.service.port.name", port_name, text) for text in validation.port_name(port_name)]
    elif number:
        errors += [invalid(f"{field}.service.port.number", number, text) for text in validation.port_number(number)]
    else:
        errors.append(required(field, "port name or number is required"))
    return errors


def _reference(reference: Mapping[str, Any], field: str) -> list[FieldError]:
    """Group, kind and name of another object (validateIngressTypedLocalObjectReference)."""
    group = reference.get("apiGroup")
    errors: list[FieldError] = []
    if group is not None:
        errors += [invalid(f"{field}.apiGroup", group, text) for text in validation.dns1123_subdomain(group)]
    for part in ("kind", "name"):
        value = reference.get(part) or ""
        if not value:
            errors.append(required(f"{field}.{part}"))
        errors += [invalid(f"{field}.{part}", value, text) for text in validation.path_segment(value)]
    return errors


def ingress_class(obj: Object) -> list[FieldError]:
    """The controller and its parameters (validateIngressClassSpec)."""
    spec = obj.get("spec") or {}
    controller, parameters = spec.get("controller") or "", spec.get("parameters")
    errors: list[FieldError] = []
    if not controller:
        errors.append(required("spec.controller"))
    else:
        if len(controller.encode()) > _LONGEST_CONTROLLER:
            errors.append(too_long("spec.controller", _LONGEST_CONTROLLER))
        errors += validation.domain_prefixed_path(controller, "spec.controller")
    return errors if parameters is None else errors + _parameters(parameters, "spec.parameters")


def _parameters(parameters: Mapping[str, Any], field: str) -> list[FieldError]:
    """validateIngressClassParametersReference: the scope decides about the namespace."""
    errors = _reference(parameters, field)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [*errors, required(f"{field}.scope")]
    if scope not in _SCOPES:
        return [*errors, not_supported(f"{field}.scope", scope, _SCOPES)]
    if scope == "Cluster":
        told = "`parameters.scope` is set to 'Cluster'"
        return errors if namespace is None else [*errors, forbidden(f"{field}.namespace", told)]
    if namespace is None:
        return [*errors, required(f"{field}.namespace", "`parameters.scope` is set to 'Namespace'")]
    wrong = validation.dns1123_label(namespace)
    return errors + [invalid(f"{field}.namespace", namespace, text) for text in wrong]


def ingress_class_update(new: Object, old: Object) -> list[FieldError]:
    """The controller is fixed (validateIngressClassSpecUpdate)."""
    now, before = ((obj.get("spec") or {}).get("controller") or "" for obj in (new, old))
    errors = [] if now == before else [invalid("spec.controller", now, "field is immutable")]
    return errors + ingress_class(new)


def network_policy(obj: Object) -> list[FieldError]:
    """Whom it selects, and the rules of both directions (ValidateNetworkPolicySpec)."""
    spec = obj.get("spec") or {}
    errors = selectors.label_selector(spec.get("podSelector") or {}, "spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or []):
            here = f"spec.{direction}[{index}]"
            for place, port in enumerate(rule.get("ports") or []):
                errors += _policy_port(port, f"{here}.ports[{place}]")
            for place, peer in enumerate(rule.get(side) or []):
                errors += _peer(peer, f"{here}.{side}[{place}]")
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(_POLICY_TYPES):
        return [*errors, invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")]
    wrong = [(index, kind) for index, kind in enumerate(kinds) if kind not in _POLICY_TYPES]
    return errors + [not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES) for index, kind in wrong]


def _policy_port(port: Mapping[str, Any], field: str) -> list[FieldError]:
    """ValidateNetworkPolicyPort: a number, a name, or a range that begins with a number."""
    protocol, number, end = port.get("protocol"), port.get("port"), port.get("endPort")
    errors: list[FieldError] = []
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{field}.protocol", protocol, _PROTOCOLS))
    if number is None:
        if end is not None:
            errors.append(invalid(f"{field}.endPort", end, "may not be specified when `port` is not specified"))
    elif isinstance(number, str):
        if end is not None:
            errors.append(invalid(f"{field}.endPort", end, "may not be specified when `port` is non-numeric"))
        errors += [invalid(f"{field}.port", number, text) for text in validation.port_name(number)]
    else:
        errors += [invalid(f"{field}.port", number, text) for text in validation.port_number(number)]
        if end is not None:
            if end < number:
                errors.append(invalid(f"{field}.endPort", end, "must be greater than or equal to `port`"))
            errors += [invalid(f"{field}.endPort", end, text) for text in validation.port_number(end)]
    return errors


def _peer(peer: Mapping[str, Any], field: str) -> list[FieldError]:
    """ValidateNetworkPolicyPeer."""
    errors: list[FieldError] = []
    given = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(name) is not None]
    for name in given:
        if name == "ipBlock":
            errors += _block(peer[name], f"{field}.ipBlock")
        else:
            errors += selectors.label_selector(peer[name], f"{field}.{name}")
    if not given:
        errors.append(required(field, "must specify a peer"))
    elif len(given) > 1 and "ipBlock" in given:
        errors.append(forbidden(field, "may not specify both ipBlock and another peer"))
    return errors


def _block(block: Mapping[str, Any], field: str) -> list[FieldError]:
    """ValidateIPBlock: what is excepted lies within."""
    text = block.get("cidr") or ""
    if not text:
        return [required(f"{field}.cidr")]
    whole = addresses.parse_network(text)
    if whole is None:
        return [invalid(f"{field}.cidr", text, addresses.NETWORK_TEXT)]
    errors: list[FieldError] = []
    for index, excepted in enumerate(block.get("except") or []):
        part, here = addresses.parse_network(excepted), f"{field}.except[{index}]"
        if part is None:
            errors.append(invalid(here, excepted, addresses.NETWORK_TEXT))
        elif part[1].network_address not in whole[1] or part[1].prefixlen <= whole[1].prefixlen:
            errors.append(invalid(here, excepted, "must be a strict subset of `cidr`"))
    return errors
