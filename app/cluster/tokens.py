"""Tokens of service accounts: JSON Web Tokens in the form that the API server signs (pkg/serviceaccount/jwt.go).

A token is made of its claims and the cluster's key alone, so that equal requests at one instant give equal tokens. The
signature has the length of an RSA one and is none: nobody but this cluster can check it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import orjson

ISSUER = "https://kubernetes.default.svc.cluster.local"
"""kubeadm's --service-account-issuer, which is the API server's own audience, too."""
LEGACY_ISSUER = "kubernetes/serviceaccount"
"""Of the tokens that stand in Secrets and last as long as these (pkg/serviceaccount/legacy.go)."""
SECRET_TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME, ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
"""The annotations that tie such a Secret to its account."""
BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive"
_BLOCKS = 8
_LONGEST = 16_384
"""Characters; whatever is longer was not made here."""

Claims = Mapping[str, Any]


class TokenError(ValueError):
    """A token that says it is this cluster's and is not, or no longer."""


def signed(claims: Claims, key: bytes) -> str:
    """The token with these claims; the `jti` of one that ends follows from the other claims."""
    digest = hashlib.sha256(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS) + key).hexdigest()
    jti = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"
    named = {"jti": jti} if "exp" in claims else {}
    header = {"alg": "RS256", "kid": _encoded(hashlib.sha256(key).digest())}
    parts = [orjson.dumps(part, option=orjson.OPT_SORT_KEYS) for part in (header, {**claims, **named})]
    body = ".".join(_encoded(part) for part in parts)
    return f"{body}.{_encoded(_signature(body, key))}"


def claims_of(token: str, key: bytes) -> Claims | None:
    """What a token claims; None for what is no token of this issuer.

    Raises:
        TokenError: the issuer is named, and the signature is not the cluster's.
    """
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _LONGEST:
        return None
    try:
        claims = orjson.loads(_decoded(parts[1]))
        signature = _decoded(parts[2])
    except (binascii.Error, ValueError):
        return None
    if not isinstance(claims, dict) or claims.get("iss") not in {ISSUER, LEGACY_ISSUER}:
        return None
    if not hmac.compare_digest(signature, _signature(f"{parts[0]}.{parts[1]}", key)):
        raise TokenError(BAD_SIGNATURE)
    return claims


def _signature(body: str, key: bytes) -> bytes:
    return b"".join(hmac.digest(key, bytes([block]) + body.encode(), "sha256") for block in range(_BLOCKS))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
