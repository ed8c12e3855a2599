"""NodeRestriction: a kubelet writes its own node and the pods that are bound to it, and gives itself no labels.

Mirrors plugin/pkg/admission/noderestriction/admission.go and k8s.io/kubelet/pkg/apis/well_known_labels.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster import pod_references
from app.cluster import store as stores
from app.cluster.attributes import Attributes
from app.cluster.store import Store

_MIRROR = "kubernetes.io/config.mirror"
_LEASES = "kube-node-lease"
_RESTRICTED = "node-restriction.kubernetes.io"
_KUBELET_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
    }
)
_KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBERNETES = ("kubernetes.io", "k8s.io")
_NOT_ITS_OWN = 'node "{node}" can only update pod status for pods with spec.nodeName set to itself'


def admit(attributes: Attributes, store: Store) -> None:
    """Refuse what a kubelet may not write (Admit)."""
    user = attributes.user
    if not user.is_node:
        return
    if not user.node:
        raise _forbidden(attributes, f'could not determine node from user "{user.name}"')
    judge = _JUDGES.get(attributes.resource)
    problem = judge(attributes, store, user.node) if judge is not None else None
    if problem:
        raise _forbidden(attributes, problem)


def validate(attributes: Attributes, store: Store) -> None:
    """Deletions come here alone."""
    if attributes.operation == "DELETE":
        admit(attributes, store)


def _pod(attributes: Attributes, store: Store, node: str) -> str | None:
    match attributes.subresource:
        case "":
            return _whole_pod(attributes, store, node)
        case "status":
            return _pod_status(attributes, node)
        case "eviction":
            if _bound_to(_existing_pod(attributes, store, attributes.name), node):
                return None
            return f"node {node} can only evict pods with spec.nodeName set to itself"
        case part:
            return f"unexpected pod subresource \"{part}\", only 'status' and 'eviction' are allowed"


def _existing_pod(attributes: Attributes, store: Store, name: str) -> Object:
    found = store.get("pods", f"{attributes.namespace}/{name}")
    if found is None:
        raise stores.not_found("pods", name)
    return found


def _bound_to(pod: Mapping[str, Any], node: str) -> bool:
    return bool((pod.get("spec") or {}).get("nodeName") == node)


def _whole_pod(attributes: Attributes, store: Store, node: str) -> str | None:
    """AdmitPod."""
    if attributes.operation == "DELETE":
        if _bound_to(attributes.old or {}, node):
            return None
        return f'node "{node}" can only delete pods with spec.nodeName set to itself'
    if attributes.operation != "CREATE":
        operation = f'unexpected operation "{attributes.operation}"'
        return f'{operation}, node "{node}" can only create and delete mirror pods'
    pod = attributes.object or {}
    if _MIRROR not in meta.annotations_of(pod):
        return f'pod does not have "{_MIRROR}" annotation, node "{node}" can only create mirror pods'
    if not _bound_to(pod, node):
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    return _owner(pod, store, node) or _references(pod.get("spec") or {}, node)


def _owner(pod: Object, store: Store, node: str) -> str | None:
    """A mirror pod belongs to its node and to nobody else."""
    owners = pod["metadata"].get("ownerReferences") or []
    if len(owners) > 1:
        return f'node "{node}" can only create pods with a single owner reference set to itself'
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        return f'node "{node}" can only create pods with an owner reference set to itself'
    if not owner.get("controller"):
        return f'node "{node}" can only create pods with a controller owner reference set to itself'
    if owner.get("blockOwnerDeletion"):
        return f'node "{node}" must not set blockOwnerDeletion on an owner reference'
    found = store.get("nodes", node)
    if found is None:
        raise stores.not_found("nodes", node)
    uid = found["metadata"]["uid"]
    if owner.get("uid") != uid:
        return f"node {node} UID mismatch: expected {owner.get('uid')} got {uid}"
    return None


def _references(spec: Object, node: str) -> str | None:
    """A mirror pod refers to no other object."""

    def told(what: str) -> str:
        return f'node "{node}" can not create pods that reference {what}'

    volumes = spec.get("volumes") or []
    projected = [source for volume in volumes for source in (volume.get("projected") or {}).get("sources") or []]
    if spec.get("serviceAccountName"):
        return told("a service account")
    if any(pod_references.secret_names(spec)):
        return told("secrets")
    if any(pod_references.config_map_names(spec)):
        return told("configmaps")
    if any(source.get("clusterTrustBundle") is not None for source in projected):
        return told("clustertrustbundles")
    if any(volume.get("persistentVolumeClaim") is not None for volume in volumes):
        return told("persistentvolumeclaims")
    return told("resourceclaims") if spec.get("resourceClaims") else None


def _pod_status(attributes: Attributes, node: str) -> str | None:
    """AdmitPodStatus."""
    old, new = attributes.old or {}, attributes.object or {}
    if not _bound_to(old, node):
        return _NOT_ITS_OWN.format(node=node)
    if meta.labels_of(old) != meta.labels_of(new):
        return f'node "{node}" cannot update labels through pod status'
    before, after = ((obj.get("status") or {}).get("resourceClaimStatuses") or [] for obj in (old, new))
    return None if before == after else f'node "{node}" cannot update resource claim statues'


def _node(attributes: Attributes, store: Store, node: str) -> str | None:
    """AdmitNode."""
    del store
    if attributes.name != node:
        return f'node "{node}" is not allowed to modify node "{attributes.name}"'
    new = attributes.object
    if new is None:
        return None
    if attributes.operation == "CREATE":
        labels = _forbidden_labels(meta.labels_of(new), {})
        listed = ", ".join(labels)
        return f'node "{node}" is not allowed to set the following labels: {listed}' if labels else None
    old = attributes.old or {}
    before, after = ((obj.get("spec") or {}).get("taints") or [] for obj in (old, new))
    if before != after:
        return f'node "{node}" is not allowed to modify taints'
    labels = _forbidden_labels(meta.labels_of(new), meta.labels_of(old))
    return f"is not allowed to modify labels: {', '.join(labels)}" if labels else None


def _forbidden_labels(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """Labels that come, go or change although they are not the kubelet's (getForbiddenLabels)."""
    changed = {key for key in new.keys() | old.keys() if new.get(key) != old.get(key)}
    return sorted(key for key in changed if _is_forbidden(key))


def _is_forbidden(label: str) -> bool:
    namespace = label.partition("/")[0] if "/" in label else ""
    if _within(namespace, _RESTRICTED):
        return True
    own = label in _KUBELET_LABELS or any(_within(namespace, known) for known in _KUBELET_NAMESPACES)
    return any(_within(namespace, known) for known in _KUBERNETES) and not own


def _within(namespace: str, domain: str) -> bool:
    return namespace == domain or namespace.endswith(f".{domain}")


def _claim(attributes: Attributes, store: Store, node: str) -> str | None:
    """AdmitPVCStatus."""
    del store
    if attributes.subresource != "status":
        return "may only update PVC status"
    old, new = _without_own(attributes.old or {}), _without_own(attributes.object or {})
    if old == new:
        return None
    return f'node "{node}" is not allowed to update fields other than status.capacity and status.conditions'


def _without_own(claim: Object) -> Object:
    free = ("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses")
    status = {key: value for key, value in (claim.get("status") or {}).items() if key not in free}
    dropped = ("resourceVersion", "managedFields")
    metadata = {key: value for key, value in claim["metadata"].items() if key not in dropped}
    return {**claim, "metadata": metadata, "status": status}


def _account(attributes: Attributes, store: Store, node: str) -> str | None:
    """admitServiceAccount: tokens are for pods on the node."""
    if attributes.operation != "CREATE" or attributes.subresource != "token":
        return None
    reference = ((attributes.object or {}).get("spec") or {}).get("boundObjectRef") or {}
    if (reference.get("apiVersion"), reference.get("kind")) != ("v1", "Pod") or not reference.get("name"):
        return "node requested token not bound to a pod"
    uid = reference.get("uid")
    if not uid:
        return "node requested token with a pod binding without a uid"
    pod = _existing_pod(attributes, store, reference["name"])
    if uid != pod["metadata"]["uid"]:
        return (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
    return None if _bound_to(pod, node) else "node requested token bound to a pod scheduled on a different node"


def _lease(attributes: Attributes, store: Store, node: str) -> str | None:
    """AdmitLease."""
    del store
    if attributes.namespace != _LEASES:
        return f'can only access leases in the "{_LEASES}" system namespace'
    if attributes.name != node:
        return "can only access node lease with the same name as the requesting node"
    return None


def _csi_node(attributes: Attributes, store: Store, node: str) -> str | None:
    """AdmitCSINode."""
    del store
    return None if attributes.name == node else "can only access CSINode with the same name as the requesting node"


_JUDGES: Mapping[str, Callable[[Attributes, Store, str], str | None]] = {
    "pods": _pod,
    "nodes": _node,
    "persistentvolumeclaims": _claim,
    "serviceaccounts": _account,
    "leases": _lease,
    "csinodes": _csi_node,
}


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    info = attributes.info
    details = {"name": attributes.name, **({"group": info.group} if info.group else {}), "kind": info.plural}
    return Forbidden(f'{info.group_resource} "{attributes.name}" is forbidden: {problem}', details=details)
