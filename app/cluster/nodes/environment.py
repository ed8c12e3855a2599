"""A container's environment, and the references to it in its command (kubelet_pods.go: makeEnvironmentVariables).

`$(NAME)` in a command, an argument or a value stands for a variable (third_party/forked/golang/expansion: Expand).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import mounts
from app.cluster.client import Client

_REFERENCE = re.compile(r"\$(\$|\(([^()]*)\))")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']*)'\]")
_PLAIN = {
    "metadata.name": ("metadata", "name"),
    "metadata.namespace": ("metadata", "namespace"),
    "metadata.uid": ("metadata", "uid"),
    "spec.nodeName": ("spec", "nodeName"),
    "spec.serviceAccountName": ("spec", "serviceAccountName"),
    "status.hostIP": ("status", "hostIP"),
    "status.podIP": ("status", "podIP"),
}
_LONGEST = 32_768


def of(client: Client, pod: Object, container: Mapping[str, Any]) -> dict[str, str]:
    """Name to value of the container's variables."""
    found: dict[str, str] = {"HOSTNAME": hostname(pod)}
    for reference in container.get("envFrom") or []:
        prefix = str(reference.get("prefix") or "")
        for field, resource in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            data = mounts.data_of(client, resource, (reference.get(field) or {}).get("name"), pod)
            found.update({prefix + key: value for key, value in data.items()})
    for variable in container.get("env") or []:
        value = variable.get("value")
        source = variable.get("valueFrom") or {}
        text = _of_source(client, pod, source) if source else expanded(str(value or ""), found)
        if text is not None:
            found[str(variable.get("name"))] = text
    return found


def hostname(pod: Object) -> str:
    """The name that the pod's machine believes to have."""
    return str((pod.get("spec") or {}).get("hostname") or meta.name_of(pod) or "localhost")


def _of_source(client: Client, pod: Object, source: Mapping[str, Any]) -> str | None:
    for field, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        wanted = source.get(field)
        if wanted:
            return mounts.data_of(client, resource, wanted.get("name"), pod).get(str(wanted.get("key")))
    path = str((source.get("fieldRef") or {}).get("fieldPath") or "")
    keyed = _KEYED.fullmatch(path)
    if keyed:
        return str(((pod.get("metadata") or {}).get(keyed[1]) or {}).get(keyed[2]) or "")
    part, name = _PLAIN.get(path, ("", ""))
    return str((pod.get(part) or {}).get(name) or "")


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """The text with its `$(NAME)` replaced; one that names nothing stays, `$$` is a `$`."""

    def value(match: re.Match[str]) -> str:
        return "$" if match[1] == "$" else variables.get(match[2], match[0])

    return _REFERENCE.sub(value, text)[:_LONGEST]
