"""From a configuration to frameworks, one a schedulerName (pkg/scheduler/profile/profile.go, framework/runtime).

`build_profiles(None)` is what a scheduler without a configuration file runs. Frameworks hold no state and may be
kept and shared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from app.apimachinery.meta import Object
from app.scheduler import configuration as configurations
from app.scheduler import registry
from app.scheduler.configuration import ConfigurationError, PluginSet, Profile
from app.scheduler.framework import release as releases
from app.scheduler.framework.interface import EXTENSION_POINTS, ArgsError, ExtensionPoint, Plugin
from app.scheduler.framework.release import Release
from app.scheduler.framework.runtime import Framework

_MAX_TOTAL_SCORE = (2**63 - 1) // 100


def build_profiles(
    configuration: Object | None, gates: Iterable[str] = (), *, version: str = ""
) -> dict[str, Framework]:
    """The framework for each schedulerName. `gates` are feature gates that are on besides the defaults.

    `version` is the kube-scheduler's own (`v1.34.1`; the newest where it is empty): it decides on message texts, on
    the API versions of a configuration that can be read, and on the default plugins.

    Raises ConfigurationError in the words with which kube-scheduler ends.
    """
    return dict(_built(json.dumps(configuration), frozenset(gates), releases.parse(version)))


@lru_cache(maxsize=256)
def _built(document: str, gates: frozenset[str], release: Release) -> Mapping[str, Framework]:
    found = configurations.read(json.loads(document), release)
    return {profile.scheduler_name: _framework(profile, gates, release) for profile in found.profiles}


def _framework(profile: Profile, gates: frozenset[str], release: Release) -> Framework:
    try:
        return _Builder(profile, gates, release).build()
    except (ArgsError, ConfigurationError) as error:
        raise ConfigurationError(
            f"initializing profiles: creating profile for scheduler name {profile.scheduler_name}: {error}"
        ) from error


class _Builder:
    """Builds the plugins that a profile names and puts them in order (runtime/framework.go: NewFramework)."""

    def __init__(self, profile: Profile, gates: frozenset[str], release: Release) -> None:
        self._profile = profile
        self._gates = gates
        self._release = release
        self._made: dict[str, Plugin] = {}

    def build(self) -> Framework:
        points = {point.name: self._order(point) for point in EXTENSION_POINTS}
        weights = self._weights()
        plugins = {name: self._plugins(names) for name, names in points.items()}
        self._check(points)
        return Framework(
            profile_name=self._profile.scheduler_name,
            plugins=plugins,
            weights=weights,
            percentage_of_nodes_to_score=self._profile.percentage_of_nodes_to_score,
        )

    def _set(self, point: str) -> PluginSet:
        return self._profile.sets.get(point, PluginSet())

    def _order(self, point: ExtensionPoint) -> list[str]:
        """Plugins named for the point that multiPoint has too, then the rest of multiPoint, then the others named."""
        own = self._set(point.name)
        named: list[str] = []
        for name, _ in own.enabled:
            if not registry.is_known(name, self._release.minor):
                raise ConfigurationError(f'{point.type_name} "{name}" does not exist')
            if not _extends(name, point):
                raise ConfigurationError(f'plugin "{name}" does not extend {point.type_name} plugin')
            if name in named:
                raise ConfigurationError(f'plugin "{name}" already registered as "{point.type_name}"')
            named.append(name)
        if "*" in own.disabled:
            return named
        overriding: set[str] = set()
        expanded: list[str] = []
        for name, _ in self._set("multiPoint").enabled:
            if not registry.is_known(name, self._release.minor):
                raise ConfigurationError(f'{point.type_name} "{name}" does not exist')
            if not _extends(name, point) or name in own.disabled:
                continue
            if name in named:
                overriding.add(name)
            elif name in expanded:
                raise ConfigurationError(f'plugin "{name}" already registered as "{point.type_name}"')
            else:
                expanded.append(name)
        first = [name for name in named if name in overriding]
        return [*first, *expanded, *(name for name in named if name not in overriding)]

    def _weights(self) -> dict[str, int]:
        """Weights named at the point score come before those of multiPoint; none is 1 (getScoreWeights)."""
        found: dict[str, int] = {}
        for name, weight in (*self._set("score").enabled, *self._set("multiPoint").enabled):
            found.setdefault(name, weight or 1)
        if sum(found.values()) > _MAX_TOTAL_SCORE:
            raise ConfigurationError("total score of Score plugins could overflow")
        return found

    def _plugins(self, names: Sequence[str]) -> tuple[Plugin, ...]:
        return tuple(self._plugin(name) for name in names if name in registry.PLUGINS)

    def _plugin(self, name: str) -> Plugin:
        if name not in self._made:
            try:
                made = registry.PLUGINS[name](self._profile.args.get(name, {}), self._gates)
            except ArgsError as error:
                raise ConfigurationError(f'initializing plugin "{name}": {error}') from error
            made.release = self._release
            self._made[name] = made
        return self._made[name]

    def _check(self, points: Mapping[str, Sequence[str]]) -> None:
        name = self._profile.scheduler_name
        sorts = len(points["queueSort"])
        if not sorts:
            raise ConfigurationError(f'no queue sort plugin for profile with scheduler name "{name}"')
        if sorts > 1:
            raise ConfigurationError(
                f'only one queue sort plugin required for profile with scheduler name "{name}", but got {sorts}'
            )
        if not points["bind"]:
            raise ConfigurationError(f'at least one bind plugin is needed for profile with scheduler name "{name}"')


def _extends(name: str, point: ExtensionPoint) -> bool:
    plugin = registry.PLUGINS.get(name)
    if plugin is None:
        return point.name in registry.points_of_unbuilt(name)
    return all(callable(getattr(plugin, method, None)) for method in _methods(point))


def _methods(point: ExtensionPoint) -> list[str]:
    return [name for name in vars(point.protocol) if not name.startswith("_")]
