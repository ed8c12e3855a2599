"""KubeSchedulerConfiguration v1: what it may say, and what stands where it says nothing (pkg/scheduler/apis/config).

`read` answers profiles in the form that `profile.build_profiles` builds from: the default plugins merged in, the
arguments by plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler import configuration_fields, registry

GROUP_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
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


def read(configuration: Object | None) -> Configuration:
    """The configuration with defaults. None is the default profile alone. Raises ConfigurationError."""
    document = configuration or {"apiVersion": GROUP_VERSION, "kind": KIND}
    _check_type(document)
    problems = configuration_fields.check(document)
    if problems:
        listed = ", ".join(problems)
        raise ConfigurationError(f"strict decoding error: {listed}")
    document = configuration_fields.without_nulls(document)
    listed_profiles: Sequence[Mapping[str, Any]] = document.get("profiles") or [{}]
    names = [_scheduler_name(item, len(listed_profiles)) for item in listed_profiles]
    errors = [*_check_numbers(document), *_check_profiles(listed_profiles, names)]
    if errors:
        raise ConfigurationError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    percentage = int(document.get("percentageOfNodesToScore") or 0)
    return Configuration(
        tuple(_profile(item, name, percentage) for item, name in zip(listed_profiles, names, strict=True)),
        int(document.get("podInitialBackoffSeconds") or 1),
        int(document.get("podMaxBackoffSeconds") or 10),
    )


def _check_type(document: Mapping[str, Any]) -> None:
    kind, version = document.get("kind"), document.get("apiVersion")
    if not kind or not version:
        missing = "Kind" if not kind else "apiVersion"
        raise ConfigurationError(f"Object '{missing}' is missing in the configuration")
    if kind != KIND or version != GROUP_VERSION:
        scheme = "pkg/scheduler/apis/config/scheme/scheme.go:30"
        raise ConfigurationError(f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"')


def _scheduler_name(profile: Mapping[str, Any], total: int) -> str:
    """A lone profile without a name serves the default name (apis/config/v1/defaults.go)."""
    return str(profile.get("schedulerName") or (DEFAULT_SCHEDULER if total == 1 else ""))


def _check_numbers(document: Mapping[str, Any]) -> list[str]:
    """Numbers out of range (validation.go: ValidateKubeSchedulerConfiguration)."""
    found = []
    initial = int(document.get("podInitialBackoffSeconds", 1))
    most = int(document.get("podMaxBackoffSeconds", 10))
    percentage = int(document.get("percentageOfNodesToScore") or 0)
    parallelism = int(document.get("parallelism", 16))
    if parallelism <= 0:
        found.append(f"parallelism: Invalid value: {parallelism}: should be an integer value greater than zero")
    if not 0 <= percentage <= 100:
        found.append(f"percentageOfNodesToScore: Invalid value: {percentage}: not in valid range [0-100]")
    if initial <= 0:
        found.append(f"podInitialBackoffSeconds: Invalid value: {initial}: must be greater than 0")
    if most < initial:
        found.append(
            f"podMaxBackoffSeconds: Invalid value: {most}: must be greater than or equal to PodInitialBackoffSeconds"
        )
    return found


def _check_profiles(profiles: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for index, (profile, name) in enumerate(zip(profiles, names, strict=True)):
        path = f"profiles[{index}]"
        if not name:
            found.append(f"{path}.schedulerName: Required value")
        elif name in names[:index]:
            found.append(f'{path}.schedulerName: Duplicate value: "{name}"')
        seen: set[str] = set()
        for position, item in enumerate(profile.get("pluginConfig") or ()):
            plugin = str(item.get("name") or "")
            if plugin in seen:
                found.append(f'{path}.pluginConfig[{position}]: Duplicate value: "{plugin}"')
            seen.add(plugin)
    sorts = [(profile.get("plugins") or {}).get("queueSort") or {} for profile in profiles]
    for index, sort in enumerate(sorts):
        path = f"profiles[{index}].plugins.queueSort"
        if len(sort.get("enabled") or ()) > 1:
            total = len(sort["enabled"])
            found.append(f"{path}.Enabled: Invalid value: {total}: only one queue sort plugin can be enabled")
        if index and sort != sorts[0]:
            found.append(f"{path}: Invalid value: must be the same for all profiles")
    return found


def _profile(profile: Mapping[str, Any], name: str, percentage: int) -> Profile:
    plugins = profile.get("plugins") or {}
    sets = {point: _plugin_set(listed) for point, listed in plugins.items()}
    sets["multiPoint"] = _merge(DEFAULT_PLUGINS, sets.get("multiPoint", PluginSet()))
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
    if registry.is_known(name) and kind and kind != f"{name}Args":
        where = "decoding .profiles[].pluginConfig"
        raise ConfigurationError(f"{where}: args for plugin {name} were not of type {name}Args, got {kind}")
    return {key: value for key, value in args.items() if key not in {"kind", "apiVersion"}}
