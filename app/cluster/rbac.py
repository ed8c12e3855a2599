"""Whether a user may do something (plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster import bootstrap_rbac, users
from app.cluster.users import User

GROUP = "rbac.authorization.k8s.io"

_CLUSTER_ROLE, _ROLE, _CLUSTER_BINDING, _BINDING = (
    scheme.for_kind(f"{GROUP}/v1", kind) for kind in ("ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")
)

Rule = Mapping[str, Any]


class Reader(Protocol):
    """What reads roles and bindings: a client."""

    def list(self, kind: Any, namespace: str | None = None) -> list[Object]:
        """All objects of a kind, or of one namespace."""

    def find(self, kind: Any, name: str, namespace: str = "") -> Object | None:
        """One object, or None."""


@dataclass(frozen=True)
class Request:
    """What is to be done. An empty namespace means the whole cluster; an empty name any object.

    `resource` may have a subresource (`pods/log`). With `path` the request is for no resource. A user without
    groups has those that follow from the name.
    """

    user: str
    verb: str
    resource: str = ""
    group: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    groups: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """What a list's field selector asks to be equal; only the Node authorizer looks at it."""

    def who(self) -> User:
        """The user with groups."""
        return User(self.user, self.groups) if self.groups else users.named(self.user)


@dataclass(frozen=True)
class Decision:
    """An answer, and where it comes from: the binding that grants, or the roles that were not found."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True)
class Granted:
    """A rule that a binding gives to a user, or what hindered finding the binding's rules."""

    rule: Rule
    source: str
    problem: str = ""


def decide(reader: Reader, request: Request, user: User | None = None) -> Decision:
    """The answer to a request, of `user` where it is given (RBACAuthorizer.Authorize)."""
    user = user or request.who()
    if users.MASTERS in user.groups:
        return Decision(allowed=True)
    problems = []
    for granted in grants(reader, user, request.namespace):
        if granted.problem:
            problems.append(granted.problem)
        elif matches(granted.rule, request):
            return Decision(allowed=True, reason=f"RBAC: allowed by {granted.source}")
    return Decision(allowed=False, reason=f"RBAC: {aggregate(problems)}" if problems else "")


def aggregate(problems: list[str]) -> str:
    """Several errors as one, each once (apimachinery/pkg/util/errors: aggregate.Error)."""
    once = list(dict.fromkeys(problems))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"


def administers(reader: Reader) -> bool:
    """Whether kubeadm's administrators may still do everything: their binding and its role are as they were made.

    Also where there are no roles at all, as in a server without a cluster: nobody could give any.
    """
    role, binding = (reader.find(info, made["metadata"]["name"]) for info, made in _as_made())
    if role is None:
        return True
    (_, made_role), (_, made_binding) = _as_made()
    fields = ("roleRef", "subjects")
    return (
        role.get("rules") == made_role["rules"]
        and binding is not None
        and all(binding.get(field) == made_binding[field] for field in fields)
    )


@cache
def _as_made() -> tuple[tuple[KindInfo, Object], tuple[KindInfo, Object]]:
    """The role and the binding of kubeadm's administrators."""
    named = {(obj["kind"], meta.name_of(obj)): obj for obj in bootstrap_rbac.objects()}
    return (
        (_CLUSTER_ROLE, named["ClusterRole", "cluster-admin"]),
        (_CLUSTER_BINDING, named["ClusterRoleBinding", users.CLUSTER_ADMINS]),
    )


def allowed(reader: Reader, request: Request) -> bool:
    """Whether some binding grants the request."""
    return decide(reader, request).allowed


def denial(request: Request, reason: str = "") -> str:
    """The API server's words for a refusal (apiserver/pkg/endpoints/handlers/responsewriters/errors.go)."""
    after = f": {reason}" if reason else ""
    if request.path:
        return f'forbidden: User "{request.user}" cannot {request.verb} path "{request.path}"{after}'
    plural = request.resource.partition("/")[0]
    resource = f"{plural}.{request.group}" if request.group else plural
    named = f'{resource} "{request.name}" is' if request.name else f"{resource} is"
    scope = f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
    return (
        f'{named} forbidden: User "{request.user}" cannot {request.verb} resource "{request.resource}" '
        f'in API group "{request.group}" {scope}{after}'
    )


def service_account(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return users.account_name(namespace, name)


def grants(reader: Reader, user: User, namespace: str) -> Iterator[Granted]:
    """All rules that bindings give to a user, cluster-wide ones first (DefaultRuleResolver.VisitRulesFor)."""
    for binding in reader.list(_CLUSTER_BINDING):
        yield from _granted(reader, binding, user, "")
    if namespace:
        for binding in reader.list(_BINDING, namespace):
            yield from _granted(reader, binding, user, namespace)


def _granted(reader: Reader, binding: Object, user: User, namespace: str) -> Iterator[Granted]:
    subject = next((item for item in binding.get("subjects") or [] if _is_subject(item, user, namespace)), None)
    if subject is None:
        return
    reference = binding.get("roleRef") or {}
    rules, problem = role_rules(reader, reference, namespace)
    if problem:
        yield Granted({}, "", problem)
    name = meta.name_of(binding)
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    at = f"{name}/{namespace}" if namespace else name
    source = f'{kind} "{at}" of {reference.get("kind")} "{reference.get("name")}" to {_described(subject, namespace)}'
    for rule in rules:
        yield Granted(rule, source)


def _described(subject: Mapping[str, Any], namespace: str) -> str:
    if subject.get("kind") == "ServiceAccount":
        return f'ServiceAccount "{subject.get("name")}/{subject.get("namespace") or namespace}"'
    return f'{subject.get("kind")} "{subject.get("name")}"'


def _is_subject(subject: Mapping[str, Any], user: User, namespace: str) -> bool:
    """AppliesToUser."""
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "User":
        return bool(name == user.name)
    if kind == "Group":
        return name in user.groups
    account = subject.get("namespace") or namespace
    return kind == "ServiceAccount" and bool(account) and user.name == users.account_name(account, str(name))


def role_rules(reader: Reader, reference: Mapping[str, Any], namespace: str) -> tuple[list[Rule], str]:
    """The rules of a role, or why there are none (GetRoleReferenceRules)."""
    info = _CLUSTER_ROLE if reference.get("kind") == "ClusterRole" else _ROLE
    role = reader.find(info, str(reference.get("name")), namespace)
    if role is None:
        return [], f'{info.singular}.{GROUP} "{reference.get("name")}" not found'
    return list(role.get("rules") or []), ""


def matches(rule: Rule, request: Request) -> bool:
    """Whether a rule covers a request (RuleAllows)."""
    verbs = rule.get("verbs") or ()
    if request.verb not in verbs and "*" not in verbs:
        return False
    if request.path:
        return any(_covers_path(url, request.path) for url in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames") or ()
    groups = rule.get("apiGroups") or ()
    return (
        (request.group in groups or "*" in groups)
        and _covers_resource(rule.get("resources") or (), request.resource)
        and (not names or request.name in names)
    )


def _covers_path(url: str, path: str) -> bool:
    return url in {"*", path} or (url.endswith("*") and path.startswith(url.rstrip("*")))


def _covers_resource(resources: Any, resource: str) -> bool:
    if resource in resources or "*" in resources:
        return True
    subresource = resource.partition("/")[2]
    return bool(subresource) and f"*/{subresource}" in resources
