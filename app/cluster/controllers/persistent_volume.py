"""Binds claims, has volumes provisioned, and reclaims what claims leave behind.

Mirrors pkg/controller/volume/persistentvolume/pv_controller.go: syncClaim, syncVolume, reclaimVolume. Volumes for
claims of a class with WaitForFirstConsumer are chosen by the scheduler.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.clock import SECOND
from app.apimachinery.errors import NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events, volume_expansion, volume_matching, volume_reclaiming
from app.cluster import persistent_volumes as volumes
from app.cluster.loops import Context

NAME = volumes.COMPONENT
WATCHES = frozenset({"persistentvolumes", "persistentvolumeclaims", "storageclasses"})
IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_AGAIN = 15 * SECOND


def sync(context: Context) -> None:
    """Bring every claim and volume to the phase that it should have."""
    news = _news(context)
    for volume in context.client.list("persistentvolumes"):
        _sync_volume(context, volume)
    for claim in context.client.list("persistentvolumeclaims"):
        try:
            _sync_claim(context, claim, told=meta.key_of(claim) not in news)
        except StatusError:
            context.wake(f"again:{meta.key_of(claim)}", context.now + _AGAIN, idle=True)


def _news(context: Context) -> set[str]:
    """The claims that have changed, or whose class has: what holds them up is told once more."""
    claims = context.client.list("persistentvolumeclaims")
    if utils.first_look(context):
        return {meta.key_of(claim) for claim in claims}
    news = {key.removeprefix("again:") for key in context.fired}
    classes = set()
    for change in context.changes:
        if change.resource == "storageclasses":
            classes.add(meta.name_of(change.object))
        elif change.resource == "persistentvolumeclaims" and not _same(change.previous, change.object):
            news.add(meta.key_of(change.object))
    return news | {meta.key_of(claim) for claim in claims if volumes.class_of(claim) in classes}


def _same(before: Object | None, after: Object) -> bool:
    if before is None or before.get("spec") != after.get("spec"):
        return False
    return meta.annotations_of(before) == meta.annotations_of(after)


# ---- claims


def _sync_claim(context: Context, claim: Object, *, told: bool) -> None:
    if volumes.BIND_COMPLETED in meta.annotations_of(claim):
        _sync_bound(context, claim)
    elif claim["spec"].get("volumeName"):
        _sync_chosen(context, claim, told=told)
    elif not utils.is_terminating(claim):
        _sync_unbound(context, claim, told=told)


def _sync_bound(context: Context, claim: Object) -> None:
    """Nobody may part what is bound (syncBoundClaim)."""
    name = claim["spec"].get("volumeName")
    volume = context.client.find("persistentvolumes", str(name)) if name else None
    if volume is None:
        lost = "its PersistentVolume" if name else "reference to PersistentVolume"
        _lose(context, claim, "ClaimLost", f"Bound claim has lost {lost}. Data on the volume is lost!")
    elif not volume["spec"].get("claimRef") or volumes.is_bound_to(volume, claim):
        if (claim.get("status") or {}).get("phase") != "Bound" or not (volume["spec"].get("claimRef") or {}).get("uid"):
            volumes.tie(context, claim, volume)
        else:
            volume_expansion.expand(context, claim, volume)
    else:
        message = "Two claims are bound to the same volume, this one is bound incorrectly"
        _lose(context, claim, "ClaimMisbound", message)


def _lose(context: Context, claim: Object, reason: str, message: str) -> None:
    status = claim.get("status") or {}
    if status.get("phase") != "Lost":
        utils.write_status(context, claim, {"phase": "Lost"})
        _record(context, claim, events.WARNING, reason, message)


def _sync_chosen(context: Context, claim: Object, *, told: bool) -> None:
    """A claim that names its volume waits for that one."""
    name = str(claim["spec"]["volumeName"])
    volume = context.client.find("persistentvolumes", name)
    if volume is None:
        _set_pending(context, claim)
        return
    if not volume["spec"].get("claimRef"):
        problem = volume_matching.mismatch(claim, volume)
        if problem:
            if not told:
                message = f'Cannot bind to requested volume "{name}": {problem}'
                _record(context, claim, events.WARNING, "VolumeMismatch", message)
            _set_pending(context, claim)
            return
        volumes.tie(context, claim, volume)
    elif volumes.is_bound_to(volume, claim):
        volumes.tie(context, claim, volume)
    elif volumes.BOUND_BY_CONTROLLER not in meta.annotations_of(claim):
        if not told:
            message = f'volume "{name}" already bound to a different claim.'
            _record(context, claim, events.WARNING, "FailedBinding", message)
        _set_pending(context, claim)


def _set_pending(context: Context, claim: Object) -> Object:
    status = claim.get("status") or {}
    if status.get("phase") != "Pending":
        utils.write_status(context, claim, {**status, "phase": "Pending"})
    return context.client.get("persistentvolumeclaims", meta.name_of(claim), meta.namespace_of(claim))


def _sync_unbound(context: Context, claim: Object, *, told: bool) -> None:
    """Find a volume, or have one made, or say what is missing (syncUnboundClaim)."""
    claim = _set_pending(context, _with_default_class(context, claim))
    name = volumes.class_of(claim)
    found = context.client.find("storageclasses", name) if name else None
    waits = found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"
    volume = volume_matching.best_for(claim, context.client.list("persistentvolumes"), only_reserved=waits)
    if volume is not None:
        volumes.tie(context, claim, volume)
        return
    chosen = meta.annotations_of(claim).get(volumes.SELECTED_NODE, "")
    if waits and not chosen:
        if not told:
            _say_what_for(context, claim)
    elif name:
        _provision(context, claim, found, chosen, told=told)
    elif not told:
        message = "no persistent volumes available for this claim and no storage class is set"
        _record(context, claim, events.NORMAL, "FailedBinding", message)


def _with_default_class(context: Context, claim: Object) -> Object:
    """A claim without a word on its class gets the default one, even later (assignDefaultStorageClass)."""
    if claim["spec"].get("storageClassName") is not None or volumes.class_of(claim):
        return claim
    marked = [
        found
        for found in context.client.list("storageclasses")
        if any(meta.annotations_of(found).get(key) == "true" for key in IS_DEFAULT)
    ]
    if not marked:
        return claim
    newest = min(marked, key=lambda found: (-utils.created(found), meta.name_of(found)))
    return context.client.update({**claim, "spec": {**claim["spec"], "storageClassName": meta.name_of(newest)}})


def _say_what_for(context: Context, claim: Object) -> None:
    """Which pods the claim waits for (emitEventForUnboundDelayBindingClaim)."""
    pods = [
        meta.name_of(pod)
        for pod in context.client.list("pods", meta.namespace_of(claim))
        if not pod["spec"].get("nodeName") and _uses(pod, meta.name_of(claim))
    ]
    reason, message = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
    if pods:
        reason = "WaitForPodScheduled"
        message = f"waiting for pod{'s' if len(pods) > 1 else ''} {','.join(pods)} to be scheduled"
    _record(context, claim, events.NORMAL, reason, message)


def _uses(pod: Object, claim: str) -> bool:
    sources = [volume.get("persistentVolumeClaim") or {} for volume in pod["spec"].get("volumes") or []]
    return any(source.get("claimName") == claim for source in sources)


def _provision(context: Context, claim: Object, found: Object | None, node: str, *, told: bool) -> None:
    """Have the class's provisioner make a volume; any provisioner outside the tree is there (provisionClaim)."""
    name = volumes.class_of(claim)
    provisioner = str((found or {}).get("provisioner"))
    problem = ""
    if found is None:
        problem = f'storageclass.storage.k8s.io "{name}" not found'
    elif provisioner == volumes.NO_PROVISIONER:
        problem = f"no volume plugin matched name: {provisioner}"
    elif claim["spec"].get("selector"):
        problem = f'failed to provision volume with StorageClass "{name}": claim Selector is not supported'
    if problem:
        if not told:
            _record(context, claim, events.WARNING, "ProvisioningFailed", problem)
        return
    volumes.tie(context, *volumes.provision(context, claim, node))


def _record(context: Context, obj: Object, kind: str, reason: str, message: str) -> None:
    context.recorder.record(obj, kind, reason, message, component=NAME)


# ---- volumes


def _sync_volume(context: Context, volume: Object) -> None:
    """The phase of a volume follows from the claim that it names (syncVolume)."""
    reference = volume["spec"].get("claimRef") or {}
    if not reference.get("uid"):
        volumes.set_phase(context, volume, "Available")
        return
    claim = context.client.find("persistentvolumeclaims", str(reference["name"]), str(reference["namespace"]))
    if claim is None or claim["metadata"]["uid"] != reference["uid"]:
        if (volume.get("status") or {}).get("phase") not in {"Released", "Failed"}:
            volumes.set_phase(context, volume, "Released")
        _reclaim(context, meta.name_of(volume))
    elif claim["spec"].get("volumeName") == meta.name_of(volume):
        volumes.set_phase(context, volume, "Bound")
    elif claim["spec"].get("volumeName"):
        # The claim went to another volume in the meantime.
        policy = volume["spec"].get("persistentVolumeReclaimPolicy")
        if volumes.PROVISIONED_BY in meta.annotations_of(volume) and policy == "Delete":
            volumes.set_phase(context, volume, "Released")
            _reclaim(context, meta.name_of(volume))
        else:
            volume_reclaiming.unbind(context, volume)


def _reclaim(context: Context, name: str) -> None:
    try:
        volume_reclaiming.reclaim(context, context.client.get("persistentvolumes", name))
    except NotFound:
        return
