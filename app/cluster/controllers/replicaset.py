"""Keeps as many pods as each ReplicaSet asks for (pkg/controller/replicaset/replica_set.go).

One thing differs from upstream on purpose: a set whose pods keep dying young replaces them with growing pauses.
Upstream makes new ones as fast as it can, without end, which a simulation must not do.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context
from app.cluster.store import WatchEvent

NAME = "replicaset-controller"
WATCHES = frozenset({"replicasets", "pods"})
BURST = 500
"""Pods that one sync makes or deletes at most (BurstReplicas)."""
YOUNG: Micros = 10 * SECOND
"""A pod that ends before this age counts as a failed try."""
MAX_PAUSE: Micros = 300 * SECOND


def sync(context: Context) -> None:
    """Bring every ReplicaSet closer to its replicas (syncReplicaSet, manageReplicas)."""
    for key in _early_ends(context):
        _slow_down(context, key)
    pods = context.client.list("pods")
    for replicaset in context.client.list("replicasets"):
        namespace = meta.namespace_of(replicaset)
        nearby = [pod for pod in pods if meta.namespace_of(pod) == namespace]
        _sync_one(context, replicaset, nearby)


def _sync_one(context: Context, replicaset: Object, nearby: list[Object]) -> None:
    candidates = [pod for pod in nearby if (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}]
    claimed = utils.claim(context, replicaset, "pods", candidates)
    active = [pod for pod in claimed if utils.is_active(pod)]
    failure: StatusError | None = None
    if not utils.is_terminating(replicaset):
        failure = _manage(context, replicaset, active, nearby)
    _update_status(context, replicaset, claimed, active, failure)


def _manage(context: Context, replicaset: Object, active: list[Object], nearby: list[Object]) -> StatusError | None:
    missing = int(replicaset["spec"].get("replicas", 1)) - len(active)
    if missing > 0:
        return _create(context, replicaset, min(missing, BURST))
    if missing < 0:
        ranked = _ranked(active, _related(replicaset, nearby))
        for pod in ranked[: min(-missing, BURST)]:
            utils.delete_pod(context, replicaset, pod, NAME)
    return None


def _create(context: Context, replicaset: Object, count: int) -> StatusError | None:
    uid = replicaset["metadata"]["uid"]
    until = (context.state.get(uid) or {}).get("until", 0)
    if until > context.now:
        context.wake(f"retry:{uid}", until)
        return None
    for _ in range(count):
        made = utils.create_pod(
            context, replicaset, utils.pod_from_template(replicaset, replicaset["spec"]["template"]), NAME
        )
        if isinstance(made, StatusError):
            _slow_down(context, uid)
            context.wake(f"retry:{uid}", context.state[uid]["until"])
            return made
    return None


def _early_ends(context: Context) -> list[str]:
    """The uids of sets that lost a young pod by failure or eviction since the last run, each once."""
    ended = set()
    for change in context.changes:
        if change.resource != "pods":
            continue
        pod = change.object
        reference = meta.controller_of(pod)
        if reference is None or reference.get("kind") != "ReplicaSet":
            continue
        failed = (pod.get("status") or {}).get("phase") == "Failed"
        young = context.now - utils.created(pod) < YOUNG
        marked = utils.condition(pod, "DisruptionTarget") is not None
        if young and (failed or (marked and _leaves(change))):
            ended.add(str(reference.get("uid")))
    return sorted(ended)


def _leaves(change: WatchEvent) -> bool:
    """Whether the pod is asked to end just now, or is gone without having been asked."""
    if change.type == "DELETED":
        return not utils.is_terminating(change.object)
    before = change.previous
    return utils.is_terminating(change.object) and before is not None and not utils.is_terminating(before)


def _slow_down(context: Context, uid: str) -> None:
    """Double the pause before the set's next pods; a quiet time as long as the longest pause forgives it."""
    old = context.state.get(uid) or {"pause": SECOND // 2, "until": 0}
    if context.now > old["until"] + MAX_PAUSE:
        old = {"pause": SECOND // 2, "until": 0}
    if context.now < old["until"]:
        return
    pause = min(old["pause"] * 2, MAX_PAUSE)
    context.state[uid] = {"pause": pause, "until": context.now + pause}


def _related(replicaset: Object, nearby: list[Object]) -> list[Object]:
    """Active pods of every set of the same owner (getIndirectlyRelatedPods): deletions are spread by them."""
    reference = meta.controller_of(replicaset)
    if reference is None:
        return nearby
    base = meta.name_of(replicaset).rpartition("-")[0]
    names = (meta.name_of(replicaset), base)
    related = []
    for pod in nearby:
        owner = meta.controller_of(pod)
        if owner is None or owner.get("kind") != "ReplicaSet" or not utils.is_active(pod):
            continue
        if owner.get("name") == names[0] or str(owner.get("name")).rpartition("-")[0] == names[1]:
            related.append(pod)
    return related


def _ranked(active: list[Object], related: list[Object]) -> list[Object]:
    """The pods, those to delete first in front (controller_utils.go: ActivePodsWithRanks.Less)."""
    crowd: dict[str, int] = {}
    for pod in related:
        node = pod["spec"].get("nodeName") or ""
        crowd[node] = crowd.get(node, 0) + 1
    return sorted(active, key=lambda pod: _rank(pod, crowd))


def _rank(pod: Object, crowd: dict[str, int]) -> tuple[Any, ...]:
    status = pod.get("status") or {}
    node = pod["spec"].get("nodeName") or ""
    phase = {"Pending": 0, "Unknown": 1, "Running": 2}.get(str(status.get("phase")), 0)
    ready = utils.ready_since(pod)
    restarts = max((s.get("restartCount", 0) for s in status.get("containerStatuses") or []), default=0)
    return (
        bool(node),
        phase,
        ready is not None,
        _deletion_cost(pod),
        -crowd.get(node, 0),
        -(ready or 0),
        -restarts,
        -utils.created(pod),
        meta.name_of(pod),
    )


def _deletion_cost(pod: Object) -> int:
    cost = meta.annotations_of(pod).get("controller.kubernetes.io/pod-deletion-cost", "0")
    try:
        return int(cost) if len(cost) <= 11 else 0
    except ValueError:
        return 0


def _update_status(
    context: Context, replicaset: Object, claimed: list[Object], active: list[Object], failure: StatusError | None
) -> None:
    """Mirrors pkg/controller/replicaset/replica_set_utils.go: calculateStatus."""
    spec, old = replicaset["spec"], replicaset.get("status") or {}
    template_labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    ready = [pod for pod in active if utils.is_ready(pod)]
    wait = int(spec.get("minReadySeconds") or 0)
    available = [pod for pod in ready if utils.is_available(pod, wait, context.now)]
    for pod in ready:
        since = utils.ready_since(pod)
        if since is not None and since + wait * SECOND > context.now:
            context.wake(f"available:{pod['metadata']['uid']}", since + wait * SECOND)
    status: dict[str, Any] = {"replicas": len(active)}
    counts = {
        "fullyLabeledReplicas": sum(template_labels.items() <= meta.labels_of(pod).items() for pod in active),
        "readyReplicas": len(ready),
        "availableReplicas": len(available),
    }
    status.update({name: count for name, count in counts.items() if count})
    status["terminatingReplicas"] = sum(utils.is_terminating(pod) for pod in claimed)
    status["observedGeneration"] = replicaset["metadata"].get("generation", 1)
    if conditions := _conditions(context, old, failure, len(active) < int(spec.get("replicas", 1))):
        status["conditions"] = conditions
    utils.write_status(context, replicaset, status)


def _conditions(
    context: Context, old: dict[str, Any], failure: StatusError | None, short: bool
) -> list[dict[str, Any]]:
    kept = [found for found in old.get("conditions") or [] if found["type"] != "ReplicaFailure"]
    standing = next((found for found in old.get("conditions") or [] if found["type"] == "ReplicaFailure"), None)
    if failure is None:
        return [*kept, standing] if standing and short else kept
    if standing:
        return [*kept, standing]
    stamp = clock.rfc3339(context.now)
    reason = {
        "type": "ReplicaFailure",
        "status": "True",
        "lastTransitionTime": stamp,
        "reason": "FailedCreate",
        "message": failure.message,
    }
    return [*kept, reason]
