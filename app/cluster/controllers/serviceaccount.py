"""Gives every active namespace its default ServiceAccount.

Mirrors pkg/controller/serviceaccount/serviceaccounts_controller.go.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import AlreadyExists, Forbidden, NotFound
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "service-account-controller"
WATCHES = frozenset({"namespaces", "serviceaccounts"})


def sync(context: Context) -> None:
    """Create what is missing (syncNamespace)."""
    present = {
        meta.namespace_of(account)
        for account in context.client.list("serviceaccounts")
        if meta.name_of(account) == "default"
    }
    for namespace in context.client.list("namespaces"):
        name = meta.name_of(namespace)
        if name in present or utils.is_terminating(namespace):
            continue
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        try:
            context.client.create(account, name)
        except (AlreadyExists, Forbidden, NotFound):
            continue
