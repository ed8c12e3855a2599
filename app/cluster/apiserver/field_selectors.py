"""Field selectors: `spec.nodeName=node01,status.phase!=Failed` (k8s.io/apimachinery/pkg/fields/selector.go).

Which fields a kind can be selected by, and the words for others, are those of its field label conversion
(pkg/apis/core/v1/conversion.go, and of the same name for batch, events and resource; for all other
kinds apimachinery/pkg/runtime/converter.go: DefaultMetaV1FieldSelectorConversion).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo

_CORE = "field label not supported: {label}"
_DEFAULT_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
_DEFAULT = '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _namespaced(*fields: str) -> frozenset[str]:
    return _DEFAULT_FIELDS | frozenset(fields)


_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_KINDS: Mapping[str, tuple[frozenset[str], str]] = {
    "pods": (
        _namespaced(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ),
        _CORE,
    ),
    "nodes": (frozenset({"metadata.name", "spec.unschedulable"}), _CORE),
    "replicationcontrollers": (_namespaced("status.replicas"), _CORE),
    "events": (
        _namespaced(
            *(f"involvedObject.{part}" for part in _INVOLVED), "reason", "reportingComponent", "source", "type"
        ),
        _CORE,
    ),
    "namespaces": (frozenset({"metadata.name", "status.phase"}), _CORE),
    "secrets": (_namespaced("type"), _CORE),
    "services": (_namespaced("spec.clusterIP", "spec.type"), _CORE),
    "jobs.batch": (_namespaced("status.successful"), 'field label "{label}" not supported for batchv1.Job'),
    "resourceslices.resource.k8s.io": (
        frozenset({"metadata.name", "spec.nodeName", "spec.driver"}),
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {label}",
    ),
}
_REGARDING = {f"regarding.{part}": f"involvedObject.{part}" for part in _INVOLVED}
_STORED = {
    "events.events.k8s.io": {
        **_REGARDING,
        "reportingController": "reportingComponent",
        **{name: name for name in ("metadata.name", "metadata.namespace", "reason", "type")},
    }
}
"""Of kinds that are views: what can be selected by, and what it is called where it is stored."""
_READ_AT = {"status.successful": "status.succeeded", "status.podIPs": "status.podIP"}
_NUMBERS = frozenset({"status.successful", "status.replicas"})


@dataclass(frozen=True)
class FieldSelector:
    """Terms that must all hold: (field, wanted value, whether it must equal)."""

    terms: tuple[tuple[str, str, bool], ...]

    def matches(self, obj: Object, fields_of: Callable[[Object], Mapping[str, str]]) -> bool:
        """Whether the object's selectable fields satisfy every term."""
        if not self.terms:
            return True
        fields = fields_of(obj)
        for name, wanted, equal in self.terms:
            value = fields[name] if name in fields else _value(obj, name)
            if (value == wanted) != equal:
                return False
        return True


def parse(text: str, info: KindInfo) -> FieldSelector:
    """Parse the text (fields: ParseSelector).

    Raises:
        BadRequest: a term is none, or the kind cannot be selected by its field.
    """
    supported, words = _KINDS.get(info.group_resource, (_DEFAULT_FIELDS, _DEFAULT))
    names = _STORED.get(info.group_resource)
    if names is not None:
        supported, words = frozenset(names), _CORE
    terms = []
    for term in filter(None, text.split(",")):
        name, operator, value = _split(term)
        if not operator:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
        if name not in supported:
            raise BadRequest(words.format(label=name))
        terms.append((names[name] if names else name, value, operator != "!="))
    return FieldSelector(tuple(terms))


def _split(term: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        name, found, value = term.partition(operator)
        if found:
            return name, found, value
    return term, "", ""


def _value(obj: Object, name: str) -> str:
    """The field's value as text; empty where it is not set, `0` for a number."""
    found: object = obj
    for part in _READ_AT.get(name, name).split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if found is None:
        return "0" if name in _NUMBERS else ""
    return str(found)
