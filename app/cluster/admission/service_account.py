"""ServiceAccount: each pod runs as an account that exists, and is given its token.

Mirrors plugin/pkg/admission/serviceaccount/admission.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster import pod_references
from app.cluster.attributes import Attributes
from app.cluster.store import Store

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
DEFAULT = "default"
VOLUME = "kube-api-access-"
"""How the volume of the token is called, before five letters of the pod's own."""
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_ENFORCED = "kubernetes.io/enforce-mountable-secrets"
_TRUE = {"1", "t", "T", "true", "TRUE", "True"}
_TOKEN_SECONDS = 3607
_FILE_MODE = 0o644


def admit(attributes: Attributes, store: Store) -> None:
    """Fill in the account `default`, the token's volume and the account's pull secrets; refuse an unknown account."""
    if not _concerns(attributes) or attributes.object is None or _is_mirror(attributes):
        return
    spec = attributes.object.setdefault("spec", {})
    spec["serviceAccountName"] = spec.get("serviceAccountName") or spec.get("serviceAccount") or DEFAULT
    spec["serviceAccount"] = spec["serviceAccountName"]
    account = _required(attributes, store, spec["serviceAccountName"])
    if _mounts_token(spec, account):
        mount_token(spec, store.suffix())
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [dict(secret) for secret in account["imagePullSecrets"]]


def _mounts_token(spec: Object, account: Object) -> bool:
    """What the pod says of it, else the account, else yes (shouldAutomount)."""
    for holder in (spec, account):
        if holder.get("automountServiceAccountToken") is not None:
            return bool(holder["automountServiceAccountToken"])
    return True


def mount_token(spec: Object, suffix: str) -> None:
    """Give every container the token's volume, unless something else is mounted there (mountServiceAccountToken)."""
    volumes = spec.get("volumes") or []
    known = next((item["name"] for item in volumes if _is_token_volume(item)), "")
    name = known or VOLUME + suffix
    needed = False
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        mounts = container.get("volumeMounts") or []
        if any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
            continue
        container["volumeMounts"] = [*mounts, {"name": name, "mountPath": MOUNT_PATH, "readOnly": True}]
        needed = True
    if needed and not known:
        spec["volumes"] = [*volumes, {"name": name, "projected": token_source()}]


def _is_token_volume(volume: Mapping[str, Any]) -> bool:
    return volume.get("projected") is not None and str(volume.get("name") or "").startswith(VOLUME)


def token_source() -> Object:
    """The token, the cluster's certificate and the namespace as files (TokenVolumeSource)."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "defaultMode": _FILE_MODE,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
    }


def validate(attributes: Attributes, store: Store) -> None:
    """The account must still be named and there; mirror pods must refer to nothing of the kind."""
    if not _concerns(attributes) or attributes.object is None:
        return
    spec = attributes.object.get("spec") or {}
    name = spec.get("serviceAccountName") or ""
    if _is_mirror(attributes):
        _check_mirror(attributes, spec)
        return
    if not name:
        pod = f"{attributes.namespace}/{meta.name_of(attributes.object)}"
        raise _forbidden(attributes, f"no service account specified for pod {pod}")
    account = _required(attributes, store, name)
    if (account["metadata"].get("annotations") or {}).get(_ENFORCED) in _TRUE:
        _limit_secrets(attributes, spec, account)


def _check_mirror(attributes: Attributes, spec: Object) -> None:
    if spec.get("serviceAccountName"):
        raise _forbidden(attributes, "a mirror pod may not reference service accounts")
    if any(pod_references.secret_names(spec)):
        raise _forbidden(attributes, "a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or []:
        for source in (volume.get("projected") or {}).get("sources") or []:
            if source.get("serviceAccountToken") is not None:
                raise _forbidden(attributes, "a mirror pod may not use ServiceAccountToken volume projections")


def _limit_secrets(attributes: Attributes, spec: Object, account: Object) -> None:
    """An account may be held to the secrets that it lists (limitSecretReferences)."""
    name = meta.name_of(account)
    listed = {secret.get("name") for secret in account.get("secrets") or []}
    unlisted = f"is not allowed because service account {name} does not reference that secret"
    for volume in spec.get("volumes") or []:
        secret = (volume.get("secret") or {}).get("secretName")
        if secret and secret not in listed:
            raise _forbidden(attributes, f'volume with secret.secretName="{secret}" {unlisted}')
    for kind, called in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(kind) or []:
            for variable, secret in pod_references.secrets_of_variables(container):
                if secret not in listed:
                    what = f"{called} {container.get('name')} with envVar {variable} referencing"
                    raise _forbidden(attributes, f'{what} secret.secretName="{secret}" {unlisted}')
    pulls = {secret.get("name") for secret in account.get("imagePullSecrets") or []}
    for index, secret in enumerate(spec.get("imagePullSecrets") or []):
        if secret.get("name") not in pulls:
            where = f'imagePullSecrets[{index}].name="{secret.get("name")}"'
            problem = f"{where} is not allowed because service account {name} does not reference that imagePullSecret"
            raise _forbidden(attributes, problem)


def _concerns(attributes: Attributes) -> bool:
    return attributes.operation == "CREATE" and attributes.resource == "pods" and not attributes.subresource


def _is_mirror(attributes: Attributes) -> bool:
    metadata = (attributes.object or {}).get("metadata") or {}
    return MIRROR_ANNOTATION in (metadata.get("annotations") or {})


def _required(attributes: Attributes, store: Store, name: str) -> Object:
    account = store.get("serviceaccounts", f"{attributes.namespace}/{name}")
    if account is None:
        problem = f'serviceaccount "{name}" not found'
        raise _forbidden(attributes, f"error looking up service account {attributes.namespace}/{name}: {problem}")
    return account


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    details = {"name": attributes.name, "kind": "pods"}
    return Forbidden(f'pods "{attributes.name}" is forbidden: {problem}', details=details)
