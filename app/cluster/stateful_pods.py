"""Pods with a name and storage of their own (statefulset: stateful_set_utils.go, stateful_pod_control.go)."""

from __future__ import annotations

import re
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_history as history
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster.loops import Context

COMPONENT = "statefulset-controller"
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]{1,9})", re.ASCII)


def ordinal(pod: Object) -> int:
    """The number in the pod's name, or -1 (getOrdinal)."""
    found = _NAME.fullmatch(meta.name_of(pod))
    return int(found[2]) if found else -1


def is_member(owner: Object, pod: Object) -> bool:
    """Whether the pod's name is one that the set gives (isMemberOf)."""
    found = _NAME.fullmatch(meta.name_of(pod))
    return found is not None and found[1] == meta.name_of(owner)


def first_ordinal(owner: Object) -> int:
    """Where counting starts (getStartOrdinal)."""
    return int((owner["spec"].get("ordinals") or {}).get("start") or 0)


def revision_of(pod: Object) -> str:
    """The name of the revision that the pod was made from (getPodRevision)."""
    return meta.labels_of(pod).get(history.HASH_LABEL, "")


def new_pod(owner: Object, revision: Object, number: int) -> Object:
    """A pod of that revision and ordinal (newVersionedStatefulSetPod, initIdentity, updateStorage)."""
    pod = utils.pod_from_template(owner, history.template_of(revision))
    name = f"{meta.name_of(owner)}-{number}"
    labels = {
        **meta.labels_of(pod),
        history.HASH_LABEL: meta.name_of(revision),
        NAME_LABEL: name,
        INDEX_LABEL: str(number),
    }
    spec = {**pod["spec"], "hostname": name}
    if service := owner["spec"].get("serviceName"):
        spec["subdomain"] = service
    if volumes := _volumes(owner, pod["spec"], number):
        spec["volumes"] = volumes
    return {**pod, "metadata": {**pod["metadata"], "name": name, "labels": labels}, "spec": spec}


def _volumes(owner: Object, spec: Object, number: int) -> list[dict[str, Any]]:
    """The claims of the set in front of the template's other volumes."""
    claims = {template: name for template, name, _ in _claims(owner, number)}
    own = [{"name": volume, "persistentVolumeClaim": {"claimName": name}} for volume, name in claims.items()]
    return own + [volume for volume in spec.get("volumes") or [] if volume.get("name") not in claims]


def _claims(owner: Object, number: int) -> list[tuple[str, str, Object]]:
    """Template name, claim name and template of each claim of a pod (getPersistentVolumeClaimName)."""
    found = []
    for template in owner["spec"].get("volumeClaimTemplates") or []:
        volume = meta.name_of(template)
        found.append((volume, f"{volume}-{meta.name_of(owner)}-{number}", template))
    return found


def create(context: Context, owner: Object, pod: Object) -> StatusError | None:
    """Create the pod's claims, then the pod; the refusal is returned (CreateStatefulPod)."""
    refusal = create_claims(context, owner, pod)
    if refusal is not None:
        return refusal
    name = meta.name_of(pod)
    try:
        utils.check_room(context, pod)
        context.client.create(pod, meta.namespace_of(owner))
    except StatusError as error:
        if error.reason != "AlreadyExists" and not utils.namespace_ends(error):
            failure = f"create Pod {name} in StatefulSet {meta.name_of(owner)} failed error: {error.message}"
            _record(context, owner, events.WARNING, "FailedCreate", failure)
        return error
    made = f"create Pod {name} in StatefulSet {meta.name_of(owner)} successful"
    _record(context, owner, events.NORMAL, "SuccessfulCreate", made)
    return None


def create_claims(context: Context, owner: Object, pod: Object) -> StatusError | None:
    """Create those claims of the pod that are missing (createPersistentVolumeClaims)."""
    labels = dict((owner["spec"].get("selector") or {}).get("matchLabels") or {})
    for _, name, template in _claims(owner, ordinal(pod)):
        existing = context.client.find("persistentvolumeclaims", name, meta.namespace_of(owner))
        if existing is not None:
            if utils.is_terminating(existing):
                return StatusError(f"pvc {name} is being deleted")
            continue
        given = template.get("metadata") or {}
        metadata: dict[str, Any] = {"name": name, "namespace": meta.namespace_of(owner)}
        metadata["labels"] = {**(given.get("labels") or {}), **labels}
        if given.get("annotations"):
            metadata["annotations"] = given["annotations"]
        if policy(owner, "whenDeleted") == "Delete":
            metadata["ownerReferences"] = [utils.owner_reference(owner)]
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": template["spec"]}
        refusal = _create_claim(context, owner, pod, claim)
        if refusal is not None:
            return refusal
    return None


def _create_claim(context: Context, owner: Object, pod: Object, claim: Object) -> StatusError | None:
    names = f"Pod {meta.name_of(pod)} in StatefulSet {meta.name_of(owner)}"
    try:
        context.client.create(claim, meta.namespace_of(owner))
    except StatusError as error:
        if not utils.namespace_ends(error):
            failure = f"create Claim {meta.name_of(claim)} for {names} failed error: {error.message}"
            _record(context, owner, events.WARNING, "FailedCreate", failure)
        return error
    _record(context, owner, events.NORMAL, "SuccessfulCreate", f"create Claim {meta.name_of(claim)} {names} success")
    return None


def delete(context: Context, owner: Object, pod: Object) -> None:
    """Delete the pod and record it (DeleteStatefulPod)."""
    try:
        context.client.delete("pods", meta.name_of(pod), meta.namespace_of(pod))
    except NotFound:
        return
    message = f"delete Pod {meta.name_of(pod)} in StatefulSet {meta.name_of(owner)} successful"
    _record(context, owner, events.NORMAL, "SuccessfulDelete", message)


def policy(owner: Object, when: str) -> str:
    """What becomes of claims `whenDeleted` or `whenScaled` (getPersistentVolumeClaimRetentionPolicy)."""
    return str((owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}).get(when) or "Retain")


def own_claims(context: Context, owner: Object, pod: Object, *, condemned: bool) -> None:
    """Let the pod's claims belong to whoever takes them along (UpdatePodClaimForRetentionPolicy).

    That is the pod where it is scaled away under `whenScaled: Delete`, else the set under `whenDeleted: Delete`.
    """
    keeper: Object | None = None
    if condemned and policy(owner, "whenScaled") == "Delete":
        keeper = pod
    elif policy(owner, "whenDeleted") == "Delete":
        keeper = owner
    for _, name, _ in _claims(owner, ordinal(pod)):
        claim = context.client.find("persistentvolumeclaims", name, meta.namespace_of(owner))
        if claim is not None:
            _give(context, claim, owner, keeper)


def _give(context: Context, claim: Object, owner: Object, keeper: Object | None) -> None:
    references = claim["metadata"].get("ownerReferences") or []
    others = [found for found in references if not _is_ours(found, owner)]
    wanted = [*others, utils.owner_reference(keeper)] if keeper is not None else others
    if wanted == references:
        return
    metadata = {key: value for key, value in claim["metadata"].items() if key != "ownerReferences"}
    if wanted:
        metadata["ownerReferences"] = wanted
    utils.quietly_update(context, {**claim, "metadata": metadata}, "persistentvolumeclaims")


def _is_ours(reference: dict[str, Any], owner: Object) -> bool:
    if reference.get("kind") == "Pod":
        return str(reference.get("name", "")).startswith(f"{meta.name_of(owner)}-")
    return str(reference.get("uid")) == str(owner["metadata"]["uid"])


def claim_is_stale(context: Context, owner: Object, pod: Object) -> bool:
    """Whether a claim still belongs to an earlier pod of this name, and will go with it (PodClaimIsStale)."""
    for _, name, _ in _claims(owner, ordinal(pod)):
        claim = context.client.find("persistentvolumeclaims", name, meta.namespace_of(owner))
        references = (claim or {}).get("metadata", {}).get("ownerReferences") or []
        if any(found.get("kind") == "Pod" and found.get("name") == meta.name_of(pod) for found in references):
            return True
    return False


def _record(context: Context, owner: Object, kind: str, reason: str, message: str) -> None:
    context.recorder.record(owner, kind, reason, message, component=COMPONENT)
