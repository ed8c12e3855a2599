"""Addresses that are taken and should be written otherwise (apimachinery/pkg/util/validation/ip.go)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from app.apimachinery.validation import quoted

_SOON = "will be considered invalid in a future Kubernetes release"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def address(text: str, field: str) -> Iterator[str]:
    """GetWarningsForIP: forms that not every reader takes for the same address."""
    found = sloppy(text)
    if found is None:
        return
    if not _is_standard(text):
        yield f"{field}: non-standard IP address {quoted(text)} {_SOON}: use {quoted(str(found))}"
    elif found.version == 6 and str(found) != text:
        yield f"{field}: IPv6 address {quoted(text)} should be in RFC 5952 canonical format ({quoted(str(found))})"


def network(text: str, field: str) -> Iterator[str]:
    """GetWarningsForCIDR: the same for networks, and those in which the address says more than the network."""
    base, _, length = text.partition("/")
    found = sloppy(base)
    if found is None or not (length.isascii() and length.isdecimal() and len(length) < 5):
        return
    bits = int(length) - (96 if ":" in base and found.version == 4 else 0)
    if not 0 <= bits <= found.max_prefixlen:
        return
    whole = ipaddress.ip_network((found, bits), strict=False)
    unusual = False
    if found != whole.network_address:
        single = f"{found}/{found.max_prefixlen}"
        choice = f"(should be {quoted(str(whole))} or {quoted(single)}?)"
        unusual = True
        yield f"{field}: CIDR value {quoted(text)} is ambiguous in this context {choice}"
    if not _is_standard(base) or str(int(length)) != length:
        unusual = True
        yield f"{field}: non-standard CIDR value {quoted(text)} {_SOON}: use {quoted(str(whole))}"
    if not unusual and found.version == 6 and f"{found}/{length}" != text:
        canonical = quoted(f"{found}/{length}")
        yield f"{field}: IPv6 CIDR value {quoted(text)} should be in RFC 5952 canonical format ({canonical})"


def sloppy(text: str) -> Address | None:
    """The address of a text in which numbers may begin with zeros (k8s.io/utils/net: ParseIPSloppy)."""
    parts = text.split(".")
    if len(parts) == 4 and ":" not in text and all(part.isascii() and part.isdecimal() for part in parts):
        text = ".".join(part.lstrip("0") or "0" for part in parts)
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address):
        return None if found.scope_id else found.ipv4_mapped or found
    return found


def _is_standard(text: str) -> bool:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped)
