"""NamespaceLifecycle: nothing is made in a namespace that is not there or goes away.

Mirrors k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go.
"""

from __future__ import annotations

from app.apimachinery.errors import Forbidden
from app.cluster import store as stores
from app.cluster.attributes import Attributes
from app.cluster.store import Store

IMMORTAL = ("default", "kube-public", "kube-system")


def admit(attributes: Attributes, store: Store) -> None:
    """Refuse a create in a missing (NotFound) or terminating (Forbidden) namespace."""
    if attributes.operation != "CREATE" or not attributes.info.namespaced:
        return
    namespace = store.get("namespaces", attributes.namespace)
    if namespace is None:
        raise stores.not_found("namespaces", attributes.namespace)
    if not namespace["metadata"].get("deletionTimestamp"):
        return
    details = {
        "name": attributes.name,
        "kind": attributes.resource,
        **({"group": attributes.info.group} if attributes.info.group else {}),
        "causes": [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {attributes.namespace} is being terminated",
                "field": "metadata.namespace",
            }
        ],
    }
    raise Forbidden(
        f'{attributes.info.group_resource} "{attributes.name}" is forbidden: unable to create new content in namespace '
        f"{attributes.namespace} because it is being terminated",
        details=details,
    )


def validate(attributes: Attributes, store: Store) -> None:
    """Refuse to delete the namespaces that the cluster lives in."""
    del store
    if attributes.operation == "DELETE" and attributes.resource == "namespaces" and attributes.name in IMMORTAL:
        raise Forbidden(
            f'namespaces "{attributes.name}" is forbidden: this namespace may not be deleted',
            details={"name": attributes.name, "kind": "namespaces"},
        )
