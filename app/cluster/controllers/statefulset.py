"""Pods with fixed names, made and replaced in order (pkg/controller/statefulset/stateful_set_control.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND
from app.apimachinery.meta import Object
from app.cluster import controller_history as history
from app.cluster import controller_utils as utils
from app.cluster import stateful_pods, work_queue
from app.cluster.loops import Context

NAME = stateful_pods.COMPONENT
WATCHES = frozenset({"statefulsets", "pods", "persistentvolumeclaims", "controllerrevisions"})


def sync(context: Context) -> None:
    """Bring every StatefulSet that something happened to one step closer (syncStatefulSet)."""
    work_queue.slow_down_after_early_ends(context, "StatefulSet")
    for owner in work_queue.touched(context, "statefulsets"):
        _sync_one(context, owner)


def _sync_one(context: Context, owner: Object) -> None:
    members = [
        pod for pod in context.client.list("pods", meta.namespace_of(owner)) if stateful_pods.is_member(owner, pod)
    ]
    pods = utils.claim(context, owner, "pods", members)
    revisions = history.revisions_of(context, owner)
    if utils.is_terminating(owner) and not revisions:
        # The garbage collector has taken them: another one would be collected, too, and without an end.
        return
    newest, collisions = history.current(context, owner, revisions, history.REVISION_HASH_LABEL)
    named = (owner.get("status") or {}).get("currentRevision")
    present = next((found for found in revisions if meta.name_of(found) == named), newest)
    step = _Step(context, owner, pods, present, newest)
    if not utils.is_terminating(owner):
        step.take()
    _write_status(step, collisions)
    live = {meta.name_of(present), meta.name_of(newest), *map(stateful_pods.revision_of, pods)}
    history.truncate(context, owner, revisions, live)


class _Step:
    """One pass over one set: what it may do depends on what it has seen of the pods before."""

    def __init__(self, context: Context, owner: Object, pods: list[Object], present: Object, newest: Object) -> None:
        self.context = context
        self.owner = owner
        self.pods = pods
        self.present = present
        self.newest = newest
        self.uid = owner["metadata"]["uid"]
        self.count = int(owner["spec"].get("replicas", 1))
        self.start = stateful_pods.first_ordinal(owner)
        self.in_order = owner["spec"].get("podManagementPolicy") != "Parallel"
        by_ordinal = {stateful_pods.ordinal(pod): pod for pod in pods}
        self.replicas = [(number, by_ordinal.get(number)) for number in self._ordinals()]
        wanted = set(self._ordinals())
        self.condemned = [pod for number, pod in sorted(by_ordinal.items(), reverse=True) if number not in wanted]

    def _ordinals(self) -> range:
        return range(self.start, self.start + min(self.count, utils.MAX_PODS))

    def take(self) -> None:
        """Mirrors updateStatefulSet: living pods first, then those to scale away, then those of an older revision."""
        unhealthy = self._first_unhealthy()
        made = 0
        for number, pod in self.replicas:
            before = self.context.client.revision
            if self._keep(number, pod) and self.in_order:
                return
            made += pod is None and self.context.client.revision != before
        for pod in self.condemned:
            stateful_pods.own_claims(self.context, self.owner, pod, condemned=True)
        for pod in self.condemned:
            if self._scale_away(pod, unhealthy) and self.in_order:
                return
        if not made and (self.owner["spec"].get("updateStrategy") or {}).get("type") != "OnDelete":
            self._update()

    def _first_unhealthy(self) -> str:
        """The name of the first pod, in order, that is missing or not available."""
        for number, pod in self.replicas:
            if pod is None or self._is_unavailable(pod):
                return f"{meta.name_of(self.owner)}-{number}"
        for pod in reversed(self.condemned):
            if self._is_unavailable(pod):
                return meta.name_of(pod)
        return ""

    def _keep(self, number: int, pod: Object | None) -> bool:
        """See that one pod is there and well; True where the next ones have to wait for it (processReplica)."""
        if pod is None:
            return self._create(number)
        phase = (pod.get("status") or {}).get("phase")
        if phase in {"Failed", "Succeeded"}:
            if not utils.is_terminating(pod):
                stateful_pods.delete(self.context, self.owner, pod)
            return True
        if phase == "Pending" and not utils.is_terminating(pod):
            stateful_pods.create_claims(self.context, self.owner, pod)
        if self.in_order and self._is_unavailable(pod):
            return True
        stateful_pods.own_claims(self.context, self.owner, pod, condemned=False)
        return False

    def _create(self, number: int) -> bool:
        if work_queue.must_wait(self.context, self.uid):
            return True
        pod = stateful_pods.new_pod(self.owner, self._revision_for(number), number)
        if stateful_pods.claim_is_stale(self.context, self.owner, pod):
            return True
        refusal = stateful_pods.create(self.context, self.owner, pod)
        if refusal is None:
            work_queue.succeeded(self.context, self.uid)
        elif not utils.namespace_ends(refusal):
            work_queue.failed(self.context, self.uid)
        return True

    def _revision_for(self, number: int) -> Object:
        """Below the partition pods keep the present revision (newVersionedStatefulSetPod)."""
        strategy = self.owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "RollingUpdate" and number < self.start + _partition(self.owner):
            return self.present
        return self.newest

    def _scale_away(self, pod: Object, unhealthy: str) -> bool:
        """Delete a pod beyond the replicas, the highest first (processCondemned)."""
        if utils.is_terminating(pod):
            return True
        if self.in_order and self._is_unavailable(pod) and meta.name_of(pod) != unhealthy:
            return True
        stateful_pods.delete(self.context, self.owner, pod)
        return True

    def _update(self) -> None:
        """Delete the highest pod of an older revision, once all above it are of the newest and available.

        Mirrors the end of updateStatefulSet. `maxUnavailable` belongs to a feature that is off in 1.35 again
        (MaxUnavailableStatefulSet, since 1.35.4).
        """
        newest = meta.name_of(self.newest)
        for number, pod in reversed(self.replicas):
            if pod is None or number < self.start + _partition(self.owner):
                return
            if stateful_pods.revision_of(pod) != newest and not utils.is_terminating(pod):
                stateful_pods.delete(self.context, self.owner, pod)
                return
            if self._is_unavailable(pod):
                return

    def _is_unavailable(self, pod: Object) -> bool:
        return utils.is_terminating(pod) or not self.is_available(pod)

    def is_available(self, pod: Object) -> bool:
        """Running and ready for minReadySeconds (isRunningAndAvailable)."""
        wait = int(self.owner["spec"].get("minReadySeconds") or 0)
        since = utils.ready_since(pod)
        if since is None or (pod.get("status") or {}).get("phase") != "Running":
            return False
        if since + wait * SECOND > self.context.now:
            self.context.wake(f"available:{self.uid}", since + wait * SECOND)
            return False
        return True


def _partition(owner: Object) -> int:
    rolling = (owner["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _write_status(step: _Step, collisions: int) -> None:
    """Mirrors updateStatus, completeRollingUpdate: what `kubectl get sts` and `rollout status` read."""
    context, owner = step.context, step.owner
    pods = [
        pod
        for pod in context.client.list("pods", meta.namespace_of(owner))
        if (meta.controller_of(pod) or {}).get("uid") == step.uid
    ]
    present, newest = meta.name_of(step.present), meta.name_of(step.newest)
    living = [stateful_pods.revision_of(pod) for pod in pods if not utils.is_terminating(pod)]
    ready = [pod for pod in pods if utils.is_ready(pod) and (pod.get("status") or {}).get("phase") == "Running"]
    available = [step.is_available(pod) for pod in ready]
    updated, current = living.count(newest), living.count(present)
    rolls = (owner["spec"].get("updateStrategy") or {}).get("type") == "RollingUpdate"
    if rolls and updated == len(ready) == len(pods) == step.count:
        present, current = newest, updated
    status: dict[str, Any] = {
        "availableReplicas": sum(available),
        "collisionCount": collisions,
        "currentRevision": present,
        "observedGeneration": owner["metadata"].get("generation", 1),
        "replicas": len(pods),
        "updateRevision": newest,
    }
    counts = {"readyReplicas": len(ready), "currentReplicas": current, "updatedReplicas": updated}
    status.update({name: count for name, count in counts.items() if count})
    if conditions := (owner.get("status") or {}).get("conditions"):
        status["conditions"] = conditions
    utils.write_status(context, owner, status)
