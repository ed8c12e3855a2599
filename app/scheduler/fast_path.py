"""Many pods, one after the other: the same decisions as `schedule_one`, at the cost of what changed.

```python
scheduler = FastPath(build_profiles(None), Cache(objects))
placed = scheduler.schedule(pod)            # placed.node; or placed.result says why not
scheduler.cache.assume(pod, placed.node)    # the next decision sees it
```

Only successes are decided here, from the groups of `equivalence`. Whatever is not plain (no node fits, pods are
nominated, volumes, a plugin that cannot be followed) goes to `schedule_one` with the cache's snapshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from app.apimachinery.meta import Object
from app.scheduler.cache import Cache
from app.scheduler.diagnosis import Diagnosis
from app.scheduler.equivalence import Group, Template, template_key
from app.scheduler.framework.cycle_state import StateMissing
from app.scheduler.framework.interface import FilterPlugin, NormalizeScorePlugin, Plugin, ScorePlugin, Scores
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework, PluginScore
from app.scheduler.framework.status import Status, succeeded
from app.scheduler.recorder import Attempt
from app.scheduler.schedule_one import Pick, ScheduleResult, nodes_to_find, schedule_one
from app.scheduler.snapshot import Snapshot

_MOST_TEMPLATES = 64


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pod goes. `node` is empty where it was not placed; `result` is there where the plain path was taken."""

    pod: PodInfo
    node: str
    effects: tuple[Mapping[str, Any], ...]
    result: ScheduleResult | None = None


@dataclass(frozen=True, slots=True)
class _Passing:
    """Groups whose nodes pass, with how many of them count; `names` only where the search stopped early."""

    groups: list[Group]
    sizes: list[int]
    names: list[str] | None


_Decision = tuple[Template, _Passing, str, tuple[Mapping[str, Any], ...]]


class FastPath:
    """Decides for the pods of one cluster. `cache` is to be told of every change, bindings included."""

    def __init__(self, profiles: Mapping[str, Framework], cache: Cache, *, pick: Pick = min) -> None:
        self.cache = cache
        self.plain = 0
        """How many decisions took the plain path."""
        self._profiles = profiles
        self._pick = pick
        self._templates: dict[tuple[str, str], Template | int] = {}

    def schedule(self, pod: Object) -> Placement:
        """One decision, without a record; `ValueError` where no profile has the pod's schedulerName."""
        info = PodInfo.of(pod)
        framework = self._framework(info)
        try:
            decided = self._decided(framework, info)
        except StateMissing:  # the profile leaves a point out that a plugin needs: the plain path says so
            decided = None
        if decided is None:
            return self._plainly(framework, info)
        _, _, node, effects = decided
        return Placement(info, node, effects)

    def recorded(self, pod: Object) -> ScheduleResult:
        """The same decision with its record, taken from the groups; its cost is that of looking at every node."""
        info = PodInfo.of(pod)
        framework = self._framework(info)
        try:
            decided = self._decided(framework, info)
        except StateMissing:
            decided = None
        if decided is None:
            return self._result(framework, info)
        template, passing, node, effects = decided
        record = _record(template, passing, info, self.cache.snapshot())
        record.node = node
        return ScheduleResult(info, node, None, "", "", None, effects, record)

    def _decided(self, framework: Framework, info: PodInfo) -> _Decision | None:
        """Template, passing groups, node and effects; None where only the plain path is right."""
        template = self._template(framework, info)
        passing = None if template is None else _passing(template)
        if template is None or passing is None:
            return None
        node = self._choose(template, passing)
        effects = _bind(template, info, node)
        return None if effects is None else (template, passing, node, effects)

    def _framework(self, pod: PodInfo) -> Framework:
        framework = self._profiles.get(pod.scheduler_name)
        if framework is None:
            raise ValueError(f"no profile is named {pod.scheduler_name}")
        return framework

    def _plainly(self, framework: Framework, pod: PodInfo) -> Placement:
        result = self._result(framework, pod)
        return Placement(pod, result.node, result.effects, result)

    def _result(self, framework: Framework, pod: PodInfo) -> ScheduleResult:
        self.plain += 1
        return schedule_one(framework, self.cache.snapshot(), pod.pod, pick=self._pick)

    def _template(self, framework: Framework, pod: PodInfo) -> Template | None:
        """The pod's template, up to date; None where only the plain path is right."""
        if pod.nominated_node or not self.cache.nodes or self.cache.waits_before(pod):
            return None
        key = (framework.profile_name, template_key(pod))
        known = self._templates.get(key)
        if known == self.cache.epoch:
            return None
        if isinstance(known, Template) and known.catch_up():
            pod.adopt(known.pod)
            return known
        self._templates.pop(key, None)
        template = Template.build(framework, self.cache, pod)
        if len(self._templates) >= _MOST_TEMPLATES:
            del self._templates[next(iter(self._templates))]
        self._templates[key] = self.cache.epoch if template is None else template
        return template

    def _choose(self, template: Template, passing: _Passing) -> str:
        groups = passing.groups
        if len(groups) > 1:
            totals = _totals(template, passing)
            top = max(totals)
            groups = [group for group, total in zip(groups, totals, strict=True) if total == top]
        if self._pick is min and passing.names is None:
            return min(group.smallest for group in groups)
        names = _names(template, passing, groups)
        return min(names) if self._pick is min else self._pick(sorted(names))


def _names(template: Template, passing: _Passing, groups: Iterable[Group]) -> list[str]:
    """The nodes of the groups that count."""
    if passing.names is None:
        return [name for group in groups for name in group.names]
    chosen = set(groups)
    return [name for name in passing.names if template.group_of[name] in chosen]


def _passing(template: Template) -> _Passing | None:
    """The groups that pass all filters; None where none does, or where a filter met an error."""
    groups = []
    shared = template.shared_filters
    for group in template.groups.values():
        status = group.local[0] or (_shared_status(template, group, shared) if shared else None)
        if status is None:
            groups.append(group)
        elif not status.is_rejected:
            return None
    if not groups:
        return None
    sizes = [len(group.names) for group in groups]
    enough = nodes_to_find(len(template.nodes), template.framework.percentage_of_nodes_to_score)
    return _Passing(groups, sizes, None) if sum(sizes) <= enough else _first(template, groups, enough)


def _shared_status(template: Template, group: Group, plugins: Sequence[Plugin]) -> Status | None:
    """The first rejection by a plugin whose answer depends on other nodes."""
    node = template.nodes[group.smallest]
    for plugin in plugins:
        status = cast("FilterPlugin", plugin).filter(template.state, template.pod, node)
        if status is not None and not succeeded(status):
            return status
    return None


def _first(template: Template, groups: Sequence[Group], enough: int) -> _Passing:
    """The first nodes that pass, in the nodes' order, and no more than are enough."""
    wanted, group_of = set(groups), template.group_of
    names = list(islice((name for name, group in group_of.items() if group in wanted), enough))
    counts = Counter(map(group_of.__getitem__, names))
    return _Passing(list(counts), list(counts.values()), names)


def _totals(template: Template, passing: _Passing) -> list[int]:
    """A number for each group, larger for better; LOCAL plugins that tell no two groups apart are left out."""
    groups, weights = passing.groups, template.framework.weights
    totals = [group.fixed for group in groups]
    for index in template.normalized:
        raw = [group.local[1][index] for group in groups]
        if min(raw) != max(raw):
            plugin = template.local_scorers[index]
            scores = {group.smallest: score for group, score in zip(groups, raw, strict=True)}
            cast("NormalizeScorePlugin", plugin).normalize_score(template.state, template.pod, scores)
            totals = [
                total + weights[plugin.NAME] * score for total, score in zip(totals, scores.values(), strict=True)
            ]
    for name, (_, normalized) in _tracked_scores(template, passing):
        totals = [total + weights[name] * score for total, score in zip(totals, normalized.values(), strict=True)]
    return totals


def _tracked_scores(template: Template, passing: _Passing) -> list[tuple[str, tuple[Scores, Scores]]]:
    """Raw and normalised scores of the tracked plugins, by the smallest node of each group."""
    found = []
    nodes = [template.nodes[group.smallest] for group in passing.groups]
    state, pod = template.state, template.pod
    for plugin in template.scorers:
        tracker = template.trackers.get(plugin.NAME)
        if tracker is None or not tracker.prepare_scores(state, list(zip(nodes, passing.sizes, strict=True))):
            continue
        raw = {node.name: cast("ScorePlugin", plugin).score(state, pod, node) for node in nodes}
        normalized = dict(raw)
        if plugin.NAME in template.normalizing:
            cast("NormalizeScorePlugin", plugin).normalize_score(state, pod, normalized)
        found.append((plugin.NAME, (raw, normalized)))
    return found


def _bind(template: Template, pod: PodInfo, node: str) -> tuple[Mapping[str, Any], ...] | None:
    """Reserve, Permit and Bind for this very pod; None where one of them objects."""
    framework, state = template.framework, template.state
    state.effects = []
    status = framework.run_reserve(state, pod, node)
    if status is None:
        status = framework.run_permit(state, pod, node)
        if status is None:
            status = framework.run_bind(state, pod, node)
        if status is not None:
            framework.run_unreserve(state, pod, node)
    return None if status is not None else tuple(state.effects)


def _record(template: Template, passing: _Passing, pod: PodInfo, snapshot: Snapshot) -> Attempt:
    """What the plain path would have noted, spread out from the groups to their nodes."""
    state = template.state.clone()
    state.snapshot = snapshot
    record = Attempt(template.framework, state, pod, Diagnosis())
    chosen = set(passing.names if passing.names is not None else _names(template, passing, passing.groups))
    last = passing.names[-1] if passing.names else ""
    for name in template.nodes:
        record.evaluated.append(name)
        if name in chosen:
            record.feasible.append(name)
        else:
            _note_rejection(template, name, record.diagnosis)
        if name == last:
            break
    if len(record.feasible) > 1:
        record.scores = _plugin_scores(template, passing, record.feasible)
    totals = record.totals
    top = max(totals.values(), default=0)
    record.best = [name for name, total in totals.items() if total == top] or sorted(record.feasible)
    return record


def _note_rejection(template: Template, name: str, diagnosis: Diagnosis) -> None:
    status = template.framework.run_filters(template.state, template.pod, template.nodes[name])
    if status is not None:
        diagnosis.nodes[name] = status
        diagnosis.add_plugin_status(status)


def _plugin_scores(template: Template, passing: _Passing, names: Sequence[str]) -> list[PluginScore]:
    """Each score plugin's answers for all nodes that passed."""
    tracked = dict(_tracked_scores(template, passing))
    found = []
    for plugin in template.scorers:
        if plugin.LOCAL:
            index = template.local_scorers.index(plugin)
            raw = {group.smallest: group.local[1][index] for group in passing.groups}
            normalized = dict(raw)
            if plugin.NAME in template.normalizing:
                cast("NormalizeScorePlugin", plugin).normalize_score(template.state, template.pod, normalized)
        elif plugin.NAME in tracked:
            raw, normalized = tracked[plugin.NAME]
        else:
            continue
        weight = template.framework.weights[plugin.NAME]
        spread = {name: template.group_of[name].smallest for name in names}
        found.append(
            PluginScore(
                plugin.NAME,
                weight,
                {name: raw[first] for name, first in spread.items()},
                {name: normalized[first] for name, first in spread.items()},
                {name: normalized[first] * weight for name, first in spread.items()},
            )
        )
    return found
