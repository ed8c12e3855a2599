"""Pod affinity terms in the form that plugins match with (pkg/scheduler/framework/types.go: AffinityTerm)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery import labels
from app.apimachinery.labels import Selector
from app.apimachinery.meta import Object


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """Which pods a term speaks of, and the topology it speaks of them in. `weight` is 0 for required terms."""

    namespaces: frozenset[str]
    selector: Selector
    topology_key: str
    namespace_selector: Selector
    weight: int = 0

    def matches(self, namespace: str, pod_labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Whether a pod in a namespace with these labels is meant (AffinityTerm.Matches)."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(pod_labels)


def required_terms(pod: Object, kind: str) -> tuple[AffinityTerm, ...]:
    """The required terms; `kind` is podAffinity or podAntiAffinity."""
    return tuple(_term(pod, term, 0) for term in _listed(pod, kind, "required"))


def preferred_terms(pod: Object, kind: str) -> tuple[AffinityTerm, ...]:
    """The preferred terms with their weights; `kind` is podAffinity or podAntiAffinity."""
    return tuple(
        _term(pod, item.get("podAffinityTerm") or {}, int(item.get("weight") or 0))
        for item in _listed(pod, kind, "preferred")
    )


def _listed(pod: Object, kind: str, strength: str) -> Iterable[dict[str, Any]]:
    affinity = ((pod.get("spec") or {}).get("affinity") or {}).get(kind) or {}
    return affinity.get(f"{strength}DuringSchedulingIgnoredDuringExecution") or ()


def _term(pod: Object, term: Mapping[str, Any], weight: int) -> AffinityTerm:
    """A term without namespaces and namespaceSelector speaks of the pod's own namespace."""
    listed, selector = term.get("namespaces"), term.get("namespaceSelector")
    own = str((pod.get("metadata") or {}).get("namespace") or "default")
    return AffinityTerm(
        namespaces=frozenset(listed or (() if selector is not None else (own,))),
        selector=labels.from_label_selector(term.get("labelSelector")),
        topology_key=str(term.get("topologyKey", "")),
        namespace_selector=labels.from_label_selector(selector),
        weight=weight,
    )
