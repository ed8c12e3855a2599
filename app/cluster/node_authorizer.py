"""What kubelets may do beyond RBAC: their own node, their pods, and what these refer to.

Mirrors plugin/pkg/auth/authorizer/node/node_authorizer.go and graph.go; paths through the graph are looked up among
the node's pods when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import bootstrap_rbac, pod_references, rbac
from app.cluster.rbac import Decision, Request, Rule

_MIRROR = "kubernetes.io/config.mirror"
_LEASE_NAMESPACE = "kube-node-lease"
_OWN = ("get", "create", "update", "patch", "delete")
_NO_OPINION = Decision(allowed=False)
_ALLOWED = Decision(allowed=True)


class Reader(Protocol):
    """What reads objects: a client."""

    def list(self, kind: Any, namespace: str | None = None) -> list[Object]:
        """All objects of a kind, or of one namespace."""

    def find(self, kind: Any, name: str, namespace: str = "") -> Object | None:
        """One object, or None."""


def decide(reader: Reader, request: Request, node: str) -> Decision:
    """The answer to a request of the node's kubelet; its reason says what was missing (NodeAuthorizer.Authorize)."""
    if not request.path:
        plural, _, part = request.resource.partition("/")
        judge = _JUDGES.get((request.group, plural))
        if judge is not None:
            refusal = judge(reader, request, node, part)
            return _ALLOWED if refusal is None else Decision(allowed=False, reason=refusal)
    return _ALLOWED if any(rbac.matches(rule, request) for rule in _rules()) else _NO_OPINION


@cache
def _rules() -> tuple[Rule, ...]:
    """The rules that hold for every kubelet, whoever changes the role (bootstrappolicy.NodeRules)."""
    role = next(obj for obj in bootstrap_rbac.objects() if obj["kind"] == "ClusterRole" and _name(obj) == "system:node")
    return tuple(role["rules"])


def _name(obj: Object) -> str:
    return meta.name_of(obj)


def _related(reader: Reader, request: Request, node: str) -> str | None:
    """Nothing where the object is tied to the node (authorize); else the refusal."""
    if not request.name:
        return "No Object name found"
    if request.resource.partition("/")[0] in _ties(reader, request, node):
        return None
    return f"no relationship found between node '{node}' and this object"


def _ties(reader: Reader, request: Request, node: str) -> set[str]:
    """The resources as which the named object is tied to the node."""
    found: set[str] = set()
    attachment = reader.find("volumeattachments", request.name)
    if attachment is not None and attachment["spec"].get("nodeName") == node:
        found.add("volumeattachments")
    for pod in reader.list("pods"):
        if pod["spec"].get("nodeName") != node:
            continue
        for resource, namespace, name in _reached(reader, pod):
            if name == request.name and namespace in ("", request.namespace):
                found.add(resource)
    return found


def _reached(reader: Reader, pod: Object) -> Iterator[tuple[str, str, str]]:
    """(resource, namespace, name) of what a pod lets its kubelet read (AddPod); a mirror pod nothing but itself."""
    spec, namespace = pod["spec"], meta.namespace_of(pod)
    yield "pods", namespace, _name(pod)
    if _MIRROR in meta.annotations_of(pod):
        return
    yield "serviceaccounts", namespace, str(spec.get("serviceAccountName") or "")
    for name in pod_references.secret_names(spec):
        yield "secrets", namespace, name
    for name in pod_references.config_map_names(spec):
        yield "configmaps", namespace, name
    for volume in spec.get("volumes") or []:
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if volume.get("ephemeral") is not None:
            claim = f"{_name(pod)}-{volume.get('name')}"
        if not claim:
            continue
        yield "persistentvolumeclaims", namespace, claim
        found = reader.find("persistentvolumeclaims", claim, namespace)
        if found is not None and found["spec"].get("volumeName"):
            yield "persistentvolumes", "", found["spec"]["volumeName"]
    for status in (pod.get("status") or {}).get("resourceClaimStatuses") or []:
        yield "resourceclaims", namespace, str(status.get("resourceClaimName") or "")
    for claim in spec.get("resourceClaims") or []:
        yield "resourceclaims", namespace, str(claim.get("resourceClaimName") or "")


Judge = Callable[[Reader, Request, str, str], str | None]


def _read_namespaced(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizeReadNamespacedObject."""
    if request.verb not in {"get", "list", "watch"}:
        return "can only read resources of this type"
    if part:
        return "cannot read subresource"
    if not request.namespace:
        return "can only read namespaced object of this type"
    return _related(reader, request, node)


def _get(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizeGet."""
    if request.verb != "get":
        return "can only get individual resources of this type"
    return "cannot get subresource" if part else _related(reader, request, node)


def _claim(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizeStatusUpdate for the status of a claim, authorizeGet for the claim."""
    if part != "status":
        return _get(reader, request, node, part)
    if request.verb not in {"update", "patch"}:
        return "can only get/update/patch this type"
    return _related(reader, request, node)


def _token(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizeCreateToken."""
    if request.verb != "create" or not request.name:
        return "can only create tokens for individual service accounts"
    if part != "token":
        return "can only create token subresource of serviceaccount"
    return _related(reader, request, node)


def _lease(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """authorizeLease; the name of a new one is for NodeRestriction to see."""
    del reader, part
    if request.verb not in _OWN:
        return "can only get, create, update, patch, or delete a node lease"
    if request.namespace != _LEASE_NAMESPACE:
        return f'can only access leases in the "{_LEASE_NAMESPACE}" system namespace'
    if request.verb != "create" and request.name != node:
        return "can only access node lease with the same name as the requesting node"
    return None


def _csi_node(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizeCSINode."""
    del reader
    if request.verb not in _OWN:
        return "can only get, create, update, patch, or delete a CSINode"
    if part:
        return "cannot authorize CSINode subresources"
    if request.verb != "create" and request.name != node:
        return "can only access CSINode with the same name as the requesting node"
    return None


def _node(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """authorizeNode; whose object a write is about is for NodeRestriction to see."""
    del reader
    if request.verb in {"update", "patch"} and part in {"", "status"}:
        return None
    if part:
        return ""
    if request.verb == "create":
        return None
    if request.verb not in {"get", "list", "watch"}:
        return ""
    if not request.name:
        return f"node '{node}' cannot read all nodes, only its own Node object"
    if request.name == node:
        return None
    return f"node '{node}' cannot read '{request.name}', only its own Node object"


def _pod(reader: Reader, request: Request, node: str, part: str) -> str | None:
    """AuthorizePod."""
    if not part and request.verb == "get":
        return _get(reader, request, node, part)
    if not part and request.verb in {"list", "watch"}:
        if ("spec.nodeName", node) in request.fields:
            return None
        if request.name:
            return _related(reader, request, node)
        return "can only list/watch pods with spec.nodeName field selector"
    allowed = {"": ("create", "delete"), "status": ("update", "patch"), "eviction": ("create",)}
    return None if request.verb in allowed.get(part, ()) else ""


_JUDGES: dict[tuple[str, str], Judge] = {
    ("", "secrets"): _read_namespaced,
    ("", "configmaps"): _read_namespaced,
    ("", "persistentvolumeclaims"): _claim,
    ("", "persistentvolumes"): _get,
    ("", "serviceaccounts"): _token,
    ("", "nodes"): _node,
    ("", "pods"): _pod,
    ("resource.k8s.io", "resourceclaims"): _get,
    ("storage.k8s.io", "volumeattachments"): _get,
    ("storage.k8s.io", "csinodes"): _csi_node,
    ("coordination.k8s.io", "leases"): _lease,
}
"""(group, resource) to the question whether a kubelet is refused: the reason, or None for a yes."""
