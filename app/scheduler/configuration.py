"""KubeSchedulerConfiguration: what it may say, and what stands where it says nothing (pkg/scheduler/apis/config).

`read` answers profiles in the form that `profile.build_profiles` builds from: the default plugins merged in, the
arguments by plugin. Which API versions can be read is the release's matter (`configuration_versions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler import configuration_fields, configuration_validation, configuration_versions, registry
from app.scheduler.configuration_versions import GROUP, KIND
from app.scheduler.framework.release import NEWEST, Release

GROUP_VERSION = f"{GROUP}/v1"
DEFAULT_SCHEDULER = "default-scheduler"

DEFAULT_PLUGINS: tuple[tuple[str, int], ...] = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeUnschedulable", 0),
    ("NodeName", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 0),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
)
"""Plugins and weights of 1.35 (apis/config/v1/default_plugins.go); 0 is no weight of its own, which counts as 1."""

_ON_SINCE = {"DynamicResources": 34, "SchedulingGates": 27}
"""The minor release since which a default plugin does something without a feature gate."""
_OLD_WEIGHTS = {"TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1}
"""Weights of v1beta2 that v1beta3 raised."""


class ConfigurationError(ValueError):
    """The configuration cannot be used; the message is the scheduler's."""


@dataclass(frozen=True)
class PluginSet:
    """Plugins of one extension point: (name, weight) in order, and the names that are switched off."""

    enabled: tuple[tuple[str, int], ...] = ()
    disabled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Profile:
    """One profile with the default plugins merged into its multiPoint set."""

    scheduler_name: str
    sets: Mapping[str, PluginSet]
    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int = 0


@dataclass(frozen=True)
class Configuration:
    """All profiles and what they share; durations of the back-off in seconds."""

    profiles: tuple[Profile, ...]
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10


def read(configuration: Object | None, release: Release = NEWEST) -> Configuration:
    """The configuration with the defaults of its API version. None is the default profile alone.

    Raises ConfigurationError for what a kube-scheduler of the release ends with.
    """
    document = configuration or {"apiVersion": GROUP_VERSION, "kind": KIND}
    if configuration:
        _check_type(document, release)
    version = str(document["apiVersion"]).rpartition("/")[2]
    problems = configuration_fields.check(document)
    if problems:
        listed = ", ".join(problems)
        raise ConfigurationError(f"strict decoding error: {listed}")
    document = configuration_fields.without_nulls(document)
    listed_profiles: Sequence[Mapping[str, Any]] = document.get("profiles") or [{}]
    names = [_scheduler_name(item, len(listed_profiles)) for item in listed_profiles]
    errors = configuration_validation.check(document, listed_profiles, names, release)
    if errors:
        raise ConfigurationError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    percentage = int(document.get("percentageOfNodesToScore") or 0)
    return Configuration(
        tuple(
            _profile(item, name, percentage, default_plugins(version, release))
            for item, name in zip(listed_profiles, names, strict=True)
        ),
        int(document.get("podInitialBackoffSeconds") or 1),
        int(document.get("podMaxBackoffSeconds") or 10),
    )


def default_plugins(version: str, release: Release) -> tuple[tuple[str, int], ...]:
    """The plugins and weights of an API version in a release (default_plugins.go beside each version's types)."""
    lacking = {name for name, since in _ON_SINCE.items() if release.minor < since}
    weights = _OLD_WEIGHTS if version in configuration_versions.WITHOUT_MULTI_POINT else {}
    return tuple((name, weights.get(name, weight)) for name, weight in DEFAULT_PLUGINS if name not in lacking)


def _check_type(document: Mapping[str, Any], release: Release) -> None:
    kind, version = document.get("kind"), document.get("apiVersion")
    if not kind or not version:
        missing = "Kind" if not kind else "apiVersion"
        raise ConfigurationError(f"Object '{missing}' is missing in the configuration")
    if not configuration_versions.is_registered(kind, version, release.minor):
        scheme = "pkg/scheduler/apis/config/scheme/scheme.go:30"
        raise ConfigurationError(f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"')


def _scheduler_name(profile: Mapping[str, Any], total: int) -> str:
    """A lone profile without a name serves the default name (apis/config/v1/defaults.go)."""
    return str(profile.get("schedulerName") or (DEFAULT_SCHEDULER if total == 1 else ""))


def _profile(profile: Mapping[str, Any], name: str, percentage: int, defaults: Sequence[tuple[str, int]]) -> Profile:
    plugins = profile.get("plugins") or {}
    sets = {point: _plugin_set(listed) for point, listed in plugins.items()}
    sets["multiPoint"] = _merge(defaults, sets.get("multiPoint", PluginSet()))
    args = {str(item.get("name") or ""): _args(item) for item in profile.get("pluginConfig") or ()}
    own = profile.get("percentageOfNodesToScore")
    return Profile(name, sets, args, percentage if own is None else int(own))


def _plugin_set(listed: Mapping[str, Any] | None) -> PluginSet:
    enabled = (listed or {}).get("enabled") or ()
    disabled = (listed or {}).get("disabled") or ()
    return PluginSet(
        tuple((str(item.get("name") or ""), int(item.get("weight") or 0)) for item in enabled),
        frozenset(str(item.get("name") or "") for item in disabled),
    )


def _merge(defaults: Sequence[tuple[str, int]], own: PluginSet) -> PluginSet:
    """Defaults that are not disabled, replaced in place where re-enabled; then the others (mergePluginSet)."""
    enabled: list[tuple[str, int]] = []
    replaced: set[str] = set()
    mine = dict(own.enabled)
    if "*" not in own.disabled:
        for name, weight in defaults:
            if name in own.disabled:
                continue
            if name in mine:
                replaced.add(name)
                enabled.append((name, mine[name]))
            else:
                enabled.append((name, weight))
    enabled.extend(item for item in own.enabled if item[0] not in replaced)
    return PluginSet(tuple(enabled), own.disabled)


def _args(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A plugin's arguments without their type. Raises ConfigurationError for another plugin's type."""
    args: Mapping[str, Any] = item.get("args") or {}
    name = str(item.get("name") or "")
    kind = args.get("kind")
    if name in registry.PLUGINS and kind and kind != f"{name}Args":
        where = "decoding .profiles[].pluginConfig"
        raise ConfigurationError(f"{where}: args for plugin {name} were not of type {name}Args, got {kind}")
    return {key: value for key, value in args.items() if key not in {"kind", "apiVersion"}}
