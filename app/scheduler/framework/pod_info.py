"""A pod with what plugins ask of it again and again, parsed once (pkg/scheduler/framework/types.go: PodInfo)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework import affinity_terms, amounts, host_ports
from app.scheduler.framework.affinity_terms import AffinityTerm
from app.scheduler.framework.amounts import Amounts
from app.scheduler.framework.host_ports import HostPort

_KEPT = 2048


class PodInfo:
    """A pod's parsed form. The pod itself is never changed, so its identity is the key of the cache."""

    def __init__(self, pod: Object) -> None:
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        self.pod = pod
        self.metadata: dict[str, Any] = metadata
        self.spec: dict[str, Any] = spec
        self.name = str(metadata.get("name") or "")
        self.namespace = str(metadata.get("namespace") or "default")
        self.key = f"{self.namespace}/{self.name}"
        self.uid = str(metadata.get("uid") or self.key)
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.priority = int(spec.get("priority") or 0)
        self.node_name = str(spec.get("nodeName") or "")
        self.scheduler_name = str(spec.get("schedulerName") or "default-scheduler")

    @staticmethod
    def of(pod: Object) -> PodInfo:
        """The parsed form, from the cache where this very dict was parsed before."""
        kept = _cache.get(id(pod))
        if kept is not None and kept.pod is pod:
            return kept
        if len(_cache) >= _KEPT:
            for key in list(_cache)[: _KEPT // 2]:
                del _cache[key]
        found = _cache[id(pod)] = PodInfo(pod)
        return found

    def adopt(self, other: PodInfo) -> None:
        """Take over what was worked out for a pod that asks for the same: same spec, labels and namespace."""
        known, own = other.__dict__, self.__dict__
        for name in _ALIKE:
            own[name] = known[name] if name in known else getattr(other, name)

    @property
    def nominated_node(self) -> str:
        """status.nominatedNodeName, or an empty string."""
        return str((self.pod.get("status") or {}).get("nominatedNodeName") or "")

    @property
    def terminating(self) -> bool:
        """Whether it has been deleted and is ending."""
        return bool(self.metadata.get("deletionTimestamp"))

    @cached_property
    def requests(self) -> Amounts:
        """What it asks of its node: CPU in milli, the rest in units."""
        return amounts.pod_amounts(self.pod)

    @cached_property
    def non_zero(self) -> tuple[int, int]:
        """CPU (milli) and memory (bytes) as scoring counts them."""
        return amounts.non_zero_amounts(self.pod)

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The host ports it takes."""
        return host_ports.host_ports(self.pod)

    @cached_property
    def required_affinity(self) -> tuple[AffinityTerm, ...]:
        """Required podAffinity terms."""
        return affinity_terms.required_terms(self.pod, "podAffinity")

    @cached_property
    def required_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Required podAntiAffinity terms."""
        return affinity_terms.required_terms(self.pod, "podAntiAffinity")

    @cached_property
    def preferred_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred podAffinity terms."""
        return affinity_terms.preferred_terms(self.pod, "podAffinity")

    @cached_property
    def preferred_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred podAntiAffinity terms."""
        return affinity_terms.preferred_terms(self.pod, "podAntiAffinity")

    @cached_property
    def has_affinity(self) -> bool:
        """Whether it has any term about other pods."""
        affinity = self.spec.get("affinity") or {}
        return bool(affinity.get("podAffinity") or affinity.get("podAntiAffinity"))

    @cached_property
    def claims(self) -> tuple[str, ...]:
        """Names of the PersistentVolumeClaims that it mounts by name."""
        listed = (volume.get("persistentVolumeClaim") for volume in self.spec.get("volumes") or ())
        return tuple(str(source.get("claimName") or "") for source in listed if source)

    @cached_property
    def ephemeral_claims(self) -> tuple[str, ...]:
        """Names of the claims that are made for its generic ephemeral volumes."""
        volumes = self.spec.get("volumes") or ()
        return tuple(f"{self.name}-{volume.get('name')}" for volume in volumes if volume.get("ephemeral"))

    @property
    def tolerations(self) -> list[dict[str, Any]]:
        """spec.tolerations; never None."""
        return self.spec.get("tolerations") or []

    @property
    def ended(self) -> bool:
        """Whether it holds its node's resources no longer."""
        return helpers.is_terminal(self.pod)


_cache: dict[int, PodInfo] = {}
_ALIKE = (
    "requests", "non_zero", "host_ports", "required_affinity", "required_anti_affinity", "preferred_affinity",
    "preferred_anti_affinity", "has_affinity", "claims",
)  # fmt: skip
"""What pods of one template have in common."""


def with_node(pod: Object, node: str) -> Object:
    """The pod as if it were bound to the node; the original stays as it is."""
    return {**pod, "spec": {**(pod.get("spec") or {}), "nodeName": node}}


def controller_uid(info: PodInfo) -> str:
    """The uid of the controlling owner, or an empty string."""
    owner = meta.controller_of(info.pod)
    return str(owner.get("uid") or "") if owner else ""
