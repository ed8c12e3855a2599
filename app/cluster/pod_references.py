"""The Secrets and ConfigMaps that a pod names (pkg/api/pod: VisitPodSecretNames, VisitPodConfigmapNames)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery.meta import Object

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def secret_names(spec: Object) -> Iterator[str]:
    """In volumes, environments and for pulling images."""
    yield from (str(secret.get("name") or "") for secret in spec.get("imagePullSecrets") or [])
    for volume in spec.get("volumes") or []:
        reference = (volume.get("csi") or {}).get("nodePublishSecretRef")
        if reference:
            yield str(reference.get("name") or "")
    yield from _names(spec, "secret", "secretName")


def config_map_names(spec: Object) -> Iterator[str]:
    """In volumes and environments."""
    yield from _names(spec, "configMap", "name")


def secrets_of_variables(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(variable, secret) of each variable of a container that comes from a secret."""
    for variable in container.get("env") or []:
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference is not None:
            yield str(variable.get("name") or ""), str(reference.get("name") or "")


def _names(spec: Object, kind: str, field: str) -> Iterator[str]:
    for volume in spec.get("volumes") or []:
        if volume.get(kind) is not None:
            yield str(volume[kind].get(field) or "")
        for source in (volume.get("projected") or {}).get("sources") or []:
            if source.get(kind) is not None:
                yield str(source[kind].get("name") or "")
    for containers in _CONTAINERS:
        for container in spec.get(containers) or []:
            for source in container.get("envFrom") or []:
                if source.get(f"{kind}Ref") is not None:
                    yield str(source[f"{kind}Ref"].get("name") or "")
            for variable in container.get("env") or []:
                reference = (variable.get("valueFrom") or {}).get(f"{kind}KeyRef")
                if reference is not None:
                    yield str(reference.get("name") or "")
