"""What a worker does: one interaction with one lab, bytes in and bytes out.

`handle` is the function that the pool's children run. Each operation gets the lab's stored state, catches its
cluster up to the instant asked for, does one thing, and returns what to show and, where something changed, the
new state. What a learner got wrong is an answer (`ok` false with problems); an exception is a fault of ours, and
the caller reports it as one.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from app.apimachinery.clock import MINUTE, Instant, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.manifests import ManifestError
from app.apimachinery.messages import Message
from app.cluster.apiserver import dispatch
from app.cluster.cluster import Cluster, FormatError
from app.exercises import changes, grader, loader, proof, setup
from app.exercises.model import Exercise, Variant
from app.kubectl import failures, resource_builder
from app.kubectl.commands import apply, create, delete
from app.kubectl.commands import replace as kubectl_replace
from app.kubectl.result import CommandResult
from app.lab import history, passing, picture, wire
from app.lab.state import LabState, StateError, deflated
from app.lab.warm import Kept, WarmLabs
from app.terminal import shell

_WATCHED: Micros = 10 * MINUTE
"""Before a lab's stored state: watches ask at once when it changes, so they have seen what was so long ago."""
_KEPT_EVENTS = 100
_warm = WarmLabs()
"""What this worker has at hand; every operation works on copies."""
UNSEEN = 1_000_000
"""Writes that clients may have seen after a lab's stored state: more than a cluster makes until it falls asleep."""


@dataclass(frozen=True)
class Request:
    """One interaction: its parameters, the lab's state and the state it started with (both may be empty)."""

    params: Mapping[str, Any]
    state: bytes = b""
    start: bytes = b""
    more: tuple[bytes, ...] = ()

    @property
    def now(self) -> Instant:
        """The simulated instant of the interaction."""
        return int(self.params["now"])

    def exercise(self) -> Exercise:
        """The exercise's very version."""
        return _exercise(self.params["source"])

    def variant(self) -> Variant:
        """The exercise with this lab's names drawn."""
        return _variant(self.params["source"], int(self.params["seed"]))

    def lab(self) -> LabState:
        """The lab, caught up to the interaction's instant. What watches have long seen by then is let go."""
        lab = _warm.of(self.state).lab.fork()
        lab.cluster.compact(_WATCHED, _KEPT_EVENTS)
        lab.cluster.advance_to(max(self.now, lab.cluster.now))
        return lab

    def watched(self) -> LabState:
        """The lab, caught up, with every event that a watch may still be owed."""
        lab = _warm.of(self.state).lab.fork()
        lab.cluster.advance_to(max(self.now, lab.cluster.now))
        return lab


@dataclass(frozen=True)
class Reply:
    """What to show, and the lab where the interaction changed it."""

    output: dict[str, Any] = field(default_factory=dict)
    lab: LabState | None = None
    whole: bool = False
    """Whether nothing can be compared with the state before."""


def handle(message: bytes) -> bytes:
    """Do what the message asks. A fault is answered as `{"fault": …}`, so that its cause reaches the log."""
    try:
        params, blobs = wire.unpack(message)
        state, start, *more = [*blobs, *[b""] * (2 - len(blobs))]
        reply = OPERATIONS[params["operation"]](Request(params, state, start, tuple(more)))
        return wire.pack({"output": reply.output}, *_stored(reply, state))
    except Exception as error:  # noqa: BLE001 (the border of the process: the caller gets the cause)
        return wire.pack({"fault": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()})


def _stored(reply: Reply, before: bytes) -> tuple[bytes, bytes]:
    """The new state, and how it differs from the one before; empty where nothing changed."""
    if reply.lab is None:
        return b"", b""
    text = reply.lab.text()
    state = deflated(text)
    difference = history.between(_warm.of(before).text, text) if before and not reply.whole else b""
    _warm.keep(state, Kept(reply.lab, text))
    return state, difference


@lru_cache(maxsize=64)
def _exercise(source: str) -> Exercise:
    return loader.parse(source, source="exercise.yaml")


@lru_cache(maxsize=256)
def _variant(source: str, seed: int) -> Variant:
    return _exercise(source).variant(seed)


def _start_cluster(start: bytes) -> Cluster:
    return _warm.of(start).lab.cluster


def _start(request: Request) -> Reply:
    lab = LabState(setup.start(request.variant(), request.now, int(request.params["seed"])))
    return _shown(lab, request, changed=True)


def _view(request: Request) -> Reply:
    return _shown(request.lab(), request)


def _shown(lab: LabState, request: Request, *, changed: bool = False, **output: Any) -> Reply:
    """The reply with the lab's picture: every interaction answers with one."""
    cluster = lab.cluster
    start = _start_cluster(request.start) if request.start else cluster
    upcoming = cluster.next_event()
    shown = {
        "now": cluster.now,
        "next_event": upcoming,
        "picture": picture.draw(cluster),
        "changes": changes.since(start, cluster),
    }
    return Reply({**shown, **output}, lab if changed else None)


_VERBS: dict[str, Callable[..., CommandResult]] = {
    "apply": apply.run,
    "create": create.run,
    "replace": partial(kubectl_replace.run, force=True),
    "delete": delete.run,
}


def _apply(request: Request) -> Reply:
    lab, output = _applied(request)
    if not output["ok"]:
        return _shown(request.lab(), request, **output)
    return _shown(lab, request, changed=True, **output)


def _applied(request: Request) -> tuple[LabState, dict[str, Any]]:
    """Carry the manifests out on the loaded lab. All of them or, where one is refused, none (the caller's lab)."""
    lab = request.lab()
    if problem := lab.cluster.unreachable():
        line = failures.unreachable(problem, lab.cluster.server)
        return lab, {"ok": False, "lines": [line], "problems": [{"message": Message(line)}]}
    try:
        documents = resource_builder.documents(request.params["text"])
        result = _VERBS[request.params["mode"]](lab.cluster.client, documents)
    except ManifestError as error:
        return lab, {"ok": False, "lines": [], "problems": [_problem(error)]}
    except StatusError as error:
        return lab, {"ok": False, "lines": [error.message], "problems": [{"message": Message(error.message)}]}
    lab.cluster.advance_to(lab.cluster.now)
    lines = [*result.stdout.splitlines(), *result.stderr.splitlines()]
    problems = [asdict(problem) for problem in result.problems]
    return lab, {"ok": result.code == 0, "lines": lines, "problems": problems}


def _problem(error: ManifestError) -> dict[str, Any]:
    return {
        "message": Message(error.template, error.facts),
        "line": error.line,
        "column": error.column,
        "advice": error.advice,
    }


def _check(request: Request) -> Reply:
    lab = request.lab()
    return _shown(lab, request, ok=True, lines=[], problems=[], verdict=_verdict(request, lab))


def _submit(request: Request) -> Reply:
    lab, output = _applied(request)
    if not output["ok"]:
        return _shown(request.lab(), request, **output)
    return _shown(lab, request, changed=True, **output, verdict=_verdict(request, lab))


def _verdict(request: Request, lab: LabState) -> dict[str, Any]:
    verdict = grader.grade(request.variant(), lab.cluster, _start_cluster(request.start))
    return {"results": [asdict(result) for result in verdict.results]}


def _advance(request: Request) -> Reply:
    """Let time pass: by `span` microseconds, or (None) until the next event. Nothing changes where there is none."""
    lab = request.lab()
    begin = lab.cluster.now
    until = passing.target(lab.cluster, request.params["span"])
    if until is None:
        return _shown(lab, request, ok=True, lines=[], problems=[], passed="")
    came = passing.let_pass(lab.cluster, until)
    passed = passing.span_text(lab.cluster.now - begin)
    return _shown(lab, request, changed=True, ok=True, lines=came.lines, problems=[], passed=passed, cut=came.cut)


def _keep(request: Request) -> Reply:
    """Keep the cluster as it is at this instant: what pausing and resuming do."""
    lab = request.lab()
    return _shown(lab, request, changed=True, ok=True, lines=[], problems=[])


def _terminal(request: Request) -> Reply:
    lab = request.lab()
    machine = request.params["machine"]
    outcome = shell.run_line(lab.shells.get(machine), request.params["line"])
    lab.shells[machine] = outcome.snapshot
    output = {
        "now": lab.cluster.now,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
        "code": outcome.code,
        "prompt": outcome.prompt,
    }
    return Reply(output, lab)


def _prompt(request: Request) -> Reply:
    """The prompt of a machine's shell; running an empty line changes nothing that is kept."""
    lab = _warm.of(request.state).lab
    return Reply({"prompt": shell.run_line(lab.shells.get(request.params["machine"]), "").prompt})


def _api(request: Request) -> Reply:
    """One request of the Kubernetes API; the state is returned only where the request changed the store."""
    lab = request.lab()
    before = lab.cluster.client.revision
    asked = dispatch.ApiRequest(**{**request.params["request"], "body": request.start})
    answer = dispatch.handle(lab.cluster, asked)
    changed = lab.cluster.client.revision != before
    output = {
        "now": lab.cluster.now,
        "changed": changed,
        "code": answer.code,
        "headers": dict(answer.headers),
        "body": answer.body.decode(),
    }
    return Reply(output, lab if changed else None)


def _watch(request: Request) -> Reply:
    """What a watch that has seen `since` must still be sent, at this instant."""
    lab = request.watched()
    asked = dispatch.ApiRequest(**{**request.params["request"], "body": b""})
    lines, revision = dispatch.watch(lab.cluster, asked, int(request.params["since"]))
    upcoming = lab.cluster.next_event()
    return Reply(
        {
            "now": lab.cluster.now,
            "next_event": upcoming,
            "lines": [line.decode() for line in lines],
            "revision": revision,
        }
    )


def _back(request: Request) -> Reply:
    """An earlier state, in a new epoch of the cluster's revisions."""
    keyframe, *differences = request.more
    earlier = LabState.load(history.applied(keyframe, differences))
    earlier.cluster.begin_epoch(request.lab().cluster)
    return _shown(earlier, request, changed=True, ok=True, lines=[], problems=[])


def _reset(request: Request) -> Reply:
    """The start, in a new epoch. What it leaves behind is not caught up: that may take long, or be what is broken."""
    lab = _warm.of(request.start).lab.fork()
    try:
        abandoned, readable = _warm.of(request.state).lab, True
    except (StateError, FormatError):
        abandoned, readable = lab, False
    lab.cluster.begin_epoch(abandoned.cluster, unseen=UNSEEN)
    reply = _shown(lab, request, changed=True, ok=True, lines=[], problems=[])
    return replace(reply, whole=not readable)


def _parse(request: Request) -> Reply:
    """Read an author's file: what is wrong with it, and its name and version where nothing is."""
    try:
        exercise = loader.parse(request.params["source"], source=request.params["file"])
    except loader.ExerciseErrors as errors:
        return Reply({"ok": False, "problems": [asdict(problem) for problem in errors.problems]})
    return Reply({"ok": True, "problems": [], "name": exercise.name, "version": exercise.version})


def _prove(request: Request) -> Reply:
    report = proof.prove(request.exercise())
    return Reply({**asdict(report), "proven": report.proven})


OPERATIONS: dict[str, Callable[[Request], Reply]] = {
    "start": _start,
    "view": _view,
    "apply": _apply,
    "check": _check,
    "submit": _submit,
    "advance": _advance,
    "keep": _keep,
    "terminal": _terminal,
    "prompt": _prompt,
    "api": _api,
    "watch": _watch,
    "back": _back,
    "reset": _reset,
    "parse": _parse,
    "prove": _prove,
}
