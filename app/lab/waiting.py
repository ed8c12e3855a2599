"""Why a pod is not running yet, in one sentence: also for the pods that nobody tries to schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.messages import N_, Message
from app.cluster.cluster import Cluster
from app.scheduler.why import silent

_CREATING = {"ContainerCreating", "PodInitializing"}


def why(cluster: Cluster, pod: meta.Object) -> Message | None:
    """The reason that holds the pod up now; None for a pod that is on its way or done."""
    if meta.namespace_of(pod) and not (pod.get("spec") or {}).get("nodeName"):
        return _unbound(cluster, pod)
    return _not_started(cluster, pod)


def _unbound(cluster: Cluster, pod: meta.Object) -> Message | None:
    if (pod.get("status") or {}).get("phase", "Pending") != "Pending":
        return None
    served, leading = cluster.schedulers()
    untried = silent.reasons(pod, served)
    if untried:
        return untried[0].message
    scheduler = str((pod.get("spec") or {}).get("schedulerName") or "default-scheduler")
    if scheduler not in leading:
        return Message(
            N_("A scheduler that serves the name {scheduler} runs, but it places nothing: its log says why."),
            {"scheduler": scheduler},
        )
    condition = _condition(pod, "PodScheduled")
    if condition.get("status") == "False" and condition.get("message"):
        return Message("{message}", {"message": condition["message"]})
    return Message(N_("It waits for its turn with {scheduler}."), {"scheduler": scheduler})


def _not_started(cluster: Cluster, pod: meta.Object) -> Message | None:
    for status in (pod.get("status") or {}).get("containerStatuses") or []:
        waiting = (status.get("state") or {}).get("waiting") or {}
        reason = str(waiting.get("reason") or "")
        if not reason:
            continue
        if reason in _CREATING:
            return _warning(cluster, pod)
        if message := waiting.get("message"):
            return Message("{reason}: {message}", {"reason": reason, "message": message})
        return Message("{reason}", {"reason": reason})
    if (pod.get("status") or {}).get("phase") == "Failed" and (message := (pod.get("status") or {}).get("message")):
        return Message("{message}", {"message": message})
    return None


def _warning(cluster: Cluster, pod: meta.Object) -> Message | None:
    """The newest warning about the pod: what keeps its containers from being created."""
    uid = (pod.get("metadata") or {}).get("uid")
    warnings = [
        event
        for event in cluster.client.list("events", meta.namespace_of(pod))
        if event.get("type") == "Warning" and (event.get("involvedObject") or {}).get("uid") == uid
    ]
    if not warnings:
        return None
    newest = max(warnings, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    facts = {"reason": newest.get("reason", ""), "message": newest.get("message", "")}
    return Message("{reason}: {message}", facts)


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    for condition in (pod.get("status") or {}).get("conditions") or []:
        if condition.get("type") == kind:
            return dict(condition)
    return {}
