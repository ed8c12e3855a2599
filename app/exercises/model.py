"""The exercise as a file describes it, and one variant of it with every name drawn and filled in.

The file's shape is these classes; `docs/exercise-format.md` explains it and `docs/exercise.schema.json` is made from
them. Field names are the file's own, in Kubernetes' camel case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.exercises import parameters
from app.exercises.base import (
    LANGUAGES,
    MAX_CHECKS,
    MAX_HINTS,
    MAX_MANIFESTS,
    MAX_PARAMETERS,
    MAX_VARIANTS,
    MAX_WRONG,
    Expression,
    LocalMarkdown,
    LocalSentence,
    Manifests,
    Markdown,
    Mode,
    Sentence,
    Slug,
    Strict,
)
from app.exercises.chapters import BY_ID, Chapter
from app.exercises.checks.event import Spec as EventSpec
from app.exercises.checks.object import Spec as ObjectSpec
from app.exercises.checks.placement import Spec as PlacementSpec
from app.exercises.checks.probe import Spec as ProbeSpec
from app.exercises.checks.scheduled_by import Spec as ScheduledBySpec
from app.exercises.parameters import Parameter, ParameterName
from app.exercises.registry import UNITS

TEMPLATES = ("kubeadm-3", "kubeadm-1")
_KINDS = tuple(UNITS)


class Metadata(Strict):
    """Who the exercise is. `name` never changes; `version` rises when the meaning does."""

    name: Slug
    version: Annotated[int, Field(ge=1, le=1_000_000)]


class ClusterSpec(Strict):
    """What the learner finds."""

    template: Literal["kubeadm-3", "kubeadm-1"] = "kubeadm-3"
    manifests: Annotated[str, Field(max_length=MAX_MANIFESTS)] = ""
    """Objects that are there from the start; nodes of the template are changed by a manifest of the same name."""
    withoutStaticPods: Annotated[list[Slug], Field(default_factory=list, max_length=10)]  # noqa: N815 (the file's own spelling)
    """Static pods of the control plane that are gone, such as kube-scheduler-controlplane."""
    expect: Expression | None = None
    """What the story says about the start, as a condition on `pods` and `nodes`; the proof looks whether it is so."""


class Text(Strict):
    """The exercise in one language. The title stands in lists, so it has no placeholder."""

    title: Annotated[str, Field(min_length=1, max_length=80)]
    task: Markdown


class Texts(Strict):
    """The exercise in each language."""

    en: Text
    ko: Text | None = None

    def get(self, language: str) -> Text:
        """The text in that language, in English where it lacks."""
        return getattr(self, language, None) or self.en


class Check(Strict):
    """One check: its points, its sentence, and exactly one kind of judgement."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [kind]} for kind in _KINDS]})

    name: Slug
    points: Annotated[int, Field(ge=1, le=100)]
    text: LocalSentence
    object: ObjectSpec | None = None
    placement: PlacementSpec | None = None
    scheduledBy: ScheduledBySpec | None = None  # noqa: N815 (the file's own spelling)
    event: EventSpec | None = None
    probe: ProbeSpec | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of judgement that are filled in; exactly one in a valid file."""
        return tuple(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def kind(self) -> str:
        """The kind of judgement."""
        return self.kinds[0]

    @property
    def spec(self) -> Any:
        """The judgement's own part."""
        return getattr(self, self.kind)


PagePath = Annotated[str, Field(pattern=r"^[a-z0-9/#_-]+$", max_length=200)]


class Solution(Strict):
    """The model answer, why it works, and where to read on."""

    manifests: Manifests
    mode: Mode = "apply"
    why: LocalMarkdown
    read: Annotated[list[PagePath], Field(default_factory=list, max_length=10)]
    """Pages of the official documentation, as paths below https://kubernetes.io/docs/."""


class WrongAnswer(Strict):
    """An answer that people really give, and the checks that it must fail: these and no others."""

    name: Slug
    manifests: Manifests
    mode: Mode = "apply"
    fails: Annotated[list[Slug], Field(min_length=1, max_length=MAX_CHECKS)]
    because: LocalSentence | None = None
    """What the person who answers so has not understood."""


class Spec(Strict):
    """Everything but the name."""

    chapter: str
    level: Annotated[int, Field(ge=1, le=5)]
    minutes: Annotated[int, Field(ge=1, le=120)]
    weight: Annotated[int, Field(ge=1, le=20)] = 4
    about: Annotated[list[str], Field(default_factory=list, max_length=5)]
    """Plugins of the scheduler without which the exercise makes no sense."""
    parameters: Annotated[dict[ParameterName, Parameter], Field(default_factory=dict, max_length=MAX_PARAMETERS)]
    cluster: Annotated[ClusterSpec, Field(default_factory=lambda: ClusterSpec.model_validate({}))]
    text: Texts
    editor: Annotated[str, Field(max_length=MAX_MANIFESTS)] = ""
    """What the learner's editor holds at first."""
    checks: Annotated[list[Check], Field(min_length=1, max_length=MAX_CHECKS)]
    hints: Annotated[list[LocalMarkdown], Field(default_factory=list, max_length=MAX_HINTS)]
    solution: Solution
    wrong: Annotated[list[WrongAnswer], Field(min_length=2, max_length=MAX_WRONG)]


class ExerciseFile(Strict):
    """The whole file."""

    apiVersion: Literal["lab/v1"]  # noqa: N815 (Kubernetes' spelling)
    kind: Literal["Exercise"]
    metadata: Metadata
    spec: Spec


@dataclass(frozen=True)
class Exercise:
    """A file that has been read and found right. `source` is its text, `document` its YAML as JSON."""

    source: str
    file: str
    document: dict[str, Any] = field(repr=False)
    content: ExerciseFile = field(repr=False)

    @property
    def name(self) -> str:
        """The stable id, as it stands in addresses and results."""
        return self.content.metadata.name

    @property
    def version(self) -> int:
        """Rises when the meaning changes; results belong to a version."""
        return self.content.metadata.version

    @property
    def spec(self) -> Spec:
        """The content with its placeholders."""
        return self.content.spec

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def chapter(self) -> Chapter:
        """The chapter of the course."""
        return BY_ID[self.spec.chapter]

    @property
    def level(self) -> int:
        """1 for first steps to 5 for the exam."""
        return self.spec.level

    @property
    def minutes(self) -> int:
        """How long it should take."""
        return self.spec.minutes

    @property
    def possible(self) -> int:
        """The points of all checks."""
        return sum(check.points for check in self.spec.checks)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the text is written in."""
        return tuple(code for code in LANGUAGES if getattr(self.spec.text, code) is not None)

    @property
    def varies(self) -> bool:
        """Whether names differ from start to start."""
        return len(parameters.combinations(self.spec.parameters)) > 1

    def text(self, language: str) -> Text:
        """Title and task, placeholders not filled in."""
        return self.spec.text.get(language)

    def variant(self, seed: int) -> Variant:
        """The exercise with the seed's names filled in."""
        return self.with_values(parameters.draw(self.spec.parameters, seed), seed)

    def variants(self) -> Iterator[Variant]:
        """Every variant there is; the number of each stands for its seed."""
        return self.sample(MAX_VARIANTS)

    def sample(self, limit: int) -> Iterator[Variant]:
        """At most `limit` variants, evenly spread, the first among them."""
        every = parameters.combinations(self.spec.parameters)
        count = min(limit, len(every))
        for number in range(count):
            place = number * len(every) // count
            yield self.with_values(every[place], place)

    def with_values(self, values: parameters.Values, seed: int) -> Variant:
        """The exercise with these names filled in."""
        filled = parameters.filled(self.document, values)
        return Variant(self, seed, dict(values), ExerciseFile.model_validate(filled).spec)


@dataclass(frozen=True)
class Variant:
    """What one learner gets: `spec` has no placeholders."""

    exercise: Exercise
    seed: int
    values: dict[str, str]
    spec: Spec = field(repr=False)

    @property
    def name(self) -> str:
        """The exercise's name."""
        return self.exercise.name

    @property
    def checks(self) -> list[Check]:
        """The checks in the file's order."""
        return self.spec.checks

    def text(self, language: str) -> Text:
        """Title and task."""
        return self.spec.text.get(language)

    def hints(self, language: str) -> tuple[str, ...]:
        """The hints in order, in Markdown."""
        return tuple(hint.get(language) for hint in self.spec.hints)

    def read(self) -> tuple[str, ...]:
        """Addresses of pages of the official documentation."""
        return tuple(f"https://kubernetes.io/docs/{path}" for path in self.spec.solution.read)


__all__ = ["Check", "Exercise", "ExerciseFile", "Sentence", "Spec", "Text", "Variant", "WrongAnswer"]
