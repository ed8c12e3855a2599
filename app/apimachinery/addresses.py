"""IP addresses and networks as the API server reads them (k8s.io/utils/net: ParseIPSloppy, ParseCIDRSloppy).

Numbers may begin with zeros, and an IPv4 address in IPv6 clothing is the IPv4 address.
"""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ADDRESS_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NETWORK_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_LONGEST = 64


def parse(text: str) -> Address | None:
    """The address, None for what is none."""
    if len(text) > _LONGEST:
        return None
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


def parse_network(text: str) -> tuple[Address, Network] | None:
    """The address before the slash and the network that it lies in, None for what is no network."""
    base, _, length = text.partition("/")
    found = parse(base)
    if found is None or not (length.isascii() and length.isdecimal() and len(length) < 5):
        return None
    bits = int(length) - (96 if ":" in base and found.version == 4 else 0)
    if not 0 <= bits <= found.max_prefixlen:
        return None
    return found, ipaddress.ip_network((found, bits), strict=False)


def is_standard(text: str) -> bool:
    """Whether every reader takes the text for the same address."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped)
