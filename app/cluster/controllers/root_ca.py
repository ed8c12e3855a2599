"""Gives every namespace the certificate by which its pods know the API server.

Mirrors pkg/controller/certificates/rootcacertpublisher/publisher.go: syncNamespace.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import AlreadyExists, Forbidden, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "root-ca-certificate-publisher-controller"
WATCHES = frozenset({"namespaces", "configmaps"})
CONFIG_MAP = "kube-root-ca.crt"
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
_CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBdDCCARqgAwIBAgIIc2ltdWxhdGVkMAoGCCqGSM49BAMCMBUxEzARBgNVBAMT
Cmt1YmVybmV0ZXMwHhcNMjYwMTAxMDAwMDAwWhcNMzYwMTAxMDAwMDAwWjAVMRMw
EQYDVQQDEwprdWJlcm5ldGVz
-----END CERTIFICATE-----
"""


def made(namespace: str) -> Object:
    """The ConfigMap of a namespace. Its certificate is a short text that no library would accept."""
    metadata = {
        "name": CONFIG_MAP,
        "namespace": namespace,
        "annotations": {"kubernetes.io/description": _DESCRIPTION},
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"ca.crt": _CERTIFICATE}}


def sync(context: Context) -> None:
    """Make the ConfigMap where it is missing, and put it right where somebody changed it."""
    if utils.first_look(context):
        names = {meta.name_of(namespace) for namespace in context.client.list("namespaces")}
    else:
        names = {_namespace(change.object, change.resource) for change in context.changes}
    for name in sorted(names - {""}):
        namespace = context.client.find("namespaces", name)
        if namespace is not None and not utils.is_terminating(namespace):
            _publish(context, name)


def _namespace(obj: Object, resource: str) -> str:
    if resource == "namespaces":
        return meta.name_of(obj)
    return meta.namespace_of(obj) if meta.name_of(obj) == CONFIG_MAP else ""


def _publish(context: Context, namespace: str) -> None:
    wanted = made(namespace)
    current = context.client.find("configmaps", CONFIG_MAP, namespace)
    if current is None:
        try:
            context.client.create(wanted, namespace)
        except (AlreadyExists, Forbidden, NotFound):
            # The namespace is going or gone.
            return
        return
    described = wanted["metadata"]["annotations"].items() <= meta.annotations_of(current).items()
    if current.get("data") == wanted["data"] and described:
        return
    annotations = {**meta.annotations_of(current), **wanted["metadata"]["annotations"]}
    changed = {**current, "data": wanted["data"], "metadata": {**current["metadata"], "annotations": annotations}}
    utils.quietly_update(context, changed, "configmaps")
