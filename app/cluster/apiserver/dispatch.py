"""Path and verb to handler: the API server as a function from a request to a response.

Every surface speaks to a cluster through `handle` and `watch`; both are pure but for what a write does to the
cluster. Mirrors k8s.io/apiserver/pkg/endpoints (installer.go, handlers/).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from app.apimachinery.clock import Instant
from app.apimachinery.errors import Expired, MethodNotAllowed, NotFound, ServiceUnavailable, StatusError
from app.apis import scheme
from app.cluster import users
from app.cluster.apiserver import (
    authorization,
    bodies,
    discovery,
    health,
    measured_kinds,
    metrics,
    openapi,
    patching,
    paths,
    podlogs,
    reading,
    reviews,
    scale,
    warnings,
    writing,
)
from app.cluster.apiserver.exchange import WATCH_REVISION, ApiRequest, ApiResponse
from app.cluster.apiserver.negotiation import AGGREGATED_CONTENT_TYPE, Form, negotiate
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served
from app.cluster.apiserver.watch import BOOKMARK_AFTER, ENDED, start_of
from app.cluster.users import User

__all__ = ["ENDED", "WATCH_REVISION", "ApiRequest", "ApiResponse", "handle", "watch"]

_NOT_FOUND = ApiResponse.plain("404 page not found\n", 404)
_NOT_ALLOWED = "the server does not allow this method on the requested resource"

# Swagger 2.0 without a path, in protobuf: `kubectl create -f` asks for it to word its error on unknown kinds.
_OPENAPI_V2 = b"\n\x032.0\x12\x15\n\nKubernetes\x12\x07v1.35.7"
_OPENAPI_V2_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

Handler = Callable[[Served, ApiRequest, Target], ApiResponse]


def handle(cluster: Served, request: ApiRequest) -> ApiResponse:
    """Answer one request; a refusal is a Status.

    A watch is answered with what its stream begins with and the header WATCH_REVISION; the rest of the stream
    comes from `watch`.
    """
    try:
        _need_server(cluster)
        parts = paths.segments(request.path)
        user = authorization.admit(cluster, request, parts)
        fixed = _fixed(parts, request)
        if fixed is not None:
            return fixed
        if not _within_api(parts):
            return _NOT_FOUND
        target = paths.target(parts)
        if target.info.kind in reviews.KINDS:
            return _review(cluster, request, target, user)
        if user is users.ADMIN:
            return _resource(cluster, request, target)
        _check_creation(cluster, request, target, user)
        return _resource(_ActingAs(cluster, user), request, target)
    except StatusError as error:
        return ApiResponse.failure(error)


def watch(cluster: Served, request: ApiRequest, since: int) -> tuple[list[bytes], int]:
    """What a stream that has seen revision `since` still has to be sent, and the revision it has then seen.

    Each line is a JSON event with its newline. The revision is ENDED after an ERROR event; the caller then
    closes the stream.
    """
    if cluster.unreachable():  # its connections ended with the server
        return [], ENDED
    stream = reading.stream(cluster, request, paths.target(paths.segments(request.path)))
    newest = cluster.client.revision
    if since > newest:  # the state that the client has seen was stepped back from
        return stream.expired(Expired(f"too old resource version: {since} ({newest})")), ENDED
    try:
        lines = stream.changes(cluster.client.events_since(since, stream.info))
    except Expired as error:
        return stream.expired(error), ENDED
    reached = newest
    if not stream.bookmarks or lines:
        return lines, reached
    if reached - since < BOOKMARK_AFTER:
        return [], since
    return [stream.bookmark(reached)], reached


def _need_server(cluster: Served) -> None:
    """What stands in for a connection that fails: the surface itself can always be reached."""
    problem = cluster.unreachable()
    if problem == "timeout":
        raise ServiceUnavailable("etcd does not answer: the request timed out")
    if problem:
        raise ServiceUnavailable("kube-apiserver does not run: the connection was refused")


def _within_api(parts: Sequence[str]) -> bool:
    if parts[0] == "api":
        return len(parts) > 2
    return parts[0] == "apis" and len(parts) > 3 and discovery.api_group(parts[1]) is not None


class _ActingAs:
    """A cluster whose client is another user's."""

    def __init__(self, cluster: Served, user: User) -> None:
        self._cluster = cluster
        self.client = cluster.client.acting_as(user)

    @property
    def now(self) -> Instant:
        """The simulated instant."""
        return self._cluster.now

    def unreachable(self) -> str:
        """Why the API server does not answer."""
        return self._cluster.unreachable()

    def logs(self, namespace: str, pod: str, container: str, *, previous: bool = False) -> list[str]:
        """What a container has printed."""
        return self._cluster.logs(namespace, pod, container, previous=previous)


def _check_creation(cluster: Served, request: ApiRequest, target: Target, user: User) -> None:
    """An apply that would create the object needs the right to do so (handlers/patch.go: withAuthorization)."""
    if request.content_type != patching.APPLY or target.subresource or not target.name:
        return
    if cluster.client.find(target.info, target.name, target.namespace) is None:
        asked = authorization.asked(request, paths.segments(request.path))
        authorization.check(cluster, user, replace(asked, verb="create"))


def _review(cluster: Served, request: ApiRequest, target: Target, user: User) -> ApiResponse:
    if request.method != "POST" or target.name:
        raise MethodNotAllowed(_NOT_ALLOWED)
    return reviews.create(cluster, request, target, user)


def _resource(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    if target.info.group == measured_kinds.GROUP:
        return metrics.serve(cluster, request, target)
    if target.subresource:
        handler = _SUBRESOURCES.get((target.subresource, request.method))
        known = any(part.name == target.subresource for part in discovery.subresources(target.info))
        if not known:
            raise NotFound(paths.NO_RESOURCE)
    elif target.name:
        handler = _OBJECT.get(request.method)
    else:
        handler = _COLLECTION.get(request.method)
    if handler is None or (target.info.kind == "Binding" and request.method != "POST"):
        raise MethodNotAllowed(_NOT_ALLOWED)
    return bodies.warned(handler(cluster, request, target), warnings.of_resource(target.info))


def _list(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    return _open_watch(cluster, request, target) if request.is_watch else reading.list_(cluster, request, target)


def _get(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    return _open_watch(cluster, request, target) if request.is_watch else reading.get(cluster, request, target)


def _open_watch(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    request.number("timeoutSeconds")  # refused here where it is none; only the surface has a use for it
    stream = reading.stream(cluster, request, target)
    initial = reading.wants_initial_events(request)
    revision = cluster.client.revision
    start = start_of(request.param("resourceVersion"))
    if initial or (start is None and initial is not False):
        objects = filter(stream.matches, cluster.client.list(scheme.stored(target.info), target.namespace or None))
        lines = stream.initial(objects, revision, mark_end=bool(initial))
    elif start is None:
        lines = []
    else:
        lines, revision = watch(cluster, request, start)
    headers = {"content-type": "application/json", WATCH_REVISION: str(revision)}
    return ApiResponse(200, headers, b"".join(lines))


_COLLECTION: dict[str, Handler] = {
    "GET": _list,
    "POST": writing.create,
    "DELETE": writing.delete_collection,
}
_OBJECT: dict[str, Handler] = {
    "GET": _get,
    "PUT": writing.update,
    "PATCH": writing.patch,
    "DELETE": writing.delete,
}
_SUBRESOURCES: dict[tuple[str, str], Handler] = {
    ("binding", "POST"): writing.bind,
    ("eviction", "POST"): writing.evict,
    ("finalize", "PUT"): writing.update,
    ("log", "GET"): podlogs.get,
    ("scale", "GET"): scale.get,
    ("scale", "PUT"): scale.update,
    ("scale", "PATCH"): scale.patch,
    ("token", "POST"): writing.create_token,
    **{
        (name, method): handler
        for name in ("status", "ephemeralcontainers", "resize")
        for method, handler in (("GET", reading.get), ("PUT", writing.update), ("PATCH", writing.patch))
    },
}


def _fixed(parts: Sequence[str], request: ApiRequest) -> ApiResponse | None:
    """The answers that are the same for every cluster: discovery, version, health."""
    if request.method != "GET":
        return None
    match list(parts):
        case [""]:
            return ApiResponse.of({"paths": _root_paths()})
        case ["healthz" | "readyz" | "livez" as root, *check]:
            return health.answer(request, root, "/".join(check)) or _NOT_FOUND
        case ["version"]:
            return ApiResponse.of(discovery.VERSION)
        case ["openapi", "v2"]:
            return ApiResponse(200, {"content-type": _OPENAPI_V2_TYPE}, _OPENAPI_V2)
        case ["openapi", "v3"]:
            return _cacheable(openapi.index())
        case ["openapi", "v3", *name]:
            document = openapi.document("/".join(name))
            return _NOT_FOUND if document is None else _cacheable(document)
        case ["api" | "apis" as root]:
            return _discovery_root(request, core=root == "api")
        case ["apis", group]:
            found = discovery.api_group(group)
            return _NOT_FOUND if found is None else _cacheable(_encoded(found))
        case ["api", version] | ["apis", _, version]:
            resources = discovery.api_resource_list(parts[1] if len(parts) == 3 else "", version)
            return _NOT_FOUND if resources is None else _cacheable(_encoded(resources))
        case _:
            return None


def _root_paths() -> list[str]:
    groups = [f"/apis/{group}/{version}" for group, version in discovery.group_versions() if group]
    return [
        "/api",
        "/api/v1",
        "/apis",
        *groups,
        "/healthz",
        "/livez",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    ]


def _discovery_root(request: ApiRequest, *, core: bool) -> ApiResponse:
    if negotiate(request.accept, Form.AGGREGATED_DISCOVERY) is Form.AGGREGATED_DISCOVERY:
        return _cacheable(_aggregated(core=core), AGGREGATED_CONTENT_TYPE)
    return _cacheable(_encoded(discovery.api_versions() if core else discovery.api_group_list()))


@cache
def _aggregated(*, core: bool) -> bytes:
    return _encoded(discovery.aggregated(core=core))


def _encoded(document: Any) -> bytes:
    return orjson.dumps(document) + b"\n"


def _cacheable(body: bytes, content_type: str = "application/json") -> ApiResponse:
    etag = f'"{hashlib.sha256(body).hexdigest().upper()[:32]}"'
    return ApiResponse(200, {"content-type": content_type, "etag": etag, "vary": "Accept"}, body)
