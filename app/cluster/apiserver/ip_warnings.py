"""Addresses that are taken and should be written otherwise (apimachinery/pkg/util/validation/ip.go)."""

from __future__ import annotations

from collections.abc import Iterator

from app.apimachinery import addresses
from app.apimachinery.validation import quoted

_SOON = "will be considered invalid in a future Kubernetes release"


def address(text: str, field: str) -> Iterator[str]:
    """GetWarningsForIP: forms that not every reader takes for the same address."""
    found = addresses.parse(text)
    if found is None:
        return
    if not addresses.is_standard(text):
        yield f"{field}: non-standard IP address {quoted(text)} {_SOON}: use {quoted(str(found))}"
    elif found.version == 6 and str(found) != text:
        yield f"{field}: IPv6 address {quoted(text)} should be in RFC 5952 canonical format ({quoted(str(found))})"


def network(text: str, field: str) -> Iterator[str]:
    """GetWarningsForCIDR: the same for networks, and those in which the address says more than the network."""
    parsed = addresses.parse_network(text)
    if parsed is None:
        return
    found, whole = parsed
    base, _, length = text.partition("/")
    unusual = False
    if found != whole.network_address:
        single = f"{found}/{found.max_prefixlen}"
        choice = f"(should be {quoted(str(whole))} or {quoted(single)}?)"
        unusual = True
        yield f"{field}: CIDR value {quoted(text)} is ambiguous in this context {choice}"
    if not addresses.is_standard(base) or str(int(length)) != length:
        unusual = True
        yield f"{field}: non-standard CIDR value {quoted(text)} {_SOON}: use {quoted(str(whole))}"
    if not unusual and found.version == 6 and f"{found}/{length}" != text:
        canonical = quoted(f"{found}/{length}")
        yield f"{field}: IPv6 CIDR value {quoted(text)} should be in RFC 5952 canonical format ({canonical})"
