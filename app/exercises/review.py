"""What is wrong in a file of the right shape: names that nothing has, expressions and manifests that cannot be read.

Needs no cluster; whether the exercise makes sense is what `proof` finds out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from app.apimachinery.messages import N_, Message
from app.exercises import cel, parameters, reading, shape
from app.exercises.base import MAX_VARIANTS
from app.exercises.chapters import BY_ID
from app.exercises.checking import Fault
from app.exercises.model import Check, ExerciseFile, Spec
from app.exercises.registry import UNITS
from app.scheduler import registry as plugins

_SAMPLES = 20
"""Variants whose expressions and manifests are read; they differ in names only."""


def faults(document: dict[str, Any], content: ExerciseFile) -> list[Fault]:
    """Everything wrong, in the order of looking."""
    spec = content.spec
    found = [*_names(spec), *_texts(spec), *_parameters(spec), *_placeholders(document, spec)]
    if not any(fault.path.startswith("spec.parameters") for fault in found):
        allowed = parameters.combinations(spec.parameters)
        found += _variants(document, allowed[:: -(-len(allowed) // _SAMPLES)])
    return found


def _names(spec: Spec) -> Iterator[Fault]:
    if spec.chapter not in BY_ID:
        message = Message(N_("There is no chapter “{chapter}”."), {"chapter": spec.chapter})
        yield Fault("spec.chapter", message, shape.near(spec.chapter, list(BY_ID)))
    for number, plugin in enumerate(spec.about):
        if not plugins.is_known(plugin):
            message = Message(N_("The scheduler has no plugin “{name}”."), {"name": plugin})
            yield Fault(f"spec.about[{number}]", message, shape.near(plugin, list(plugins.PLUGINS)))
    checks = [check.name for check in spec.checks]
    yield from _repeated("spec.checks", checks)
    yield from _repeated("spec.wrong", [wrong.name for wrong in spec.wrong])
    for number, wrong in enumerate(spec.wrong):
        for place, name in enumerate(wrong.fails):
            if name not in checks:
                message = Message(N_("There is no check “{name}”."), {"name": name})
                yield Fault(f"spec.wrong[{number}].fails[{place}]", message, shape.near(name, checks))


def _repeated(path: str, names: Iterable[str]) -> Iterator[Fault]:
    seen: Counter[str] = Counter()
    for number, name in enumerate(names):
        seen[name] += 1
        if seen[name] == 2:
            message = Message(N_("The name “{name}” is taken already."), {"name": name})
            yield Fault(f"{path}[{number}].name", message, Message(N_("Give each its own name."), {}))


def _texts(spec: Spec) -> Iterator[Fault]:
    for language in type(spec.text).model_fields:
        text = getattr(spec.text, language)
        if text is not None and any(True for _ in parameters.placeholders(text.title)):
            advice = Message(N_("Lists show the title before names are drawn: leave the placeholder out."), {})
            yield Fault(f"spec.text.{language}.title", Message(N_("A title may hold no placeholder."), {}), advice)


def _parameters(spec: Spec) -> Iterator[Fault]:
    known = list(spec.parameters)
    for name, parameter in spec.parameters.items():
        for place, other in enumerate(parameter.differsFrom):
            if other not in known or other == name:
                message = Message(N_("There is no other parameter “{name}”."), {"name": other})
                rest = [word for word in known if word != name]
                yield Fault(f"spec.parameters.{name}.differsFrom[{place}]", message, shape.near(other, rest))
    count = parameters.count(spec.parameters)
    if count > MAX_VARIANTS:
        facts = {"count": count, "limit": MAX_VARIANTS}
        yield Fault("spec.parameters", Message(N_("There are {count} variants; at most {limit} may be."), facts))
    elif not parameters.combinations(spec.parameters):
        advice = Message(N_("Give one of them more choices."), {})
        yield Fault("spec.parameters", Message(N_("No choice of values satisfies differsFrom."), {}), advice)


def _placeholders(document: Any, spec: Spec) -> Iterator[Fault]:
    """Placeholders that no parameter fills, in any text of the file."""
    waiting: list[tuple[str, Any]] = [("spec", document["spec"])]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}", item) for key, item in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{path}[{number}]", item) for number, item in reversed(list(enumerate(value)))]
        elif isinstance(value, str):
            yield from _unknown(path, value, list(spec.parameters))


def _unknown(path: str, text: str, known: list[str]) -> Iterator[Fault]:
    for name, offset in parameters.placeholders(text):
        if name in known:
            continue
        before = text[:offset]
        line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
        message = Message(N_("No parameter is called “{name}”."), {"name": name})
        advice = shape.near(name, known) or Message(N_("Write $${ where ${ is meant as it stands."), {})
        yield Fault(path, message, advice, line, column)


def _variants(document: dict[str, Any], allowed: Iterable[parameters.Values]) -> Iterator[Fault]:
    """What is wrong once names are filled in; a mistake of many variants is told once."""
    seen: set[tuple[str, int]] = set()
    for values in allowed:
        content, found = shape.read(parameters.filled(document, values))
        if content is not None:
            found = [*_checks(content.spec.checks), *_manifests(content.spec)]
        for fault in found:
            if (fault.path, fault.line) not in seen:
                seen.add((fault.path, fault.line))
                yield fault


def _checks(checks: Iterable[Check]) -> Iterator[Fault]:
    for number, check in enumerate(checks):
        path = f"spec.checks[{number}]"
        if len(check.kinds) != 1:
            advice = Message(N_("Write exactly one of: {kinds}."), {"kinds": ", ".join(UNITS)})
            yield Fault(path, Message(N_("Check “{name}” does not say how to judge."), {"name": check.name}), advice)
            continue
        for fault in UNITS[check.kind].faults(check.spec):
            where = f"{path}.{check.kind}" + (f".{fault.path}" if fault.path else "")
            yield Fault(where, fault.message, fault.advice, fault.line, fault.column)


def _manifests(spec: Spec) -> Iterator[Fault]:
    """The start's condition, and the texts that the API server must accept (it may refuse a wrong answer)."""
    if spec.cluster.expect is not None:
        try:
            cel.compiled(spec.cluster.expect)
        except cel.CompileError as error:
            message = Message(N_("This CEL expression is wrong: {problem}"), {"problem": error.text})
            yield Fault("spec.cluster.expect", message, None, error.line, error.column)
    if spec.cluster.manifests:
        yield from reading.faults("spec.cluster.manifests", spec.cluster.manifests)
    yield from reading.faults("spec.solution.manifests", spec.solution.manifests)
