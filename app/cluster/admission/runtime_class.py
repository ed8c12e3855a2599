"""RuntimeClass: a pod gets its class's overhead and placement (plugin/pkg/admission/runtimeclass/admission.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster.attributes import Attributes
from app.cluster.store import Store


def admit(attributes: Attributes, store: Store) -> None:
    """Fill in overhead, node selector and tolerations (setOverhead, setScheduling)."""
    if not _concerns(attributes) or attributes.object is None:
        return
    spec = attributes.object.setdefault("spec", {})
    runtime_class = _class_of(attributes, spec, store)
    if runtime_class is None:
        return
    overhead = (runtime_class.get("overhead") or {}).get("podFixed")
    if overhead:
        if spec.get("overhead") and not _same(spec["overhead"], overhead):
            raise _forbidden(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec["overhead"] = dict(overhead)
    scheduling = runtime_class.get("scheduling")
    if scheduling:
        _place(attributes, spec, scheduling)


def validate(attributes: Attributes, store: Store) -> None:
    """The overhead is the class's (validateOverhead)."""
    if not _concerns(attributes) or attributes.object is None:
        return
    spec = attributes.object.get("spec") or {}
    runtime_class = _class_of(attributes, spec, store) or {}
    overhead, own = (runtime_class.get("overhead") or {}).get("podFixed") or {}, spec.get("overhead") or {}
    if overhead and not _same(own, overhead):
        raise _forbidden(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    if own and not overhead:
        problem = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise _forbidden(attributes, problem)


def _concerns(attributes: Attributes) -> bool:
    return attributes.operation == "CREATE" and attributes.resource == "pods" and not attributes.subresource


def _class_of(attributes: Attributes, spec: Mapping[str, Any], store: Store) -> Object | None:
    name = spec.get("runtimeClassName")
    if name is None:
        return None
    found = store.get("runtimeclasses", str(name))
    if found is None:
        raise _forbidden(attributes, f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _place(attributes: Attributes, spec: Object, scheduling: Mapping[str, Any]) -> None:
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in sorted((scheduling.get("nodeSelector") or {}).items()):
        if selector.get(key, value) != value:
            raise _forbidden(
                attributes,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    tolerations = merged([*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())])
    if tolerations:
        spec["tolerations"] = tolerations


def merged(tolerations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tolerations without those that another one includes (pkg/util/tolerations: MergeTolerations)."""
    kept: list[dict[str, Any]] = []
    for index, toleration in enumerate(tolerations):
        if any(_includes(other, toleration) for other in kept):
            continue
        if any(other != toleration and _includes(other, toleration) for other in tolerations[index + 1 :]):
            continue
        kept.append(dict(toleration))
    return kept


def _includes(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> bool:
    """Whether `wide` tolerates all that `narrow` does (isSuperset)."""
    if wide == narrow:
        return True
    everything = not wide.get("key") and wide.get("operator") == "Exists"
    if narrow.get("key") != wide.get("key") and not everything:
        return False
    if wide.get("effect") and narrow.get("effect") != wide["effect"]:
        return False
    most, asked = wide.get("tolerationSeconds"), narrow.get("tolerationSeconds")
    if wide.get("effect") == "NoExecute" and most is not None and (asked is None or asked > most):
        return False
    match wide.get("operator") or "Equal":
        case "Equal":
            return narrow.get("operator") == "Equal" and narrow.get("value") == wide.get("value")
        case "Exists":
            return True
    return False


def _same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return {key: quantity.of(value) for key, value in left.items()} == {
        key: quantity.of(value) for key, value in right.items()
    }


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": "pods"}
    return Forbidden(f'pods "{attributes.name}" is forbidden: {problem}', details=details)
