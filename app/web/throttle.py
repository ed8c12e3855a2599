"""Brakes for what can be guessed: passwords, join codes, new accounts.

Each try is counted before it is answered, so many at once gain nothing. The counts live in the process:
several processes let through as many times more.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import Request


class Throttle:
    """Limits by name: `sign-in` (per name and address), `address` (all sign-ins of one), `sign-up`, `join`.

    A name alone is never limited: else a stranger could lock its owner out. An address alone is limited
    loosely, because a whole class may come from one.
    """

    RULES: ClassVar[Mapping[str, str]] = {
        "sign-in": "5/minute;30/hour",
        "address": "120/5 minutes",
        "sign-up": "60/10 minutes",
        "join": "10/minute;60/hour",
    }

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._items: dict[str, Sequence[RateLimitItem]] = {name: parse_many(text) for name, text in self.RULES.items()}

    def hit(self, rule: str, *key: str) -> int:
        """Count one try. Returns 0 where it may go on, else the seconds until the next one may."""
        wait = 0
        for item in self._items[rule]:
            if not self._limiter.hit(item, rule, *_short(key)):
                reset = self._limiter.get_window_stats(item, rule, *_short(key)).reset_time
                wait = max(wait, math.ceil(reset - time.time()), 1)
        return wait

    def forgive(self, rule: str, *key: str) -> None:
        """Forget the tries of somebody who then got it right."""
        for item in self._items[rule]:
            self._limiter.clear(item, rule, *_short(key))


def _short(key: tuple[str, ...]) -> list[str]:
    return [part.casefold()[:100] for part in key]


def address_of(request: Request) -> str:
    """Who asks, as far as the network tells: an IPv4 address, or the IPv6 /64 that one household shares."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


hashing = threading.BoundedSemaphore(4)
"""Passwords are hashed at most four at a time: each hash takes tens of megabytes and a core."""
