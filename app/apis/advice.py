"""What to write instead: the sentence that a learner reads beside the API server's refusal."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.messages import N_, Message
from app.apis import schema
from app.apis.decode import Problem
from app.apis.schema import Type

_NEAR = 0.7
_SEARCH_DEPTH = 4

_UNITS = {
    "b": "",
    "k": "k",
    "kb": "k",
    "kib": "Ki",
    "ki": "Ki",
    "m": "Mi",
    "mb": "Mi",
    "mib": "Mi",
    "mi": "Mi",
    "g": "Gi",
    "gb": "Gi",
    "gib": "Gi",
    "gi": "Gi",
    "t": "Ti",
    "tb": "Ti",
    "tib": "Ti",
    "ti": "Ti",
    "millicpu": "m",
    "millicores": "m",
    "vcpu": "",
    "cpu": "",
    "core": "",
    "cores": "",
}


def for_problem(problem: Problem) -> Message | None:
    """Advice for what strict decoding refused."""
    if problem.kind == "unknown":
        return _for_unknown(problem)
    if problem.kind == "quantity":
        return _for_quantity(problem)
    return _for_misfit(problem)


def _for_unknown(problem: Problem) -> Message:
    name = problem.path.rpartition(".")[2]
    within = problem.enclosing[-1][1]
    if near := _near(name, within):
        return Message(N_("Write “{field}” instead of “{wrong}”."), {"field": near, "wrong": name})
    if inside := _path_to(within, name):
        facts = {"field": name, "place": inside}
        return Message(N_("“{field}” belongs inside “{place}”: indent it so that it stands there."), facts)
    if outside := _enclosing_with(problem, name):
        facts = {"field": name, "place": outside}
        return Message(N_("“{field}” belongs directly inside “{place}”, further out: indent it less."), facts)
    if elsewhere := _path_to(problem.enclosing[0][1], name):
        return Message(N_("“{field}” belongs inside “{place}”."), {"field": name, "place": elsewhere})
    facts = {"field": name, "known": ", ".join(sorted(within.fields))}
    return Message(N_("There is no field “{field}” here. The fields here are: {known}."), facts)


def _near(name: str, within: Type) -> str:
    """The field that the writer meant, by spelling."""
    folded = {known.lower(): known for known in within.fields}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=_NEAR)
    return folded[close[0]] if close else ""


def _path_to(start: Type, name: str) -> str:
    """The nearest place below a type that has the field: `spec`, `spec.containers`."""
    level: list[tuple[str, Type]] = [("", start)]
    seen = {start.name}
    for _ in range(_SEARCH_DEPTH):
        deeper: list[tuple[str, Type]] = []
        for path, known in level:
            for field in known.fields.values():
                inner = schema.type_of(field.element)
                if inner is None or inner.name in seen or field.name == "status":
                    continue
                seen.add(inner.name)
                here = f"{path}.{field.name}" if path else field.name
                if name in inner.fields:
                    return here
                deeper.append((here, inner))
        level = deeper
    return ""


def _enclosing_with(problem: Problem, name: str) -> str:
    """The nearest enclosing field whose structure has the field."""
    return next((place for place, known in reversed(problem.enclosing[:-1]) if place and name in known.fields), "")


def _for_quantity(problem: Problem) -> Message:
    text = str(problem.value).strip()
    mended = _mended(text)
    if mended:
        facts = {"right": mended, "wrong": text}
        return Message(N_("Write “{right}” instead of “{wrong}”."), facts)
    return Message(
        N_("Write an amount such as 500m or 2 for CPU, 128Mi or 1Gi for memory; “{wrong}” is none."), {"wrong": text}
    )


def _mended(text: str) -> str:
    found = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s{0,3}([A-Za-z]{1,12})", text)
    if not found or found[2].lower() not in _UNITS:
        return ""
    right = found[1] + _UNITS[found[2].lower()]
    try:
        quantity.parse(right)
    except quantity.QuantityError:
        return ""
    return right


_EXAMPLES = {
    "int32": "3",
    "int64": "3",
    "double": "1.5",
    "bool": "true",
}


_CROWDED = re.compile(r"([A-Za-z][A-Za-z0-9]{0,60}):\S", re.ASCII)
_SCALARS = {"string", "bytes", "time", "bool", "any", "intstr", "quantity", *_EXAMPLES}


def _for_misfit(problem: Problem) -> Message:
    name = re.sub(r"\[\d+\]$", "", problem.path).rpartition(".")[2]
    facts: dict[str, Any] = {"field": name, "wrong": _short(problem.value)}
    crowded = _CROWDED.match(facts["wrong"]) if isinstance(problem.value, str) else None
    if crowded and problem.wanted not in _SCALARS:
        facts["right"] = f"{crowded[1]}: "
        return Message(N_("Write “{right}” with a space after the colon."), facts)
    if problem.wanted.startswith("[]"):
        return Message(N_("“{field}” is a list: begin each of its items on a new line with “- ”."), facts)
    if problem.wanted == "time" and isinstance(problem.value, str):
        return Message(N_("Write a time such as “2026-01-31T12:00:00Z”, or leave the field out."))
    if problem.wanted == "string" and not isinstance(problem.value, dict | list):
        facts["right"] = json.dumps(_short(problem.value))
        return Message(N_("Write {right}, in quotes: without them YAML does not read it as text."), facts)
    if problem.wanted == "string":
        return Message(N_("“{field}” takes one piece of text, not a list or further fields."), facts)
    if problem.wanted in _EXAMPLES:
        facts["example"] = _EXAMPLES[problem.wanted]
        if problem.wanted == "bool":
            return Message(N_("“{field}” takes true or false, without quotes."), facts)
        return Message(N_("“{field}” takes a whole number without quotes, such as {example}."), facts)
    return Message(N_("“{field}” takes fields of its own: write them on the lines below it, indented."), facts)


def _short(value: Any) -> str:
    """The value as it stood in YAML, near enough, and not endless."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
