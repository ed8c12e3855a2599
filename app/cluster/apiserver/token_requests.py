"""Tokens that the API server gives out and takes: serviceaccounts/token, and who a token's bearer is.

Mirrors pkg/registry/core/serviceaccount/storage/token.go, pkg/apis/authentication/validation and
pkg/serviceaccount/claims.go.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import meta
from app.apimachinery.clock import SECOND
from app.apimachinery.errors import BadRequest, Conflict
from app.apimachinery.meta import Object
from app.apimachinery.validation import invalid, invalid_object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster import tokens, users
from app.cluster.admission import node_restriction
from app.cluster.apiserver.registry import Registry
from app.cluster.attributes import DEFAULT_USER, Attributes
from app.cluster.store import Store
from app.cluster.tokens import Claims, TokenError
from app.cluster.users import User

TOKEN_REQUEST = KindInfo("authentication.k8s.io", "v1", "TokenRequest", "tokenrequests", "tokenrequest")
SHAPE = {
    "spec": {
        "audiences": "[]string",
        "expirationSeconds": "int64",
        "boundObjectRef": dict.fromkeys(("kind", "apiVersion", "name", "uid"), "string"),
    }
}
LIFETIME = 3600
"""Seconds that a token lives where the request names none (SetDefaults_TokenRequestSpec)."""
_SHORTEST, _LONGEST = 600, 1 << 32
_PROJECTED = 3607
"""Seconds that the admission of service accounts asks for; such tokens live on for a year (ExtendedExpiration)."""
_YEAR = 365 * 24 * 3600
_LASTING = "kubernetes.io/serviceaccount/"
_PURPOSE = "service account tokens"

_ACCOUNT, _POD, _SECRET, _NODE = (scheme.for_kind("v1", kind) for kind in ("ServiceAccount", "Pod", "Secret", "Node"))
_BOUND_TO = {"Pod": _POD, "Secret": _SECRET, "Node": _NODE}


@dataclass(frozen=True)
class Bearer:
    """Whom a token authenticates, and for which of the audiences asked for; nobody where `user` is None."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


def create(registry: Registry, account: str, namespace: str, request: Object, user: User = DEFAULT_USER) -> Object:
    """The request with a token as its status; nothing is stored.

    Raises:
        NotFound: there is no such account, or the token is to be bound to an object that is not there.
        Invalid, BadRequest, Conflict: a lifetime, a name or a bound object that cannot be.
    """
    metadata, spec = request.get("metadata") or {}, {**(request.get("spec") or {})}
    for field, value in (("name", account), ("namespace", namespace)):
        if metadata.get(field) and metadata[field] != value:
            detail = f"must match the service account {field} if specified"
            raise invalid_object(
                TOKEN_REQUEST.group_kind, account, [invalid(f"metadata.{field}", metadata[field], detail)]
            )
    found = registry.get(_ACCOUNT, account, namespace)
    spec["audiences"] = spec.get("audiences") or [tokens.ISSUER]
    spec.setdefault("boundObjectRef", None)
    spec["expirationSeconds"] = LIFETIME if spec.get("expirationSeconds") is None else spec["expirationSeconds"]
    _check_lifetime(spec["expirationSeconds"])
    asked = {**request, "spec": spec}
    node_restriction.admit(
        Attributes("CREATE", _ACCOUNT, account, namespace, asked, None, "token", user), registry.store
    )
    bound = _bound_objects(registry, account, namespace, spec["boundObjectRef"])
    now = registry.store.clock.now()
    claims = _claims(found, bound, spec, now // SECOND)
    expires = clocks.rfc3339(now + min(spec["expirationSeconds"], _LONGEST) * SECOND)
    named = {"name": account, "namespace": namespace, "creationTimestamp": clocks.rfc3339(now)}
    return {
        "kind": TOKEN_REQUEST.kind,
        "apiVersion": TOKEN_REQUEST.api_version,
        "metadata": {**metadata, **named},
        "spec": spec,
        "status": {"token": tokens.signed(claims, _key(registry.store)), "expirationTimestamp": expires},
    }


def _check_lifetime(seconds: int) -> None:
    """ValidateTokenRequest."""
    if seconds < _SHORTEST:
        detail = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        detail = "may not specify a duration larger than 2^32 seconds"
    else:
        return
    raise invalid_object(TOKEN_REQUEST.group_kind, "", [invalid("spec.expirationSeconds", seconds, detail)])


def _bound_objects(
    registry: Registry, account: str, namespace: str, reference: Mapping[str, Any] | None
) -> dict[str, Object]:
    """What the token's life hangs on, by the name of its claim; with a pod, the pod's node."""
    if reference is None:
        return {}
    kind, version = reference.get("kind") or "", reference.get("apiVersion") or ""
    info = _BOUND_TO.get(kind) if "/" not in version else None
    if info is None:
        group, _, number = version.rpartition("/")
        raise BadRequest(f"cannot bind token to object of type {group}/{number}, Kind={kind}")
    found = registry.get(info, reference.get("name") or "", namespace)
    if info is _POD and account != found["spec"].get("serviceAccountName"):
        raise BadRequest(
            f'cannot bind token for serviceaccount "{account}" to pod running with different serviceaccount name.'
        )
    uid = reference.get("uid")
    if uid and uid != found["metadata"]["uid"]:
        problem = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        name = reference["name"]
        raise Conflict(
            f'Operation cannot be fulfilled on {kind} "{name}": {problem}', details={"name": name, "kind": kind}
        )
    bound = {kind.lower(): found}
    if info is _POD and found["spec"].get("nodeName"):
        node = registry.store.get("nodes", found["spec"]["nodeName"])
        bound["node"] = node or {"metadata": {"name": found["spec"]["nodeName"]}}
    return bound


def _claims(account: Object, bound: Mapping[str, Object], spec: Mapping[str, Any], now: int) -> dict[str, Any]:
    """What the token says (Claims)."""
    namespace, name = meta.namespace_of(account), meta.name_of(account)
    lifetime, private = spec["expirationSeconds"], {"namespace": namespace, "serviceaccount": _reference(account)}
    private |= {kind: _reference(obj) for kind, obj in bound.items()}
    if "pod" in bound and lifetime == _PROJECTED and spec["audiences"] == [tokens.ISSUER]:
        private["warnafter"], lifetime = now + lifetime, _YEAR
    return {
        "aud": spec["audiences"],
        "exp": now + lifetime,
        "iat": now,
        "iss": tokens.ISSUER,
        "kubernetes.io": private,
        "nbf": now,
        "sub": users.account_name(namespace, name),
    }


def _reference(obj: Object) -> dict[str, str]:
    uid = obj["metadata"].get("uid")
    return {"name": meta.name_of(obj), **({"uid": uid} if uid else {})}


def _key(store: Store) -> bytes:
    return store.key(_PURPOSE)


def bearer(store: Store, token: str, audiences: Sequence[str] = ()) -> Bearer:
    """Who bears the token, for the API server or for the audiences named (JWTTokenAuthenticator.AuthenticateToken)."""
    try:
        claims = tokens.claims_of(token, _key(store))
        if claims is None:
            return Bearer()
        wanted = list(audiences) or [tokens.ISSUER]
        meant = claims.get("aud", [tokens.ISSUER])
        common = [audience for audience in meant if audience in wanted]
        if not common:
            lists = " is invalid for the target audiences ".join(_go_list(each) for each in (meant, wanted))
            return Bearer(error=f"token audiences {lists}")
        if claims["iss"] == tokens.LEGACY_ISSUER:
            return Bearer(_checked_lasting(store, claims, token), tuple(common))
        return Bearer(_checked(store, claims), tuple(common))
    except TokenError as error:
        return Bearer(error=str(error))


def _checked(store: Store, claims: Claims) -> User:
    """The user, where the token's time has not run out and everything that it hangs on is there (Validate)."""
    now = store.clock.now() // SECOND
    if now >= claims["exp"]:
        raise TokenError("service account token has expired")
    private = claims["kubernetes.io"]
    namespace, account = private["namespace"], private["serviceaccount"]
    found = store.get("serviceaccounts", f"{namespace}/{account['name']}")
    if found is None:
        raise TokenError(f'serviceaccounts "{account["name"]}" not found')
    if found["metadata"]["uid"] != account["uid"]:
        raise TokenError(f"service account UID ({found['metadata']['uid']}) does not match claim ({account['uid']})")
    extra = {"authentication.kubernetes.io/credential-id": f"JTI={claims['jti']}"}
    for kind in ("secret", "pod", "node"):
        reference = private.get(kind)
        if reference is None:
            continue
        _check_bound(store, namespace, kind, reference, alone="pod" not in private)
        if kind != "secret":
            names = (("name", reference["name"]), ("uid", reference.get("uid")))
            extra |= {f"authentication.kubernetes.io/{kind}-{name}": value for name, value in names if value}
    name = account["name"]
    groups = (*users.account_groups(namespace), users.AUTHENTICATED)
    pairs = tuple((key, (value,)) for key, value in sorted(extra.items()))
    return User(users.account_name(namespace, name), groups, account["uid"], pairs)


def lasting(store: Store, account: Object, secret: Object) -> str:
    """The token for a Secret, which lasts as long as that and the account (LegacyClaims)."""
    namespace, name = meta.namespace_of(account), meta.name_of(account)
    claims = {
        "iss": tokens.LEGACY_ISSUER,
        f"{_LASTING}namespace": namespace,
        f"{_LASTING}secret.name": meta.name_of(secret),
        f"{_LASTING}service-account.name": name,
        f"{_LASTING}service-account.uid": account["metadata"]["uid"],
        "sub": users.account_name(namespace, name),
    }
    return tokens.signed(claims, _key(store))


def _checked_lasting(store: Store, claims: Claims, token: str) -> User:
    """The user, where the Secret still holds this very token and the account is the same (legacyValidator.Validate)."""
    namespace, secret, name, uid = (
        str(claims[f"{_LASTING}{part}"])
        for part in ("namespace", "secret.name", "service-account.name", "service-account.uid")
    )
    holder = store.get("secrets", f"{namespace}/{secret}")
    if holder is None:
        raise TokenError("service account token has been invalidated")
    if (holder.get("data") or {}).get("token") != base64.b64encode(token.encode()).decode():
        raise TokenError("service account token does not match server's copy")
    account = store.get("serviceaccounts", f"{namespace}/{name}")
    if account is None:
        raise TokenError(f'serviceaccounts "{name}" not found')
    if account["metadata"]["uid"] != uid:
        raise TokenError(f"service account UID ({account['metadata']['uid']}) does not match claim ({uid})")
    return User(users.account_name(namespace, name), (*users.account_groups(namespace), users.AUTHENTICATED), uid)


def _check_bound(store: Store, namespace: str, kind: str, reference: Mapping[str, str], *, alone: bool) -> None:
    """A token ends with what it is bound to; the node of a pod is only told."""
    if kind == "node" and not alone:
        return
    key = reference["name"] if kind == "node" else f"{namespace}/{reference['name']}"
    found = store.get(f"{kind}s", key)
    if found is None:
        raise TokenError("service account token has been invalidated")
    uid = found["metadata"]["uid"]
    if uid != reference.get("uid"):
        raise TokenError(f"{kind} UID ({uid}) does not match service account {kind} ref claim ({reference.get('uid')})")


def _go_list(texts: Sequence[str]) -> str:
    """Texts as Go's `%q` prints them."""
    quoted = " ".join(f'"{text}"' for text in texts)
    return f"[{quoted}]"
