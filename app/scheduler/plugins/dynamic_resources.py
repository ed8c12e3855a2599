"""DynamicResources: resource claims, as far as clusters without any have them (plugins/dynamicresources).

No ResourceClaim can exist here, so a pod that names one waits for it, and PostFilter never finds one to give back.
Its answer is part of nearly every FailedScheduling text of 1.35.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import Handle, NodeStatuses, Plugin, PostFilterResult
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import SKIP, Status, error, unresolvable, unschedulable


@dataclass(frozen=True)
class _Claims:
    def clone(self) -> _Claims:
        return self


class DynamicResources(Plugin):
    """Holds pods whose claims do not exist."""

    NAME = "DynamicResources"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Keep a pod out of the queue until its claims exist."""
        for claim in pod.spec.get("resourceClaims") or ():
            if claim.get("resourceClaimName"):
                return unresolvable(f'resourceclaim "{claim["resourceClaimName"]}" not found')
            return unresolvable(
                f'waiting for dynamic resource controller to create the resourceclaim for pod "{pod.key}"'
            )
        return None

    def pre_filter(self, state: CycleState, _pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """Note that it was here; a pod without claims needs no filter."""
        state.write(self.NAME, _Claims())
        return None, SKIP

    def post_filter(
        self, _handle: Handle, state: CycleState, _pod: PodInfo, _rejected: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Nothing to give back; an error where an earlier PreFilter ended the cycle before this plugin's."""
        if state.read(self.NAME, _Claims) is None:
            return None, error("not found")
        return None, unschedulable("no new claims to deallocate")
