"""What a path of the API means (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go: NewRequestInfo)."""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery.errors import NotFound
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster.apiserver import measured_kinds

_NAMESPACE_SUBRESOURCES = ("status", "finalize")
_MAX_LENGTH = 4096

NO_RESOURCE = "the server could not find the requested resource"

_BY_PLURAL = {
    (info.group, info.version, info.plural): info for info in (*scheme.KINDS, *scheme.REVIEWS, *measured_kinds.KINDS)
}


@dataclass(frozen=True)
class Target:
    """What a request is about: a resource, or with a name one object or a part of it.

    `namespace` is empty for cluster-scoped resources and for requests across all namespaces.
    """

    info: KindInfo
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def segments(path: str) -> list[str]:
    """The parts of a path; slashes at its end count for nothing."""
    if len(path) > _MAX_LENGTH:
        raise NotFound(NO_RESOURCE)
    return path.strip("/").split("/")


def target(parts: list[str]) -> Target:
    """The target of `api/VERSION/…` or `apis/GROUP/VERSION/…`. NotFound where there is no such resource."""
    if parts[0] == "api":
        group, version, *rest = "", *parts[1:]
    else:
        group, version, *rest = parts[1:]
    namespace = ""
    if rest and rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
        if not namespace:
            raise NotFound(NO_RESOURCE)
    info = _BY_PLURAL.get((group, version, rest[0] if rest else ""))
    if info is None or len(rest) > 3 or "" in rest:
        raise NotFound(NO_RESOURCE)
    found = Target(info, namespace, *rest[1:])
    misplaced = bool(namespace) and not info.namespaced
    unplaced = bool(found.name) and info.namespaced and not namespace
    if misplaced or unplaced:
        raise NotFound(NO_RESOURCE)
    return found
