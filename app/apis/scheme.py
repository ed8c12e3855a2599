"""The kinds that the API serves: one table, and how a kind or a resource is looked up in it.

A kind is known by its apiVersion and name (`for_kind`), a resource by its plural, singular or short name
(`for_resource`), as kubectl's RESTMapper knows them. Subresources and categories are what discovery tells.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from app.apimachinery.errors import Hint, NotFound
from app.apimachinery.messages import N_, Message


@dataclass(frozen=True)
class KindInfo:
    """One served kind and its REST names."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    stored_as: str = ""
    """The apiVersion in which this kind's objects are stored, where it is only another view of them."""

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        """`pods`, `deployments.apps`: how error messages name the resource (schema.GroupResource)."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def group_kind(self) -> str:
        """`Pod`, `Deployment.apps`: how validation errors name the kind (schema.GroupKind)."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


class NoKindMatchError(NotFound):
    """No served kind has this name in this apiVersion (apimachinery: meta.NoKindMatchError)."""


class NoResourceMatchError(NotFound):
    """No served resource has this name."""


def _core(kind: str, plural: str, *short: str, **more: object) -> KindInfo:
    return _info("", "v1", kind, plural, *short, **more)


def _info(group: str, version: str, kind: str, plural: str, *short: str, **more: object) -> KindInfo:
    return KindInfo(group, version, kind, plural, kind.lower(), short, **more)  # type: ignore[arg-type]  # the table below is the only caller


_ALL = ("all",)
_STATUS = ("status",)
_SCALE = ("status", "scale")
_RBAC = "rbac.authorization.k8s.io"

KINDS: tuple[KindInfo, ...] = (
    _core("Binding", "bindings"),
    _core("ConfigMap", "configmaps", "cm"),
    _core("Endpoints", "endpoints", "ep"),
    _core("Event", "events", "ev"),
    _core("LimitRange", "limitranges", "limits"),
    _core("Namespace", "namespaces", "ns", namespaced=False, subresources=("status", "finalize")),
    _core("Node", "nodes", "no", namespaced=False, subresources=_STATUS),
    _core("PersistentVolume", "persistentvolumes", "pv", namespaced=False, subresources=_STATUS),
    _core("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", subresources=_STATUS),
    _core(
        "Pod",
        "pods",
        "po",
        categories=_ALL,
        subresources=("status", "binding", "eviction", "log", "ephemeralcontainers", "resize"),
    ),
    _core("PodTemplate", "podtemplates"),
    _core("ReplicationController", "replicationcontrollers", "rc", categories=_ALL, subresources=_SCALE),
    _core("ResourceQuota", "resourcequotas", "quota", subresources=_STATUS),
    _core("Secret", "secrets"),
    _core("Service", "services", "svc", categories=_ALL, subresources=_STATUS),
    _core("ServiceAccount", "serviceaccounts", "sa", subresources=("token",)),
    _info("apps", "v1", "ControllerRevision", "controllerrevisions"),
    _info("apps", "v1", "DaemonSet", "daemonsets", "ds", categories=_ALL, subresources=_STATUS),
    _info("apps", "v1", "Deployment", "deployments", "deploy", categories=_ALL, subresources=_SCALE),
    _info("apps", "v1", "ReplicaSet", "replicasets", "rs", categories=_ALL, subresources=_SCALE),
    _info("apps", "v1", "StatefulSet", "statefulsets", "sts", categories=_ALL, subresources=_SCALE),
    _info(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        "hpa",
        categories=_ALL,
        subresources=_STATUS,
    ),
    _info(
        "autoscaling",
        "v1",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        "hpa",
        categories=_ALL,
        subresources=_STATUS,
        stored_as="autoscaling/v2",
    ),
    _info("batch", "v1", "CronJob", "cronjobs", "cj", categories=_ALL, subresources=_STATUS),
    _info("batch", "v1", "Job", "jobs", categories=_ALL, subresources=_STATUS),
    _info("coordination.k8s.io", "v1", "Lease", "leases"),
    _info("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
    _info("events.k8s.io", "v1", "Event", "events", "ev", stored_as="v1"),
    _info("networking.k8s.io", "v1", "Ingress", "ingresses", "ing", subresources=_STATUS),
    _info("networking.k8s.io", "v1", "IngressClass", "ingressclasses", namespaced=False),
    _info("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "netpol"),
    _info("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", namespaced=False),
    _info("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", subresources=_STATUS),
    _info(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
    _info(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    _info(_RBAC, "v1", "Role", "roles"),
    _info(_RBAC, "v1", "RoleBinding", "rolebindings"),
    _info("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", namespaced=False),
    _info("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", subresources=_STATUS),
    _info("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates"),
    _info("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", namespaced=False),
    _info("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "pc", namespaced=False),
    _info("storage.k8s.io", "v1", "CSIDriver", "csidrivers", namespaced=False),
    _info("storage.k8s.io", "v1", "CSINode", "csinodes", namespaced=False),
    _info("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities"),
    _info("storage.k8s.io", "v1", "StorageClass", "storageclasses", "sc", namespaced=False),
    _info("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", namespaced=False, subresources=_STATUS),
)

REVIEWS: tuple[KindInfo, ...] = (
    _info("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False),
    _info("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", namespaced=False),
    _info("authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews"),
    _info("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False),
    _info("authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", namespaced=False),
    _info("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False),
)
"""What can only be created, and is answered and forgotten."""

_BY_KIND = {(info.api_version, info.kind): info for info in KINDS}
_BY_RESOURCE = {
    name: info
    for info in reversed(KINDS)
    for name in (info.group_resource, info.plural, info.singular, *info.short_names, info.kind)
}
"""Of two kinds with one name, the first: as the server announces them."""


def for_kind(api_version: str, kind: str) -> KindInfo:
    """The kind of that exact name in that exact apiVersion.

    Raises:
        NoKindMatchError: with a hint at the right spelling or apiVersion where there is a near one.
    """
    info = _BY_KIND.get((api_version, kind))
    if info is None:
        message = f'no matches for kind "{kind}" in version "{api_version}"'
        raise NoKindMatchError(message, hints=[_near_kind(api_version, kind)])
    return info


def of(obj: dict[str, object]) -> KindInfo:
    """The kind of an object. NoKindMatchError as for `for_kind`."""
    return for_kind(str(obj.get("apiVersion") or ""), str(obj.get("kind") or ""))


def stored(info: KindInfo) -> KindInfo:
    """The kind as which the kind's objects are stored: itself, but for views."""
    return _BY_KIND[info.stored_as, info.kind] if info.stored_as else info


def for_resource(name: str) -> KindInfo:
    """A kind by its resource's plural, singular or short name, `plural.group`, or the kind's own name.

    Raises:
        NoResourceMatchError: in kubectl's words.
    """
    info = _BY_RESOURCE.get(name) or _BY_RESOURCE.get(name.lower())
    if info is None:
        raise NoResourceMatchError(f'the server doesn\'t have a resource type "{name}"')
    return info


def _near_kind(api_version: str, kind: str) -> Hint:
    """What the writer meant: other capitals, another apiVersion, a slip of the finger."""
    folded = {info.kind.lower(): info for info in reversed(KINDS)}
    near = folded.get(kind.lower()) or folded.get(kind.lower().removesuffix("s"))
    if near is None:
        close = difflib.get_close_matches(kind.lower(), folded, n=1, cutoff=0.75)
        near = folded[close[0]] if close else None
    if near is None:
        return Hint("kind", Message(N_("“{kind}” is not a kind that this cluster knows."), {"kind": kind}))
    facts = {"kind": near.kind, "version": near.api_version}
    if near.kind == kind:
        return Hint("apiVersion", Message(N_("Write “apiVersion: {version}” for kind {kind}."), facts))
    if near.api_version == api_version:
        return Hint("kind", Message(N_("Write “kind: {kind}”: capital letters count."), facts))
    return Hint("kind", Message(N_("Write “apiVersion: {version}” and “kind: {kind}”."), facts))
