"""Plugins whose answers depend on other nodes, followed pod by pod instead of being asked anew.

A plugin with LOCAL looks at the pod and one node alone. Any other that wants to take part in the fast path has
`track`: its tracker holds the sums that PreFilter and PreScore would work out, and says of each node which place it
has in them. Nodes that stand in the same place, and look alike to the local plugins, get the same answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo


class Tracker(Protocol):
    """A plugin's sums for one template of pods."""

    @property
    def filters(self) -> bool:
        """Whether the filter has anything to do at present."""

    @property
    def places(self) -> bool:
        """Whether nodes may ever stand in different places."""

    def place(self, node: NodeInfo) -> Hashable:
        """Whatever the answers for the node depend on and is not the same for all nodes."""

    def count(self, other: PodInfo, node: NodeInfo, sign: int) -> Iterable[str] | None:
        """A pod came to the node (1) or left it (-1).

        Answers the other nodes whose place changed with that, or None where the sums must be worked out anew.
        """

    def prepare_scores(self, state: CycleState, groups: Sequence[tuple[NodeInfo, int]]) -> bool:
        """PreScore for passing nodes: one of each place and how many are like it. False: the plugin does not score."""


@runtime_checkable
class TrackedPlugin(Protocol):
    """A plugin that can be followed."""

    def track(self, state: CycleState, pod: PodInfo, domains: Domains) -> Tracker:
        """A tracker that begins with the state's snapshot; the state is as PreFilter left it."""


class Domains:
    """Which nodes share a value of a topology key, for keys with few nodes a value.

    With many values, nodes are told apart by what was counted in their domain, and a change there concerns the few
    nodes of that domain. With few values, they are told apart by the value itself, and a change concerns nobody.
    """

    def __init__(self, nodes: Mapping[str, NodeInfo]) -> None:
        self._labels = {name: node.labels for name, node in nodes.items()}
        self._members: dict[str, dict[str, list[str]]] = {}

    def _of(self, key: str) -> dict[str, list[str]]:
        """Names by value; empty where there are few values."""
        members = self._members.get(key)
        if members is None:
            members = {}
            for name, labels in self._labels.items():
                if key in labels:
                    members.setdefault(labels[key], []).append(name)
            if len(members) ** 2 <= len(self._labels):
                members = {}
            self._members[key] = members
        return members

    def has_many(self, key: str) -> bool:
        """Whether nodes are to be told apart by what was counted."""
        return bool(self._of(key))

    def neighbours(self, key: str, node: NodeInfo) -> Sequence[str]:
        """The nodes of the node's domain, itself included; none where the value itself tells nodes apart."""
        return self._of(key).get(node.labels.get(key, ""), ())
