"""What several controllers share (pkg/controller/controller_utils.go, controller_ref_manager.go, api/v1/pod/util.go).

Pure questions about pods and owners, and the few writes that every controller makes the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from app.apimachinery import clock, labels, meta
from app.apimachinery.clock import Instant
from app.apimachinery.errors import Conflict, Forbidden, NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import events
from app.cluster.loops import Context

_SAFE = "bcdfghjklmnpqrstvwxz2456789"
FNV_OFFSET = 2166136261
FNV_PRIME = 16777619
MAX_PODS = 500
"""Pods in a cluster beyond which controllers make no more."""


def fnv32a(data: bytes) -> int:
    """The 32-bit FNV-1a hash."""
    value = FNV_OFFSET
    for byte in data:
        value = ((value ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return value


def template_hash(template: Mapping[str, Any], collisions: int = 0) -> str:
    """A stable name part for a pod template (pkg/controller/controller_utils.go: ComputeHash, SafeEncodeString).

    Upstream hashes its own memory layout; ours hashes the template's canonical JSON, so names differ from a real
    cluster's but have the same alphabet and length.
    """
    data = orjson.dumps(template, option=orjson.OPT_SORT_KEYS) + (str(collisions).encode() if collisions else b"")
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(fnv32a(data)))


def condition(obj: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The status condition of that type."""
    for found in (obj.get("status") or {}).get("conditions") or []:
        if found.get("type") == kind:
            return dict(found)
    return None


def with_condition(conditions: Iterable[Mapping[str, Any]], new: dict[str, Any], now: Instant) -> list[dict[str, Any]]:
    """The conditions with `new` set; its lastTransitionTime changes only with its status."""
    stamp = clock.rfc3339(now)
    result, placed = [], False
    for old in conditions:
        if old.get("type") != new["type"]:
            result.append(dict(old))
            continue
        placed = True
        same = old.get("status") == new.get("status")
        result.append({**new, "lastTransitionTime": old.get("lastTransitionTime") if same else stamp})
    if not placed:
        result.append({**new, "lastTransitionTime": stamp})
    return result


def is_active(pod: Mapping[str, Any]) -> bool:
    """Neither finished nor being deleted (controller_utils.go: IsPodActive)."""
    phase = (pod.get("status") or {}).get("phase")
    return phase not in {"Succeeded", "Failed"} and not is_terminating(pod)


def is_terminating(obj: Mapping[str, Any]) -> bool:
    """Whether deletion has begun."""
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether the pod's Ready condition is True."""
    found = condition(pod, "Ready")
    return found is not None and found.get("status") == "True"


def ready_since(pod: Mapping[str, Any]) -> Instant | None:
    """When the pod became ready, or None when it is not."""
    found = condition(pod, "Ready")
    if found is None or found.get("status") != "True" or not found.get("lastTransitionTime"):
        return None
    return clock.parse(found["lastTransitionTime"])


def is_available(pod: Mapping[str, Any], min_ready_seconds: int, now: Instant) -> bool:
    """Ready for at least `min_ready_seconds` (api/v1/pod/util.go: IsPodAvailable)."""
    since = ready_since(pod)
    return since is not None and now >= since + min_ready_seconds * clock.SECOND


def created(obj: Mapping[str, Any]) -> Instant:
    """The object's creationTimestamp, in microseconds since the epoch."""
    return clock.parse(obj["metadata"]["creationTimestamp"])


def owner_reference(owner: Object) -> dict[str, Any]:
    """A controller's reference to put on what it makes (metav1.NewControllerRef)."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta.name_of(owner),
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def selector_of(owner: Object) -> labels.Selector:
    """What a workload selects its own by; a ReplicationController has plain labels, where none select nothing."""
    selector = owner["spec"].get("selector")
    if owner["kind"] == "ReplicationController":
        return labels.from_label_selector({"matchLabels": selector} if selector else None)
    return labels.from_label_selector(selector)


def go_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as its generated Go String method prints it."""
    if selector is None:
        return "nil"
    equal = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{term.get('key')},Operator:{term.get('operator')},"
        f"Values:[{' '.join(term.get('values') or [])}],}},"
        for term in selector.get("matchExpressions") or []
    )
    lists = f"MatchLabels:map[string]string{{{equal}}},MatchExpressions:[]LabelSelectorRequirement{{{terms}}},"
    return f"&LabelSelector{{{lists}}}"


def namespace_ends(error: StatusError) -> bool:
    """Whether a create was refused because its namespace goes away (errors.HasStatusCause: NamespaceTerminating)."""
    return any(cause.get("reason") == "NamespaceTerminating" for cause in error.details.get("causes") or ())


def claim(
    context: Context, owner: Object, resource: str, candidates: Iterable[Object], finalizer: str = ""
) -> list[Object]:
    """The objects that `owner` controls, after adopting orphans that match and releasing those that no longer do.

    `finalizer` is put on what is adopted and taken off what is released.
    Mirrors pkg/controller/controller_ref_manager.go: BaseControllerRefManager.ClaimObject.
    """
    selector = selector_of(owner)
    uid = owner["metadata"]["uid"]
    mine = []
    for obj in candidates:
        reference = meta.controller_of(obj)
        matches = selector.matches(meta.labels_of(obj))
        if reference is not None and reference.get("uid") == uid:
            if matches or is_terminating(owner):
                mine.append(obj)
            else:
                left = [found for found in obj["metadata"]["ownerReferences"] if found.get("uid") != uid]
                held = [name for name in obj["metadata"].get("finalizers") or [] if name != finalizer]
                _reown(context, resource, obj, ownerReferences=left, finalizers=held)
        elif reference is None and matches and not is_terminating(owner) and not is_terminating(obj):
            existing = obj["metadata"].get("ownerReferences") or []
            held = obj["metadata"].get("finalizers") or []
            if finalizer and finalizer not in held:
                held = [*held, finalizer]
            references = [*existing, owner_reference(owner)]
            adopted = _reown(context, resource, obj, ownerReferences=references, finalizers=held)
            if adopted is not None:
                mine.append(adopted)
    return mine


def _reown(context: Context, resource: str, obj: Object, **fields: list[Any]) -> Object | None:
    """Set fields of the metadata; an empty one goes."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in fields}
    metadata.update({name: value for name, value in fields.items() if value})
    return quietly_update(context, {**obj, "metadata": metadata}, resource)


def first_look(context: Context) -> bool:
    """Whether the loop must look at everything: it has no memory yet, or changes were lost."""
    fresh = not context.state.get("begun")
    context.state["begun"] = True
    return fresh or context.full


def quietly_update(context: Context, obj: Object, resource: str) -> Object | None:
    """Update; None when the object is gone or has changed meanwhile (the next round looks again)."""
    try:
        return context.client.update(obj)
    except (NotFound, Conflict):
        context.wake(f"again:{resource}", context.now)
        return None


def write_status(context: Context, obj: Object, status: Mapping[str, Any]) -> None:
    """Write the status where it differs from the stored one."""
    if obj.get("status") == status:
        return
    try:
        context.client.update_status({**obj, "status": dict(status)})
    except (NotFound, Conflict):
        context.wake(f"again:{meta.key_of(obj)}", context.now)


def pod_from_template(owner: Object, template: Mapping[str, Any]) -> Object:
    """A pod as a controller makes it (controller_utils.go: GetPodFromTemplate)."""
    metadata = template.get("metadata") or {}
    made: dict[str, Any] = {
        "generateName": f"{meta.name_of(owner)}-",
        "namespace": meta.namespace_of(owner),
        "ownerReferences": [owner_reference(owner)],
    }
    for part in ("labels", "annotations", "finalizers"):
        if metadata.get(part):
            made[part] = metadata[part]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": template.get("spec") or {}}


def create_pod(context: Context, owner: Object, pod: Object, component: str) -> Object | StatusError:
    """Create a pod and record it; the refusal is returned (controller_utils.go: RealPodControl.createPods)."""
    try:
        check_room(context, pod)
        made = context.client.create(pod, meta.namespace_of(owner))
    except StatusError as error:
        if not namespace_ends(error):
            context.recorder.record(
                owner,
                events.WARNING,
                "FailedCreate",
                f"Error creating: {error.message}",
                component=component,
            )
        return error
    message = f"Created pod: {meta.name_of(made)}"
    context.recorder.record(owner, events.NORMAL, "SuccessfulCreate", message, component=component)
    return made


def check_room(context: Context, pod: Object) -> None:
    """Controllers stop at a number of pods that no exercise needs: a slip in `replicas` must not stall the lab."""
    if len(context.client.list("pods")) >= MAX_PODS:
        name = pod["metadata"].get("name") or pod["metadata"]["generateName"]
        raise Forbidden(f'pods "{name}" is forbidden: this cluster has room for {MAX_PODS} pods')


def delete_pod(context: Context, owner: Object, pod: Object, component: str) -> None:
    """Delete a pod and record it (controller_utils.go: RealPodControl.DeletePod)."""
    try:
        context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod))
    except NotFound:
        return
    message = f"Deleted pod: {meta.name_of(pod)}"
    context.recorder.record(owner, events.NORMAL, "SuccessfulDelete", message, component=component)


def int_or_percent(value: int | str | None, total: int, *, round_up: bool) -> int:
    """A count from `2` or `25%` of `total` (k8s.io/apimachinery/pkg/util/intstr: GetScaledValueFromIntOrPercent)."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        return int(value)
    share = int(value[:-1]) * total
    return -(-share // 100) if round_up else share // 100


def runtime_uid(pod: Object) -> str:
    """How a kubelet and its runtime know the pod: a mirror stands for the static pod that its annotation names."""
    return str(meta.annotations_of(pod).get("kubernetes.io/config.mirror") or pod["metadata"]["uid"])
