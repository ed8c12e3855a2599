"""CEL, Kubernetes' own language for conditions: compiled for authors, evaluated on objects, always bounded.

An expression sees `self` (the object), `before` (the same object at the start, or null), `pods` and `nodes` (all of
the cluster), and `quantity("500m")`, a number that compares. Iteration is limited by the library's own budget, length
by the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from cel_expr_python import cel

from app.apimachinery import quantity

_EXTENSIONS = "extensions:\n" + "".join(f"- name: {name}\n" for name in ("optional", "strings", "bindings", "sets"))
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_MISSING = re.compile(r'^(?:NOT_FOUND: Key not found in map : "?([^"]*?)"?|UNKNOWN: Index error: index=(\d+).*)$')
_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*)
  | (?P<long>[rRbB]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}))
  | (?P<short>[rRbB]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<number>[0-9]+(?:\.[0-9]+)?)
    """,
    re.VERBOSE | re.DOTALL,
)


_PATH = re.compile(r"""\bself((?:\.\??[A-Za-z_][A-Za-z0-9_]*+(?!\s*\()|\["[^"\\\n]*"\])+)""")
_STEP = re.compile(r"""\.\??([A-Za-z_][A-Za-z0-9_]*)|\["([^"]*)"\]""")


class CompileError(ValueError):
    """An expression that cannot be compiled: the compiler's words, line and column from 1."""

    def __init__(self, text: str, line: int, column: int) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column


class EvaluationError(Exception):
    """An expression that broke while it was evaluated: the author's fault, not the learner's."""


@dataclass(frozen=True)
class Answer:
    """What an expression says of an object; `missing` names a field that it asked for and that is not there."""

    value: bool
    missing: str = ""


@cache
def _environment() -> Any:
    overloads = [
        cel.Overload(id=f"quantity_{name}", return_type=cel.Type.DOUBLE, parameters=[kind], impl=_quantity)
        for name, kind in (("string", cel.Type.STRING), ("int", cel.Type.INT), ("double", cel.Type.DOUBLE))
    ]
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_EXTENSIONS),
        variables=dict.fromkeys(("self", "before"), cel.Type.DYN) | dict.fromkeys(("pods", "nodes"), cel.Type.LIST),
        functions=[cel.FunctionDecl("quantity", overloads)],
    )


def _quantity(text: object) -> float:
    """An amount in units. Exact up to 2^53 thousandths, which is more than any node has."""
    return quantity.of(text).nanos / quantity.ONE


@lru_cache(maxsize=512)
def program(expression: str) -> Any:
    """The compiled expression, whatever it gives. Raises CompileError."""
    try:
        return _environment().compile(expression)
    except RuntimeError as error:
        found = _PLACE.search(str(error))
        if found is None:
            raise CompileError(str(error).partition("\n")[0], 1, 1) from error
        raise CompileError(found[3], int(found[1]), int(found[2])) from error


def compiled(expression: str) -> Any:
    """The compiled condition. CompileError also when it is none."""
    condition = program(expression)
    kind = str(condition.return_type())
    if kind not in {"BOOL", "DYN"}:
        raise CompileError(f"the expression gives {kind.lower()}, not true or false", 1, 1)
    return condition


def shown(expression: str, variables: Mapping[str, Any]) -> str:
    """What an expression tells of an object: a text, or the texts of a list with commas; empty where it cannot."""
    try:
        value = program(expression).eval(data=_plain_all(variables))
    except RuntimeError:  # what cannot be told is not told: the verdict does not depend on it
        return ""
    if str(value.type()) == "ERROR":
        return ""
    told = value.plain_value() if hasattr(value, "plain_value") else value.value()
    return ", ".join(str(item) for item in told) if isinstance(told, list | tuple) else str(told)


def evaluate(expression: str, variables: Mapping[str, Any]) -> Answer:
    """Whether the expression holds; not so where it asks for what is not there. EvaluationError for other faults."""
    try:
        value = compiled(expression).eval(data=_plain_all(variables))
    except RuntimeError as error:
        raise EvaluationError(str(error)) from error
    if str(value.type()) == "BOOL":
        return Answer(bool(value.value()))
    text = str(value.value())
    if str(value.type()) == "ERROR" and (found := _MISSING.match(text)):
        return Answer(value=False, missing=found[1] or f"[{found[2]}]")
    raise EvaluationError(text if str(value.type()) == "ERROR" else f"the expression gave {text!r}")


def _plain_all(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in variables.items()}


def _plain(value: Any) -> Any:
    """A stored object, or a list of them, as the plain dicts that CEL takes."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def literals(expression: str) -> Iterator[str]:
    """The texts and the numbers from 2 on that stand in an expression: what a learner has to know to satisfy it."""
    for match in _TOKEN.finditer(expression):
        if match["short"] or match["long"]:
            text = _unquoted(match[0])
            if any(letter.isalnum() for letter in text):
                yield text
        elif match["number"]:
            number = match[0].removesuffix(".0")
            if number not in {"0", "1"}:
                yield number


def paths(expression: str) -> list[tuple[str, ...]]:
    """The fields of `self` that an expression looks at: `self.spec.replicas == 3` looks at `("spec", "replicas")`."""
    found = (tuple(step[1] or step[2] for step in _STEP.finditer(path[1])) for path in _PATH.finditer(expression))
    return list(dict.fromkeys(found))


def _unquoted(token: str) -> str:
    body = token.lstrip("rRbB")
    width = 3 if body[:3] in {'"""', "'''"} else 1
    inner = body[width:-width]
    raw = "r" in token[: len(token) - len(body)].lower()
    return inner if raw else re.sub(r"\\(.)", r"\1", inner)
