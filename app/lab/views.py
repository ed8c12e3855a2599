"""What a page shows of a lab, as plain frozen data: the service fills it, templates read it.

Nothing here is formatted for one medium. Sentences are `Sentence`s (an English template and its facts), texts
of exercises are Markdown in the language that was asked for, instants are timezone-aware datetimes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Sentence(Protocol):
    """A sentence before translation: `text` has `{name}` where `facts["name"]` goes. Any Message is one."""

    @property
    def text(self) -> str:
        """The English template."""

    @property
    def facts(self) -> Mapping[str, object]:
        """What goes into the template."""


class Mode(StrEnum):
    """How a manifest reaches the cluster, in kubectl's words."""

    APPLY = "apply"
    CREATE = "create"
    REPLACE = "replace"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Gauge:
    """How much of a node's resource is requested: numbers of one unit, and Kubernetes quantities as text."""

    used: int
    capacity: int
    used_text: str
    capacity_text: str

    @property
    def percent(self) -> int:
        """0 to 100, rounded; an overcommitted node shows 100, a node without the resource 0."""
        return min(100, round(100 * self.used / self.capacity)) if self.capacity > 0 else 0


@dataclass(frozen=True, slots=True)
class PodView:
    """One pod as the picture, the table and the list of waiting pods show it."""

    namespace: str
    name: str
    node: str
    """Empty until the pod is bound."""
    phase: str
    """Pending, Running, Succeeded, Failed, Terminating, or the reason that kubectl prints in STATUS."""
    scheduler: str
    age: str
    """As kubectl prints it: 42s, 5m, 3d."""
    why: Sentence | None = None
    """Why it waits, for a pod that does."""
    attempts: int = 0
    system: bool = False
    """Whether it belongs to the cluster itself (kube-system at the start) and not to the task."""

    @property
    def shape(self) -> str:
        """The word that picks shape and colour: pending, running, succeeded, failed or terminating."""
        known = {"Pending", "Running", "Succeeded", "Failed", "Terminating"}
        if self.phase in known:
            return self.phase.lower()
        if self.phase in {"ContainerCreating", "PodInitializing", "SchedulingGated"}:
            return "pending"
        return "succeeded" if self.phase == "Completed" else "failed"


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node: what the scheduler looks at, and how full it is."""

    name: str
    roles: tuple[str, ...]
    ready: bool
    unschedulable: bool
    taints: tuple[str, ...]
    """As kubectl prints them: key=value:Effect or key:Effect."""
    labels: Mapping[str, str]
    cpu: Gauge
    memory: Gauge
    pods: Gauge


@dataclass(frozen=True, slots=True)
class StepView:
    """An earlier state of the lab: the command that left it."""

    seq: int
    """0 is the start."""
    kind: str = ""
    text: str = ""
    """The first words of what was sent."""
    now: datetime | None = None
    """The simulated instant."""


@dataclass(frozen=True, slots=True)
class EventView:
    """One line of kubectl get events."""

    age: str
    type: str
    reason: str
    object: str
    """kind/name in lower case."""
    message: str
    source: str
    count: int = 1
    namespace: str = "default"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs from the start; an absent value is the empty string."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One object that was created, changed or deleted since the lab started."""

    kind: str
    namespace: str
    """Empty for objects without a namespace."""
    name: str
    verb: str
    """created, changed or deleted."""
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check as the task lists it, before any verdict."""

    name: str
    text: str
    points: int


@dataclass(frozen=True, slots=True)
class ResultView:
    """One check's verdict."""

    name: str
    text: str
    status: str
    """passed, failed, or fault: the check itself broke, and the point is not graded."""
    points: int
    possible: int
    looked_for: Sentence | None = None
    found: Sentence | None = None
    where: Sentence | None = None


@dataclass(frozen=True, slots=True)
class VerdictView:
    """What Check and Submit answer."""

    points: int
    possible: int
    results: tuple[ResultView, ...]
    kind: str = "check"
    """check or submit."""
    at: datetime | None = None

    @property
    def full(self) -> bool:
        """Whether every point was reached."""
        return self.points == self.possible

    @property
    def final(self) -> bool:
        """Whether every check was graded."""
        return all(result.status != "fault" for result in self.results)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in what the learner sent. Line and column count from 1; 0 where no place is known."""

    message: Sentence
    line: int = 0
    column: int = 0
    advice: Sentence | None = None


@dataclass(frozen=True, slots=True)
class ScoreView:
    """Points of a past result, short."""

    points: int
    possible: int
    at: datetime

    @property
    def full(self) -> bool:
        """Whether every point was reached."""
        return self.points == self.possible


@dataclass(frozen=True, slots=True)
class SolutionView:
    """The model solution: manifests, and why they work (Markdown)."""

    manifests: str
    why: str
    read: tuple[str, ...] = ()
    """Addresses of pages of the official documentation."""
    mode: Mode = Mode.APPLY
    """How the manifests are meant to reach the cluster."""


@dataclass(frozen=True, slots=True)
class LabView:
    """Everything the workplace shows, at one revision and one simulated instant."""

    id: str
    exercise: str
    title: str
    chapter: str
    """The chapter's title."""
    task: str
    """Markdown, the variant's names filled in."""
    checks: tuple[CheckView, ...]
    hints: int
    """How many hints there are."""
    nodes: tuple[NodeView, ...]
    pods: tuple[PodView, ...]
    events: tuple[EventView, ...]
    """Newest last, as kubectl prints them."""
    changes: tuple[ChangeView, ...]
    revision: int
    now: datetime
    """The simulated instant that all ages refer to."""
    best: ScoreView | None = None
    last: ScoreView | None = None
    verdict: VerdictView | None = None
    """The verdict given last, for a page that is opened anew."""
    verdict_stale: bool = False
    """Whether the cluster was changed since that verdict."""
    paused: bool = False
    """Whether the cluster's time stands still."""
    steps: tuple[StepView, ...] = ()
    """What can be gone back to, newest first; the start is always the last one. Empty in an exam."""
    steps_more: bool = False
    """Whether more steps are kept than these."""
    steps_gone: bool = False
    """Whether the states after the oldest commands are no longer kept."""
    next_in: float | None = None
    """Seconds until something happens in the cluster by itself; None when nothing will."""
    commands: int = 0
    """How many interactions were carried out since the start or the last reset."""
    manifest: str = ""
    """What the editor starts with: the text sent last, else what the exercise hands out."""
    seed: int = 0
    level: int = 1
    minutes: int = 0

    @property
    def possible(self) -> int:
        """The points of all checks."""
        return sum(check.points for check in self.checks)

    @property
    def waiting(self) -> tuple[PodView, ...]:
        """The pods that no node runs yet."""
        return tuple(pod for pod in self.pods if not pod.node and pod.shape == "pending")

    @property
    def waiting_by_reason(self) -> tuple[tuple[Sentence | None, tuple[PodView, ...]], ...]:
        """The waiting pods of each reason together, in the order in which the reasons come up."""
        groups: list[tuple[Sentence | None, list[PodView]]] = []
        for pod in self.waiting:
            for why, pods in groups:
                if why == pod.why:
                    pods.append(pod)
                    break
            else:
                groups.append((pod.why, [pod]))
        return tuple((why, tuple(pods)) for why, pods in groups)

    def pods_on(self, node: str) -> tuple[PodView, ...]:
        """The pods bound to this node."""
        return tuple(pod for pod in self.pods if pod.node == node)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to apply, check, submit or reset; `view` is the lab afterwards, unchanged when not ok."""

    ok: bool
    lines: tuple[str, ...]
    """What kubectl printed, standard output and error in order."""
    view: LabView
    problems: tuple[Problem, ...] = ()
    verdict: VerdictView | None = None
    passed: str = ""
    """How far time went, as Kubernetes prints spans; empty where it did not."""
    cut: bool = False
    """Whether time stopped on its way, because so much happened."""


class Standing(StrEnum):
    """How far somebody is with an exercise."""

    NEW = "new"
    BEGUN = "begun"
    PARTIAL = "partial"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class ExerciseCard:
    """An exercise as the catalogue lists it, with the reader's own state."""

    name: str
    title: str
    level: int
    minutes: int
    points: int
    standing: Standing = Standing.NEW
    best: int = 0
    lab: str = ""
    """The reader's open lab of this exercise, if any."""
    languages: tuple[str, ...] = ("en",)


@dataclass(frozen=True, slots=True)
class ChapterView:
    """One of the syllabus' chapters, `number` counts from 1."""

    id: str
    number: int
    title: str
    exercises: tuple[ExerciseCard, ...]


@dataclass(frozen=True, slots=True)
class CatalogueView:
    """All that is on offer."""

    chapters: tuple[ChapterView, ...]

    @property
    def exercises(self) -> tuple[ExerciseCard, ...]:
        """All cards in order."""
        return tuple(card for chapter in self.chapters for card in chapter.exercises)

    @property
    def points(self) -> int:
        """The reader's best points, summed."""
        return sum(card.best for card in self.exercises)

    @property
    def possible(self) -> int:
        """The points of all exercises."""
        return sum(card.points for card in self.exercises)


@dataclass(frozen=True, slots=True)
class ExerciseView:
    """An exercise before it is started: its text in one variant, and what the checks are worth."""

    card: ExerciseCard
    chapter: ChapterView
    version: int
    task: str
    """Markdown, names of the variant shown filled in."""
    checks: tuple[CheckView, ...]
    hints: int
    varies: bool = False
    """Whether names differ from start to start."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One past result in somebody's own history."""

    exercise: str
    title: str
    lab: str
    kind: str
    """check or submit."""
    points: int
    possible: int
    at: datetime
    version: int
    seed: int


@dataclass(frozen=True, slots=True)
class ExerciseProgress:
    """First, last and best result of one exercise."""

    card: ExerciseCard
    attempts: int
    first: ScoreView | None
    last: ScoreView | None
    best: ScoreView | None


@dataclass(frozen=True, slots=True)
class LabLine:
    """One of somebody's own labs."""

    id: str
    exercise: str
    title: str
    started: datetime
    updated: datetime


@dataclass(frozen=True, slots=True)
class ProgressView:
    """Somebody's own progress: newest history first."""

    exercises: tuple[ExerciseProgress, ...]
    history: tuple[HistoryLine, ...]
    labs: tuple[LabLine, ...] = field(default=())
