"""The binding subresource: a pod is assigned to a node (pkg/registry/core/pod/storage/storage.go: BindingREST)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import meta
from app.apimachinery.errors import BadRequest, Invalid
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import store as stores
from app.cluster.admission import namespace_lifecycle, node_restriction
from app.cluster.apiserver import decoding
from app.cluster.apiserver.registry import Registry, WriteOptions
from app.cluster.attributes import Attributes

_POD = scheme.for_kind("v1", "Pod")
_BINDING = scheme.for_kind("v1", "Binding")


def make(pod: str, namespace: str, node: str) -> Object:
    """A Binding of a pod to a node."""
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod, "namespace": namespace},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def create(registry: Registry, binding: Object, namespace: str, options: WriteOptions) -> Object:
    """A Binding posted to `bindings`: its own name says which pod."""
    decoding.decoded(_BINDING, binding, strict=options.field_validation == "Strict")
    given = meta.namespace_of(binding)
    if given and namespace and given != namespace:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    return bind(registry, meta.name_of(binding), given or namespace or "default", binding, options)


def bind(registry: Registry, pod: str, namespace: str, binding: Object, options: WriteOptions) -> Object:
    """Assign the pod and return it as stored.

    Raises:
        NotFound: there is no such pod.
        Conflict: the pod is bound, gated or on its way out.
        Invalid: the target is no node.
    """
    decoding.decoded(_BINDING, binding, strict=options.field_validation == "Strict")
    if meta.name_of(binding) != pod:
        raise BadRequest("name in URL does not match name in Binding object")
    _check_target(binding.get("target") or {})
    current = registry.get(_POD, pod, namespace)
    attributes = Attributes("CREATE", _POD, pod, namespace, binding, None, "binding", options.user, options.dry_run)
    namespace_lifecycle.admit(attributes, registry.store)
    node_restriction.admit(attributes, registry.store)
    wanted_uid = (binding.get("metadata") or {}).get("uid")
    if wanted_uid and wanted_uid != current["metadata"]["uid"]:
        uids = f"UID in precondition: {wanted_uid}, UID in object meta: {current['metadata']['uid']}"
        raise stores.conflict("pods", pod, f"Precondition failed: {uids}", "binding")
    _check_free(current, pod)
    bound = _bound(registry, current, binding)
    if options.dry_run:
        return bound
    return registry.store.update("pods", bound)


def _check_target(target: dict[str, Any]) -> None:
    """ValidatePodBinding; upstream sends these as plain errors, not as an object's."""
    problems = []
    if (target.get("kind") or "Node") != "Node":
        quoted = f'"{target["kind"]}"'
        problems.append(f'target.kind: Unsupported value: {quoted}: supported values: "Node", "<empty>"')
    if not target.get("name"):
        problems.append("target.name: Required value")
    if problems:
        raise Invalid(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _check_free(pod: Object, name: str) -> None:
    spec = pod.get("spec") or {}
    if pod["metadata"].get("deletionTimestamp"):
        raise stores.conflict("pods", name, f"pod {name} is being deleted, cannot be assigned to a host", "binding")
    if spec.get("nodeName"):
        assigned = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
        raise stores.conflict("pods", name, assigned, "binding")
    if spec.get("schedulingGates"):
        raise stores.conflict("pods", name, f"pod {name} has non-empty .spec.schedulingGates", "binding")


def _bound(registry: Registry, pod: Object, binding: Object) -> Object:
    """The pod with its node, the binding's labels and annotations, and the condition PodScheduled."""
    metadata = dict(pod["metadata"])
    metadata["generation"] = int(metadata.get("generation") or 1) + 1
    for field in ("labels", "annotations"):
        added = (binding.get("metadata") or {}).get(field)
        if added:
            metadata[field] = {**(metadata.get(field) or {}), **added}
    status = dict(pod.get("status") or {})
    conditions = [item for item in status.get("conditions") or [] if item.get("type") != "PodScheduled"]
    now = clocks.rfc3339(registry.store.clock.now())
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    status["conditions"] = [*conditions, scheduled]
    # The reason for the wait ends with the wait; the scheduler's nomination has been followed or overruled.
    status.pop("nominatedNodeName", None)
    return {
        **pod,
        "metadata": metadata,
        "spec": {**(pod.get("spec") or {}), "nodeName": binding["target"]["name"]},
        "status": status,
    }
