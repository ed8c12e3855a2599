"""Facts about even numbers: which domain's count against which skew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery.messages import N_, Message
from app.scheduler.framework import spread
from app.scheduler.framework.spread import Constraint
from app.scheduler.why.model import Fact, Situation

_PLUGIN = "PodTopologySpread"
_HARD = "DoNotSchedule"


@dataclass
class Domains:
    """A constraint and the keys of the pods that count for it, by domain; a domain may have none."""

    constraint: Constraint
    pods: dict[str, list[str]] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """The smallest count; 0 where there are fewer domains than minDomains."""
        if len(self.pods) < self.constraint.min_domains:
            return 0
        return min((len(pods) for pods in self.pods.values()), default=0)


def constraints(here: Situation) -> tuple[bool, list[Constraint]]:
    """(whether they are the pod's own, the hard constraints) (plugins/podtopologyspread: common.go)."""
    if here.pod.spec.get("topologySpreadConstraints"):
        return True, spread.own_constraints(here.pod, _HARD)
    for plugin in here.framework.at("filter"):
        if plugin.NAME == _PLUGIN and (plugin.args.get("defaultingType") or "System") != "System":
            defaults = plugin.args.get("defaultConstraints") or ()
            return False, spread.default_constraints(here.pod, defaults, _HARD, here.state.snapshot.list)
    return False, []


def counted(here: Situation) -> Sequence[Domains]:
    """The pods that count, by constraint and domain; worked out once an explanation."""
    found: list[Domains] | None = here.memo.get(_PLUGIN)
    if found is None:
        found = here.memo[_PLUGIN] = _counted(here)
    return found


def _counted(here: Situation) -> list[Domains]:
    _, listed = constraints(here)
    found = [Domains(constraint) for constraint in listed]
    for node in here.nodes():
        if not spread.has_all_keys(node.labels, listed):
            continue
        for domains in found:
            constraint = domains.constraint
            if not constraint.includes(here.pod, node.node):
                continue
            pods = domains.pods.setdefault(node.labels[constraint.topology_key], [])
            if spread.matching_pods(node, constraint.selector, here.pod.namespace):
                pods += [
                    pod.key
                    for pod in node.pods
                    if pod.namespace == here.pod.namespace
                    and not pod.terminating
                    and constraint.selector.matches(pod.labels)
                ]
    return found


def topology_spread(here: Situation) -> list[Fact]:
    """Each constraint that fails (plugins/podtopologyspread/filtering.go: Filter)."""
    found = []
    for index, domains in enumerate(counted(here)):
        constraint = domains.constraint
        key = constraint.topology_key
        value = here.node.labels.get(key)
        data: dict[str, Any] = {"constraint": index, "topologyKey": key, "value": value}
        data["counts"] = {name: len(pods) for name, pods in sorted(domains.pods.items())}
        data["maxSkew"] = constraint.max_skew
        if value is None:
            message = Message(
                N_("The spread constraint over {key} needs that label, and {node} has none."),
                {"key": key, "node": here.node.name},
            )
            found.append(Fact(_PLUGIN, here.node.name, message, {"kind": "noDomain", **data}))
            continue
        count, itself = len(domains.pods.get(value, ())), int(constraint.selector.matches(here.pod.labels))
        skew = count + itself - domains.least
        if skew <= constraint.max_skew:
            continue
        data.update(count=count, self=itself, least=domains.least, skew=skew, pods=domains.pods.get(value, []))
        message = Message(
            N_(
                "In {key}={value} of {node} count {count} matching pods, with this one {total}; the least is {least}. "
                "The skew would be {skew}, and maxSkew is {most}."
            ),
            {
                "key": key, "value": value, "node": here.node.name, "count": count, "total": count + itself,
                "least": domains.least, "skew": skew, "most": constraint.max_skew,
            },
        )  # fmt: skip
        found.append(Fact(_PLUGIN, here.node.name, message, {"kind": "skew", **data}))
    return found
