"""What becomes of a volume whose claim is gone: kept, deleted or wiped.

Mirrors pkg/controller/volume/persistentvolume/pv_controller.go: reclaimVolume, deleteVolumeOperation,
recycleVolumeOperation, unbindVolume.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import events
from app.cluster import persistent_volumes as volumes
from app.cluster.loops import Context

_WIPED = ("hostPath", "nfs")
"""The kinds of volumes that can be recycled."""
_TEMPORARY = "/tmp/"  # noqa: S108 (upstream compares with it)


def reclaim(context: Context, volume: Object) -> None:
    """Do what the volume's policy says."""
    if utils.is_terminating(volume) or (volume.get("status") or {}).get("phase") == "Failed":
        return
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    if policy == "Delete":
        _delete(context, volume)
    elif policy == "Recycle":
        _recycle(context, volume)


def _delete(context: Context, volume: Object) -> None:
    problem = "" if volumes.PROVISIONED_BY in meta.annotations_of(volume) else _no_deleter(volume)
    if problem:
        _fail(context, volume, "VolumeFailedDelete", problem)
        return
    try:
        context.client.delete("persistentvolumes", meta.name_of(volume))
    except (NotFound, Conflict):
        context.wake(f"volume:{meta.name_of(volume)}", context.now)


def _no_deleter(volume: Object) -> str:
    """Why a volume that somebody made by hand cannot be deleted (pkg/volume/hostpath: hostPathDeleter)."""
    spec = volume["spec"]
    if spec.get("hostPath"):
        path = str(spec["hostPath"].get("path") or "")
        allowed = path.partition(_TEMPORARY)[2]
        return "" if allowed else f"host_path deleter only supports /tmp/.+ but received provided {path}"
    name = meta.name_of(volume)
    return f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'


def _recycle(context: Context, volume: Object) -> None:
    if not any(volume["spec"].get(kind) for kind in _WIPED):
        _fail(context, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
        return
    context.recorder.record(volume, events.NORMAL, "VolumeRecycled", "Volume recycled", component=volumes.COMPONENT)
    unbind(context, volume)


def _fail(context: Context, volume: Object, reason: str, problem: str) -> None:
    volumes.set_phase(context, volume, "Failed", problem)
    context.recorder.record(volume, events.WARNING, reason, problem, component=volumes.COMPONENT)


def unbind(context: Context, volume: Object) -> None:
    """Forget the claim; a reservation that somebody made stays, without the uid."""
    metadata, spec = volume["metadata"], dict(volume["spec"])
    if volumes.BOUND_BY_CONTROLLER in meta.annotations_of(volume):
        spec.pop("claimRef", None)
        left = {k: v for k, v in meta.annotations_of(volume).items() if k != volumes.BOUND_BY_CONTROLLER}
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
        if left:
            metadata["annotations"] = left
    else:
        spec["claimRef"] = {k: v for k, v in spec["claimRef"].items() if k not in {"uid", "resourceVersion"}}
    changed = utils.quietly_update(context, {**volume, "metadata": metadata, "spec": spec}, "persistentvolumes")
    if changed is not None:
        volumes.set_phase(context, changed, "Available")
