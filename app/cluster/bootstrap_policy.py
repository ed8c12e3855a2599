"""Namespaces, priority classes and service accounts of a new cluster; its roles are in `bootstrap_rbac`."""

from __future__ import annotations

from app.apimachinery.meta import Object


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
    return [*_priority_classes(), *_accounts()]


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


def _accounts() -> list[Object]:
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "kube-system"}}
        for name in ("coredns", "kube-proxy")
    ]
