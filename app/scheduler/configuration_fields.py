"""The fields of a KubeSchedulerConfiguration and their types (k8s.io/kube-scheduler/config/v1…/types.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.scheduler.configuration_versions import WITHOUT_MULTI_POINT

_ANY = object()
_PLUGIN = {"name": str, "weight": int}
_SET = {"enabled": [_PLUGIN], "disabled": [_PLUGIN]}
_POINTS = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit",
    "preBind", "bind", "postBind", "multiPoint",
)  # fmt: skip
_RESOURCE = {"name": str, "weight": int}
_REQUIREMENT = {"key": str, "operator": str, "values": [str]}
_TERM = {"matchExpressions": [_REQUIREMENT], "matchFields": [_REQUIREMENT]}
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "preference": _TERM}],
}
_CONSTRAINT = {
    "maxSkew": int, "topologyKey": str, "whenUnsatisfiable": str, "labelSelector": _ANY, "minDomains": int,
    "nodeAffinityPolicy": str, "nodeTaintsPolicy": str, "matchLabelKeys": [str],
}  # fmt: skip
_ARGS: dict[str, dict[str, Any]] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": int, "minCandidateNodesAbsolute": int},
    "InterPodAffinity": {"hardPodAffinityWeight": int, "ignorePreferredTermsOfExistingPods": bool},
    "NodeAffinity": {"addedAffinity": _NODE_AFFINITY},
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
    "PodTopologySpread": {"defaultConstraints": [_CONSTRAINT], "defaultingType": str},
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
_OLD_PROFILE = {key: known for key, known in _ROOT["profiles"][0].items() if key != "percentageOfNodesToScore"}
_OLD_POINTS = {point: _SET for point in _POINTS if point != "multiPoint"}
_BETA3 = {**_ROOT, "profiles": [_OLD_PROFILE]}
del _BETA3["delayCacheUntilActive"]
_BETA2 = {
    **_BETA3,
    "healthzBindAddress": str,
    "metricsBindAddress": str,
    "profiles": [{**_OLD_PROFILE, "plugins": _OLD_POINTS}],
}
_LARGEST = 2**31 - 1
_GO = {str: "string", int: "int32", bool: "bool"}


def check(document: Mapping[str, Any]) -> list[str]:
    """What strict decoding says of the document: unknown fields and wrong types, in its words."""
    found = list(_walk(document, _root(document), ""))
    if found:
        return found
    for index, profile in enumerate(document.get("profiles") or ()):
        for position, item in enumerate((profile or {}).get("pluginConfig") or ()):
            known = _ARGS.get(str((item or {}).get("name") or ""))
            if item and item.get("args") is not None:
                path = f"profiles[{index}].pluginConfig[{position}].args"
                wanted = {"apiVersion": str, "kind": str, **known} if known is not None else None
                found.extend(_walk(item["args"], wanted, path))
    return found


def _root(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the document's own API version."""
    version = str(document["apiVersion"]).rpartition("/")[2]
    if version in WITHOUT_MULTI_POINT:
        return _BETA2
    return _BETA3 if version == "v1beta3" else _ROOT


def without_nulls(value: Any) -> Any:
    """The document as Go reads it: null is the empty value, so fields that are null are left out."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [{} if item is None else without_nulls(item) for item in value]
    return value


def _walk(value: Any, known: Any, path: str) -> Iterator[str]:
    """Compare a value with what is known of it; None is an object with any fields."""
    if known is _ANY or value is None:
        return
    if known is None:
        if not isinstance(value, dict):
            yield _wrong(value, path, "struct")
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
    elif known is int and type(value) is int and not -_LARGEST <= value <= _LARGEST:
        yield _wrong(value, path, _GO[int])
    elif not isinstance(value, known) or (known is int and isinstance(value, bool)):
        yield _wrong(value, path, _GO[known])


def _wrong(value: Any, path: str, wanted: str) -> str:
    kind = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}[type(value)]
    return f"json: cannot unmarshal {kind} into Go struct field {KIND_NAME}.{path} of type {wanted}"


KIND_NAME = "KubeSchedulerConfiguration"
