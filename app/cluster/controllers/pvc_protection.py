"""Lets claims go that no pod uses any more (pkg/controller/volume/pvcprotection/pvc_protection_controller.go)."""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

NAME = "persistentvolumeclaim-protection-controller"
WATCHES = frozenset({"persistentvolumeclaims", "pods"})
FINALIZER = "kubernetes.io/pvc-protection"


def sync(context: Context) -> None:
    """Look at the claims that changed and at those of pods that changed (processPVC)."""
    concerned = {change.resource for change in context.changes}
    everything = context.full or bool(context.fired)
    changed = {meta.key_of(change.object) for change in context.changes if change.resource == "persistentvolumeclaims"}
    for claim in context.client.list("persistentvolumeclaims"):
        going = utils.is_terminating(claim) and FINALIZER in _finalizers(claim)
        if going and (everything or "pods" in concerned or meta.key_of(claim) in changed):
            if not _is_used(context, claim):
                _write(context, claim, [name for name in _finalizers(claim) if name != FINALIZER])
        elif not utils.is_terminating(claim) and FINALIZER not in _finalizers(claim):
            _write(context, claim, [*_finalizers(claim), FINALIZER])


def _finalizers(obj: Object) -> list[str]:
    return list(obj["metadata"].get("finalizers") or ())


def _is_used(context: Context, claim: Object) -> bool:
    """Whether a pod that has a node names the claim; one that has ended still does (podUsesPVC)."""
    name = meta.name_of(claim)
    for pod in context.client.list("pods", meta.namespace_of(claim)):
        if not pod["spec"].get("nodeName"):
            continue
        for volume in pod["spec"].get("volumes") or ():
            named = (volume.get("persistentVolumeClaim") or {}).get("claimName") == name
            own = volume.get("ephemeral") is not None and f"{meta.name_of(pod)}-{volume.get('name')}" == name
            if named or (own and (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}):
                return True
    return False


def _write(context: Context, claim: Object, finalizers: list[str]) -> None:
    metadata = {key: value for key, value in claim["metadata"].items() if key != "finalizers"}
    if finalizers:
        metadata["finalizers"] = finalizers
    utils.quietly_update(context, {**claim, "metadata": metadata}, "persistentvolumeclaims")
