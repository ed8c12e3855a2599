"""Facts about volumes: which claim, which volume, and what it wants of the node."""

from __future__ import annotations

from collections.abc import Iterator

from app.apimachinery import meta
from app.apimachinery.messages import N_, Message
from app.scheduler.framework import volumes
from app.scheduler.why.model import Fact, Situation, shown

_BETA = "failure-domain.beta.kubernetes.io/"
_TOPOLOGY = "topology.kubernetes.io/"
_ZONES = tuple(f"{prefix}{name}" for prefix in (_BETA, _TOPOLOGY) for name in ("zone", "region"))


def binding(here: Situation) -> list[Fact]:
    """Bound volumes that the node cannot reach, and claims without a volume (plugins/volumebinding/binder.go)."""
    return list(_binding(here))


def _binding(here: Situation) -> Iterator[Fact]:
    snapshot, name = here.state.snapshot, here.node.name
    for claim_name in (*here.pod.claims, *here.pod.ephemeral_claims):
        claim = snapshot.list("PersistentVolumeClaim").get(f"{here.pod.namespace}/{claim_name}")
        if claim is None:
            continue
        volume_name = volumes.volume_name(claim)
        facts = {"claim": claim_name, "volume": volume_name, "node": name}
        if not volumes.is_fully_bound(claim):
            wanted = volumes.find_matching(claim, snapshot.list("PersistentVolume").values(), here.node.node)
            if wanted is None and not _provisions(here, volumes.class_of(claim)):
                text = N_("No volume that {node} can reach suits the claim {claim}, and none is made there.")
                yield Fact("VolumeBinding", name, Message(text, facts), {"kind": "noVolume", "claim": claim_name})
            continue
        volume = snapshot.list("PersistentVolume").get(volume_name)
        data = {"claim": claim_name, "volume": volume_name}
        if volume is None:
            text = N_("The claim {claim} is bound to the volume {volume}, which does not exist.")
            yield Fact("VolumeBinding", name, Message(text, facts), {"kind": "lostVolume", **data})
        elif not volumes.suits_node(volume, here.node.node):
            text = N_("The claim {claim} is bound to {volume}, which cannot be reached from {node} (its nodeAffinity).")
            yield Fact("VolumeBinding", name, Message(text, facts), {"kind": "unreachable", **data})


def _provisions(here: Situation, name: str) -> bool:
    found = here.state.snapshot.list("StorageClass").get(name)
    if found is None or found.get("provisioner") in {None, "", volumes.NO_PROVISIONER}:
        return False
    return volumes.allows_topology(found, here.node.node)


def exclusive(here: Situation) -> list[Fact]:
    """Claims for one pod alone that another pod uses (plugins/volumerestrictions/volume_restrictions.go)."""
    found = []
    listed = here.state.snapshot.list("PersistentVolumeClaim")
    for claim_name in dict.fromkeys(here.pod.claims):
        claim = listed.get(f"{here.pod.namespace}/{claim_name}") or {}
        if "ReadWriteOncePod" not in ((claim.get("spec") or {}).get("accessModes") or ()):
            continue
        users = [
            pod.key
            for node in here.nodes()
            for pod in node.pods
            if pod.namespace == here.pod.namespace and claim_name in pod.claims
        ]
        if users:
            text = N_("The claim {claim} is for one pod alone (ReadWriteOncePod) and in use by {pods}.")
            message = Message(text, {"claim": claim_name, "pods": shown(users)})
            data = {"kind": "inUse", "claim": claim_name, "pods": users}
            found.append(Fact("VolumeRestrictions", here.node.name, message, data))
    return found


def zone(here: Situation) -> list[Fact]:
    """Bound volumes of another zone or region (plugins/volumezone/volume_zone.go: Filter)."""
    found = []
    for claim_name in here.pod.claims:
        claim = here.state.snapshot.list("PersistentVolumeClaim").get(f"{here.pod.namespace}/{claim_name}") or {}
        name = volumes.volume_name(claim)
        volume = here.state.snapshot.list("PersistentVolume").get(name) or {}
        for key, text in meta.labels_of(volume).items():
            value = here.node.labels.get(key, here.node.labels.get(key.replace(_BETA, _TOPOLOGY)))
            if key not in _ZONES or value in text.split("__"):
                continue
            facts = {"volume": name, "claim": claim_name, "key": key, "wanted": text, "node": here.node.name}
            message = (
                Message(N_("The volume {volume} of the claim {claim} is in {key}={wanted}; {node} lacks {key}."), facts)
                if value is None
                else Message(
                    N_("The volume {volume} of the claim {claim} is in {key}={wanted}, and {node} in {value}."),
                    {**facts, "value": value},
                )
            )
            data = {"kind": "zone", "claim": claim_name, "volume": name, "key": key, "wanted": text, "value": value}
            found.append(Fact("VolumeZone", here.node.name, message, data))
    return found
