"""Who must have made an object of which no account of owners is kept, and which of its fields.

The cluster's own programs write most objects. Nothing is noted down for what they always do: the account follows
from the object when somebody asks. What admission, binding and the strategies add has no owner, as upstream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery import fieldpath, meta
from app.apimachinery.fieldpath import SELF, Tree
from app.apimachinery.meta import Object

AGGREGATOR = "clusterrole-aggregation-controller"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_COMPONENTS = ("kubelet", "kube-scheduler", "kube-controller-manager")
_MANAGER = "kube-controller-manager"
_BY_THE_API_SERVER = frozenset(
    {"Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
)
_BY_CONTROLLERS = frozenset({"ReplicaSet", "ControllerRevision", "Endpoints", "EndpointSlice", "ServiceAccount"})
_TOKEN_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_VOLUME = "kube-api-access-"
_FIELDS_OF_NODES: Mapping[str, Tree] = {
    "kubeadm": {
        "f:metadata": {
            "f:annotations": {"f:kubeadm.alpha.kubernetes.io/cri-socket": {}},
            "f:labels": {
                "f:node-role.kubernetes.io/control-plane": {},
                "f:node.kubernetes.io/exclude-from-external-load-balancers": {},
            },
        },
    },
    _MANAGER: {
        "f:metadata": {"f:annotations": {"f:node.alpha.kubernetes.io/ttl": {}}},
        "f:spec": {"f:podCIDR": {}, "f:podCIDRs": {}, "f:taints": {}},
    },
}
"""Who writes what of a node, beside its kubelet; a leaf stands for all that is below it."""
_REVISION: Tree = {"f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}}}


def of_object(kind: str, obj: Object) -> str:
    """The manager who made the object."""
    if kind == "Event":
        source = (obj.get("source") or {}).get("component")
        reporter = str(obj.get("reportingComponent") or source or "")
        return reporter if reporter in _COMPONENTS else "kubelet" if not reporter else _MANAGER
    if kind == "Lease":
        name = meta.name_of(obj)
        if meta.namespace_of(obj) == "kube-node-lease":
            return "kubelet"
        return name if name in _COMPONENTS else "kube-apiserver"
    if kind in _BY_CONTROLLERS or (kind == "ConfigMap" and meta.name_of(obj) == "kube-root-ca.crt"):
        return _MANAGER
    if kind in {"Node", "CSINode"}:
        return "kubelet"
    if kind in _BY_THE_API_SERVER:
        return "kube-apiserver"
    if meta.controller_of(obj) is None:
        return "kubelet" if kind == "Pod" else "kubeadm"
    return "kubelet" if meta.annotations_of(obj).get("kubernetes.io/config.mirror") else _MANAGER


def of_status(kind: str) -> str:
    """The manager who reports the status of objects of the kind."""
    return "kubelet" if kind in {"Pod", "Node"} else _MANAGER


def owned(kind: str, obj: Object) -> Object:
    """The object without what admission, binding and its strategy gave it."""
    if kind == "Namespace":
        return {key: value for key, value in obj.items() if key != "spec"}
    if kind != "Pod":
        return obj
    spec = {key: value for key, value in obj["spec"].items() if key not in {"nodeName", "priority", "preemptionPolicy"}}
    if spec.get("serviceAccountName") == "default":
        del spec["serviceAccountName"]
        spec.pop("serviceAccount", None)
    if _are_defaults(spec.get("tolerations")):
        del spec["tolerations"]
    _drop(spec, "volumes", lambda volume: str(volume.get("name")).startswith(_TOKEN_VOLUME))
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_without_token(container) for container in spec[field]]
    return {**obj, "spec": spec}


def _are_defaults(tolerations: Any) -> bool:
    """Whether DefaultTolerationSeconds gave all of them."""
    return bool(tolerations) and all(
        item.get("tolerationSeconds") == 300
        and item.get("key") in {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
        for item in tolerations
    )


def _without_token(container: Object) -> Object:
    result = dict(container)
    _drop(result, "volumeMounts", lambda mount: mount.get("mountPath") == _TOKEN_MOUNT)
    return result


def _drop(holder: Object, field: str, given: Any) -> None:
    left = [item for item in holder.get(field) or [] if not given(item)]
    if left:
        holder[field] = left
    else:
        holder.pop(field, None)


def reported(kind: str, obj: Object, fields: Tree) -> Tree:
    """Of the fields of a status those that its reporter owns."""
    if kind != "Pod":
        return fields
    left = {key: node for key, node in fields.items() if key != "f:qosClass"}
    if (obj.get("status") or {}).get("phase") == "Pending":
        left.pop("f:phase", None)
    conditions = left.get("f:conditions")
    if conditions:
        unowned = (SELF, 'k:{"type":"PodScheduled"}')
        left["f:conditions"] = {key: node for key, node in conditions.items() if key not in unowned}
        if not left["f:conditions"]:
            del left["f:conditions"]
    return left


def converted(kind: str, obj: Object) -> Object:
    """A new object as conversion to its version prints it (pkg/apis/apps/v1/conversion.go: TemplateGeneration)."""
    annotations = meta.annotations_of(obj)
    if kind != "DaemonSet" or TEMPLATE_GENERATION in annotations:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "annotations": {**annotations, TEMPLATE_GENERATION: "0"}}}


def shares(kind: str, maker: str, fields: Tree) -> Iterator[tuple[str, str, Tree]]:
    """(manager, operation, fields) of all who had a part in the object."""
    if kind == "ClusterRole" and "f:aggregationRule" in fields and "f:rules" in fields:
        yield AGGREGATOR, "Apply", {"f:rules": fields["f:rules"]}
        fields = {element: inner for element, inner in fields.items() if element != "f:rules"}
    if kind == "Node":
        for manager, part in _FIELDS_OF_NODES.items():
            theirs = _taken(fields, part)
            fields = fieldpath.difference(fields, theirs)
            if theirs:
                yield manager, "Update", theirs
    if fields:
        yield maker, "Update", fields


def _taken(fields: Tree, part: Tree) -> Tree:
    taken: Tree = {}
    for element, wanted in part.items():
        found = fields.get(element)
        if found is None:
            continue
        if not wanted:
            taken[element] = found
        elif below := _taken(found, wanted):
            taken[element] = below
    return taken


def reported_beside(kind: str, fields: Tree) -> Tree:
    """What a controller writes of an object when it reports its status (deployment_util.go: SetDeploymentRevision)."""
    return fieldpath.intersection(fields, _REVISION) if kind == "Deployment" else {}


def door(kind: str, manager: str, subresource: str, changed: Tree) -> str:
    """The subresource by which upstream makes a change."""
    if subresource or manager != _MANAGER or kind != "Deployment":
        return subresource
    annotations = changed.get("f:metadata", {}).get("f:annotations", {})
    alone = changed.keys() == {"f:metadata"} and changed["f:metadata"].keys() == {"f:annotations"}
    return "status" if alone and annotations.keys() <= {SELF, *_REVISION["f:metadata"]["f:annotations"]} else ""


def last_report(status: Any, least: str) -> str:
    """The latest moment that a status names: when its reporter wrote last."""
    latest = least
    waiting = [status]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, dict | list):
                    waiting.append(item)
                elif key.endswith(("Time", "At")) and isinstance(item, str) and len(item) == len(latest):
                    latest = max(latest, item)
    return latest
