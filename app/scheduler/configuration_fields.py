"""The fields of a KubeSchedulerConfiguration and their types (k8s.io/kube-scheduler/config/v1/types.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ANY = object()
_PLUGIN = {"name": str, "weight": int}
_SET = {"enabled": [_PLUGIN], "disabled": [_PLUGIN]}
_POINTS = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit",
    "preBind", "bind", "postBind", "multiPoint",
)  # fmt: skip
_RESOURCE = {"name": str, "weight": int}
_ARGS: dict[str, dict[str, Any]] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": int, "minCandidateNodesAbsolute": int},
    "InterPodAffinity": {"hardPodAffinityWeight": int, "ignorePreferredTermsOfExistingPods": bool},
    "NodeAffinity": {"addedAffinity": _ANY},
    "NodeResourcesBalancedAllocation": {"resources": [_RESOURCE]},
    "NodeResourcesFit": {
        "ignoredResources": [str],
        "ignoredResourceGroups": [str],
        "scoringStrategy": {
            "type": str,
            "resources": [_RESOURCE],
            "requestedToCapacityRatio": {"shape": [{"utilization": int, "score": int}]},
        },
    },
    "PodTopologySpread": {"defaultConstraints": _ANY, "defaultingType": str},
    "VolumeBinding": {"bindTimeoutSeconds": int, "shape": [{"utilization": int, "score": int}]},
    "DynamicResources": {"filterTimeout": str, "bindingTimeout": str},
}
_ROOT: dict[str, Any] = {
    "apiVersion": str,
    "kind": str,
    "parallelism": int,
    "leaderElection": {
        "leaderElect": bool, "leaseDuration": str, "renewDeadline": str, "retryPeriod": str, "resourceLock": str,
        "resourceName": str, "resourceNamespace": str,
    },
    "clientConnection": {
        "kubeconfig": str, "acceptContentTypes": str, "contentType": str, "qps": _ANY, "burst": int,
    },
    "enableProfiling": bool,
    "enableContentionProfiling": bool,
    "percentageOfNodesToScore": int,
    "podInitialBackoffSeconds": int,
    "podMaxBackoffSeconds": int,
    "delayCacheUntilActive": bool,
    "extenders": _ANY,
    "profiles": [
        {
            "schedulerName": str,
            "percentageOfNodesToScore": int,
            "plugins": dict.fromkeys(_POINTS, _SET),
            "pluginConfig": [{"name": str, "args": _ANY}],
        }
    ],
}  # fmt: skip
_GO = {str: "string", int: "int32", bool: "bool"}


def check(document: Mapping[str, Any]) -> list[str]:
    """What strict decoding says of the document: unknown fields and wrong types, in its words."""
    found = list(_walk(document, _ROOT, ""))
    if found:
        return found
    for index, profile in enumerate(document.get("profiles") or ()):
        for position, item in enumerate((profile or {}).get("pluginConfig") or ()):
            known = _ARGS.get(str((item or {}).get("name") or ""))
            if known is not None and item.get("args") is not None:
                path = f"profiles[{index}].pluginConfig[{position}].args"
                found.extend(_walk(item["args"], {"apiVersion": str, "kind": str, **known}, path))
    return found


def _walk(value: Any, known: Any, path: str) -> Iterator[str]:
    if known is _ANY or value is None:
        return
    if isinstance(known, list):
        if not isinstance(value, list):
            yield _wrong(value, path, "slice")
            return
        for index, item in enumerate(value):
            yield from _walk(item, known[0], f"{path}[{index}]")
    elif isinstance(known, dict):
        if not isinstance(value, dict):
            yield _wrong(value, path, "struct")
            return
        for key, item in value.items():
            inner = f"{path}.{key}" if path else str(key)
            if key in known:
                yield from _walk(item, known[key], inner)
            else:
                yield f'unknown field "{inner}"'
    elif not isinstance(value, known) or (known is int and isinstance(value, bool)):
        yield _wrong(value, path, _GO[known])


def _wrong(value: Any, path: str, wanted: str) -> str:
    kind = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}[type(value)]
    return f"json: cannot unmarshal {kind} into Go struct field {KIND_NAME}.{path} of type {wanted}"


KIND_NAME = "KubeSchedulerConfiguration"
