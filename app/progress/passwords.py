"""Passwords: argon2id with OWASP's least parameters (19 MiB, two passes, one lane)."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)


def hash_password(password: str) -> str:
    """A salted hash that names its parameters."""
    return _hasher.hash(_bytes(password))


def is_right(password: str, password_hash: str | None) -> bool:
    """Whether the password belongs to the hash. Without a hash (an unknown name) it is wrong, and takes as long."""
    stand_in = _stand_in()
    try:
        _hasher.verify(password_hash or stand_in, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)


@cache
def _stand_in() -> str:
    return hash_password("")


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
