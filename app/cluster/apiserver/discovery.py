"""Discovery: which groups, versions and resources the server has, in the aggregated and the older form.

Mirrors k8s.io/apiserver/pkg/endpoints/discovery and its `aggregated` package. Everything is made of
`apis.scheme.KINDS` and of the table of subresources below, so that a new kind shows up by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster.apiserver import measured_kinds

VERSION = {
    "major": "1",
    "minor": "35",
    "emulationMajor": "1",
    "emulationMinor": "35",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "34",
    "gitVersion": "v1.35.7",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "",
    "goVersion": "",
    "compiler": "gc",
    "platform": "linux/amd64",
}
"""The body of /version."""

_SERVED = (*scheme.KINDS, *scheme.REVIEWS, *measured_kinds.KINDS)
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

_GROUPS = (
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
"""Groups in the order in which the server announces them: kubectl takes the first that knows a short name."""


@dataclass(frozen=True)
class Subresource:
    """A part of a resource with a path of its own, and the kind that goes over that path."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


_SUBRESOURCES = {
    "status": Subresource("status", "", "", "", ("get", "patch", "update")),
    "scale": Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),
    "binding": Subresource("binding", "", "v1", "Binding", ("create",)),
    "eviction": Subresource("eviction", "policy", "v1", "Eviction", ("create",)),
    "log": Subresource("log", "", "v1", "Pod", ("get",)),
    "ephemeralcontainers": Subresource("ephemeralcontainers", "", "", "", ("get", "patch", "update")),
    "resize": Subresource("resize", "", "", "", ("get", "patch", "update")),
    "token": Subresource("token", "authentication.k8s.io", "v1", "TokenRequest", ("create",)),
    "finalize": Subresource("finalize", "", "", "", ("update",)),
}
"""What `dispatch` serves of the subresources that kinds name; an empty kind is the resource's own."""


def subresources(info: KindInfo) -> list[Subresource]:
    """The subresources that the server has of a kind."""
    parts = [_SUBRESOURCES[name] for name in sorted(info.subresources) if name in _SUBRESOURCES]
    return [
        part if part.kind else replace(part, group=info.group, version=info.version, kind=info.kind) for part in parts
    ]


def group_versions() -> list[tuple[str, str]]:
    """All (group, version) pairs in the order of announcement, the core group first."""
    pairs = {(info.group, info.version) for info in _SERVED}
    return sorted(pairs, key=lambda pair: (_group_rank(pair[0]), _version_rank(pair[1])))


def _group_rank(group: str) -> tuple[int, str]:
    if not group:
        return (-1, "")
    return (_GROUPS.index(group), "") if group in _GROUPS else (len(_GROUPS), group)


def _version_rank(version: str) -> tuple[bool, int, str]:
    """Stable versions first, the highest first."""
    number = version.removeprefix("v")
    return (not number.isdecimal(), -int(number) if number.isdecimal() else 0, version)


def kinds_of(group: str, version: str) -> list[KindInfo]:
    """The kinds of a group version, by plural."""
    kinds = [info for info in _SERVED if (info.group, info.version) == (group, version)]
    return sorted(kinds, key=lambda info: info.plural)


def verbs_of(info: KindInfo) -> list[str]:
    """The verbs that the resource takes."""
    if info in measured_kinds.KINDS:
        return list(measured_kinds.VERBS)
    return ["create"] if info.kind == "Binding" or info in scheme.REVIEWS else list(_VERBS)


@cache
def aggregated(*, core: bool) -> dict[str, Any]:
    """APIGroupDiscoveryList of /api (the core group) or of /apis (all others)."""
    groups: dict[str, list[str]] = {}
    for group, version in group_versions():
        if (not group) == core:
            groups.setdefault(group, []).append(version)
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group, "creationTimestamp": None} if group else {"creationTimestamp": None},
                "versions": [
                    {
                        "version": version,
                        "resources": [_aggregated_resource(info) for info in kinds_of(group, version)],
                        "freshness": "Current",
                    }
                    for version in versions
                ],
            }
            for group, versions in groups.items()
        ],
    }


def _aggregated_resource(info: KindInfo) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "resource": info.plural,
        "responseKind": {"group": info.group, "version": info.version, "kind": info.kind},
        "scope": "Namespaced" if info.namespaced else "Cluster",
        "singularResource": info.singular,
        "verbs": verbs_of(info),
    }
    if info.short_names:
        resource["shortNames"] = list(info.short_names)
    if info.categories:
        resource["categories"] = list(info.categories)
    parts = [
        {
            "subresource": part.name,
            "responseKind": {"group": part.group, "version": part.version, "kind": part.kind},
            "verbs": list(part.verbs),
        }
        for part in subresources(info)
    ]
    if parts:
        resource["subresources"] = parts
    return resource


def api_versions() -> dict[str, Any]:
    """APIVersions: the older form of /api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def api_group_list() -> dict[str, Any]:
    """APIGroupList: the older form of /apis."""
    names = list(dict.fromkeys(group for group, _ in group_versions() if group))
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in names]}


def api_group(name: str) -> dict[str, Any] | None:
    """APIGroup of /apis/NAME; None for a group that the server does not have."""
    if not any(group == name for group, _ in group_versions()):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name)}


def _group(name: str) -> dict[str, Any]:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for group, version in group_versions()
        if group == name
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


@cache
def api_resource_list(group: str, version: str) -> dict[str, Any] | None:
    """APIResourceList of /api/v1 or /apis/GROUP/VERSION; None where the server does not have it."""
    kinds = kinds_of(group, version)
    if not kinds:
        return None
    resources = []
    for info in kinds:
        entry: dict[str, Any] = {
            "name": info.plural,
            "singularName": info.singular,
            "namespaced": info.namespaced,
            "kind": info.kind,
            "verbs": verbs_of(info),
        }
        if info.short_names:
            entry["shortNames"] = list(info.short_names)
        if info.categories:
            entry["categories"] = list(info.categories)
        resources.append(entry)
        resources.extend(_legacy_subresource(info, part) for part in subresources(info))
    group_version = f"{group}/{version}" if group else version
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }


def _legacy_subresource(info: KindInfo, part: Subresource) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": f"{info.plural}/{part.name}",
        "singularName": "",
        "namespaced": info.namespaced,
        "kind": part.kind,
        "verbs": list(part.verbs),
    }
    if (part.group, part.version) != (info.group, info.version):
        entry |= {"group": part.group, "version": part.version}
    return entry
