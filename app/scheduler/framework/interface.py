"""What a plugin is: one method an extension point (staging/src/k8s.io/kube-scheduler/framework/interface.go).

A plugin subclasses `Plugin` and defines the methods of the extension points it takes part in; nothing else
registers them. Plain success is None everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.events import ClusterEventWithHint
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.release import NEWEST, Release
from app.scheduler.framework.status import Status

if TYPE_CHECKING:
    from app.scheduler.framework.preemption import Preemption

MAX_NODE_SCORE = 100
Scores = dict[str, int]
"""Node name → score."""

NodeStatuses = Mapping[str, Status]
"""Node name → why it was turned down."""


class ArgsError(ValueError):
    """The plugin's arguments are wrong; the message is upstream's."""


class Plugin:
    """A plugin with its decoded arguments (an empty mapping for the defaults) and the feature gates that are on."""

    NAME: ClassVar[str]
    LOCAL: ClassVar[bool] = False
    """Whether filter and score look at nothing but the pod and what `Cache.shape` tells of one node."""

    READS_LABELS: ClassVar[bool] = False
    """Whether a LOCAL plugin that has something to do looks at a node's name and labels, too."""

    release: Release = NEWEST
    """Whose words it speaks; set once, when a profile builds the plugin."""

    def __init__(self, args: Mapping[str, Any], gates: frozenset[str] = frozenset()) -> None:
        self.args = args
        self.gates = gates

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Which events may make a pod schedulable that this plugin turned down."""
        return ()


@runtime_checkable
class PreEnqueuePlugin(Protocol):
    """Keeps a pod out of the active queue."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Anything but success: the pod waits, and is not tried."""


@runtime_checkable
class QueueSortPlugin(Protocol):
    """Orders the active queue; a profile set has exactly one kind."""

    def sort_key(self, pod: PodInfo, queued: tuple[int, int]) -> tuple[int, ...]:
        """Smaller is tried earlier; `queued` is (instant, sequence number) of entering the queue."""


@runtime_checkable
class PreFilterPlugin(Protocol):
    """Looks at the pod and the cluster before any node is tried."""

    def pre_filter(self, state: CycleState, pod: PodInfo) -> tuple[set[str] | None, Status | None]:
        """(the only nodes worth trying or None for all, status). Skip: the plugin's filter has nothing to do."""


@runtime_checkable
class PreFilterExtensions(Protocol):
    """A PreFilter plugin whose data depends on pods that preemption moves about."""

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Count a pod in."""

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Count a pod out."""


@runtime_checkable
class FilterPlugin(Protocol):
    """Whether the pod can run on a node."""

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Unschedulable, or UnschedulableAndUnresolvable where removing pods would not help."""


@runtime_checkable
class PostFilterPlugin(Protocol):
    """Tries to make room when no node passed."""

    def post_filter(
        self, handle: Handle, state: CycleState, pod: PodInfo, rejected: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Success: a node was nominated."""


@runtime_checkable
class PreScorePlugin(Protocol):
    """Prepares scoring."""

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip: the plugin does not score this pod."""


@runtime_checkable
class ScorePlugin(Protocol):
    """Ranks the nodes that passed."""

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """A number, brought to 0…100 by normalize_score where it has another range."""


@runtime_checkable
class NormalizeScorePlugin(Protocol):
    """A Score plugin that brings its scores to 0…100."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> None:
        """Change the scores in place."""


@runtime_checkable
class ReservePlugin(Protocol):
    """Sets aside what the pod will need on its node."""

    def reserve(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """Set aside."""

    def unreserve(self, state: CycleState, pod: PodInfo, node: str) -> None:
        """Give back."""


@runtime_checkable
class PermitPlugin(Protocol):
    """Holds or denies a pod that has a node."""

    def permit(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """Success, or a rejection."""


@runtime_checkable
class PreBindPlugin(Protocol):
    """Does what must be done before the binding is written."""

    def pre_bind(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """Add to `state.effects` what is to be written."""


@runtime_checkable
class BindPlugin(Protocol):
    """Writes the binding."""

    def bind(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """Add the binding to `state.effects`; Skip leaves it to the next plugin."""


@runtime_checkable
class PostBindPlugin(Protocol):
    """Hears of the binding."""

    def post_bind(self, state: CycleState, pod: PodInfo, node: str) -> None:
        """Nothing is expected."""


@dataclass(frozen=True)
class PostFilterResult:
    """The node to nominate; empty clears an earlier nomination. `preemption` is how it was found."""

    nominated_node: str
    preemption: Preemption | None = None


class Handle(Protocol):
    """What a PostFilter plugin may use of the framework it runs in."""

    def run_filters_with_nominated_pods(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """All filters on one node, counting in the pods nominated to it."""

    def run_add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Tell the PreFilter plugins of a pod that is there now."""

    def run_remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Tell the PreFilter plugins of a pod that is gone now."""


@dataclass(frozen=True)
class ExtensionPoint:
    """An extension point: its name in a configuration, upstream's name of its plugin type, and ours."""

    name: str
    type_name: str
    protocol: type = field(repr=False)


EXTENSION_POINTS: tuple[ExtensionPoint, ...] = (
    ExtensionPoint("preFilter", "PreFilterPlugin", PreFilterPlugin),
    ExtensionPoint("filter", "FilterPlugin", FilterPlugin),
    ExtensionPoint("postFilter", "PostFilterPlugin", PostFilterPlugin),
    ExtensionPoint("reserve", "ReservePlugin", ReservePlugin),
    ExtensionPoint("preScore", "PreScorePlugin", PreScorePlugin),
    ExtensionPoint("score", "ScorePlugin", ScorePlugin),
    ExtensionPoint("preBind", "PreBindPlugin", PreBindPlugin),
    ExtensionPoint("bind", "BindPlugin", BindPlugin),
    ExtensionPoint("postBind", "PostBindPlugin", PostBindPlugin),
    ExtensionPoint("permit", "PermitPlugin", PermitPlugin),
    ExtensionPoint("preEnqueue", "PreEnqueuePlugin", PreEnqueuePlugin),
    ExtensionPoint("queueSort", "QueueSortPlugin", QueueSortPlugin),
)
"""In the order in which upstream fills them (runtime/framework.go: getExtensionPoints)."""
