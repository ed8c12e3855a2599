"""Turns Deployments into ReplicaSets and rolls from the old ones to the new (pkg/controller/deployment/).

Each sync takes one step for each Deployment, as upstream's does: make the new set, scale it, scale old ones, or
write the status. The next round sees the result and takes the next step.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import AlreadyExists, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import deployment_status, events
from app.cluster.loops import Context

NAME = "deployment-controller"
WATCHES = frozenset({"deployments", "replicasets", "pods"})
BASE_DELAY: Micros = SECOND // 200
MAX_DELAY: Micros = 1000 * SECOND
"""Pauses before a set that could not be made is tried again."""
HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
HISTORY = "deployment.kubernetes.io/revision-history"
_NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED,
    MAX,
}


def sync(context: Context) -> None:
    """One step for every Deployment that something happened to (deployment_controller.go: syncDeployment)."""
    for deployment in _touched(context):
        if utils.is_terminating(deployment):
            continue
        nearby = context.client.list("replicasets", meta.namespace_of(deployment))
        _sync_one(context, deployment, utils.claim(context, deployment, "replicasets", nearby))


def _touched(context: Context) -> list[Object]:
    """Deployments that changed, whose sets changed, or whose time has come; of Recreate also those near a pod."""
    deployments = context.client.list("deployments")
    if context.full or any(key.startswith("again:") for key in context.fired):
        return deployments
    uids = {key.partition(":")[2] for key in context.fired}
    orphans, with_pods = set(), set()
    for change in context.changes:
        if change.resource == "deployments":
            uids.add(str(change.object["metadata"]["uid"]))
            if change.type == "DELETED":
                context.state.pop(change.object["metadata"]["uid"], None)
        elif change.resource == "pods":
            with_pods.add(meta.namespace_of(change.object))
        else:
            for rs in filter(None, (change.object, change.previous)):
                reference = meta.controller_of(rs)
                if reference is None:
                    orphans.add(meta.namespace_of(rs))
                else:
                    uids.add(str(reference.get("uid")))
    return [
        found
        for found in deployments
        if found["metadata"]["uid"] in uids
        or meta.namespace_of(found) in orphans
        or (_is_recreate(found) and meta.namespace_of(found) in with_pods)
    ]


def _is_recreate(deployment: Object) -> bool:
    return (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"


def _sync_one(context: Context, deployment: Object, owned: list[Object]) -> None:
    note = deployment_status.paused_or_resumed(deployment)
    if note is not None:
        utils.write_status(context, deployment, deployment_status.noted(deployment, note, context.now))
        return
    new = _find_new(deployment, owned)
    old = [rs for rs in owned if new is None or rs["metadata"]["uid"] != new["metadata"]["uid"]]
    paused = bool(deployment["spec"].get("paused"))
    if new is not None and _annotate(context, deployment, new, old):
        return
    if paused or _was_scaled(deployment, owned):
        stepped = _scale(context, deployment, new, old)
    elif _is_recreate(deployment):
        stepped = _recreate(context, deployment, new, old)
    else:
        stepped = _roll(context, deployment, new, old)
    if stepped:
        return
    if paused or (new is not None and deployment_status.is_complete(deployment, new, old)):
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
        return _resize_all(context, deployment, [(rs, 0) for rs in _active(old)])
    if _is_recreate(deployment):
        return False
    return _resize_all(context, deployment, _proportions(deployment, active))


def _resize_all(context: Context, deployment: Object, sizes: list[tuple[Object, int]]) -> bool:
    written = [_resize(context, deployment, rs, size) for rs, size in sizes]
    return any(written)


def _proportions(deployment: Object, active: list[Object]) -> list[tuple[Object, int]]:
    """The sets' sizes when all of them grow or shrink; the leftover goes to the largest (sync.go: scale)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    allowed = replicas + surge_and_unavailable(deployment)[0] if replicas > 0 else 0
    missing = allowed - sum(_replicas(rs) for rs in active)
    newest_first = -1 if missing > 0 else 1
    ordered = sorted(active, key=lambda rs: (-_replicas(rs), newest_first * utils.created(rs), meta.name_of(rs)))
    sizes, given = [], 0
    for rs in ordered:
        share = _share(deployment, rs, missing, given) if missing else 0
        sizes.append(_replicas(rs) + share)
        given += share
    sizes[0] = max(0, sizes[0] + missing - given)
    return list(zip(ordered, sizes, strict=True))


def _share(deployment: Object, rs: Object, missing: int, given: int) -> int:
    """A set's part of what is missing (util/deployment_util.go: GetReplicaSetProportion)."""
    if _replicas(rs) == 0 or missing == given:
        return 0
    fraction, rest = _fraction(deployment, rs), missing - given
    return min(fraction, rest) if missing > 0 else max(fraction, rest)


def _fraction(deployment: Object, rs: Object) -> int:
    """How much the set grows by when it keeps its part of the whole (getReplicaSetFraction)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    if replicas == 0:
        return -_replicas(rs)
    noted = meta.annotations_of(rs).get(MAX, "")
    before = int(noted) if noted.isdecimal() and len(noted) < 10 else 0
    before = before or int((deployment.get("status") or {}).get("replicas", 0))
    if not before:
        return 0
    largest = replicas + surge_and_unavailable(deployment)[0]
    return (2 * _replicas(rs) * largest + before) // (2 * before) - _replicas(rs)


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
    revision = max((_revision(rs) for rs in old), default=0) + 1
    made: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta.name_of(deployment)}-{suffix}",
            "namespace": meta.namespace_of(deployment),
            "labels": labelled["metadata"]["labels"],
            "annotations": {**_copied(deployment), **_notes(deployment), REVISION: str(revision)},
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
    if deployment_status.has_deadline(deployment):
        note = deployment_status.progress("True", "NewReplicaSetCreated", f'Created new replica set "{name}"')
        utils.write_status(context, deployment, deployment_status.noted(deployment, note, context.now))
    return True


def _refused(context: Context, deployment: Object, name: str, error: StatusError) -> bool:
    """Say that the set could not be made, and try again later."""
    if utils.namespace_ends(error):
        return True
    message = f'Failed to create new replica set "{name}": {error.message}'
    uid = deployment["metadata"]["uid"]
    pause = min(2 * context.state.get(uid, BASE_DELAY // 2), MAX_DELAY)
    context.state[uid] = pause
    context.wake(f"retry:{uid}", context.now + pause, idle=True)
    if deployment_status.has_deadline(deployment):
        note = deployment_status.progress("False", "ReplicaSetCreateError", message)
        utils.write_status(context, deployment, deployment_status.noted(deployment, note, context.now))
    context.recorder.record(deployment, events.WARNING, "ReplicaSetCreateError", message, component=NAME)
    return True


def _notes(deployment: Object) -> dict[str, str]:
    """What a set is told of the Deployment's size (SetReplicasAnnotations)."""
    replicas = int(deployment["spec"].get("replicas", 1))
    return {DESIRED: str(replicas), MAX: str(replicas + surge_and_unavailable(deployment)[0])}


def _copied(deployment: Object) -> dict[str, str]:
    return {key: value for key, value in meta.annotations_of(deployment).items() if key not in _NOT_COPIED}


def _annotate(context: Context, deployment: Object, new: Object, old: list[Object]) -> bool:
    """Give a set that became current again a fresh revision, and the Deployment the same one (getNewReplicaSet)."""
    present = meta.annotations_of(new)
    revision = max(_revision(new), max((_revision(rs) for rs in old), default=0) + 1)
    wanted = {**present, **_copied(deployment), REVISION: str(revision)}
    if REVISION in present and _revision(new) < revision:
        wanted[HISTORY] = ",".join(filter(None, (present.get(HISTORY), present[REVISION])))
    spec = {key: value for key, value in new["spec"].items() if key != "minReadySeconds"}
    if wait := deployment["spec"].get("minReadySeconds"):
        spec["minReadySeconds"] = wait
    changed = {**new, "metadata": {**new["metadata"], "annotations": wanted}, "spec": spec}
    if changed != new:
        return utils.quietly_update(context, changed, "replicasets") is not None
    if _revision(deployment) != revision:
        marked = {**meta.annotations_of(deployment), REVISION: str(revision)}
        changed = {**deployment, "metadata": {**deployment["metadata"], "annotations": marked}}
        return utils.quietly_update(context, changed, "deployments") is not None
    if deployment_status.has_deadline(deployment) and utils.condition(deployment, "Progressing") is None:
        text = f'Found new replica set "{meta.name_of(new)}"'
        note = deployment_status.progress("True", "FoundNewReplicaSet", text)
        utils.write_status(context, deployment, deployment_status.noted(deployment, note, context.now))
        return True
    return False


def _resize(context: Context, deployment: Object, rs: Object, size: int) -> bool:
    """Write a set's size and its notes about it (sync.go: scaleReplicaSet). True when that changed anything."""
    metadata = {**rs["metadata"], "annotations": {**meta.annotations_of(rs), **_notes(deployment)}}
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
    uid = deployment["metadata"]["uid"]
    due = deployment_status.deadline(deployment, status)
    if due is not None and due > context.now:
        context.wake(f"deadline:{uid}", due)
    else:
        context.cancel(f"deadline:{uid}")
