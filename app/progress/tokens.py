"""Random secrets, of which the database keeps only a hash."""

from __future__ import annotations

import hashlib
import secrets

_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_HALF = 4


def new() -> str:
    """256 random bits, fit for an address or a cookie."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    """A random name for a row that strangers must not guess."""
    return secrets.token_urlsafe(16)


def digest(secret: str) -> str:
    """What is stored of a secret: SHA-256, hexadecimal. The secrets are random, so no salt is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_code() -> str:
    """A code that people read aloud and type: eight signs in two halves, none that looks like another."""
    signs = [secrets.choice(_ALPHABET) for _ in range(2 * _HALF)]
    return f"{''.join(signs[:_HALF])}-{''.join(signs[_HALF:])}"


def as_code(typed: str) -> str:
    """A typed code as it is stored: capitals, one hyphen in the middle."""
    signs = [sign for sign in typed.upper() if sign in _ALPHABET]
    return f"{''.join(signs[:_HALF])}-{''.join(signs[_HALF:])}"
