"""LimitRanger: what containers, pods and claims of a namespace may ask for (plugin/pkg/admission/limitranger)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from app.apimachinery import meta, quantity
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.apimachinery.quantity import Quantity
from app.apis import helpers
from app.cluster.attributes import Attributes
from app.cluster.store import Store

ANNOTATION = "kubernetes.io/limit-ranger"
_LARGEST_MILLI = (2**63 - 1) // 1000
_CLAIM = "PersistentVolumeClaim"

Amounts = Mapping[str, Quantity]
Constraint = Callable[[str, str, Quantity, Amounts, Amounts], str]


def admit(attributes: Attributes, store: Store) -> None:
    """Give containers the defaults of the namespace's ranges (PodMutateLimitFunc)."""
    if not _concerns(attributes) or attributes.resource != "pods" or attributes.object is None:
        return
    for limit_range in store.list("limitranges", attributes.namespace):
        _fill(attributes.object, limit_range)


def validate(attributes: Attributes, store: Store) -> None:
    """Refuse what is below a minimum, above a maximum or beyond a ratio (PodValidateLimitFunc)."""
    if not _concerns(attributes) or attributes.object is None:
        return
    judge = _of_pod if attributes.resource == "pods" else _of_claim
    for limit_range in store.list("limitranges", attributes.namespace):
        limits = (limit_range.get("spec") or {}).get("limits") or ()
        problems = [problem for item in limits for problem in judge(item, attributes.object) if problem]
        if problems:
            raise _forbidden(attributes, _aggregated(problems))


def _concerns(attributes: Attributes) -> bool:
    """Pods as they are made and resized, claims as they are made and changed (SupportsAttributes)."""
    if ((attributes.old or {}).get("metadata") or {}).get("deletionTimestamp"):
        return False
    if attributes.resource == "pods":
        resized = attributes.operation == "UPDATE" and attributes.subresource == "resize"
        return resized or (attributes.operation == "CREATE" and not attributes.subresource)
    if attributes.resource == "persistentvolumeclaims":
        return attributes.operation in {"CREATE", "UPDATE"} and not attributes.subresource
    return False


def _fill(pod: Object, limit_range: Object) -> None:
    """Defaults, and a note of what was filled in (mergePodResourceRequirements)."""
    limits: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        if item.get("type") == "Container":
            requests.update(item.get("defaultRequest") or {})
            limits.update(item.get("default") or {})
    notes: list[str] = []
    spec = pod.get("spec") or {}
    for field, called in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(field) or ():
            resources = container["resources"] = dict(container.get("resources") or {})
            for part, wanted, word in (("requests", requests, "request"), ("limits", limits, "limit")):
                missing = sorted(wanted.keys() - (resources.get(part) or {}).keys())
                if missing:
                    resources[part] = {**(resources.get(part) or {}), **{name: wanted[name] for name in missing}}
                    notes.append(f"{', '.join(missing)} {word} for {called} {container.get('name')}")
    if notes:
        annotations = {**meta.annotations_of(pod), ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
        pod["metadata"]["annotations"] = annotations


def _of_pod(item: Mapping[str, Any], pod: Object) -> Iterator[str]:
    if item.get("type") == "Container":
        spec = pod.get("spec") or {}
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            yield from _judged(item, _amounts(resources.get("requests")), _amounts(resources.get("limits")))
    elif item.get("type") == "Pod":
        bare = {"spec": {**(pod.get("spec") or {}), "overhead": None}}
        yield from _judged(item, helpers.pod_requests(bare), helpers.pod_limits(bare))


def _of_claim(item: Mapping[str, Any], claim: Object) -> Iterator[str]:
    """Claims have requests only (PersistentVolumeClaimValidateLimitFunc)."""
    if item.get("type") != _CLAIM:
        return
    requests = _amounts(((claim.get("spec") or {}).get("resources") or {}).get("requests"))
    for field, constraint in (("min", _minimum), ("max", _maximum_request)):
        for name, enforced in sorted(_amounts(item.get(field)).items()):
            yield constraint(_CLAIM, name, enforced, requests, {})


def _judged(item: Mapping[str, Any], requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = str(item.get("type"))
    for field, constraint in _CONSTRAINTS:
        for name, enforced in sorted(_amounts(item.get(field)).items()):
            yield constraint(kind, name, enforced, requests, limits)


def _minimum(kind: str, name: str, enforced: Quantity, requests: Amounts, limits: Amounts) -> str:
    """What is wrong with a minimum, empty where nothing is (minConstraint)."""
    request, limit = requests.get(name), limits.get(name)
    if request is None:
        return f"minimum {name} usage per {kind} is {enforced}.  No request is specified"
    if request < enforced:
        return f"minimum {name} usage per {kind} is {enforced}, but request is {request}"
    if limit is not None and limit < enforced:
        return f"minimum {name} usage per {kind} is {enforced}, but limit is {limit}"
    return ""


def _maximum(kind: str, name: str, enforced: Quantity, requests: Amounts, limits: Amounts) -> str:
    """The same for a maximum (maxConstraint)."""
    request, limit = requests.get(name), limits.get(name)
    if limit is None:
        return f"maximum {name} usage per {kind} is {enforced}.  No limit is specified"
    if limit > enforced:
        return f"maximum {name} usage per {kind} is {enforced}, but limit is {limit}"
    if request is not None and request > enforced:
        return f"maximum {name} usage per {kind} is {enforced}, but request is {request}"
    return ""


def _maximum_request(kind: str, name: str, enforced: Quantity, requests: Amounts, limits: Amounts) -> str:
    """A maximum of what has no limits (maxRequestConstraint)."""
    del limits
    request = requests.get(name)
    if request is None:
        return f"maximum {name} usage per {kind} is {enforced}.  No request is specified"
    if request > enforced:
        return f"maximum {name} usage per {kind} is {enforced}, but request is {request}"
    return ""


def _ratio(kind: str, name: str, enforced: Quantity, requests: Amounts, limits: Amounts) -> str:
    """How far a limit may exceed its request (limitRequestRatioConstraint)."""
    request, limit = requests.get(name), limits.get(name)
    allowed = f"{name} max limit to request ratio per {kind} is {enforced}"
    if not request:
        return f"{allowed}, but no request is specified or request is 0"
    if not limit:
        return f"{allowed}, but no limit is specified or limit is 0"
    fine = max(request.value(), limit.value(), enforced.value()) <= _LARGEST_MILLI
    provided = limit.milli_value() / request.milli_value() if fine else limit.value() / request.value()
    if limit.nanos * quantity.ONE > enforced.nanos * request.nanos:
        return f"{allowed}, but provided ratio is {provided:f}"
    return ""


_CONSTRAINTS: tuple[tuple[str, Constraint], ...] = (
    ("min", _minimum),
    ("max", _maximum),
    ("maxLimitRequestRatio", _ratio),
)


def _amounts(listed: Mapping[str, Any] | None) -> dict[str, Quantity]:
    return {name: quantity.of(amount) for name, amount in (listed or {}).items()}


def _aggregated(problems: Iterable[str]) -> str:
    """Several errors as one (k8s.io/apimachinery/pkg/util/errors: aggregate.Error)."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": attributes.resource}
    return Forbidden(f'{attributes.resource} "{attributes.name}" is forbidden: {problem}', details=details)
