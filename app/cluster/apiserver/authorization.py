"""Who a request acts as and whether that user may do it.

Mirrors apiserver/pkg/endpoints/request/requestinfo.go, filters/impersonation.go and filters/authorization.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.apimachinery.errors import Forbidden, StatusError, Unauthorized
from app.cluster import authorizers, rbac, users
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.apiserver.served import Served
from app.cluster.rbac import Request
from app.cluster.users import User

USER, GROUP, UID, EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
SEPARATOR = "\n"
"""Between the values of a header that came more than once."""

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_NAMESPACE_PARTS = ("status", "finalize")


class NoUserToImpersonate(StatusError):
    """Groups, a uid or extra fields to act with, but no user."""


def admit(cluster: Served, request: ApiRequest, parts: Sequence[str]) -> User:
    """The user that the request acts as; Forbidden where that user, or acting as that user, is not allowed."""
    user = acting_as(cluster, request, asker(cluster, request))
    check(cluster, user, asked(request, parts))
    return user


def asker(cluster: Served, request: ApiRequest) -> User:
    """Who sends the request: whoever bears its token, else the administrator, whose credential is the address.

    Raises:
        Unauthorized: the token is nobody's (apiserver/pkg/authentication/request/bearertoken).
    """
    scheme, _, token = request.headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return users.ADMIN
    user = cluster.client.bearer(token.strip()).user
    if user is None:
        raise Unauthorized("Unauthorized")
    return user


def check(cluster: Served, user: User, request: Request) -> None:
    """Forbidden unless the user may."""
    if user is users.ADMIN and rbac.administers(cluster.client):
        return
    request = replace(request, user=user.name, groups=user.groups)
    decision = authorizers.decide(cluster.client, request, user)
    if decision.allowed:
        return
    details = {"name": request.name, "group": request.group, "kind": request.resource.partition("/")[0]}
    told = {key: value for key, value in details.items() if value}
    raise Forbidden(rbac.denial(request, decision.reason), details=told)


def asked(request: ApiRequest, parts: Sequence[str]) -> Request:
    """What a request is about, whether or not there is such a thing (RequestInfoFactory.NewRequestInfo)."""
    root = 1 if parts[0] == "api" else 2
    if parts[0] not in {"api", "apis"} or len(parts) < root + 2:
        return Request("", request.method.lower(), path=request.path)
    group, rest = (parts[1] if root == 2 else ""), list(parts[root + 1 :])
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_PARTS:
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    resource = "/".join([rest[0], *rest[2:3]])
    verb = _VERBS.get(request.method, "")
    if request.method == "DELETE":
        verb = "delete" if name else "deletecollection"
    elif request.method == "GET":
        verb = "watch" if request.is_watch else "get" if name else "list"
        name = name or _named_by(request)
    return Request("", verb, resource, group, namespace, name, fields=_equal_fields(request))


def _equal_fields(request: ApiRequest) -> tuple[tuple[str, str], ...]:
    terms = (term.partition("=") for term in request.param("fieldSelector").split(",") if "!=" not in term)
    return tuple((field, value.removeprefix("=")) for field, _, value in terms if field)


def _named_by(request: ApiRequest) -> str:
    """A field selector on the name alone asks for one object."""
    field, _, value = request.param("fieldSelector").partition("=")
    return value.removeprefix("=") if field == "metadata.name" and "," not in value else ""


def acting_as(cluster: Served, request: ApiRequest, sender: User) -> User:
    """Whom the sender's headers name, else the sender; Forbidden where the sender may not act as that user or group."""
    headers = {name: value for name, value in request.headers.items() if name.startswith("impersonate-")}
    if not headers:
        return sender
    name = headers.get(USER, "")
    groups = tuple(headers[GROUP].split(SEPARATOR)) if headers.get(GROUP) else ()
    extra = tuple(
        (key.removeprefix(EXTRA), tuple(value.split(SEPARATOR)))
        for key, value in sorted(headers.items())
        if key.startswith(EXTRA)
    )
    if not name:
        raise NoUserToImpersonate(
            f'Internal Server Error: "{request.path}": requested {sorted(headers)} without impersonating a user'
        )
    for wanted in _to_impersonate(name, groups, headers.get(UID, ""), extra):
        check(cluster, sender, wanted)
    return User(name, _groups(name, groups), headers.get(UID, ""), extra)


def _to_impersonate(
    name: str, groups: tuple[str, ...], uid: str, extra: tuple[tuple[str, tuple[str, ...]], ...]
) -> Iterator[Request]:
    """What acting as somebody takes (buildImpersonationRequests)."""
    account = users.account_of(name)
    if account:
        yield Request("", "impersonate", "serviceaccounts", "", *account)
    else:
        yield Request("", "impersonate", "users", name=name)
    for group in groups:
        yield Request("", "impersonate", "groups", name=group)
    for key, values in extra:
        for value in values:
            yield Request("", "impersonate", f"userextras/{key}", "authentication.k8s.io", name=value)
    if uid:
        yield Request("", "impersonate", "uids", "authentication.k8s.io", name=uid)


def _groups(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The groups that are given, or that a service account has, and whether the user is known."""
    account = users.account_of(name)
    groups = given or (users.account_groups(account[0]) if account else ())
    known = users.UNAUTHENTICATED if name == users.ANONYMOUS else users.AUTHENTICATED
    if known in groups or users.UNAUTHENTICATED in groups:
        return groups
    return (*groups, known)
