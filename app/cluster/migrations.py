"""Snapshots of earlier versions, brought to this one's format, one pure step after the other.

A step takes a document of its format and returns one of the next; it never changes what it was given. A format
changes when the old reading of a snapshot would no longer be right; what a loop adds to its own memory needs no
step, since a loop takes a missing memory for "look at everything once".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from app.cluster import bootstrap_rbac, kubeadm

Document = Mapping[str, Any]

FORMAT = 3
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


class FormatError(ValueError):
    """A snapshot that this version cannot read."""


def migrated(document: Any) -> Document:
    """The document in today's format. Raises FormatError for what is no snapshot, or one of a newer version."""
    found = document.get("format") if isinstance(document, dict) else None
    if not isinstance(found, int) or found < 1:
        raise FormatError(f"the cluster's snapshot has format {found!r}; this version reads 1 to {FORMAT}")
    if found > FORMAT:
        raise FormatError(
            f"the cluster's snapshot has format {found}, which a newer version of the lab wrote; "
            f"this version reads 1 to {FORMAT}"
        )
    current: Document = document
    for step in _STEPS[found - 1 :]:
        current = step(current)
    return current


def _look_at_everything(document: Document) -> Document:
    """Format 2 says which loops the snapshot has run; of those of format 1 nothing is known, so all look again.

    It also knows the default roles: a cluster of format 1 gets those that it has not.
    """
    store = document["store"]
    created = next(
        (namespace["metadata"]["creationTimestamp"] for namespace in store["objects"].get("namespaces", [])), ""
    )
    objects = bootstrap_rbac.completed(store["objects"], created, str(store["revision"]))
    return {**document, "format": 2, "loops": [], "store": {**store, "objects": objects}}


def _static_pods_from_files(document: Document) -> Document:
    """Format 3 knows static pods by the file they came from, and keeps what runs under their own uid.

    Before, the kubelets' memory held them by namespace and name, and their records were their mirrors'. The manifest
    of one that had been taken away is taken from its machine's files.
    """
    memory = {name: dict(found) for name, found in document["memory"].items()}
    kubelet = memory.get("kubelet")
    if kubelet is None:
        return {**document, "format": 3}
    before = kubelet.get("static") or {}
    objects = document["store"]["objects"]
    mirrors = [pod for pod in objects.get("pods", []) if _key(pod) in before]
    renamed = {pod["metadata"]["uid"]: _mirrored(pod) for pod in mirrors}
    static: dict[str, Any] = {}
    gone: dict[str, Any] = {}
    for node in objects.get("nodes", []):
        if _CONTROL_PLANE not in (node["metadata"].get("labels") or {}):
            continue
        name = node["metadata"]["name"]
        for component in kubeadm.COMPONENTS:
            path = f"{kubeadm.MANIFESTS}/{component}.yaml"
            pod = before.get(f"kube-system/{component}-{name}")
            if pod is None:
                gone.setdefault(name, {})[path] = None
            else:
                static.setdefault(name, {})[path] = {
                    "uid": _mirrored(pod),
                    "key": f"kube-system/{component}-{name}",
                    "sum": _sum_as_made(node, component),
                    "seen": document["now"],
                    "pod": {**pod, "metadata": {k: v for k, v in pod["metadata"].items() if k != "ownerReferences"}},
                }
    records = {renamed.get(uid, uid): record for uid, record in kubelet.get("pods", {}).items()}
    memory["kubelet"] = {
        **{name: value for name, value in kubelet.items() if name != "lost"},
        "pods": records,
        "static": static,
        "removed": gone,
    }
    scheduler = memory.get("kube-scheduler") or {}
    if "processes" in scheduler:
        scheduler["processes"] = {
            name: {**process, "uid": renamed.get(process["uid"], process["uid"])}
            for name, process in scheduler["processes"].items()
        }
    return {
        **document,
        "format": 3,
        "memory": memory,
        "logs": {renamed.get(uid, uid): lines for uid, lines in document["logs"].items()},
        "timers": {kind: _with_uids(loops, renamed) for kind, loops in document["timers"].items()},
    }


def _sum_as_made(node: Mapping[str, Any], component: str) -> str:
    """What the kubelet remembers of the text of an untouched manifest."""
    addresses = {found["type"]: found["address"] for found in node["status"]["addresses"]}
    text = kubeadm.text_of(kubeadm.manifests(node["metadata"]["name"], addresses["InternalIP"])[component])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _mirrored(pod: Mapping[str, Any]) -> str:
    """The static pod's own uid, which its mirror names."""
    return str(pod["metadata"]["annotations"]["kubernetes.io/config.mirror"])


def _with_uids(loops: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """The kubelets' timers under other uids."""
    return {
        loop: {
            "/".join([renamed.get(key.partition("/")[0], key.partition("/")[0]), *key.split("/")[1:]]): due
            for key, due in keys.items()
        }
        if loop == "kubelet"
        else keys
        for loop, keys in loops.items()
    }


_STEPS: tuple[Callable[[Document], Document], ...] = (_look_at_everything, _static_pods_from_files)
