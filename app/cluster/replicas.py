"""Keeps as many pods as a ReplicaSet or a ReplicationController asks for (pkg/controller/replicaset/replica_set.go).

Two controllers run this code, as upstream's do. One thing differs on purpose: a set whose pods keep dying young
replaces them with growing pauses. Upstream makes new ones as fast as it can, without end, and a pod that is driven
off at the instant of its creation would stop simulated time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import replica_ranks, replica_status
from app.cluster.loops import Context
from app.cluster.store import WatchEvent

BURST = 500
"""Pods that one sync makes or deletes at most (BurstReplicas)."""
FIRST_BATCH = 1
"""How many pods are tried first; each batch without an error is followed by one twice as large."""
BASE_DELAY: Micros = SECOND // 200
MAX_DELAY: Micros = 1000 * SECOND
"""Pauses before a failed sync is tried again (client-go/util/workqueue: DefaultTypedControllerRateLimiter)."""
YOUNG: Micros = 10 * SECOND
"""A pod that ends before this age counts as a failed try."""
MAX_PAUSE: Micros = 300 * SECOND
_MAX_DOUBLINGS = 18


@dataclass(frozen=True)
class ReplicaManager:
    """The controller of one kind; `resource` is its plural."""

    name: str
    resource: str
    kind: str

    def sync(self, context: Context) -> None:
        """Bring each set that something happened to closer to its replicas (syncReplicaSet)."""
        for uid in self._early_ends(context):
            _slow_down(context, uid)
        for owner in self._touched(context):
            self._sync_one(context, owner)
        self._forget(context)

    def _touched(self, context: Context) -> list[Object]:
        """The sets that changed, whose pods changed, or whose time has come."""
        sets = context.client.list(self.resource)
        if context.full or any(key.startswith("again:") for key in context.fired):
            return sets
        uids = {key.partition(":")[2] for key in context.fired}
        orphans: list[Object] = []
        for change in context.changes:
            if change.resource == self.resource:
                uids.add(str(change.object["metadata"]["uid"]))
                continue
            for pod in filter(None, (change.object, change.previous)):
                reference = meta.controller_of(pod)
                if reference is not None:
                    uids.add(str(reference.get("uid")))
                else:
                    orphans.append(pod)
        return [found for found in sets if found["metadata"]["uid"] in uids or self._may_adopt(found, orphans)]

    @staticmethod
    def _may_adopt(owner: Object, orphans: list[Object]) -> bool:
        if not orphans:
            return False
        selector = utils.selector_of(owner)
        namespace = meta.namespace_of(owner)
        return any(meta.namespace_of(pod) == namespace and selector.matches(meta.labels_of(pod)) for pod in orphans)

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
            _succeeded(context, owner["metadata"]["uid"])
        return failure

    def _create(self, context: Context, owner: Object, count: int) -> StatusError | None:
        """Make pods in batches of 1, 2, 4 …; the first error ends it after its batch (slowStartBatch)."""
        uid = owner["metadata"]["uid"]
        until = (context.state.get(uid) or {}).get("until", 0)
        if until > context.now:
            context.wake(f"young:{uid}", until)
            return None
        batch = FIRST_BATCH
        while count > 0:
            batch = min(batch, count)
            refusals = [error for error in (self._create_one(context, owner) for _ in range(batch)) if error]
            if refusals:
                _failed(context, uid)
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

    def _early_ends(self, context: Context) -> list[str]:
        """The uids of sets that lost a young pod by failure or eviction since the last run, each once."""
        ended = set()
        for change in context.changes:
            if change.resource != "pods":
                continue
            pod = change.object
            reference = meta.controller_of(pod)
            if reference is None or reference.get("kind") != self.kind:
                continue
            failed = (pod.get("status") or {}).get("phase") == "Failed"
            young = context.now - utils.created(pod) < YOUNG
            marked = utils.condition(pod, "DisruptionTarget") is not None
            if young and (failed or (marked and _leaves(change))):
                ended.add(str(reference.get("uid")))
        return sorted(ended)

    def _forget(self, context: Context) -> None:
        """Drop what is remembered of sets that are gone."""
        for change in context.changes:
            if change.type == "DELETED" and change.resource == self.resource:
                uid = change.object["metadata"]["uid"]
                context.state.pop(uid, None)
                for key in ("retry", "young", "available"):
                    context.cancel(f"{key}:{uid}")


def _failed(context: Context, uid: str) -> None:
    """Try again after 5 ms, 10 ms, 20 ms … up to 1000 s."""
    known = context.state.get(uid) or {}
    failures = int(known.get("failures", 0))
    context.state[uid] = {**known, "failures": failures + 1}
    pause = min(BASE_DELAY << min(failures, _MAX_DOUBLINGS), MAX_DELAY)
    context.wake(f"retry:{uid}", context.now + pause, idle=True)


def _succeeded(context: Context, uid: str) -> None:
    known = context.state.get(uid)
    if known and known.get("failures"):
        rest = {key: value for key, value in known.items() if key != "failures"}
        context.state[uid] = rest
        if not rest:
            del context.state[uid]
        context.cancel(f"retry:{uid}")


def _leaves(change: WatchEvent) -> bool:
    """Whether the pod is asked to end just now, or is gone without having been asked."""
    if change.type == "DELETED":
        return not utils.is_terminating(change.object)
    before = change.previous
    return utils.is_terminating(change.object) and before is not None and not utils.is_terminating(before)


def _slow_down(context: Context, uid: str) -> None:
    """Double the pause before the set's next pods; a quiet time as long as the longest pause forgives it."""
    known: dict[str, Any] = context.state.get(uid) or {}
    pause, until = int(known.get("pause", SECOND // 2)), int(known.get("until", 0))
    if context.now > until + MAX_PAUSE:
        pause, until = SECOND // 2, 0
    if context.now < until:
        return
    pause = min(pause * 2, MAX_PAUSE)
    context.state[uid] = {**known, "pause": pause, "until": context.now + pause}
