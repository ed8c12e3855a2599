"""Volumes and environment of a pod: what is missing, and what files a container sees.

Mirrors pkg/volume/configmap/configmap.go: SetUpAt, pkg/volume/secret/secret.go,
pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go: getPVCExtractPV and
pkg/kubelet/kuberuntime/kuberuntime_container.go: makeEnvironmentVariables.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.client import Client

_KINDS = {"configMap": ("configmaps", "configmap", "name"), "secret": ("secrets", "secret", "secretName")}
_CLAIM = ("persistentVolumeClaim", "persistentvolumeclaims", "claimName")

RESOURCES = frozenset({*(plural for plural, _, _ in _KINDS.values()), _CLAIM[1]})
"""What volumes are made from, by resource."""


def mount_problem(client: Client, pod: Object) -> tuple[str, str] | None:
    """The first volume that cannot be set up, and why; None when all can."""
    for volume in pod["spec"].get("volumes") or []:
        if problem := _claim_problem(client, pod, volume):
            return volume["name"], problem
        for source_kind, name, source in _sources(volume):
            resource, noun, _ = _KINDS[source_kind]
            problem = _source_problem(client, pod, source, resource, noun, name)
            if problem:
                return volume["name"], f'MountVolume.SetUp failed for volume "{volume["name"]}" : {problem}'
    return None


def _sources(volume: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(kind, name, source) of each ConfigMap and Secret that a volume is made from."""
    for kind, (_, _, name_field) in _KINDS.items():
        if volume.get(kind):
            yield kind, str(volume[kind].get(name_field)), volume[kind]
        for projection in (volume.get("projected") or {}).get("sources") or []:
            if projection.get(kind):
                yield kind, str(projection[kind].get("name")), projection[kind]


def _claim_problem(client: Client, pod: Object, volume: Object) -> str | None:
    """Why the volume of a claim cannot be mounted: only a scheduler or the volume controller binds claims."""
    kind, resource, name_field = _CLAIM
    source = volume.get(kind)
    if not source:
        return None
    name, namespace = str(source.get(name_field)), meta.namespace_of(pod)
    claim = client.find(resource, name, namespace)
    if claim is None:
        reason = f'failed to fetch PVC from API server: {resource} "{name}" not found'
    elif (claim.get("status") or {}).get("phase") != "Bound" or not claim["spec"].get("volumeName"):
        reason = "PVC is not bound"
    else:
        return None
    failed = (
        f"unmounted volumes=[{volume['name']}], unattached volumes=[], failed to process volumes=[{volume['name']}]"
    )
    return f"Unable to attach or mount volumes: {failed}: error processing PVC {namespace}/{name}: {reason}"


def _source_problem(
    client: Client, pod: Object, source: Mapping[str, Any], resource: str, noun: str, name: str
) -> str | None:
    found = client.find(resource, name, meta.namespace_of(pod))
    if found is None:
        return None if source.get("optional") else f'{noun} "{name}" not found'
    keys = _data(found).keys()
    for item in source.get("items") or []:
        if item.get("key") not in keys and not source.get("optional"):
            if noun == "configmap":
                return f"configmap references non-existent config key: {item.get('key')}"
            return f"references non-existent secret key: {item.get('key')}"
    return None


def mounted(pod: Object, resource: str, name: str) -> bool:
    """Whether the pod uses this ConfigMap, Secret or claim in a volume or in a container's environment."""
    for volume in pod["spec"].get("volumes") or []:
        if resource == _CLAIM[1] and (volume.get(_CLAIM[0]) or {}).get(_CLAIM[2]) == name:
            return True
        if any(_KINDS[kind][0] == resource and used == name for kind, used, _ in _sources(volume)):
            return True
    for container in pod["spec"].get("containers") or []:
        for variable in container.get("env") or []:
            source = variable.get("valueFrom") or {}
            for field, plural in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
                if plural == resource and (source.get(field) or {}).get("name") == name:
                    return True
    return False


def environment_problem(client: Client, pod: Object, container: Mapping[str, Any]) -> str | None:
    """Why the container's environment cannot be made (CreateContainerConfigError), or None."""
    namespace = meta.namespace_of(pod)
    for variable in container.get("env") or []:
        source = variable.get("valueFrom") or {}
        for field, resource, noun, printed in (
            ("configMapKeyRef", "configmaps", "configmap", "ConfigMap"),
            ("secretKeyRef", "secrets", "secret", "Secret"),
        ):
            wanted = source.get(field)
            if not wanted or wanted.get("optional"):
                continue
            found = client.find(resource, str(wanted.get("name")), namespace)
            if found is None:
                return f'{noun} "{wanted.get("name")}" not found'
            if wanted.get("key") not in _data(found):
                return f"couldn't find key {wanted.get('key')} in {printed} {namespace}/{wanted.get('name')}"
    for reference in container.get("envFrom") or []:
        for field, resource, noun in (("configMapRef", "configmaps", "configmap"), ("secretRef", "secrets", "secret")):
            wanted = reference.get(field)
            if (
                wanted
                and not wanted.get("optional")
                and client.find(resource, str(wanted.get("name")), namespace) is None
            ):
                return f'{noun} "{wanted.get("name")}" not found'
    return None


def files_of(client: Client, pod: Object, container: Mapping[str, Any]) -> dict[str, str]:
    """Path to text of every file that ConfigMaps and Secrets put into the container."""
    volumes = {volume.get("name"): volume for volume in pod["spec"].get("volumes") or []}
    files: dict[str, str] = {}
    for mount in container.get("volumeMounts") or []:
        contents = _contents(client, pod, volumes.get(mount.get("name")) or {})
        at = str(mount.get("mountPath") or "/")
        part = mount.get("subPath")
        for path, text in contents.items():
            if part and (path == part):
                files[posixpath.normpath(at)] = text
            elif part and path.startswith(f"{part}/"):
                files[posixpath.normpath(posixpath.join(at, path.removeprefix(f"{part}/")))] = text
            elif not part:
                files[posixpath.normpath(posixpath.join(at, path))] = text
    return files


def _contents(client: Client, pod: Object, volume: Mapping[str, Any]) -> dict[str, str]:
    sources: list[Mapping[str, Any]] = [volume]
    for source in (volume.get("projected") or {}).get("sources") or []:
        secret = source.get("secret")
        sources.append({**source, **({"secret": {**secret, "secretName": secret.get("name")}} if secret else {})})
    contents: dict[str, str] = {}
    for entry in sources:
        for source_kind, (resource, _, name_field) in _KINDS.items():
            source = entry.get(source_kind)
            if not source:
                continue
            found = client.find(resource, str(source.get(name_field) or source.get("name")), meta.namespace_of(pod))
            data = _data(found) if found else {}
            items = source.get("items")
            if items:
                contents.update({item["path"]: data[item["key"]] for item in items if item.get("key") in data})
            else:
                contents.update(data)
    return contents


def data_of(client: Client, resource: str, name: object, pod: Object) -> dict[str, str]:
    """Key to text of a ConfigMap or Secret of the pod's namespace; nothing where it is not there."""
    found = client.find(resource, str(name), meta.namespace_of(pod)) if name else None
    return _data(found) if found else {}


def _data(obj: Mapping[str, Any]) -> dict[str, str]:
    data = {str(key): str(value) for key, value in (obj.get("stringData") or {}).items()}
    for key, value in (obj.get("binaryData") or {}).items():
        data[str(key)] = _decoded(value)
    for key, value in (obj.get("data") or {}).items():
        data[str(key)] = _decoded(value) if obj.get("kind") == "Secret" else str(value)
    return data


def _decoded(value: object) -> str:
    try:
        return base64.b64decode(str(value), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""
