"""Mirror pods: what the API shows of the pods that a kubelet runs from files (pkg/kubelet/pod/mirror_client.go).

The kubelet's memory holds each static pod as it was read; its mirror comes back when somebody deletes it, while the
containers run on.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context
from app.cluster.nodes import service


def keep_mirrors(context: Context) -> set[str]:
    """Make the mirror of every static pod that has none, or whose mirror is being deleted; the uids of those made."""
    new: set[str] = set()
    static: dict[str, Object] = context.state.get("static") or {}
    for key, pod in sorted(static.items()):
        namespace, _, name = key.partition("/")
        mirror = context.client.find("pods", name, namespace)
        if mirror is not None and not utils.is_terminating(mirror):
            continue
        node = str(pod["spec"]["nodeName"])
        if context.client.find("nodes", node) is None or service.is_stopped(context, node):
            continue
        record = None
        if mirror is not None:
            record = context.state["pods"].pop(mirror["metadata"]["uid"], None)
            _remove(context, mirror)
        elif (kept := context.state.get("lost", {}).pop(key, None)) is not None:
            record = kept
        try:
            made = context.client.create(pod, namespace)
        except StatusError:
            # Admission refuses it now; the file stays, and the next change tries again.
            continue
        new.add(made["metadata"]["uid"])
        if record is not None:
            context.state["pods"][made["metadata"]["uid"]] = record
    return new


def _remove(context: Context, mirror: Object) -> None:
    try:
        context.client.delete("pods", meta.name_of(mirror), meta.namespace_of(mirror), grace_seconds=0)
    except NotFound:
        return
