"""Namespaces, priority classes and the roles that this cluster's programs need.

A kubeadm cluster has some seventy ClusterRoles; those kept here are the ones that scheduling work meets. Role rules
are those of plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go as far as a scheduler uses them.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery.meta import Object

_RBAC = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]


def namespace(name: str) -> Object:
    """A namespace as the API server keeps it."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def objects() -> list[Object]:
    """Everything of this module but the namespaces."""
    return [*_priority_classes(), *_roles(), *_bindings(), *_accounts()]


def _priority_classes() -> list[Object]:
    movable = "must run in the cluster, but can be moved to another node if necessary."
    rows = (
        ("system-cluster-critical", 2_000_000_000, movable),
        ("system-node-critical", 2_000_001_000, "must not be moved from their current node."),
    )
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": f"Used for system critical pods that {description}",
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, value, description in rows
    ]


def _rule(groups: list[str], resources: list[str], verbs: list[str], names: list[str] | None = None) -> dict[str, Any]:
    rule: dict[str, Any] = {"verbs": verbs, "apiGroups": groups, "resources": resources}
    return {**rule, "resourceNames": names} if names else rule


def _scheduler_rules() -> list[dict[str, Any]]:
    return [
        _rule(["", "events.k8s.io"], ["events"], ["create", "patch", "update"]),
        _rule(["coordination.k8s.io"], ["leases"], ["create", "list", "watch"]),
        _rule(["coordination.k8s.io"], ["leases"], ["get", "update"], ["kube-scheduler"]),
        _rule([""], ["nodes"], _READ),
        _rule([""], ["pods"], ["delete", *_READ]),
        _rule([""], ["bindings", "pods/binding"], ["create"]),
        _rule([""], ["pods/status"], ["patch", "update"]),
        _rule([""], ["replicationcontrollers", "services"], _READ),
        _rule(["apps", "extensions"], ["replicasets"], _READ),
        _rule(["apps"], ["statefulsets"], _READ),
        _rule(["policy"], ["poddisruptionbudgets"], _READ),
        _rule([""], ["persistentvolumeclaims", "persistentvolumes"], _READ),
        _rule(["authentication.k8s.io"], ["tokenreviews"], ["create"]),
        _rule(["authorization.k8s.io"], ["subjectaccessreviews"], ["create"]),
        _rule(["storage.k8s.io"], ["csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"], _READ),
        _rule([""], ["namespaces"], _READ),
        _rule(["resource.k8s.io"], ["deviceclasses", "resourceclaims", "resourceslices"], _READ),
        _rule(["resource.k8s.io"], ["resourceclaims", "resourceclaims/status"], ["patch", "update"]),
    ]


def _volume_rules() -> list[dict[str, Any]]:
    return [
        _rule([""], ["persistentvolumes"], ["get", "list", "patch", "update", "watch"]),
        _rule(["storage.k8s.io"], ["storageclasses"], _READ),
        _rule([""], ["persistentvolumeclaims"], ["get", "list", "patch", "update", "watch"]),
    ]


def _cluster_role(name: str, rules: list[dict[str, Any]]) -> Object:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    metadata = {"name": name, "labels": labels, "annotations": {f"{_RBAC}/autoupdate": "true"}}
    return {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _role(name: str, rules: list[dict[str, Any]]) -> Object:
    metadata = {"name": name, "namespace": "kube-system", "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
    return {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": metadata, "rules": rules}


def _roles() -> list[Object]:
    workloads = ["daemonsets", "deployments", "replicasets", "statefulsets"]
    core = ["configmaps", "pods", "serviceaccounts", "services"]
    reading = [_rule([""], [*core, "events", "namespaces"], _READ), _rule(["apps"], workloads, _READ)]
    writing = [_rule([""], [*core, "secrets"], [*_READ, *_WRITE]), _rule(["apps"], workloads, [*_READ, *_WRITE])]
    everything = [_rule(["*"], ["*"], ["*"]), {"nonResourceURLs": ["*"], "verbs": ["*"]}]
    authentication = "extension-apiserver-authentication"
    lock = [
        _rule(["coordination.k8s.io"], ["leases"], ["watch"]),
        _rule(["coordination.k8s.io"], ["leases"], ["get", "update"], ["kube-scheduler"]),
    ]
    return [
        _cluster_role("cluster-admin", everything),
        _cluster_role("admin", [*writing, _rule([_RBAC], ["rolebindings", "roles"], [*_READ, *_WRITE])]),
        _cluster_role("edit", writing),
        _cluster_role("view", reading),
        _cluster_role("system:kube-scheduler", _scheduler_rules()),
        _cluster_role("system:volume-scheduler", _volume_rules()),
        _role("extension-apiserver-authentication-reader", [_rule([""], ["configmaps"], _READ, [authentication])]),
        _role("system::leader-locking-kube-scheduler", lock),
    ]


def _subject(kind: str, name: str) -> dict[str, Any]:
    return {"kind": kind, "apiGroup": _RBAC, "name": name}


def _binding(kind: str, name: str, role_kind: str, role: str, subjects: list[dict[str, Any]]) -> Object:
    metadata: dict[str, Any] = {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
    if kind == "RoleBinding":
        metadata["namespace"] = "kube-system"
    reference = {"apiGroup": _RBAC, "kind": role_kind, "name": role}
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": subjects}


def _bindings() -> list[Object]:
    scheduler = [_subject("User", "system:kube-scheduler")]
    managers = [*scheduler, _subject("User", "system:kube-controller-manager")]
    reader = "extension-apiserver-authentication-reader"
    return [
        _binding(
            "ClusterRoleBinding", "cluster-admin", "ClusterRole", "cluster-admin", [_subject("Group", "system:masters")]
        ),
        _binding("ClusterRoleBinding", "system:kube-scheduler", "ClusterRole", "system:kube-scheduler", scheduler),
        _binding("ClusterRoleBinding", "system:volume-scheduler", "ClusterRole", "system:volume-scheduler", scheduler),
        _binding("RoleBinding", f"system::{reader}", "Role", reader, managers),
        _binding(
            "RoleBinding",
            "system::leader-locking-kube-scheduler",
            "Role",
            "system::leader-locking-kube-scheduler",
            scheduler,
        ),
    ]


def _accounts() -> list[Object]:
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "kube-system"}}
        for name in ("coredns", "kube-proxy")
    ]
