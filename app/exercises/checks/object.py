"""`object`: a condition in CEL that one object of the cluster must satisfy, or that it must be gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apis import scheme
from app.exercises import cel
from app.exercises.base import Expression, ObjectName, Strict
from app.exercises.checking import Context, Fault, Finding, NotGraded

_MAX_VALUES = 3
_MAX_SHOWN = 120
_UNTOLD = {("metadata", "uid"), ("metadata", "namespace"), ("metadata", "name")}

Kind = Annotated[str, Field(min_length=1, max_length=63)]


class Spec(Strict):
    """Which object, and what must hold of it: exactly one of `expect` and `absent`."""

    kind: Kind
    name: ObjectName
    namespace: ObjectName = "default"
    expect: Expression | None = None
    shows: Expression | None = None
    """What the learner is told to be there: CEL that gives a text or a list of texts, on the same variables."""
    absent: bool = False


def run(spec: Spec, context: Context) -> Finding:
    """Look the object up and evaluate the condition."""
    client = context.cluster.client
    found = client.find(spec.kind, spec.name, spec.namespace)
    where = _where(spec)
    if spec.absent:
        looked_for = Message(N_("no {kind} {name}"), {"kind": spec.kind, "name": spec.name})
        answer = Message(N_("it is there"), {}) if found else Message(N_("it is gone"), {})
        return Finding(found is None, looked_for, answer, where)
    if found is None:
        return Finding(passed=False, looked_for=None, found=Message(N_("it is not there"), {}), where=where)
    variables: dict[str, Any] = {
        "self": found,
        "before": context.start.client.find(spec.kind, spec.name, spec.namespace),
        "pods": client.list("pods"),
        "nodes": client.list("nodes"),
    }
    try:
        answer_of = cel.evaluate(spec.expect or "", variables)
    except (cel.EvaluationError, cel.CompileError) as error:
        raise NotGraded(str(error)) from error
    if spec.shows:
        told = cel.shown(spec.shows, variables)
        return Finding(
            answer_of.value, None, Message("{told}", {"told": told}) if told else Message(N_("nothing")), where
        )
    return Finding(answer_of.value, None, _found(answer_of, found, spec.expect or ""), where)


def _found(answer: cel.Answer, obj: Object, expression: str) -> Message:
    """What is there: the values of the fields that the expression looks at, so that nothing of the answer is told."""
    if answer.missing:
        return Message(N_("“{field}” is not there"), {"field": answer.missing})
    if answer.value:
        return Message(N_("that is so"), {})
    values = [f"{'.'.join(path)}: {_shown(obj, path)}" for path in cel.paths(expression) if path not in _UNTOLD]
    if not values:
        return Message(N_("that is not so"), {})
    return Message(N_("that is not so; it has {values}"), {"values": ", ".join(values[:_MAX_VALUES])})


def _shown(obj: Any, path: tuple[str, ...]) -> str:
    for step in path:
        obj = obj.get(step) if isinstance(obj, dict) else None
    text = json.dumps(obj, ensure_ascii=False) if not isinstance(obj, str) else obj
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def _where(spec: Spec) -> Message:
    facts = {"kind": spec.kind, "name": spec.name, "namespace": spec.namespace}
    if scheme.for_resource(spec.kind).namespaced:
        return Message(N_("{kind} {name} in namespace {namespace}"), facts)
    return Message(N_("{kind} {name}"), facts)


def literals(spec: Spec) -> Iterator[str]:
    """The object's name, its namespace unless it is the default, and the condition's texts and numbers."""
    yield spec.name
    if spec.namespace != "default" and scheme.for_resource(spec.kind).namespaced:
        yield spec.namespace
    if spec.expect:
        yield from cel.literals(spec.expect)


def faults(spec: Spec) -> Iterator[Fault]:
    """A kind that is not served, an expression that does not compile, both or neither of the two conditions."""
    try:
        scheme.for_resource(spec.kind)
    except scheme.NoResourceMatchError:
        facts = {"kind": spec.kind}
        advice = Message(N_("Write a kind such as Pod, Node or Deployment."), {})
        yield Fault("kind", Message(N_("“{kind}” is not a kind that this cluster knows."), facts), advice)
    if (spec.expect is None) != spec.absent:
        advice = Message(N_("Write either “expect” with a condition, or “absent: true”."), {})
        yield Fault("", Message(N_("It is not clear what is to be checked here."), {}), advice)
    if spec.expect is not None:
        try:
            cel.compiled(spec.expect)
        except cel.CompileError as error:
            message = Message(N_("This CEL expression is wrong: {problem}"), {"problem": error.text})
            yield Fault("expect", message, None, error.line, error.column)
    if spec.shows is not None:
        try:
            cel.program(spec.shows)
        except cel.CompileError as error:
            message = Message(N_("This CEL expression is wrong: {problem}"), {"problem": error.text})
            yield Fault("shows", message, None, error.line, error.column)
