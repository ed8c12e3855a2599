"""Rules for a pod's names and readiness (core validation.go: validatePodDNSConfig, ValidateHostAliases)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import addresses, validation
from app.apimachinery.validation import FieldError, invalid, required

_MOST_SERVERS, _MOST_SEARCHES, _LONGEST_SEARCH_LIST = 3, 32, 2048


def dns(spec: Mapping[str, Any], field: str) -> list[FieldError]:
    """Servers, searches and options; all of them with the policy None."""
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(field, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{field}.nameservers", detail)]
    return [] if config is None else _config(config, field)


def _config(config: Mapping[str, Any], field: str) -> list[FieldError]:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    errors: list[FieldError] = []
    if len(servers) > _MOST_SERVERS:
        errors.append(invalid(f"{field}.nameservers", servers, f"must not have more than {_MOST_SERVERS} nameservers"))
    for index, server in enumerate(servers):
        if addresses.parse(server) is None:
            errors.append(invalid(f"{field}.nameservers[{index}]", server, addresses.ADDRESS_TEXT))
    if len(searches) > _MOST_SEARCHES:
        detail = f"must not have more than {_MOST_SEARCHES} search paths"
        errors.append(invalid(f"{field}.searches", searches, detail))
    if len(" ".join(searches)) > _LONGEST_SEARCH_LIST:
        told = "characters (including spaces) in the search list"
        errors.append(invalid(f"{field}.searches", searches, f"must not have more than {_LONGEST_SEARCH_LIST} {told}"))
    for index, search in enumerate(searches):
        if search != ".":
            wrong = validation.dns1123_subdomain_with_underscore(search.removesuffix("."))
            errors += [invalid(f"{field}.searches[{index}]", search.removesuffix("."), text) for text in wrong]
    for index, option in enumerate(config.get("options") or []):
        if not option.get("name"):
            errors.append(required(f"{field}.options[{index}]", "must not be empty"))
    return errors


def host_aliases(listed: Sequence[Mapping[str, Any]], field: str) -> list[FieldError]:
    """Addresses and the names that they get in the pod."""
    errors: list[FieldError] = []
    for index, alias in enumerate(listed):
        address = alias.get("ip") or ""
        if addresses.parse(address) is None:
            errors.append(invalid(f"{field}[{index}].ip", address, addresses.ADDRESS_TEXT))
        for place, name in enumerate(alias.get("hostnames") or []):
            wrong = validation.dns1123_subdomain(name)
            errors += [invalid(f"{field}[{index}].hostnames[{place}]", name, text) for text in wrong]
    return errors


def readiness_gates(listed: Sequence[Mapping[str, Any]], field: str) -> list[FieldError]:
    """Conditions that somebody else sets (validateReadinessGates)."""
    return [
        invalid(f"{field}[{index}].conditionType", gate.get("conditionType") or "", text)
        for index, gate in enumerate(listed)
        for text in validation.qualified_name(gate.get("conditionType") or "")
    ]
