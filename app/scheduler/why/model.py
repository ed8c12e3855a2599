"""What explanations and counterfactuals are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.apimachinery.messages import Message
from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework

SHOWN = 3
"""How many pods a sentence names before it counts the rest."""


@dataclass(frozen=True)
class Fact:
    """One reason of one plugin about one node. `data` is JSON; its `kind` says what else is in it."""

    plugin: str
    node: str
    message: Message
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Situation:
    """A pod before a node, after PreFilter. The node counts nominated pods in where they are what turned it down.

    `memo` keeps what is the same for all nodes of one explanation.
    """

    framework: Framework
    state: CycleState
    pod: PodInfo
    node: NodeInfo
    memo: dict[str, Any] = field(default_factory=dict)

    def nodes(self) -> Iterator[NodeInfo]:
        """All nodes of the cluster, this one as it is here."""
        for node in self.state.snapshot.nodes.values():
            yield self.node if node.name == self.node.name else node


@dataclass(frozen=True)
class Working:
    """How a raw score comes about; `score` is the result of that working, and the plugin's."""

    message: Message
    score: int
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """One thing that a person could do.

    `kind` names it (addToleration, removeTaint, deletePod …), `target` is the object as `Kind namespace/name`, and
    `patch` are the steps: `{"op": …, "path": [keys and indices], "value": …}` where `set` and `unset` speak of a
    field, `append` and `drop` of an item of a list (equal items, never positions, so that edits combine in any
    order), and `delete` of the whole object. A list or mapping that is not there yet is made.
    """

    kind: str
    target: str
    message: Message
    patch: Sequence[Mapping[str, Any]]

    @property
    def text(self) -> Message:
        """The sentence that says what to do."""
        return self.message

    @cached_property
    def key(self) -> str:
        """The same for edits that do the same."""
        return json.dumps([self.target, list(self.patch)], sort_keys=True)

    @property
    def cost(self) -> int:
        """0 for the pod itself, 1 for nodes, 2 for other pods, 3 for other pods that would be gone."""
        if self.kind == "deletePod":
            return 3
        if self.kind == "labelPod":
            return 2
        return 1 if self.target.startswith("Node ") else 0


@dataclass(frozen=True)
class Change:
    """Edits that together do it, and no part of them does. `outcome` is fits, ties or wins."""

    edits: tuple[Edit, ...]
    outcome: str

    def to_json(self) -> dict[str, Any]:
        """JSON with the English sentences."""
        listed = [
            {"kind": edit.kind, "target": edit.target, "message": str(edit.message), "patch": list(edit.patch)}
            for edit in self.edits
        ]
        return {"outcome": self.outcome, "edits": listed}


Alternative = tuple[Edit, ...]


@dataclass(frozen=True)
class Blocker:
    """One thing in the way of a node, and what would take it away: any one of the alternatives, whole."""

    plugin: str
    alternatives: tuple[Alternative, ...] = field(default=())


def node_target(name: str) -> str:
    """How an edit names a node."""
    return f"Node {name}"


def pod_target(key: str) -> str:
    """How an edit names a pod; `key` is namespace/name."""
    return f"Pod {key}"


def shown(names: Sequence[str], total: int | None = None) -> str:
    """The first few names and how many more of `total` there are; a sentence never holds a long list."""
    rest = (len(names) if total is None else total) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" (+{rest})" if rest > 0 else "")
