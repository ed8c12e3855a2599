"""Priority: a pod's class becomes its number (plugin/pkg/admission/priority/admission.go)."""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster.attributes import Attributes
from app.cluster.store import Store

LOWER_PRIORITY = "PreemptLowerPriority"


def admit(attributes: Attributes, store: Store) -> None:
    """Resolve `priorityClassName` into `priority` and `preemptionPolicy`."""
    if attributes.resource != "pods" or attributes.subresource or attributes.object is None:
        return
    spec = attributes.object.setdefault("spec", {})
    if attributes.operation == "UPDATE":
        former = (attributes.old or {}).get("spec") or {}
        for field in ("priority", "preemptionPolicy"):
            if spec.get(field) is None and former.get(field) is not None:
                spec[field] = former[field]
        return
    if attributes.operation == "CREATE":
        _resolve(attributes, spec, store)


def _resolve(attributes: Attributes, spec: Object, store: Store) -> None:
    value, policy = 0, LOWER_PRIORITY
    name = spec.get("priorityClassName") or ""
    if name:
        chosen = store.get("priorityclasses", name)
        if chosen is None:
            raise _forbidden(attributes, f"no PriorityClass with name {name} was found")
    else:
        chosen = _global_default(store)
        if chosen is not None:
            spec["priorityClassName"] = meta.name_of(chosen)
    if chosen is not None:
        value = int(chosen.get("value") or 0)
        policy = chosen.get("preemptionPolicy") or LOWER_PRIORITY
    given = spec.get("priority")
    if given is not None and given != value:
        raise _forbidden(
            attributes,
            f"the integer value of priority ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name",
        )
    given_policy = spec.get("preemptionPolicy")
    if given_policy is not None and given_policy != policy:
        raise _forbidden(
            attributes,
            f"the string value of PreemptionPolicy ({given_policy}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    spec["priority"], spec["preemptionPolicy"] = value, policy


def _global_default(store: Store) -> Object | None:
    """The default class; of several the one with the lowest value, as upstream picks."""
    marked = [item for item in store.list("priorityclasses") if item.get("globalDefault")]
    return min(marked, key=lambda item: int(item.get("value") or 0), default=None)


def validate(attributes: Attributes, store: Store) -> None:
    """Refuse a second global default."""
    obj = attributes.object
    if attributes.resource != "priorityclasses" or obj is None or not obj.get("globalDefault"):
        return
    present = _global_default(store)
    if present is not None and meta.name_of(present) != attributes.name:
        raise Forbidden(
            f'priorityclasses.scheduling.k8s.io "{attributes.name}" is forbidden: PriorityClass '
            f"{meta.name_of(present)} is already marked as default. Only one default can exist",
            details={"name": attributes.name, "group": "scheduling.k8s.io", "kind": "priorityclasses"},
        )


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": "pods"}
    return Forbidden(f'pods "{attributes.name}" is forbidden: {problem}', details=details)
