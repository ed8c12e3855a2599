"""A cluster whose schedulers lack a plugin, to see whether an exercise is about that plugin at all.

The plugin is disabled as an administrator would: in each KubeSchedulerConfiguration, in every profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from app.apimachinery import manifests, meta
from app.apimachinery.manifests import ManifestError
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from app.exercises.model import Variant
from app.scheduler import configuration_versions
from app.scheduler.framework.interface import EXTENSION_POINTS

_KIND = "KubeSchedulerConfiguration"
_API_VERSION = "kubescheduler.config.k8s.io/v1"
_LOOP = "kube-scheduler"
_POINTS = tuple(point.name for point in EXTENSION_POINTS)
"""The points of a configuration that has no multiPoint."""


def without(variant: Variant, plugin: str) -> Variant:
    """The variant with the plugin disabled in every scheduler configuration that its manifests bring."""
    spec = variant.spec
    parts: dict[str, Any] = {
        "cluster": spec.cluster.model_copy(update={"manifests": _in_text(spec.cluster.manifests, plugin)}),
        "solution": spec.solution.model_copy(update={"manifests": _in_text(spec.solution.manifests, plugin)}),
        "wrong": [answer.model_copy(update={"manifests": _in_text(answer.manifests, plugin)}) for answer in spec.wrong],
    }
    return Variant(variant.exercise, variant.seed, variant.values, spec.model_copy(update=parts))


def disabled(cluster: Cluster, plugin: str) -> Cluster:
    """A copy of the cluster whose running schedulers go on without the plugin."""
    document = orjson.loads(cluster.dump())
    memory = document["memory"].get(_LOOP, {})
    for process in memory.get("processes", {}).values():
        process["configuration"] = configuration(process.get("configuration"), plugin)
    return Cluster.restore(document)


def configuration(found: Object | None, plugin: str) -> Object:
    """A KubeSchedulerConfiguration (None: the defaults) with the plugin disabled in every profile."""
    changed = meta.copied(found or {"apiVersion": _API_VERSION, "kind": _KIND})
    profiles = changed.get("profiles") or [{"schedulerName": "default-scheduler"}]
    version = str(changed.get("apiVersion")).rpartition("/")[2]
    points = _POINTS if version in configuration_versions.WITHOUT_MULTI_POINT else ("multiPoint",)
    changed["profiles"] = [_profile(profile, plugin, points) for profile in profiles]
    return dict(changed)


def _profile(profile: Object, plugin: str, points: Sequence[str]) -> Object:
    plugins = {
        point: {**sets, "enabled": [entry for entry in sets.get("enabled") or [] if entry.get("name") != plugin]}
        for point, sets in (profile.get("plugins") or {}).items()
    }
    for point in points:
        listed = plugins.get(point) or {}
        plugins[point] = {**listed, "disabled": [*(listed.get("disabled") or []), {"name": plugin}]}
    return {**profile, "plugins": plugins}


def _in_text(text: str, plugin: str) -> str:
    """The manifests with the plugin disabled in their ConfigMaps; text without such a ConfigMap stays as it is."""
    try:
        objects = [document.object for document in manifests.parse(text)] if _KIND in text else []
    except ManifestError:
        return text
    if not objects:
        return text
    return "\n---\n".join(orjson.dumps(_in_object(obj, plugin)).decode() for obj in objects)


def _in_object(obj: Object, plugin: str) -> Object:
    if obj.get("kind") != "ConfigMap" or not isinstance(obj.get("data"), dict):
        return obj
    return {**obj, "data": {key: _in_value(value, plugin) for key, value in obj["data"].items()}}


def _in_value(value: Any, plugin: str) -> Any:
    if not isinstance(value, str) or _KIND not in value:
        return value
    try:
        found = manifests.parse(value)[0].object
    except ManifestError:
        return value
    return orjson.dumps(configuration(found, plugin)).decode() if found.get("kind") == _KIND else value
