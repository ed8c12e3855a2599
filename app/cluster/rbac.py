"""Whether a user may do something (plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go).

Only programs inside the cluster are asked; the learner is the cluster's administrator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.cluster.client import Client

_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True)
class Request:
    """What is to be done. An empty namespace means the whole cluster; an empty name any object."""

    user: str
    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""


def allowed(client: Client, request: Request) -> bool:
    """Whether some binding grants the request."""
    return any(_grants(rule, request) for rule in _rules(client, request))


def denial(request: Request) -> str:
    """The API server's words for a refusal (apiserver/pkg/endpoints/handlers/responsewriters/errors.go)."""
    resource = f"{request.resource}.{request.group}" if request.group else request.resource
    named = f'{resource} "{request.name}" is' if request.name else f"{resource} is"
    scope = f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
    return (
        f'{named} forbidden: User "{request.user}" cannot {request.verb} resource "{request.resource}" '
        f'in API group "{request.group}" {scope}'
    )


def service_account(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def _rules(client: Client, request: Request) -> Iterator[Mapping[str, Any]]:
    for binding in client.list("clusterrolebindings"):
        if _binds(binding, request.user, ""):
            yield from _role_rules(client, binding["roleRef"], "")
    if not request.namespace:
        return
    for binding in client.list("rolebindings", request.namespace):
        if _binds(binding, request.user, request.namespace):
            yield from _role_rules(client, binding["roleRef"], request.namespace)


def _binds(binding: Mapping[str, Any], user: str, namespace: str) -> bool:
    groups = {"system:authenticated"}
    account = user.removeprefix(_SERVICE_ACCOUNT).split(":") if user.startswith(_SERVICE_ACCOUNT) else []
    if len(account) == 2:
        groups |= {"system:serviceaccounts", f"system:serviceaccounts:{account[0]}"}
    for subject in binding.get("subjects") or []:
        kind, name = subject.get("kind"), subject.get("name")
        if kind == "User" and name == user:
            return True
        if kind == "Group" and name in groups:
            return True
        if kind == "ServiceAccount" and account == [subject.get("namespace") or namespace, name]:
            return True
    return False


def _role_rules(client: Client, reference: Mapping[str, Any], namespace: str) -> list[Mapping[str, Any]]:
    kind = "clusterroles" if reference.get("kind") == "ClusterRole" else "roles"
    role = client.find(kind, str(reference.get("name")), namespace)
    return list(role.get("rules") or []) if role is not None else []


def _grants(rule: Mapping[str, Any], request: Request) -> bool:
    def covers(field: str, wanted: str) -> bool:
        values = rule.get(field) or []
        return wanted in values or "*" in values

    subresource = request.resource.partition("/")[2]
    resource = covers("resources", request.resource) or (
        bool(subresource) and f"*/{subresource}" in (rule.get("resources") or [])
    )
    names = rule.get("resourceNames") or []
    return (
        covers("verbs", request.verb)
        and covers("apiGroups", request.group)
        and resource
        and (not names or request.name in names)
    )
