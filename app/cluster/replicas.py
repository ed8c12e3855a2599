"""Keeps as many pods as a ReplicaSet or a ReplicationController asks for (pkg/controller/replicaset/replica_set.go).

Two controllers run this code, as upstream's do. One thing differs on purpose: a set whose pods keep dying young
replaces them with growing pauses. Upstream makes new ones as fast as it can, without end, and a pod that is driven
off at the instant of its creation would stop simulated time.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery import meta
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import replica_ranks, replica_status, work_queue
from app.cluster.loops import Context

BURST = 500
"""Pods that one sync makes or deletes at most (BurstReplicas)."""
FIRST_BATCH = 1
"""How many pods are tried first; each batch without an error is followed by one twice as large."""


@dataclass(frozen=True)
class ReplicaManager:
    """The controller of one kind; `resource` is its plural."""

    name: str
    resource: str
    kind: str

    def sync(self, context: Context) -> None:
        """Bring each set that something happened to closer to its replicas (syncReplicaSet)."""
        work_queue.slow_down_after_early_ends(context, self.kind)
        for owner in work_queue.touched(context, self.resource):
            self._sync_one(context, owner)

    def _sync_one(self, context: Context, owner: Object) -> None:
        nearby = context.client.list("pods", meta.namespace_of(owner))
        candidates = [pod for pod in nearby if (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}]
        claimed = utils.claim(context, owner, "pods", candidates)
        active = [pod for pod in claimed if utils.is_active(pod)]
        failure: StatusError | None = None
        if not utils.is_terminating(owner):
            failure = self._manage(context, owner, active, nearby)
        replica_status.update(context, owner, claimed, failure)

    def _manage(
        self, context: Context, owner: Object, active: list[Object], nearby: list[Object]
    ) -> StatusError | None:
        """Make or delete what is missing or too much (manageReplicas)."""
        missing = int(owner["spec"].get("replicas", 1)) - len(active)
        failure = None
        if missing > 0:
            failure = self._create(context, owner, min(missing, BURST))
        elif missing < 0:
            related = replica_ranks.related(owner, context.client.list(self.resource, meta.namespace_of(owner)), nearby)
            ranked = replica_ranks.ranked(active, related, context.now)
            for pod in ranked[: min(-missing, BURST)]:
                utils.delete_pod(context, owner, pod, self.name)
        if failure is None:
            work_queue.succeeded(context, owner["metadata"]["uid"])
        return failure

    def _create(self, context: Context, owner: Object, count: int) -> StatusError | None:
        """Make pods in batches of 1, 2, 4 …; the first error ends it after its batch (slowStartBatch)."""
        uid = owner["metadata"]["uid"]
        if work_queue.must_wait(context, uid):
            return None
        batch = FIRST_BATCH
        while count > 0:
            batch = min(batch, count)
            refusals = [error for error in (self._create_one(context, owner) for _ in range(batch)) if error]
            if refusals:
                work_queue.failed(context, uid)
                return refusals[0]
            count -= batch
            batch *= 2
        return None

    def _create_one(self, context: Context, owner: Object) -> StatusError | None:
        pod = utils.pod_from_template(owner, owner["spec"].get("template") or {})
        made = utils.create_pod(context, owner, pod, self.name)
        if not isinstance(made, StatusError) or utils.namespace_ends(made):
            return None
        return made
