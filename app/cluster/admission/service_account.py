"""ServiceAccount: each pod runs as an account that exists (plugin/pkg/admission/serviceaccount/admission.go).

The volume with the account's token is left out: nothing in the simulated cluster reads it.
"""

from __future__ import annotations

from app.apimachinery.errors import Forbidden
from app.cluster.attributes import Attributes
from app.cluster.store import Store

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
DEFAULT = "default"


def admit(attributes: Attributes, store: Store) -> None:
    """Fill in the account `default`; refuse an account that is not there."""
    if not _concerns(attributes) or attributes.object is None:
        return
    spec = attributes.object.setdefault("spec", {})
    spec["serviceAccountName"] = spec.get("serviceAccountName") or spec.get("serviceAccount") or DEFAULT
    spec["serviceAccount"] = spec["serviceAccountName"]
    _require(attributes, store, spec["serviceAccountName"])


def validate(attributes: Attributes, store: Store) -> None:
    """The account must still be named and there; mirror pods must name none."""
    if attributes.operation != "CREATE" or attributes.resource != "pods" or attributes.object is None:
        return
    name = (attributes.object.get("spec") or {}).get("serviceAccountName") or ""
    if _is_mirror(attributes):
        if name:
            raise _forbidden(attributes, "a mirror pod may not reference service accounts")
        return
    _require(attributes, store, name)


def _concerns(attributes: Attributes) -> bool:
    created = attributes.operation == "CREATE" and attributes.resource == "pods" and not attributes.subresource
    return created and not _is_mirror(attributes)


def _is_mirror(attributes: Attributes) -> bool:
    metadata = (attributes.object or {}).get("metadata") or {}
    return MIRROR_ANNOTATION in (metadata.get("annotations") or {})


def _require(attributes: Attributes, store: Store, account: str) -> None:
    if store.get("serviceaccounts", f"{attributes.namespace}/{account}") is None:
        raise _forbidden(
            attributes,
            f'error looking up service account {attributes.namespace}/{account}: serviceaccount "{account}" not found',
        )


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": "pods"}
    return Forbidden(f'pods "{attributes.name}" is forbidden: {problem}', details=details)
