"""What is wrong with a configuration that could be decoded (pkg/scheduler/apis/config/validation/validation.go)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.scheduler.configuration_versions import GROUP
from app.scheduler.framework.release import Release

_BEFORE_FIT_STRATEGIES = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
_VOLUME_LIMITS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
_LISTS_OLD_PLUGINS_UNTIL = 28
_VOLUME_LIMITS_INVALID_SINCE = 31
_UNSERVED = re.compile(r"(.*:0+)?", re.ASCII)
"""An address that asks for no serving: port 0."""


def check(
    document: Mapping[str, Any], profiles: Sequence[Mapping[str, Any]], names: Sequence[str], release: Release
) -> list[str]:
    """All errors, in the scheduler's words and order. `names` are the profiles' names with the default filled in."""
    found = [*_check_numbers(document), *_check_profiles(profiles, names), *_check_addresses(document)]
    for index, profile in enumerate(profiles):
        found.extend(_check_invalid_plugins(profile, f"profiles[{index}]", str(document["apiVersion"]), release))
    return found


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
        share = profile.get("percentageOfNodesToScore")
        if share is not None and not 0 <= int(share) <= 100:
            found.append(f"{path}.percentageOfNodesToScore: Invalid value: {share}: not in valid range [0-100]")
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


def _check_addresses(document: Mapping[str, Any]) -> list[str]:
    """The insecure ports of v1beta2, which nothing serves any more."""
    found = []
    for field in ("healthzBindAddress", "metricsBindAddress"):
        address = str(document.get(field) or "")
        if not _UNSERVED.fullmatch(address):
            found.append(f'{field}: Invalid value: "{address}": must be empty or with an explicit 0 port')
    return found


def _check_invalid_plugins(profile: Mapping[str, Any], path: str, api_version: str, release: Release) -> list[str]:
    """Plugins that an API version must not name any more (isPluginInvalid)."""
    invalid = _invalid_plugins(api_version, release)
    places: list[tuple[str, str]] = []
    for point, listed in (profile.get("plugins") or {}).items():
        if point != "multiPoint":
            enabled = (listed or {}).get("enabled") or ()
            places += [(f"{path}.plugins.{point}.enabled[{i}]", str(p.get("name"))) for i, p in enumerate(enabled)]
    configured = profile.get("pluginConfig") or ()
    places += [(f"{path}.pluginConfig[{i}]", str(item.get("name"))) for i, item in enumerate(configured)]
    return [
        f'{place}: Invalid value: "{name}": was invalid in version "{invalid[name]}" '
        f'(KubeSchedulerConfiguration is version "{api_version}")'
        for place, name in places
        if name in invalid
    ]


def _invalid_plugins(api_version: str, release: Release) -> dict[str, str]:
    """Plugin to the API version that forbade it first; versions before the document's own count, too."""
    v1 = f"{GROUP}/v1"
    if release.minor >= _VOLUME_LIMITS_INVALID_SINCE:
        return dict.fromkeys(_VOLUME_LIMITS, v1)
    if release.minor > _LISTS_OLD_PLUGINS_UNTIL or api_version == f"{GROUP}/v1beta1":
        return {}
    older = ("NodeLabel", "ServiceAffinity", "NodePreferAvoidPods", *_BEFORE_FIT_STRATEGIES)
    found = dict.fromkeys(older, f"{GROUP}/v1beta2")
    if api_version == v1:
        found["SelectorSpread"] = v1
    return found
