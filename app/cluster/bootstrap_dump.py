"""Running pods that come from another cluster's dump (`kubectl get nodes,pods -A -o yaml`), taken over as they are.

They keep uid, age and address, and their kubelets know them as running; nothing is admitted or started anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import meta
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.apis import defaults
from app.cluster import bootstrap, bootstrap_nodes, bootstrap_policy
from app.cluster.nodes import pod_status, static_pods
from app.cluster.store import Store

_READ = frozenset({"managedFields", "resourceVersion", "selfLink"})
_LEFT = _READ | {"ownerReferences"}


def is_running(obj: Object) -> bool:
    """Whether it is a pod that a node runs."""
    spec, status = obj.get("spec"), obj.get("status")
    if obj.get("kind") != "Pod" or not isinstance(spec, dict) or not isinstance(status, dict):
        return False
    containers = spec.get("containers")
    if not containers or not isinstance(containers, list):
        return False
    named = all(isinstance(found, dict) and found.get("name") and found.get("image") for found in containers)
    return named and bool(spec.get("nodeName")) and status.get("phase") == "Running"


def bare(obj: Object) -> Object:
    """An object as it can be created, without what the server wrote when it was read."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "resourceVersion" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name not in _READ}}


def is_there(store: Store, node: Object) -> bool:
    """Whether a node that comes from a dump is one of the template's."""
    return "uid" in node["metadata"] and store.get("nodes", meta.name_of(node)) is not None


def take_over(store: Store, memory: dict[str, Any], objects: Sequence[Object]) -> None:
    """Put the running pods among the objects into the store, and into the kubelets' memory.

    Static pods belong to machines that are not there and are left out, as is what the cluster has already. Owners
    that the dump does not hold are not named: their pods would be collected.
    """
    owners = {(obj.get("metadata") or {}).get("uid") for obj in objects}
    pods = [obj for obj in objects if is_running(obj) and static_pods.MIRROR not in meta.annotations_of(obj)]
    for name in sorted({meta.namespace_of(pod) or "default" for pod in pods}):
        if store.get("namespaces", name) is None:
            store.create("namespaces", defaults.apply(bootstrap_policy.namespace(name)))
    for pod in pods:
        if store.get("pods", meta.key_of(_named(pod, owners))) is None:
            _take_over(store, memory, _named(pod, owners))


def _named(pod: Object, owners: Iterable[Any]) -> Object:
    metadata = {name: value for name, value in pod["metadata"].items() if name not in _LEFT}
    metadata.setdefault("namespace", "default")
    held = [owner for owner in pod["metadata"].get("ownerReferences") or [] if owner.get("uid") in owners]
    if held:
        metadata["ownerReferences"] = held
    return {**pod, "metadata": metadata}


def _take_over(store: Store, memory: dict[str, Any], pod: Object) -> None:
    whole = defaults.apply(meta.copied(pod))
    metadata, name = whole["metadata"], str(whole["spec"]["nodeName"])
    metadata.setdefault("uid", store.draw_uid())
    node = store.get("nodes", name) or {}
    host = bootstrap_nodes.address_of(node) if node else str(whole["status"].get("hostIP") or "")
    since = _instant(whole["status"].get("startTime"), store.clock.now())
    record = bootstrap.running_record(whole, name, str(whole["status"].get("podIP") or ""), since)
    memory["pods"][metadata["uid"]] = record
    store.create("pods", {**whole, "status": pod_status.of(whole, record, host, since)})


def _instant(stamp: Any, otherwise: Instant) -> Instant:
    try:
        return min(clocks.parse(stamp), otherwise) if isinstance(stamp, str) else otherwise
    except ValueError:
        return otherwise
