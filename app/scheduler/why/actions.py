"""The edits that remedies are put together from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.messages import N_, Message
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.why.model import Alternative, Edit, Situation, node_target, pod_target

HOSTNAME = "kubernetes.io/hostname"
MOST_REMOVED = 3
"""More pods than this are not proposed to be removed for one fact."""

_FIXED = frozenset({HOSTNAME, "kubernetes.io/os", "kubernetes.io/arch"})
_SYSTEM_CRITICAL = 2_000_000_000
_MIRROR = "kubernetes.io/config.mirror"


def pod_edit(here: Situation, kind: str, message: Message, *steps: Mapping[str, Any]) -> Edit:
    """An edit of the pod that is to be placed."""
    return Edit(kind, pod_target(here.pod.key), message, steps)


def node_edit(node: str, kind: str, message: Message, *steps: Mapping[str, Any]) -> Edit:
    """An edit of a node."""
    return Edit(kind, node_target(node), message, steps)


def can_label(node_labels: Mapping[str, str], key: str) -> bool:
    """Whether a person may give the label another value: the kubelet keeps some of them."""
    return key not in _FIXED or key not in node_labels


def label_node(node: str, key: str, value: str) -> Edit:
    """Give the node a label, or another value for it."""
    message = Message(N_("Label {node} with {key}={value}."), {"node": node, "key": key, "value": value})
    return node_edit(node, "labelNode", message, {"op": "set", "path": ["metadata", "labels", key], "value": value})


def unlabel_node(node: str, key: str) -> Edit:
    """Take a label off the node."""
    message = Message(N_("Take the label {key} off {node}."), {"key": key, "node": node})
    return node_edit(node, "unlabelNode", message, {"op": "unset", "path": ["metadata", "labels", key]})


def label_pod(key: str, wanted: Mapping[str, str]) -> Edit:
    """Give a running pod labels."""
    text = ",".join(f"{name}={value}" for name, value in wanted.items())
    message = Message(N_("Label the pod {pod} with {labels}."), {"pod": key, "labels": text})
    steps = [
        {"op": "set", "path": ["metadata", "labels", name], "value": value} for name, value in sorted(wanted.items())
    ]
    return Edit("labelPod", pod_target(key), message, steps)


def delete_pod(key: str) -> Edit:
    """Remove a pod from its node."""
    return Edit("deletePod", pod_target(key), Message(N_("Remove the pod {pod}."), {"pod": key}), ({"op": "delete"},))


def removable(pod: PodInfo) -> bool:
    """Whether it makes sense to propose to remove it: no part of the cluster itself, and no static pod."""
    return pod.priority < _SYSTEM_CRITICAL and _MIRROR not in meta.annotations_of(pod.pod)


def removal(here: Situation, keys: Sequence[str]) -> Iterator[Alternative]:
    """All of these pods gone, where they are few and may go."""
    wanted = set(keys)
    if not 0 < len(wanted) <= MOST_REMOVED:
        return
    found = [pod for node in here.nodes() for pod in node.pods if pod.key in wanted]
    if len(found) == len(wanted) and all(removable(pod) for pod in found):
        yield tuple(delete_pod(key) for key in sorted(wanted))
