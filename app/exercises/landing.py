"""Where pods are, where they might as well be, and how to say it: shared by the checks that look at pods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery import labels, meta
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from app.exercises.base import PodReference


def find(cluster: Cluster, reference: PodReference) -> Object | None:
    """The pod, or None."""
    return cluster.client.find("pods", reference.name, reference.namespace)


def selected(cluster: Cluster, selector: str, namespace: str) -> list[Object]:
    """The pods that a label selector chooses, without those that are being deleted."""
    wanted = labels.parse_selector(selector)
    found = cluster.client.list("pods", namespace, wanted)
    return [pod for pod in found if not pod["metadata"].get("deletionTimestamp")]


def node_of(pod: Object) -> str:
    """The node that runs the pod; empty for a pod that waits or that its kubelet refused."""
    if (pod.get("status") or {}).get("phase") == "Failed":
        return ""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def candidates(cluster: Cluster, pod: Object) -> set[str]:
    """The pod's node and the nodes that were tied with it for best when the scheduler chose."""
    node = node_of(pod)
    if not node:
        return set()
    kept = cluster.attempts(meta.namespace_of(pod), meta.name_of(pod))
    best: Iterable[Any] = (kept[-1].get("best") or ()) if kept and kept[-1].get("node") == node else ()
    return {node, *map(str, best)}


def words(names: Iterable[str]) -> str:
    """Names as a reader lists them."""
    return ", ".join(sorted(set(names)))


def whereabouts(pod: Object) -> Message:
    """Where a pod is, or why it is nowhere."""
    name, status = meta.name_of(pod), pod.get("status") or {}
    if status.get("phase") == "Failed":
        reason = ": ".join(str(status[key]) for key in ("reason", "message") if status.get(key))
        return Message(N_("{pod} failed. {reason}"), {"pod": name, "reason": reason})
    if node := node_of(pod):
        return Message(N_("{pod} is on {node}"), {"pod": name, "node": node})
    return Message(N_("{pod} waits for a node. {reason}"), {"pod": name, "reason": _reason(status)})


def _reason(status: Object) -> str:
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("message"):
            return str(condition["message"])
    return ""


def place(namespace: str, name: str) -> Message:
    """A pod as the place where something was looked at."""
    return Message(N_("pod {name} in namespace {namespace}"), {"name": name, "namespace": namespace})


def no_such_pod(reference: PodReference) -> Message:
    """There is no pod of that name."""
    return Message(N_("there is no pod {name}"), {"name": reference.name})


def all_words(messages: Iterable[Message]) -> Message:
    """Several findings as one, at most three of them."""
    listed = list(messages)
    if len(listed) == 1:
        return listed[0]
    shown = listed[:3]
    facts: dict[str, Any] = {f"fact{number}": message for number, message in enumerate(shown)}
    template = "; ".join(f"{{fact{number}}}" for number in range(len(shown)))
    if len(listed) > len(shown):
        return Message(N_("{first}; and {count} more"), {"first": Message(template, facts), "count": len(listed) - 3})
    return Message(template, facts)
