"""Static pods: the files of a kubelet's folder, the pods that they become, and the mirrors that the API shows of them.

Mirrors pkg/kubelet/config/file.go (listConfig, extractFromDir), config/common.go (applyDefaults,
tryDecodeSinglePod) and pkg/kubelet/pod/mirror_client.go. The kubelet's memory names each static pod by node and
path: `uid`, `key` (namespace/name), `sum` of the text, `seen`; and the pod itself where its text is not one that the
machine came with. A pod whose file is gone or says something else is in `ending` until its containers have stopped.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from app.apimachinery import clock, manifests, meta
from app.apimachinery.clock import Instant
from app.apimachinery.errors import NotFound, StatusError
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.apis import decode, defaults, scheme
from app.cluster import controller_utils as utils
from app.cluster import logs, users
from app.cluster.apiserver.strategies_table import strategy_for
from app.cluster.loops import Context
from app.cluster.nodes import machine
from app.cluster.nodes.filesystem import FILE, FileError, FileSystem
from app.cluster.nodes.machine import Machine

MIRROR = "kubernetes.io/config.mirror"
_HASH, _SEEN, _SOURCE = "kubernetes.io/config.hash", "kubernetes.io/config.seen", "kubernetes.io/config.source"
_REFERENCES = (("configMap", "configmaps"), ("secret", "secrets"), ("persistentVolumeClaim", "persistentvolumeclaims"))


class NotAPod(ValueError):
    """A file that does not become a pod. The text is what the kubelet logs."""


def is_static(pod: Object) -> bool:
    """Whether this is a pod as a kubelet read it from a file; its mirror is not."""
    annotations = meta.annotations_of(pod)
    return annotations.get(_SOURCE) == "file" and MIRROR not in annotations


def look(context: Context, host: Machine) -> None:
    """Read the kubelet's folder: new pods begin, those that are gone or changed end."""
    options = host.kubelet()
    if options is None:
        return
    known = context.state["static"].setdefault(host.name, {})
    found = _read(context, host, options.static_pod_path)
    for path in [path for path, entry in known.items() if found.get(path, {}).get("uid") != entry["uid"]]:
        entry = known.pop(path)
        context.state.setdefault("ending", {})[entry["uid"]] = {
            "pod": pod_of(host.name, host.base, path, entry),
        }
    for path, entry in found.items():
        if path not in known:
            known[path] = entry
    if not known:
        del context.state["static"][host.name]


def pods(context: Context) -> list[Object]:
    """The static pods of all machines, those that are being stopped with a deletion time."""
    found = []
    for name, entries in sorted((context.state.get("static") or {}).items()):
        host = machine.of(context, name)
        found += [pod_of(host.name, host.base, path, entry) for path, entry in sorted(entries.items())]
    blocked = {meta.key_of(pod): pod for pod in found}
    for ending in (context.state.get("ending") or {}).values():
        pod = ending["pod"]
        # The next version of a pod waits until the one before has ended (pod_workers.go: allowStaticPodStart).
        blocked.pop(meta.key_of(pod), None)
        grace = int(pod["spec"].get("terminationGracePeriodSeconds") or 30)
        stamp = {"deletionTimestamp": clock.rfc3339(context.now), "deletionGracePeriodSeconds": grace}
        blocked[pod["metadata"]["uid"]] = {**pod, "metadata": {**pod["metadata"], **stamp}}
    return list(blocked.values())


def ended(context: Context, pod: Object) -> None:
    """The containers of a static pod have stopped: its mirror goes, and the next version may start."""
    uid = pod["metadata"]["uid"]
    ending = context.state.get("ending") or {}
    ending.pop(uid, None)
    if not ending:
        context.state.pop("ending", None)
    context.wake(f"{machine.FILES}{pod['spec']['nodeName']}", context.now)
    mirror = mirror_of(context, pod)
    if mirror is not None:
        _remove(context, mirror)


def mirror_of(context: Context, pod: Object) -> Object | None:
    """What the API shows of this very pod."""
    found = context.client.find("pods", meta.name_of(pod), meta.namespace_of(pod))
    if found is None or meta.annotations_of(found).get(MIRROR) != pod["metadata"]["uid"]:
        return None
    return found


def keep_mirrors(context: Context) -> set[str]:
    """Make the mirror of each static pod that has none, or whose mirror is another's or being deleted; the uids."""
    made: set[str] = set()
    for name, entries in sorted((context.state.get("static") or {}).items()):
        node = context.client.find("nodes", name)
        host = machine.of(context, name)
        if node is None or not host.is_connected():
            continue
        its = context.acting_as(users.kubelet(name))
        for path, entry in sorted(entries.items()):
            namespace, _, pod_name = entry["key"].partition("/")
            mirror = context.client.find("pods", pod_name, namespace)
            if mirror is not None and not utils.is_terminating(mirror):
                if meta.annotations_of(mirror).get(MIRROR) == entry["uid"] or MIRROR not in meta.annotations_of(mirror):
                    continue
                if meta.annotations_of(mirror).get(MIRROR) in (context.state.get("ending") or {}):
                    continue
            if mirror is not None:
                _remove(its, mirror)
            if _make(its, mirror_for(pod_of(host.name, host.base, path, entry), node)):
                made.add(entry["uid"])
    return made


def mirror_for(pod: Object, node: Object) -> Object:
    """The mirror of a static pod (mirror_client.go: CreateMirrorPod)."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": meta.name_of(node), "uid": node["metadata"]["uid"]}
    metadata = {key: value for key, value in pod["metadata"].items() if key != "uid"}
    metadata["annotations"] = {**meta.annotations_of(pod), MIRROR: pod["metadata"]["uid"]}
    metadata["ownerReferences"] = [{**owner, "controller": True}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]}


def pod_of(host: str, base: FileSystem, path: str, entry: dict[str, Any]) -> Object:
    """The pod of an entry of the kubelet's memory."""
    pod: Object = entry["pod"] if "pod" in entry else _parsed(base.read(path), host, path)
    annotations = {_HASH: entry["uid"], _SEEN: clock.rfc3339(entry["seen"]), _SOURCE: "file"}
    metadata = {**pod["metadata"], "uid": entry["uid"]}
    metadata["annotations"] = {**meta.annotations_of(pod), **annotations}
    return {**pod, "metadata": metadata}


def entry_of(host: str, base: FileSystem, path: str, text: str, now: Instant) -> dict[str, Any]:
    """What the kubelet remembers of a file that it has just read. NotAPod."""
    pod = _parsed(text, host, path)
    total = _sum(text)
    uid = hashlib.sha256(f"{host}/{path}/{total}".encode()).hexdigest()[:32]
    entry = {"uid": uid, "key": meta.key_of(pod), "sum": total, "seen": now}
    if not base.exists(path) or base.read(path) != text:
        entry["pod"] = pod
    return entry


def _read(context: Context, host: Machine, folder: str) -> dict[str, dict[str, Any]]:
    """The files of the folder that are pods, by path; of two with one name the first counts."""
    known = context.state["static"].get(host.name) or {}
    found: dict[str, dict[str, Any]] = {}
    if not folder:
        return found
    names: set[str] = set()
    for path in _paths(host, folder):
        try:
            text = host.files.read(path)
            entry = known[path] if known.get(path, {}).get("sum") == _sum(text) else _entry(host, path, text)
        except (FileError, NotAPod) as error:
            host.log(
                "kubelet",
                f'file.go:187] "Could not process manifest file" err="{logs.escaped(str(error))}" path="{path}"',
                "E",
            )
            continue
        if entry["key"] in names:
            host.log(
                "kubelet",
                f'config.go:270] "Pod with same full name already exists, ignoring" pod="{entry["key"]}"',
                "E",
            )
            continue
        names.add(entry["key"])
        found[path] = entry
    return found


def _log(host: Machine, message: str) -> None:
    host.log("kubelet", message, "E")


def _entry(host: Machine, path: str, text: str) -> dict[str, Any]:
    return entry_of(host.name, host.base, path, text, host.now)


def _paths(host: Machine, folder: str) -> list[str]:
    """The files that the kubelet reads: each one of its folder but hidden ones (extractFromDir), or the file itself."""
    try:
        if host.files.stat(folder).kind == FILE:
            return [folder]
        names = host.files.names(folder)
        paths = [posixpath.join(folder, name) for name in names if not name.startswith(".")]
        return [path for path in paths if host.files.exists(path) and host.files.stat(path).kind == FILE]
    except FileError:
        host.log(
            "kubelet",
            f'file.go:114] "Unable to read config path" err="path does not exist, ignoring" path="{folder}"',
            "E",
        )
        return []


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _parsed(text: str, host: str, path: str) -> Object:
    """The pod in a file, with what a kubelet adds (applyDefaults). NotAPod."""
    found = _cached(text, host, path)
    if isinstance(found, str):
        raise NotAPod(found)
    return found


@lru_cache(maxsize=256)
def _cached(text: str, host: str, path: str) -> Object | str:
    """The pod, or why there is none: the same file is read by every fork of a cluster."""
    try:
        documents = manifests.parse(text)
    except manifests.ManifestError as error:
        return f"{path}: couldn't parse as pod({error.problem} (line {error.line})), please check config file"
    pod = documents[0].object
    if pod.get("kind") != "Pod" or pod.get("apiVersion") != "v1":
        what = f"invalid pod: {pod.get('kind')} in {pod.get('apiVersion')}"
        return f"{path}: couldn't parse as pod({what}), please check config file"
    problems = [problem.text for problem in decode.problems(pod)]
    if problems:
        return f"{path}: couldn't parse as pod({'; '.join(problems)}), please check config file"
    metadata = pod.get("metadata") or {}
    spec = pod.get("spec") or {}
    whole = {
        **{key: value for key, value in pod.items() if key != "status"},
        "metadata": {
            **metadata,
            "name": f"{metadata.get('name') or ''}-{host}",
            "namespace": metadata.get("namespace") or "default",
        },
        "spec": {
            **spec,
            "nodeName": host,
            "tolerations": [*(spec.get("tolerations") or []), {"effect": "NoExecute", "operator": "Exists"}],
        },
    }
    return _valid(defaults.apply(decode.normalised(whole)), path)


def _valid(pod: Object, path: str) -> Object | str:
    strategy = strategy_for(scheme.for_kind("v1", "Pod"))
    errors = strategy.validate_metadata(pod, namespaced=True) + strategy.validate(pod)
    if errors:
        return f"{path}: invalid pod: {_all(errors)}"
    for volume in pod["spec"].get("volumes") or []:
        for field, plural in _REFERENCES:
            if volume.get(field):
                return f"{path}: invalid pod: static pods may not reference {plural}"
    if pod["spec"].get("serviceAccountName"):
        return f"{path}: invalid pod: static pods may not reference serviceaccounts"
    return pod


def _all(errors: Sequence[FieldError]) -> str:
    texts = [str(error) for error in errors]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _make(context: Context, mirror: Object) -> bool:
    try:
        context.client.create(mirror, meta.namespace_of(mirror))
    except StatusError:
        # The API server refuses it now (its namespace is missing, a quota); the containers run, the next change tries.
        return False
    return True


def _remove(context: Context, mirror: Object) -> None:
    try:
        context.client.delete("pods", meta.name_of(mirror), meta.namespace_of(mirror), grace_seconds=0)
    except NotFound:
        return
