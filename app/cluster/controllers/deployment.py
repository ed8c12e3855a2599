"""Turns Deployments into ReplicaSets and rolls from the old ones to the new (pkg/controller/deployment/).

Each sync takes one step for each Deployment, as upstream's does: make the new set, scale it, scale old ones, or
write the status. The next round sees the result and takes the next step.
"""

from __future__ import annotations

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND
from app.apimachinery.errors import AlreadyExists, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import deployment_status, events
from app.cluster.loops import Context

NAME = "deployment-controller"
WATCHES = frozenset({"deployments", "replicasets", "pods"})
HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
_NOT_COPIED = {"kubectl.kubernetes.io/last-applied-configuration", REVISION, DESIRED, MAX}


def sync(context: Context) -> None:
    """One step for every Deployment (deployment_controller.go: syncDeployment)."""
    replicasets = context.client.list("replicasets")
    for deployment in context.client.list("deployments"):
        if utils.is_terminating(deployment):
            continue
        namespace = meta.namespace_of(deployment)
        nearby = [rs for rs in replicasets if meta.namespace_of(rs) == namespace]
        _sync_one(context, deployment, utils.claim(context, deployment, "replicasets", nearby))


def _sync_one(context: Context, deployment: Object, owned: list[Object]) -> None:
    new = _find_new(deployment, owned)
    old = [rs for rs in owned if new is None or rs["metadata"]["uid"] != new["metadata"]["uid"]]
    spec = deployment["spec"]
    if spec.get("paused") or _was_scaled(deployment, owned):
        stepped = _scale(context, deployment, new, old)
    elif (spec.get("strategy") or {}).get("type") == "Recreate":
        stepped = _recreate(context, deployment, new, old)
    else:
        stepped = _roll(context, deployment, new, old)
    if stepped:
        return
    if new is not None and deployment_status.is_complete(deployment, new, old):
        _clean_up(context, deployment, old)
    _write_status(context, deployment, new, old)


def _template(deployment_or_set: Object) -> Object:
    """The pod template without the hash label: what makes two sets the same (EqualIgnoreHash)."""
    template = deployment_or_set["spec"]["template"]
    metadata = template.get("metadata") or {}
    kept = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    rest = {key: value for key, value in metadata.items() if key not in {"labels", "creationTimestamp"}}
    return {"metadata": {**rest, "labels": kept}, "spec": template.get("spec") or {}}


def _find_new(deployment: Object, owned: list[Object]) -> Object | None:
    """The oldest set with the Deployment's own template (util/deployment_util.go: FindNewReplicaSet)."""
    wanted = _template(deployment)
    oldest_first = sorted(owned, key=lambda rs: (utils.created(rs), meta.name_of(rs)))
    return next((rs for rs in oldest_first if _template(rs) == wanted), None)


def _revision(obj: Object) -> int:
    text = meta.annotations_of(obj).get(REVISION, "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def surge_and_unavailable(deployment: Object) -> tuple[int, int]:
    """The strategy's two counts (util/deployment_util.go: ResolveFenceposts): never both zero."""
    spec = deployment["spec"]
    strategy = spec.get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    replicas = int(spec.get("replicas", 1))
    surge = utils.int_or_percent(rolling.get("maxSurge", "25%"), replicas, round_up=True)
    unavailable = utils.int_or_percent(rolling.get("maxUnavailable", "25%"), replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, replicas) if replicas else unavailable


def _replicas(rs: Object | None) -> int:
    return int(rs["spec"].get("replicas", 1)) if rs is not None else 0


def _available(rs: Object) -> int:
    return int((rs.get("status") or {}).get("availableReplicas", 0))


def _active(sets: list[Object]) -> list[Object]:
    return [rs for rs in sets if _replicas(rs) > 0]


def _was_scaled(deployment: Object, owned: list[Object]) -> bool:
    """Whether `replicas` changed since the sets were last sized (sync.go: isScalingEvent)."""
    wanted = str(deployment["spec"].get("replicas", 1))
    noted = [meta.annotations_of(rs).get(DESIRED) for rs in _active(owned)]
    return any(note is not None and note != wanted for note in noted)


def _roll(context: Context, deployment: Object, new: Object | None, old: list[Object]) -> bool:
    """One step of a rolling update (rolling.go: rolloutRolling). True when something was written."""
    if new is None:
        return _create_new(context, deployment, old, _new_size(deployment, None, old))
    if _annotate(context, deployment, new, old):
        return True
    size = _new_size(deployment, new, old)
    if size != _replicas(new):
        return _resize(context, deployment, new, size)
    return _shrink_old(context, deployment, new, old)


def _new_size(deployment: Object, new: Object | None, old: list[Object]) -> int:
    """How large the new set may be now (util/deployment_util.go: NewRSNewReplicas)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return replicas
    room = replicas + surge_and_unavailable(deployment)[0] - sum(_replicas(rs) for rs in [*old, *filter(None, [new])])
    current = _replicas(new)
    if current > replicas:
        return replicas
    return current if room <= 0 else min(current + room, replicas)


def _shrink_old(context: Context, deployment: Object, new: Object, old: list[Object]) -> bool:
    """Scale old sets down as far as availability allows (rolling.go: reconcileOldReplicaSets)."""
    active = sorted(_active(old), key=lambda rs: (utils.created(rs), meta.name_of(rs)))
    if not active:
        return False
    replicas = int(deployment["spec"].get("replicas", 1))
    least = replicas - surge_and_unavailable(deployment)[1]
    total = sum(_replicas(rs) for rs in [*active, new])
    spare = total - least - (_replicas(new) - _available(new))
    if spare <= 0:
        return False
    for rs in active:  # unhealthy replicas first: they serve nobody
        unhealthy = min(spare, _replicas(rs) - _available(rs))
        if unhealthy > 0:
            return _resize(context, deployment, rs, _replicas(rs) - unhealthy)
    spare = sum(_available(rs) for rs in [*active, new]) - least
    if spare <= 0:
        return False
    return _resize(context, deployment, active[0], max(0, _replicas(active[0]) - spare))


def _recreate(context: Context, deployment: Object, new: Object | None, old: list[Object]) -> bool:
    """One step of `strategy: Recreate` (recreate.go: rolloutRecreate)."""
    for rs in _active(old):
        return _resize(context, deployment, rs, 0)
    uids = {rs["metadata"]["uid"] for rs in old}
    pods = context.client.list("pods", meta.namespace_of(deployment))
    owners = [
        meta.controller_of(pod) for pod in pods if (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}
    ]
    if any(owner is not None and owner.get("uid") in uids for owner in owners):
        return False
    size = int(deployment["spec"].get("replicas", 1))
    if new is None:
        return _create_new(context, deployment, old, size)
    if _annotate(context, deployment, new, old):
        return True
    return _replicas(new) != size and _resize(context, deployment, new, size)


def _scale(context: Context, deployment: Object, new: Object | None, old: list[Object]) -> bool:
    """Size the sets after `replicas` changed, in proportion during a rollout (sync.go: scale)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    everything = [*old, *([new] if new is not None else [])]
    active = _active(everything)
    if len(active) <= 1:
        newest = max(everything, key=lambda rs: (utils.created(rs), meta.name_of(rs)), default=None)
        only = active[0] if active else (new or newest)
        return only is not None and _resize(context, deployment, only, replicas)
    if new is not None and _replicas(new) == replicas and _available(new) == replicas:
        return _resize(context, deployment, _active(old)[0], 0)
    allowed = replicas + surge_and_unavailable(deployment)[0]
    stepped = False
    for rs, size in _proportions(active, allowed):
        stepped = _resize(context, deployment, rs, size) or stepped
    return stepped


def _proportions(active: list[Object], allowed: int) -> list[tuple[Object, int]]:
    """The sets' sizes that add up to `allowed`; what rounding leaves over goes to the largest."""
    largest_first = sorted(active, key=lambda rs: (-_replicas(rs), utils.created(rs), meta.name_of(rs)))
    total = sum(_replicas(rs) for rs in largest_first)
    sizes = [_replicas(rs) * allowed // total for rs in largest_first]
    sizes[0] += allowed - sum(sizes)
    return list(zip(largest_first, sizes, strict=True))


def new_replicaset(deployment: Object, old: list[Object], size: int) -> Object:
    """The set for the current template, not yet created (sync.go: getNewReplicaSet)."""
    spec = deployment["spec"]
    collisions = int((deployment.get("status") or {}).get("collisionCount", 0))
    suffix = utils.template_hash(spec["template"], collisions)
    template = spec["template"]
    metadata = template.get("metadata") or {}
    labelled = {**template, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), HASH_LABEL: suffix}}}
    selector = spec["selector"]
    matched = {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: suffix}}
    made: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta.name_of(deployment)}-{suffix}",
            "namespace": meta.namespace_of(deployment),
            "labels": labelled["metadata"]["labels"],
            "annotations": _annotations(deployment, max((_revision(rs) for rs in old), default=0) + 1),
            "ownerReferences": [utils.owner_reference(deployment)],
        },
        "spec": {"replicas": size, "selector": matched, "template": labelled},
    }
    if wait := spec.get("minReadySeconds"):
        made["spec"]["minReadySeconds"] = wait
    return made


def _create_new(context: Context, deployment: Object, old: list[Object], size: int) -> bool:
    """Make the set for the current template."""
    made = new_replicaset(deployment, old, size)
    name = meta.name_of(made)
    collisions = int((deployment.get("status") or {}).get("collisionCount", 0))
    try:
        context.client.create(made, meta.namespace_of(deployment))
    except AlreadyExists:
        status = {**(deployment.get("status") or {}), "collisionCount": collisions + 1}
        utils.write_status(context, deployment, status)
        return True
    except StatusError as error:
        return _refused(context, deployment, name, error)
    context.state.pop(deployment["metadata"]["uid"], None)
    _record_scaling(context, deployment, name, 0, size)
    return True


def _refused(context: Context, deployment: Object, name: str, error: StatusError) -> bool:
    message = f'Failed to create new replica set "{name}": {error.message}'
    uid = deployment["metadata"]["uid"]
    pause = min(2 * context.state.get(uid, SECOND // 2), 300 * SECOND)
    context.state[uid] = pause
    context.wake(f"retry:{uid}", context.now + pause)
    context.recorder.record(deployment, events.WARNING, "ReplicaSetCreateError", message, component=NAME)
    return False


def _annotations(deployment: Object, revision: int) -> dict[str, str]:
    replicas = int(deployment["spec"].get("replicas", 1))
    copied = {key: value for key, value in meta.annotations_of(deployment).items() if key not in _NOT_COPIED}
    return {
        **copied,
        DESIRED: str(replicas),
        MAX: str(replicas + surge_and_unavailable(deployment)[0]),
        REVISION: str(revision),
    }


def _annotate(context: Context, deployment: Object, new: Object, old: list[Object]) -> bool:
    """Give a set that became current again a fresh revision, and the Deployment the same one."""
    revision = max(_revision(new), max((_revision(rs) for rs in old), default=0) + 1)
    wanted = {**meta.annotations_of(new), **_annotations(deployment, revision)}
    if meta.annotations_of(new) != wanted:
        changed = {**new, "metadata": {**new["metadata"], "annotations": wanted}}
        return utils.quietly_update(context, changed, "replicasets") is not None
    if _revision(deployment) != revision:
        marked = {**meta.annotations_of(deployment), REVISION: str(revision)}
        changed = {**deployment, "metadata": {**deployment["metadata"], "annotations": marked}}
        return utils.quietly_update(context, changed, "deployments") is not None
    return False


def _resize(context: Context, deployment: Object, rs: Object, size: int) -> bool:
    """Write a set's size and its notes about it (sync.go: scaleReplicaSet). True when that changed anything."""
    replicas = int(deployment["spec"].get("replicas", 1))
    notes = {DESIRED: str(replicas), MAX: str(replicas + surge_and_unavailable(deployment)[0])}
    metadata = {**rs["metadata"], "annotations": {**meta.annotations_of(rs), **notes}}
    changed = {**rs, "metadata": metadata, "spec": {**rs["spec"], "replicas": size}}
    if changed == rs:
        return False
    if utils.quietly_update(context, changed, "replicasets") is None:
        return True
    if size != _replicas(rs):
        _record_scaling(context, deployment, meta.name_of(rs), _replicas(rs), size)
    return True


def _record_scaling(context: Context, deployment: Object, name: str, before: int, after: int) -> None:
    if before == after:
        return
    direction = "up" if after > before else "down"
    message = f"Scaled {direction} replica set {name} from {before} to {after}"
    context.recorder.record(deployment, events.NORMAL, "ScalingReplicaSet", message, component=NAME)


def _clean_up(context: Context, deployment: Object, old: list[Object]) -> None:
    """Delete the oldest empty sets beyond the history limit (sync.go: cleanupDeployment)."""
    limit = int(deployment["spec"].get("revisionHistoryLimit", 10))
    alive = sorted((rs for rs in old if not utils.is_terminating(rs)), key=lambda rs: (_revision(rs), meta.name_of(rs)))
    for rs in alive[: max(0, len(alive) - limit)]:
        if _replicas(rs) == 0 and not (rs.get("status") or {}).get("replicas"):
            context.client.delete("replicasets", meta.name_of(rs), meta.namespace_of(rs))


def _write_status(context: Context, deployment: Object, new: Object | None, old: list[Object]) -> None:
    status = deployment_status.calculate(deployment, new, old, surge_and_unavailable(deployment)[1], context.now)
    utils.write_status(context, deployment, status)
    progressing = next((c for c in status["conditions"] if c["type"] == "Progressing"), None)
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    uid = deployment["metadata"]["uid"]
    if (
        deadline
        and progressing
        and progressing.get("reason") not in {"NewReplicaSetAvailable", deployment_status.TIMED_OUT}
    ):
        context.wake(f"deadline:{uid}", clock.parse(progressing["lastUpdateTime"]) + int(deadline) * SECOND)
    else:
        context.cancel(f"deadline:{uid}")
