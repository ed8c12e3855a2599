"""The use cases: start a lab, look at it, apply, check, submit, reset. Routes and the command line call these.

Each changing interaction runs in a worker on a copy of the stored state and is committed in one transaction with
its command and its result, before the answer leaves. If another tab was faster, the interaction is run again on
what that one left: ordered, none lost.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.apimachinery.clock import MINUTE, SECOND, Instant
from app.exercises.model import Variant
from app.lab import interactions, passing, presenter, unfold, wire
from app.lab.bell import Bell
from app.lab.cache import ViewCache
from app.lab.library import Library
from app.lab.turns import NoTurn, Turns
from app.lab.views import (
    CatalogueView,
    ExerciseView,
    LabView,
    Mode,
    Outcome,
    ProgressView,
    SolutionView,
    StepView,
)
from app.lab.workers import Limits, WorkerPool
from app.progress import labs, results, states, times
from app.progress.db import Database
from app.progress.models import Lab, User
from app.settings import Settings
from app.version import ENGINE_VERSION

log = logging.getLogger("cka_lab.lab")

AWAKE: Instant = 30 * MINUTE
"""Simulated time that a cluster moves on without a command; then it sleeps until the next one.

Catching up must fit into one interaction also for a cluster as full as it may be: half an hour takes it seconds.
"""

_RETRIES = 5
_ALL = 10_000
_MACHINE = "controlplane"
MAX_LINE = 64 * 1024


class LabNotFound(LookupError):
    """There is no such lab, or it is somebody else's: the two are not told apart."""


class LabBusy(Exception):
    """Other interactions with this lab kept being faster."""


class NoStepBack(Exception):
    """The lab is an exam, or the state after that command is not kept (any more)."""


class InteractionFailed(Exception):
    """A fault of ours in a worker; its cause has been logged."""


def make_pool(settings: Settings) -> WorkerPool:
    """The worker processes of an application."""
    limits = Limits(
        memory=settings.worker_memory_mb * 1024 * 1024,
        cpu=settings.worker_cpu,
        deadline=settings.worker_deadline,
        wait=settings.worker_wait,
    )
    return WorkerPool(settings.workers, interactions.handle, limits)


@dataclass(frozen=True)
class _Done:
    """An interaction that was carried out: what the worker answered, and the lab as it is now."""

    kind: str
    lab: Lab
    output: dict[str, Any]


class LabService:
    """All use cases of learners. Safe to call from many threads."""

    def __init__(self, database: Database, pool: WorkerPool, library: Library, settings: Settings) -> None:
        self._database = database
        self._pool = pool
        self._library = library
        self._settings = settings
        self._cache = ViewCache()
        self._history = states.Bound(settings.history_steps, settings.history_kb * 1024)
        self._turns = Turns()
        self.bell = Bell()

    # What is on offer

    def catalogue(self, user: User | None, language: str) -> CatalogueView:
        """Chapters and exercises, with the reader's own state of each."""
        with self._database.session() as session:
            standings = results.standings(session, user.id) if user else {}
        return presenter.catalogue(self._library.catalogue(), standings, language)

    def exercise(self, user: User | None, name: str, language: str) -> ExerciseView:
        """One exercise before it is started. Raises UnknownExercise."""
        exercise = self._library.exercise(name)
        return presenter.exercise(exercise, self.catalogue(user, language), language)

    # A lab's life

    def start(self, user: User, name: str, seed: int | None = None) -> str:
        """Start the exercise and return the lab's id.

        An open lab of the same version is gone on with, unless a seed asks for a new one. An open lab that is
        not gone on with ends, and so do the oldest ones where somebody has more than the settings allow.
        """
        exercise = self._library.exercise(name)
        with self._database.session() as session:
            opened = labs.find_open(session, user.id, name)
            if opened is not None and opened.exercise_digest == exercise.digest and seed is None:
                return opened.id
            if opened is not None:
                labs.end(session, opened.id)
            states.forget(session, times.now() - timedelta(days=self._settings.history_days))
            labs.end_oldest(session, user.id, keep=self._settings.labs_per_user - 1)
        seed = secrets.randbelow(2**31) if seed is None else seed
        now = _wall()
        params = {"operation": "start", "source": exercise.source, "seed": seed, "now": now}
        output, state, _ = self._run(params)
        lab = Lab(
            id=secrets.token_urlsafe(9),
            user_id=user.id,
            exercise_name=name,
            exercise_digest=exercise.digest,
            exercise_version=exercise.version,
            seed=seed,
            state=state,
            start_state=state,
            sim_anchor=int(output["now"]),
            wall_anchor=now,
        )
        with self._database.session() as session:
            labs.add(session, lab)
        self._cache.put(lab.id, 0, now, output)
        return lab.id

    def find(self, user: User, lab_id: str) -> Lab:
        """The person's own lab. Raises LabNotFound, also for other people's."""
        with self._database.session() as session:
            lab = labs.get(session, lab_id, user.id)
        if lab is None:
            raise LabNotFound(lab_id)
        return lab

    def view(self, user: User, lab_id: str, language: str) -> LabView:
        """The lab at this instant. Reads only."""
        lab = self.find(user, lab_id)
        return self._view(lab, self._picture(lab), language)

    def apply(self, user: User, lab_id: str, text: str, mode: Mode, language: str) -> Outcome:
        """Change the cluster by manifests. Where they are refused, nothing changes."""
        done = self._interact(user, lab_id, mode.value, {"operation": "apply", "text": text, "mode": mode.value}, text)
        return self._outcome(done, language)

    def check(self, user: User, lab_id: str, language: str) -> Outcome:
        """Grade a copy of the cluster as it is."""
        return self._outcome(self._interact(user, lab_id, "check", {"operation": "check"}), language)

    def submit(self, user: User, lab_id: str, text: str, mode: Mode, language: str) -> Outcome:
        """Apply, then check; both or, where the manifests are refused, neither."""
        params = {"operation": "submit", "text": text, "mode": mode.value}
        return self._outcome(self._interact(user, lab_id, "submit", params, text), language)

    def reset(self, user: User, lab_id: str, language: str) -> Outcome:
        """Put the cluster back to its start, in a new epoch. Results and commands stay."""
        return self._outcome(self._interact(user, lab_id, "reset", {"operation": "reset"}), language)

    def advance(self, user: User, lab_id: str, span: float | None, language: str) -> Outcome:
        """Let the cluster's time pass at once: `span` seconds, or until its next event (None)."""
        micros = None if span is None else int(span * SECOND)
        text = "" if micros is None else passing.span_text(micros)
        params = {"operation": "advance", "span": micros}
        return self._outcome(self._interact(user, lab_id, "advance", params, text), language)

    def pause(self, user: User, lab_id: str, *, paused: bool, language: str) -> Outcome:
        """Let the cluster's time stand still, or go on. Commands still work on a cluster that stands still."""
        kind = "pause" if paused else "resume"
        return self._outcome(self._interact(user, lab_id, kind, {"operation": "keep"}), language)

    def steps(self, user: User, lab_id: str, language: str) -> tuple[LabView, tuple[StepView, ...]]:
        """The lab, and all that can be gone back to, newest first. Nothing in an exam."""
        lab = self.find(user, lab_id)
        with self._database.session() as session:
            kept = [] if lab.exam else states.steps(session, lab.id, limit=_ALL)
        return self._view(lab, self._picture(lab), language), () if lab.exam else presenter.all_steps(kept)

    def step_back(self, user: User, lab_id: str, seq: int, language: str) -> Outcome:
        """Go back to the state after command `seq`, in a new epoch; later commands and results stay on record."""
        lab = self.find(user, lab_id)
        with self._database.session() as session:
            found = None if lab.exam else states.find(session, lab, seq)
        if found is None:
            raise NoStepBack(seq)
        keyframe, differences = found
        more = (keyframe, *differences)
        return self._outcome(self._interact(user, lab_id, "back", {"operation": "back"}, str(seq), more), language)

    def hint(self, user: User, lab_id: str, number: int, language: str) -> str:
        """The n-th hint, from 1. Raises LookupError where there is none."""
        return presenter.hint(self._variant(self.find(user, lab_id)), number, language)

    def solution(self, user: User, lab_id: str, language: str) -> SolutionView:
        """The model solution with its reasons."""
        return presenter.solution(self._variant(self.find(user, lab_id)), language)

    def progress(self, user: User, language: str) -> ProgressView:
        """The person's own results and labs."""
        catalogue = self.catalogue(user, language)
        with self._database.session() as session:
            return presenter.progress(session, user.id, catalogue)

    # The terminal

    def prompt(self, user: User, lab_id: str) -> str:
        """The prompt that the terminal begins with."""
        lab = self.find(user, lab_id)
        output, *_ = self._run({"operation": "prompt", "machine": _MACHINE}, lab.state)
        return str(output["prompt"])

    def terminal(self, user: User, lab_id: str, line: str) -> dict[str, Any]:
        """Run a line in the machine's shell."""
        params = {"operation": "terminal", "machine": _MACHINE, "line": line}
        output = self._interact(user, lab_id, "terminal", params, line).output
        return {name: output[name] for name in ("stdout", "stderr", "code", "prompt")}

    # The Kubernetes API

    def new_api_secret(self, user: User, lab_id: str) -> str:
        """A new secret for the lab's Kubernetes API; the one before it no longer counts."""
        lab = self.find(user, lab_id)
        secret = secrets.token_urlsafe(32)
        with self._database.session() as session:
            labs.set_api_secret(session, lab.id, secret)
        return secret

    def lab_of_secret(self, secret: str) -> str:
        """The id of the lab that this secret opens. Raises LabNotFound."""
        return self._by_secret(secret).id

    def revision(self, lab_id: str) -> int:
        """The number of the lab's last change, as the database has it."""
        with self._database.session() as session:
            return labs.revision(session, lab_id)

    def api(self, secret: str, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        """One request of the Kubernetes API; committed where it changed the store."""
        label = f"{request['method']} {request['path']}"
        return self._interact_with(lambda: self._by_secret(secret), "api", _api(request), label, body=body).output

    def api_watch(self, secret: str, request: dict[str, Any], since: int) -> dict[str, Any]:
        """What a watch must be sent at this instant. Reads only."""
        lab = self._by_secret(secret)
        now = _simulated_now(lab)
        output, *_ = self._run({"operation": "watch", "request": request, "since": since, "now": now}, lab.state)
        upcoming = output["next_event"]
        return {
            **output,
            "lab_revision": lab.revision,
            "next_event_in": None if upcoming is None or lab.paused else (upcoming - now) / SECOND,
        }

    def _by_secret(self, secret: str) -> Lab:
        with self._database.session() as session:
            lab = labs.by_api_secret(session, secret)
        if lab is None:
            raise LabNotFound("no lab has this secret")
        return lab

    # For authors

    def parse(self, source: str, file: str) -> dict[str, Any]:
        """Read an author's file in a worker: `{"ok", "problems", "name", "version"}`."""
        return self._run({"operation": "parse", "source": source, "file": file})[0]

    def prove(self, source: str) -> dict[str, Any]:
        """Prove an exercise in a worker: `{"proven", "variants", "answers", "failures"}`."""
        return self._run({"operation": "prove", "source": source}, deadline=120)[0]

    # How it is done

    def _interact(
        self, user: User, lab_id: str, kind: str, params: dict[str, Any], text: str = "", more: Sequence[bytes] = ()
    ) -> _Done:
        return self._interact_with(lambda: self.find(user, lab_id), kind, params, text, more=more)

    def _interact_with(
        self,
        find: Callable[[], Lab],
        kind: str,
        params: dict[str, Any],
        text: str,
        *,
        body: bytes | None = None,
        more: Sequence[bytes] = (),
    ) -> _Done:
        """Run an interaction on the lab and commit it; again where another process was faster."""
        lab = find()
        if _only_reads(params):
            return self._carry_out(find, lab, kind, params, text, body=body, more=more)
        try:
            with self._turns.turn(lab.id, self._settings.worker_wait) as waited:
                lab = find() if waited else lab
                return self._carry_out(find, lab, kind, params, text, body=body, more=more)
        except NoTurn as error:
            raise LabBusy(kind) from error

    def _carry_out(
        self,
        find: Callable[[], Lab],
        lab: Lab,
        kind: str,
        params: dict[str, Any],
        text: str,
        *,
        body: bytes | None,
        more: Sequence[bytes],
    ) -> _Done:
        for _ in range(_RETRIES):
            wall = _wall()
            full = {**params, **self._context(lab), "now": _simulated_now(lab, wall)}
            output, state, difference = self._run(full, lab.state, lab.start_state if body is None else body, *more)
            if kind == "api" and not state:
                return _Done(kind, lab, output)
            try:
                return self._commit(lab, kind, text, wall, output, state, difference)
            except labs.RevisionConflict:
                log.info("lab %s changed meanwhile, running %s again", lab.id, kind)
                lab = find()
        raise LabBusy(kind)

    def _commit(
        self,
        lab: Lab,
        kind: str,
        text: str,
        wall: Instant,
        output: dict[str, Any],
        state: bytes,
        difference: bytes,
    ) -> _Done:
        """One transaction: the new state where there is one, the command, and the result of a verdict."""
        now = int(output["now"])
        printed = "\n".join(output.get("lines") or [str(output.get("stdout", "")) + str(output.get("stderr", ""))])
        command = labs.NewCommand(kind=kind, input=text, output=printed, ok=bool(output.get("ok", True)), sim_at=now)
        verdict = output.get("verdict")
        result = None if verdict is None else _result(lab, kind, text, verdict)
        paused = kind == "pause" or (lab.paused and kind not in {"resume", "reset"})
        change = labs.NewState(state, now, wall, difference, paused=paused) if state else None
        with self._database.session() as session:
            after = labs.commit_interaction(
                session,
                lab.id,
                expected_revision=lab.revision,
                change=change,
                command=command,
                result=result,
                bound=self._history,
            )
        self._cache.put(after.id, after.revision, wall, output)
        if state:
            self.bell.ring(lab.id)
        return _Done(kind, after, output)

    def _run(
        self, params: dict[str, Any], *blobs: bytes, deadline: float | None = None
    ) -> tuple[dict[str, Any], bytes, bytes]:
        header, answered = wire.unpack(self._pool.run(wire.pack(params, *blobs), deadline=deadline))
        if "fault" in header:
            log.error("%s failed in a worker: %s\n%s", params["operation"], header["fault"], header["trace"])
            raise InteractionFailed(header["fault"])
        state, difference = answered
        return header["output"], state, difference

    def _context(self, lab: Lab) -> dict[str, Any]:
        return {"source": self._library.by_digest(lab.exercise_digest).source, "seed": lab.seed}

    def _variant(self, lab: Lab) -> Variant:
        return self._library.by_digest(lab.exercise_digest).variant(lab.seed)

    def _picture(self, lab: Lab) -> dict[str, Any]:
        """What a worker draws of the lab at this instant, from the cache where nothing can have changed."""
        wall = _wall()
        cached = self._cache.get(lab.id, lab.revision, wall)
        if cached is not None:
            return cached
        params = {"operation": "view", **self._context(lab), "now": _simulated_now(lab, wall)}
        output, *_ = self._run(params, lab.state, lab.start_state)
        self._cache.put(lab.id, lab.revision, wall, output)
        return output

    def _view(self, lab: Lab, output: dict[str, Any], language: str) -> LabView:
        with self._database.session() as session:
            scores = results.scores(session, lab.user_id, lab.exercise_name)
            judged = results.last_of_lab(session, lab.id)
            commands = labs.count_commands(session, lab.id)
            manifest = labs.last_manifest(session, lab.id)
            steps = [] if lab.exam else states.steps(session, lab.id, limit=presenter.STEPS + 1)
            complete = lab.exam or states.reach_back(session, lab)
        return presenter.lab(
            lab,
            self._variant(lab),
            output,
            language,
            scores=scores,
            judged=judged,
            commands=commands,
            manifest=manifest,
            steps=steps,
            complete=complete,
        )

    def _outcome(self, done: _Done, language: str) -> Outcome:
        output = done.output
        verdict = output.get("verdict")
        variant = self._variant(done.lab)
        return Outcome(
            ok=bool(output["ok"]),
            lines=tuple(output["lines"]),
            view=self._view(done.lab, output, language),
            problems=tuple(unfold.problem(problem) for problem in output["problems"]),
            verdict=None if verdict is None else presenter.verdict(variant, verdict["results"], language, done.kind),
            passed=output.get("passed", ""),
            cut=output.get("cut", False),
        )


def _result(lab: Lab, kind: str, text: str, verdict: dict[str, Any]) -> results.NewResult:
    return results.NewResult(
        user_id=lab.user_id,
        exercise_name=lab.exercise_name,
        exercise_version=lab.exercise_version,
        exercise_digest=lab.exercise_digest,
        seed=lab.seed,
        engine_version=ENGINE_VERSION,
        kind=kind,
        points=sum(result["points"] for result in verdict["results"]),
        possible=sum(result["possible"] for result in verdict["results"]),
        verdict=verdict["results"],
        manifests=text,
    )


def _only_reads(params: dict[str, Any]) -> bool:
    """Whether the interaction is a request of the Kubernetes API that cannot change anything."""
    return params["operation"] == "api" and params["request"]["method"] in {"GET", "HEAD"}


def _api(request: dict[str, Any]) -> dict[str, Any]:
    return {"operation": "api", "request": request}


def _wall() -> Instant:
    return time.time_ns() // 1000


def _simulated_now(lab: Lab, wall: Instant | None = None) -> Instant:
    """The lab's simulated instant: its anchor plus the wall time since then, at most AWAKE; while paused the anchor."""
    if lab.paused:
        return lab.sim_anchor
    elapsed = (_wall() if wall is None else wall) - lab.wall_anchor
    return int(lab.sim_anchor + min(max(elapsed, 0), AWAKE))
