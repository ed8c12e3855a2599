"""Claims and volumes: which volume suits a claim on a node (k8s.io/component-helpers/storage/volume)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from app.apimachinery import labels, meta, quantity
from app.apimachinery.meta import Object
from app.apimachinery.quantity import ZERO, Quantity
from app.apis import helpers
from app.scheduler.snapshot import Snapshot

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def class_of(obj: Object) -> str:
    """The storage class that a claim or a volume names."""
    named = meta.annotations_of(obj).get(_CLASS_ANNOTATION)
    return str(named if named is not None else (obj.get("spec") or {}).get("storageClassName") or "")


def volume_name(claim: Object) -> str:
    """The volume that the claim is bound to, or an empty string."""
    return str((claim.get("spec") or {}).get("volumeName") or "")


def is_fully_bound(claim: Object) -> bool:
    """Whether the volume controller has finished binding the claim."""
    return bool(volume_name(claim)) and BIND_COMPLETED in meta.annotations_of(claim)


def waits_for_consumer(claim: Object, snapshot: Snapshot) -> bool:
    """Whether the claim's class leaves binding to the scheduler."""
    found = snapshot.list("StorageClass").get(class_of(claim))
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def requested(claim: Object) -> Quantity:
    """How much storage the claim asks for."""
    wanted = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return quantity.of(wanted["storage"]) if "storage" in wanted else ZERO


def _capacity(volume: Object) -> Quantity:
    given = (volume.get("spec") or {}).get("capacity") or {}
    return quantity.of(given["storage"]) if "storage" in given else ZERO


def suits_node(volume: Object, node: Object) -> bool:
    """Whether the volume can be reached from the node (CheckNodeAffinity): only labels count."""
    required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
    if required is None:
        return True
    return helpers.node_selector_matches(required, {"metadata": {"labels": meta.labels_of(node)}})


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Whether the volume is kept for this claim (IsVolumeBoundToClaim)."""
    reference = (volume.get("spec") or {}).get("claimRef")
    if not reference:
        return False
    if (reference.get("namespace"), reference.get("name")) != (meta.namespace_of(claim), meta.name_of(claim)):
        return False
    uid = reference.get("uid")
    return not uid or uid == (claim.get("metadata") or {}).get("uid")


def find_matching(
    claim: Object, volumes: Iterable[Object], node: Object | None, excluded: Collection[str] = ()
) -> Object | None:
    """The smallest volume for the claim, or the one that is kept for it (FindMatchingVolume).

    With a node the scheduler asks, without one the volume controller. Among equally large ones the first by name.
    """
    smallest: Object | None = None
    selector = (claim.get("spec") or {}).get("selector")
    for volume in sorted(volumes, key=meta.name_of):
        kept = is_bound_to(volume, claim)
        if meta.name_of(volume) in excluded or ((volume.get("spec") or {}).get("claimRef") and not kept):
            continue
        if not _is_large_enough(volume, claim):
            continue
        reachable = node is None or suits_node(volume, node)
        if kept:
            return volume if reachable else None
        if not reachable or (volume.get("status") or {}).get("phase") != "Available":
            continue
        if selector is not None and not labels.from_label_selector(selector).matches(meta.labels_of(volume)):
            continue
        if class_of(volume) != class_of(claim) or not _has_modes(volume, claim):
            continue
        if smallest is None or _capacity(volume) < _capacity(smallest):
            smallest = volume
    return smallest


def _is_large_enough(volume: Object, claim: Object) -> bool:
    mine, its = (obj.get("spec") or {} for obj in (volume, claim))
    if (mine.get("volumeMode") or "Filesystem") != (its.get("volumeMode") or "Filesystem"):
        return False
    return not (volume.get("metadata") or {}).get("deletionTimestamp") and _capacity(volume) >= requested(claim)


def _has_modes(volume: Object, claim: Object) -> bool:
    given = (volume.get("spec") or {}).get("accessModes") or ()
    return all(mode in given for mode in (claim.get("spec") or {}).get("accessModes") or ())


def allows_topology(storage_class: Mapping[str, Any], node: Object) -> bool:
    """Whether the class provisions for the node (MatchTopologySelectorTerms)."""
    terms = storage_class.get("allowedTopologies") or ()
    return not terms or any(
        all(
            meta.labels_of(node).get(item.get("key", "")) in (item.get("values") or ())
            for item in term.get("matchLabelExpressions") or ()
        )
        for term in terms
    )
