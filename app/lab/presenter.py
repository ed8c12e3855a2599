"""From exercises, results and what a worker drew to the views that pages show, in one language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session

from app.apimachinery.clock import SECOND
from app.exercises.chapters import CHAPTERS, Chapter
from app.exercises.loader import Catalogue
from app.exercises.model import Exercise, Variant
from app.lab import unfold
from app.lab.views import (
    CatalogueView,
    ChapterView,
    CheckView,
    ExerciseCard,
    ExerciseProgress,
    ExerciseView,
    HistoryLine,
    LabLine,
    LabView,
    Mode,
    ProgressView,
    ScoreView,
    SolutionView,
    Standing,
    StepView,
    VerdictView,
)
from app.progress import labs, results
from app.progress.models import Command, Lab, Result

HISTORY = 100
"""The newest results that the progress page lists."""

STEPS = 20
"""The newest steps that the workplace lists."""

_PREVIEW_SEED = 0
_STEP_TEXT = 60


def catalogue(offered: Catalogue, standings: Mapping[str, results.Standing], language: str) -> CatalogueView:
    """All chapters, those without an exercise too."""
    cards: dict[str, list[ExerciseCard]] = {chapter.id: [] for chapter in CHAPTERS}
    for exercise in offered.exercises.values():
        cards[exercise.chapter.id].append(_card(exercise, standings.get(exercise.name), language))
    return CatalogueView(tuple(_chapter(chapter, cards[chapter.id], language) for chapter in CHAPTERS))


def _chapter(chapter: Chapter, cards: Sequence[ExerciseCard], language: str) -> ChapterView:
    return ChapterView(chapter.id, chapter.number, chapter.title(language), tuple(cards))


def _card(exercise: Exercise, standing: results.Standing | None, language: str) -> ExerciseCard:
    best = standing.best if standing else None
    return ExerciseCard(
        name=exercise.name,
        title=exercise.text(language).title,
        level=exercise.level,
        minutes=exercise.minutes,
        points=exercise.possible,
        standing=_standing(standing),
        best=best.points if best else 0,
        lab=standing.lab if standing else "",
        languages=exercise.languages,
    )


def _standing(standing: results.Standing | None) -> Standing:
    if standing is None:
        return Standing.NEW
    if standing.best is None:
        return Standing.BEGUN
    return Standing.FULL if standing.best.full else Standing.PARTIAL


def exercise(found: Exercise, offered: CatalogueView, language: str) -> ExerciseView:
    """An exercise before it is started, with the names of one variant filled in."""
    chapter = next(chapter for chapter in offered.chapters if chapter.id == found.chapter.id)
    card = next((card for card in chapter.exercises if card.name == found.name), None)
    variant = found.variant(_PREVIEW_SEED)
    return ExerciseView(
        card=card or _card(found, None, language),
        chapter=chapter,
        version=found.version,
        task=variant.text(language).task,
        checks=_checks(variant, language),
        hints=len(variant.spec.hints),
        varies=found.varies,
    )


def _checks(variant: Variant, language: str) -> tuple[CheckView, ...]:
    return tuple(CheckView(check.name, check.text.get(language), check.points) for check in variant.checks)


def lab(  # noqa: PLR0913 (what the service read, each by name)
    row: Lab,
    variant: Variant,
    output: Mapping[str, Any],
    language: str,
    *,
    scores: results.Scores | None,
    judged: Result | None,
    commands: int,
    manifest: str,
    steps: Sequence[Command],
    complete: bool,
) -> LabView:
    """A lab with its task, its picture, and the verdict given last in it."""
    picture = output["picture"]
    upcoming = output.get("next_event")
    return LabView(
        id=row.id,
        exercise=row.exercise_name,
        title=variant.text(language).title,
        chapter=variant.exercise.chapter.title(language),
        task=variant.text(language).task,
        checks=_checks(variant, language),
        hints=len(variant.spec.hints),
        nodes=tuple(unfold.node(node) for node in picture["nodes"]),
        pods=tuple(unfold.pod(pod) for pod in picture["pods"]),
        events=tuple(unfold.event(event) for event in picture["events"]),
        changes=tuple(unfold.change(change) for change in output["changes"]),
        revision=row.revision,
        now=_moment(int(output["now"])),
        best=_score(scores.best) if scores else None,
        last=_score(scores.last) if scores else None,
        commands=commands,
        manifest=manifest or variant.spec.editor,
        seed=row.seed,
        level=variant.exercise.level,
        minutes=variant.exercise.minutes,
        verdict=None
        if judged is None
        else verdict(variant, judged.verdict, language, judged.kind.value, judged.created_at),
        verdict_stale=judged is not None and judged.lab_revision != row.revision,
        paused=row.paused,
        steps=() if row.exam else all_steps(steps[:STEPS]),
        steps_more=len(steps) > STEPS,
        steps_gone=not complete,
        next_in=None if upcoming is None or row.paused else max(0.0, (int(upcoming) - int(output["now"])) / SECOND),
    )


def _moment(instant: int) -> datetime:
    return datetime.fromtimestamp(instant / SECOND, UTC)


def _score(score: results.Score) -> ScoreView:
    return ScoreView(score.points, score.possible, score.at)


def verdict(
    variant: Variant, listed: Sequence[Mapping[str, Any]], language: str, kind: str, at: datetime | None = None
) -> VerdictView:
    """A verdict with the checks' sentences in the reader's language."""
    texts = {check.name: check.text.get(language) for check in variant.checks}
    shown = tuple(unfold.result(result, texts.get(result["name"], result["name"])) for result in listed)
    return VerdictView(
        points=sum(result.points for result in shown),
        possible=sum(result.possible for result in shown),
        results=shown,
        kind=kind,
        at=at,
    )


def hint(variant: Variant, number: int, language: str) -> str:
    """The n-th hint, from 1. Raises LookupError where there is none."""
    if number < 1:
        raise LookupError(number)
    return variant.hints(language)[number - 1]


def solution(variant: Variant, language: str) -> SolutionView:
    """The model solution with its reasons and where to read on."""
    answer = variant.spec.solution
    return SolutionView(answer.manifests, answer.why.get(language), variant.read(), Mode(answer.mode))


def progress(session: Session, user_id: int, offered: CatalogueView) -> ProgressView:
    """Somebody's own results: every exercise on offer, the newest results, and their labs."""
    scores = results.scores_by_exercise(session, user_id)
    titles = {card.name: card.title for card in offered.exercises}
    return ProgressView(
        exercises=tuple(_exercise_progress(card, scores.get(card.name)) for card in offered.exercises),
        history=tuple(
            HistoryLine(
                exercise=result.exercise_name,
                title=titles.get(result.exercise_name, result.exercise_name),
                lab=result.lab_id,
                kind=result.kind.value,
                points=result.points,
                possible=result.possible,
                at=result.created_at,
                version=result.exercise_version,
                seed=result.seed,
            )
            for result in results.of_user(session, user_id, limit=HISTORY)
        ),
        labs=tuple(
            LabLine(line.id, line.exercise, titles.get(line.exercise, line.exercise), line.started_at, line.updated_at)
            for line in labs.of_user(session, user_id)
            if line.ended_at is None
        ),
    )


def _exercise_progress(card: ExerciseCard, scores: results.Scores | None) -> ExerciseProgress:
    if scores is None:
        return ExerciseProgress(card, 0, None, None, None)
    return ExerciseProgress(card, scores.attempts, _score(scores.first), _score(scores.last), _score(scores.best))


def all_steps(commands: Sequence[Command]) -> tuple[StepView, ...]:
    """What can be gone back to, newest first; the start is always the last one."""
    return (*(_step(command) for command in commands), StepView(0))


def _step(command: Command) -> StepView:
    text = " ".join(command.input[:200].split())[:_STEP_TEXT]
    return StepView(command.seq, command.kind.value, text, _moment(command.sim_at))
