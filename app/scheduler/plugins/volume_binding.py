"""VolumeBinding: claims and the volumes they need (plugins/volumebinding: volume_binding.go, binder.go)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.scheduler.framework import events, volumes
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import Action, ClusterEvent, ClusterEventWithHint, Lister
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, unresolvable
from app.scheduler.snapshot import Snapshot

_NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
_BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
_NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_UNBOUND = unresolvable("pod has unbound immediate PersistentVolumeClaims")


@dataclass(frozen=True)
class _Plan:
    """What a node would need: (claim key, volume name) to bind, claim keys to provision, or reasons against it."""

    bindings: tuple[tuple[str, str], ...] = ()
    provisions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class _State:
    bound: tuple[Object, ...]
    to_bind: tuple[Object, ...]
    plans: dict[str, _Plan] = field(default_factory=dict)

    def clone(self) -> _State:
        return self


class VolumeBinding(Plugin):
    """Finds volumes for the claims that wait for their pod; bound ones must be reachable from the node."""

    NAME = "VolumeBinding"

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Sort the claims: bound, waiting for their pod, and those that something else must bind first."""
        bound, to_bind = [], []
        names = [*((name, False) for name in pod.claims), *((name, True) for name in pod.ephemeral_claims)]
        if not names:
            return None, SKIP
        for name, ephemeral in names:
            claim = state.snapshot.list("PersistentVolumeClaim").get(f"{pod.namespace}/{name}")
            problem = _problem(name, claim, ephemeral=ephemeral)
            if problem or claim is None:
                return None, unresolvable(problem)
            if volumes.is_fully_bound(claim):
                bound.append(claim)
            elif volumes.waits_for_consumer(claim, state.snapshot) and not volumes.volume_name(claim):
                to_bind.append(claim)
            else:
                return None, _UNBOUND
        state.write(self.NAME, _State(tuple(bound), tuple(sorted(to_bind, key=volumes.requested))))
        return None, None

    def filter(self, state: CycleState, _pod: PodInfo, node: NodeInfo) -> Status | None:
        """Work out the node's plan; reasons against it turn the node down."""
        kept = state.require(self.NAME, _State)
        plan = kept.plans[node.name] = _plan(kept, node.node, state.snapshot)
        return unresolvable(*plan.reasons) if plan.reasons else None

    def reserve(self, _state: CycleState, _pod: PodInfo, _node: str) -> Status | None:
        """Nothing to set aside: the binding is written before the next cycle sees the cluster."""
        return None

    def unreserve(self, _state: CycleState, _pod: PodInfo, _node: str) -> None:
        """Nothing to give back."""

    def pre_bind(self, state: CycleState, _pod: PodInfo, node: str) -> Status | None:
        """Ask for the node's plan to be carried out."""
        kept = state.read(self.NAME, _State)
        if kept is None:
            return None
        plan = kept.plans[node]
        state.effects.extend(
            {"effect": "bindVolume", "volume": volume, "claim": claim} for claim, volume in plan.bindings
        )
        state.effects.extend({"effect": "provision", "claim": claim, "node": node} for claim in plan.provisions)
        return None

    def pre_score(self, _state: CycleState, _pod: PodInfo, _nodes: Sequence[NodeInfo]) -> Status | None:
        """Never scores: that needs the feature gate StorageCapacityScoring, which is off by default."""
        return SKIP

    def score(self, _state: CycleState, _pod: PodInfo, _node: NodeInfo) -> int:
        """Not reached, since pre_score skips."""
        return 0

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Classes, claims, volumes and nodes that appear or change."""
        changed = Action.ADD | Action.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent("StorageClass", changed), _after_class),
            ClusterEventWithHint(ClusterEvent("PersistentVolumeClaim", changed), _after_claim),
            ClusterEventWithHint(ClusterEvent("PersistentVolume", changed)),
            ClusterEventWithHint(ClusterEvent(events.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent("CSINode", Action.ADD)),
        )


def _problem(name: str, claim: Object | None, *, ephemeral: bool) -> str:
    """Why the claim cannot be used at all, or an empty string (podHasPVCs)."""
    if claim is None:
        if ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        missing = volumes.volume_name(claim)
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{missing}"'
    if (claim.get("metadata") or {}).get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    return ""


def _plan(state: _State, node: Object, snapshot: Snapshot) -> _Plan:
    """What the node would need for all claims (FindPodVolumes)."""
    reasons = []
    found = [snapshot.list("PersistentVolume").get(volumes.volume_name(claim)) for claim in state.bound]
    for volume in found:
        if volume is None:
            reasons.append(_NO_VOLUME)
            break
        if not volumes.suits_node(volume, node):
            reasons.append(_NODE_CONFLICT)
            break
    bindings: list[tuple[str, str]] = []
    provisions: list[str] = []
    for claim in state.to_bind:
        selected = meta.annotations_of(claim).get(volumes.SELECTED_NODE)
        if selected is not None and selected != meta.name_of(node):
            return _Plan(reasons=(*reasons, _BIND_CONFLICT))
        chosen = {volume for _, volume in bindings}
        match = None
        if selected is None:
            match = volumes.find_matching(claim, snapshot.list("PersistentVolume").values(), node, chosen)
        if match is not None:
            bindings.append((meta.key_of(claim), meta.name_of(match)))
        elif _can_provision(claim, node, snapshot):
            provisions.append(meta.key_of(claim))
        else:
            return _Plan(reasons=(*reasons, _BIND_CONFLICT))
    return _Plan(tuple(bindings), tuple(provisions), tuple(reasons))


def _can_provision(claim: Object, node: Object, snapshot: Snapshot) -> bool:
    """Whether the claim's class makes volumes for the node (checkVolumeProvisions)."""
    found = snapshot.list("StorageClass").get(volumes.class_of(claim))
    if found is None or found.get("provisioner") in {None, "", volumes.NO_PROVISIONER}:
        return False
    return volumes.allows_topology(found, node)


def _after_class(_pod: PodInfo, old: Object | None, new: Object | None, _listed: Lister) -> bool:
    return new is not None and (old is None or old.get("allowedTopologies") != new.get("allowedTopologies"))


def _after_claim(pod: PodInfo, _old: Object | None, new: Object | None, _listed: Lister) -> bool:
    if new is None or meta.namespace_of(new) != pod.namespace:
        return False
    return meta.name_of(new) in (*pod.claims, *pod.ephemeral_claims)
