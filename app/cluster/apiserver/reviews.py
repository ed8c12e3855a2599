"""Questions that the API server answers and forgets: who am I, what may I do, what may somebody do.

Mirrors pkg/registry/authorization and pkg/registry/authentication (selfsubjectreview, tokenreview).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, invalid_object
from app.cluster import authorizers, rbac
from app.cluster.apiserver import bodies, request_options, shapes
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served
from app.cluster.users import User

_RESOURCE = dict.fromkeys(("namespace", "verb", "group", "version", "resource", "subresource", "name"), "string")
_ACCESS = {
    "spec": {
        "resourceAttributes": _RESOURCE,
        "nonResourceAttributes": {"path": "string", "verb": "string"},
        "user": "string",
        "groups": "[]string",
        "uid": "string",
        "extra": "map[string][]string",
    }
}
_RULES = {"spec": {"namespace": "string"}}
_TOKEN = {"spec": {"token": "string", "audiences": "[]string"}}

Review = Callable[[Served, Object, Target, User], Object]


def create(cluster: Served, request: ApiRequest, target: Target, user: User) -> ApiResponse:
    """POST: the review with its answer as status; nothing is stored."""
    body = bodies.decoded(request, target.info)
    review, shape = _REVIEWS[target.info.kind]
    shapes.check(body, target.info, shape)
    request_options.of_write(request)
    status = review(cluster, body, target, user)
    metadata = {**(body.get("metadata") or {})}
    if target.namespace:
        metadata["namespace"] = target.namespace
    if target.info.kind == "SelfSubjectReview":
        metadata["creationTimestamp"] = clocks.rfc3339(cluster.now)
    answer = {"kind": target.info.kind, "apiVersion": target.info.api_version, "metadata": metadata}
    if target.info.kind != "SelfSubjectReview":
        answer["spec"] = body.get("spec") or {}
    return ApiResponse.of({**answer, "status": status}, 201)


def _who_am_i(cluster: Served, body: Object, target: Target, user: User) -> Object:
    """selfsubjectreview/rest.go."""
    del cluster, body, target
    return {"userInfo": _shown(user)}


def _whose_token(cluster: Served, body: Object, target: Target, user: User) -> Object:
    """tokenreview/storage.go."""
    del target, user
    spec = body.get("spec") or {}
    if not spec.get("token"):
        raise BadRequest("token is required for TokenReview in authentication")
    found = cluster.client.bearer(spec["token"], spec.get("audiences") or ())
    if found.user is None:
        return {"user": {}, **({"error": found.error} if found.error else {})}
    return {"authenticated": True, "user": _shown(found.user), "audiences": list(found.audiences)}


def _shown(user: User) -> Object:
    """authentication/v1 UserInfo."""
    info: Object = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra}
    return info


def _self_access(cluster: Served, body: Object, target: Target, user: User) -> Object:
    """selfsubjectaccessreview/rest.go."""
    _refuse(target, _attribute_errors(body.get("spec") or {}))
    return _judged(cluster, body["spec"], user)


def _access(cluster: Served, body: Object, target: Target, user: User) -> Object:
    """subjectaccessreview/rest.go and localsubjectaccessreview/rest.go."""
    del user
    spec = body.get("spec") or {}
    errors = _attribute_errors(spec)
    if not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    attributes = spec.get("resourceAttributes") or {}
    if target.info.namespaced:
        namespace = attributes.get("namespace") or ""
        if spec.get("nonResourceAttributes") is not None:
            errors.append(invalid("spec.nonResourceAttributes", {}, "disallowed on this kind of request"))
    _refuse(target, errors)
    if target.info.namespaced and namespace != target.namespace:
        raise BadRequest(f"spec.resourceAttributes.namespace must match namespace: {target.namespace}")
    who = User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "")
    return _judged(cluster, spec, who)


def _attribute_errors(spec: Object) -> list[FieldError]:
    """ValidateSubjectAccessReviewSpec."""
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        return [invalid("spec.nonResourceAttributes", other, detail)]
    if resource is None and other is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid("spec.resourceAttributes", None, detail)]
    return []


def _refuse(target: Target, errors: list[FieldError]) -> None:
    if errors:
        raise invalid_object(target.info.group_kind, "", errors)


def _judged(cluster: Served, spec: Object, user: User) -> Object:
    asked = spec.get("resourceAttributes")
    if asked is None:
        other = spec.get("nonResourceAttributes") or {}
        request = rbac.Request(user.name, other.get("verb") or "", path=other.get("path") or "/", groups=user.groups)
    else:
        resource = asked.get("resource") or ""
        if asked.get("subresource"):
            resource = f"{resource}/{asked['subresource']}"
        request = rbac.Request(
            user.name,
            asked.get("verb") or "",
            resource,
            asked.get("group") or "",
            asked.get("namespace") or "",
            asked.get("name") or "",
            groups=user.groups,
        )
    decision = authorizers.decide(cluster.client, request, user)
    return {"allowed": decision.allowed, **({"reason": decision.reason} if decision.reason else {})}


def _my_rules(cluster: Served, body: Object, target: Target, user: User) -> Object:
    """selfsubjectrulesreview/rest.go."""
    del target
    namespace = (body.get("spec") or {}).get("namespace") or ""
    if not namespace:
        raise BadRequest("no namespace on request")
    resources: list[Object] = []
    others: list[Object] = []
    problems: list[str] = []
    for granted in rbac.grants(cluster.client, user, namespace):
        rule = granted.rule
        if granted.problem:
            problems.append(granted.problem)
        elif rule.get("resources"):
            names = ("verbs", "apiGroups", "resources", "resourceNames")
            resources.append({name: rule[name] for name in names if rule.get(name)})
        elif rule.get("nonResourceURLs"):
            others.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
    status: dict[str, Any] = {"resourceRules": resources, "nonResourceRules": others, "incomplete": bool(problems)}
    return {**status, "evaluationError": rbac.aggregate(problems)} if problems else status


_REVIEWS: dict[str, tuple[Review, shapes.Shape]] = {
    "SelfSubjectReview": (_who_am_i, {}),
    "TokenReview": (_whose_token, _TOKEN),
    "SelfSubjectAccessReview": (_self_access, _ACCESS),
    "SubjectAccessReview": (_access, _ACCESS),
    "LocalSubjectAccessReview": (_access, _ACCESS),
    "SelfSubjectRulesReview": (_my_rules, _RULES),
}
KINDS = frozenset(_REVIEWS)
"""The kinds that are answered here."""
