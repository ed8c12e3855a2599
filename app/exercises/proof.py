"""Proving that an exercise can be solved, cannot be had for nothing, and that each of its checks is needed.

For every variant (a sample where there are many): the model solution gets full marks; the untouched start does not;
each wrong answer fails the checks that it names and only these; each check is the only one that some wrong answer
fails, so that without it that answer would pass; the task names every literal. For one variant more: with a plugin
that the exercise is about taken out of the schedulers, some of this must no longer hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from app.exercises import ablation, answers, cel, grader, literals, setup
from app.exercises.base import Mode
from app.exercises.model import Exercise, Variant
from app.exercises.verdict import Verdict

MAX_VARIANTS = 12
"""Variants that are proven; where there are more, so many of them, evenly spread."""
NOW = clock.parse("2026-12-01T09:00:00Z")
"""When the labs of a proof begin: always then, so that a proof can be repeated."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ProofReport:
    """What a proof found. `failures` are sentences, empty for an exercise that is proven."""

    name: str
    variants: int
    answers: int
    failures: tuple[str, ...]

    @property
    def proven(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def lines(self) -> list[str]:
        """The report as text: one line for the exercise, and one for each failure below it."""
        facts = f"{self.variants} variant{'s' * (self.variants != 1)}, {self.answers} answers"
        head = f"{'proven' if self.proven else 'NOT PROVEN'}  {self.name} ({facts})"
        return [head, *(f"  - {failure}" for failure in self.failures)]


def prove(exercise: Exercise, progress: Progress = lambda _: None) -> ProofReport:
    """Prove an exercise. A failure that several variants share is told once, with the first variant's names."""
    chosen = list(exercise.sample(MAX_VARIANTS))
    failures: dict[str, str] = {}
    for number, variant in enumerate(chosen, start=1):
        progress(f"{exercise.name}: variant {number} of {len(chosen)}")
        for key, text in _variant(variant):
            failures.setdefault(key, text + _names(variant))
    if not failures:
        for plugin in exercise.spec.about:
            progress(f"{exercise.name}: without {plugin}")
            failures |= {f"about {plugin}": text for text in _plugin(chosen[0], plugin)}
    count = len(chosen) * (2 + len(exercise.spec.wrong))
    return ProofReport(exercise.name, len(chosen), count, tuple(failures.values()))


def _names(variant: Variant) -> str:
    if not variant.values:
        return ""
    return f" [{', '.join(f'{name}={value}' for name, value in sorted(variant.values.items()))}]"


@dataclass(frozen=True)
class _Trial:
    """What became of the three kinds of answers. `refused` is what the API server said against the solution."""

    untouched: Verdict
    solution: Verdict
    refused: str
    wrong: dict[str, Verdict]

    def faults(self) -> Iterator[tuple[str, str]]:
        """Checks that broke, each once."""
        seen = set()
        for verdict in (self.solution, self.untouched, *self.wrong.values()):
            for result in verdict.results:
                if result.status == "fault" and result.name not in seen:
                    seen.add(result.name)
                    yield result.name, str(result.found)


def _trial(variant: Variant, start: Cluster) -> _Trial:
    def answered(manifests: str, mode: Mode) -> tuple[Verdict, str]:
        cluster = start.fork()
        refused = answers.carry_out(cluster, manifests, mode)
        # What is refused changes nothing, as in the learner's own lab.
        return grader.grade(variant, start if refused else cluster, start), refused

    solution, refused = answered(variant.spec.solution.manifests, variant.spec.solution.mode)
    return _Trial(
        untouched=grader.grade(variant, start, start),
        solution=solution,
        refused=refused,
        wrong={answer.name: answered(answer.manifests, answer.mode)[0] for answer in variant.spec.wrong},
    )


def _variant(variant: Variant) -> Iterator[tuple[str, str]]:
    """(key, sentence) for everything that does not hold."""
    for check, language, literal in literals.missing(variant):
        text = f"the {language} task does not say “{literal}”, which check {check} needs"
        yield f"literal {check} {language} {literal}", text
    try:
        start = setup.start(variant, NOW)
    except setup.SetupError as error:
        yield "setup", f"the cluster cannot be set up: {error}"
        return
    yield from _story(variant, start)
    trial = _trial(variant, start)
    for name, problem in trial.faults():
        yield f"fault {name}", f"check {name} broke: {problem}"
    yield from _judged(variant, trial)
    yield from _needless(variant, trial)


def _story(variant: Variant, start: Cluster) -> Iterator[tuple[str, str]]:
    """Whether the start is as the story says."""
    expected = variant.spec.cluster.expect
    if expected is None:
        return
    variables = {
        "self": None,
        "before": None,
        "pods": start.client.list("pods"),
        "nodes": start.client.list("nodes"),
    }
    try:
        holds = cel.evaluate(expected, variables).value
    except cel.EvaluationError as error:
        yield "story", f"the condition on the start cannot be evaluated: {error}"
        return
    if not holds:
        yield "story", f"the start is not as the story says: {expected}"


def _judged(variant: Variant, trial: _Trial) -> Iterator[tuple[str, str]]:
    if trial.refused:
        yield "solution refused", f"the model solution is refused: {trial.refused}"
    elif not trial.solution.full:
        yield "solution", f"the model solution fails {_reasons(trial.solution)}"
    if trial.untouched.full:
        yield "untouched", "the untouched start gets full marks"
    for answer in variant.spec.wrong:
        verdict = trial.wrong[answer.name]
        for name in sorted(set(answer.fails) - verdict.failed):
            yield f"wrong {answer.name} {name}", f"the wrong answer {answer.name} passes check {name}"
        for result in verdict.results:
            if result.status == "failed" and result.name not in answer.fails:
                text = f"the wrong answer {answer.name} also fails check {result.name}: {result.found}"
                yield f"wrong {answer.name} {result.name}", text


def _reasons(verdict: Verdict) -> str:
    return "; ".join(f"check {result.name}: {result.found}" for result in verdict.results if not result.passed)


def _needless(variant: Variant, trial: _Trial) -> Iterator[tuple[str, str]]:
    """Checks without which every answer would still be judged full or not full as before."""
    alone = {verdict.failed for verdict in (trial.untouched, *trial.wrong.values())}
    for check in variant.checks:
        if frozenset({check.name}) not in alone:
            text = f"check {check.name} could be left out: no wrong answer fails it alone"
            yield f"needless {check.name}", text


def _plugin(variant: Variant, plugin: str) -> Iterator[str]:
    """A sentence if the exercise proves as well without the plugin."""
    changed = ablation.without(variant, plugin)
    try:
        start = setup.start(changed, NOW, prepare=lambda cluster: ablation.disabled(cluster, plugin))
    except setup.SetupError:
        return
    differs = any(True for _ in _story(changed, start)) or any(True for _ in _judged(changed, _trial(changed, start)))
    if not differs:
        yield f"the exercise says that it is about {plugin}, but all is judged alike without that plugin"
