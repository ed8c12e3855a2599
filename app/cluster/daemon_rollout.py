"""How a DaemonSet's pods follow its template (pkg/controller/daemon/update.go: rollingUpdate)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import daemon_pods

ByNode = Mapping[str, list[Object]]


@dataclass
class Plan:
    """Pods to delete, and nodes that get a pod beside the one that they have."""

    delete: list[Object] = field(default_factory=list)
    create: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Rollout:
    """What a step of an update goes by; `by_node` has an entry for each node that should have a pod."""

    daemonset: Object
    code: str
    wanted: frozenset[str]
    by_node: ByNode
    is_available: Callable[[Object], bool]

    def plan(self) -> Plan:
        """The next step: go without pods, or have two for a while."""
        nodes = len(self.wanted)
        surge, unavailable = daemon_pods.surge(self.daemonset, nodes), daemon_pods.unavailable(self.daemonset, nodes)
        if nodes and not surge and not unavailable:
            unavailable = 1
        return self._surging(surge) if surge else self._making_do(unavailable)

    def _pair(self, pods: list[Object]) -> tuple[Object | None, Object | None, bool]:
        """The new and the old pod of a node; False where there are several of a sort (findUpdatedPodsOnNode)."""
        new: list[Object] = []
        old: list[Object] = []
        for pod in pods:
            if not utils.is_terminating(pod):
                (new if daemon_pods.is_updated(self.daemonset, pod, self.code) else old).append(pod)
        if len(new) > 1 or len(old) > 1:
            return None, None, False
        return next(iter(new), None), next(iter(old), None), True

    def _making_do(self, most: int) -> Plan:
        """Delete old pods, those first that serve nobody; new ones follow when they are gone."""
        missing = 0
        idle: list[Object] = []
        candidates: list[Object] = []
        for node in sorted(self.by_node):
            new, old, clear = self._pair(self.by_node[node])
            if not clear or (new is None) == (old is None):
                missing += 1
            elif new is not None:
                missing += not self.is_available(new)
            elif old is not None and not self.is_available(old):
                idle.append(old)
                missing += 1
            elif old is not None:
                candidates.append(old)
        return Plan(delete=idle + candidates[: max(most - missing, 0)])

    def _surging(self, most: int) -> Plan:
        """Make new pods beside old ones; old ones go when the new ones serve."""
        plan = Plan()
        surging = available = 0
        stranded: list[Object] = []
        candidates: list[str] = []
        for node in sorted(self.by_node):
            new, old, clear = self._pair(self.by_node[node])
            if not clear:
                surging += 1
                continue
            serves = old or new
            available += serves is not None and self.is_available(serves)
            if old is None:
                continue
            if new is not None:
                if self.is_available(new):
                    plan.delete.append(old)
                else:
                    surging += 1
            elif node not in self.wanted:
                (stranded if self.is_available(old) else plan.delete).append(old)
            elif self.is_available(old):
                candidates.append(node)
            else:
                plan.create.append(node)
        plan.delete += stranded[: max(available - len(self.wanted), 0)]
        plan.create += candidates[: max(most - surging, 0)]
        return plan
