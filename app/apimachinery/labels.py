"""Label selectors: parsed from kubectl's text form or from a LabelSelector object, and matched against labels.

Mirrors k8s.io/apimachinery/pkg/labels/selector.go (Parse, Requirement.Matches) and
pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"\s*(?:(!=|==|[=!,()<>])|([^\s=!,()<>]+))", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)


class SelectorError(ValueError):
    """The selector cannot be read; the message is upstream's."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term. `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy the term. An absent key satisfies NotIn and DoesNotExist."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        bound = self.values[0] if len(self.values) == 1 else ""
        if not _INTEGER.fullmatch(value) or not _INTEGER.fullmatch(bound):
            return False
        return int(value) > int(bound) if self.operator == "Gt" else int(value) < int(bound)

    def __str__(self) -> str:
        values = ",".join(sorted(self.values))
        match self.operator:
            case "In" if len(self.values) == 1:
                return f"{self.key}={values}"
            case "NotIn" if len(self.values) == 1:
                return f"{self.key}!={values}"
            case "In" | "NotIn":
                return f"{self.key} {self.operator.lower()} ({values})"
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
        return f"{self.key}{'>' if self.operator == 'Gt' else '<'}{values}"


@dataclass(frozen=True, slots=True)
class Selector:
    """All its requirements must hold. `nothing` selectors match no object at all."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return not self.nothing and all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def is_empty(self) -> bool:
        """Whether it selects everything."""
        return not self.nothing and not self.requirements

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


def from_map(labels: Mapping[str, str] | None) -> Selector:
    """Equality on each label; everything for an empty or absent map (labels.SelectorFromSet)."""
    return Selector(tuple(Requirement(key, "In", (value,)) for key, value in sorted((labels or {}).items())))


def from_label_selector(selector: Mapping[str, Any] | None) -> Selector:
    """From `matchLabels` and `matchExpressions`. None selects nothing, an empty selector everything."""
    if selector is None:
        return NOTHING
    equal = from_map(selector.get("matchLabels")).requirements
    return Selector((*equal, *_expressions(selector.get("matchExpressions") or ())))


def _expressions(expressions: Iterable[Mapping[str, Any]]) -> Iterable[Requirement]:
    for expression in expressions:
        operator = str(expression.get("operator", ""))
        if operator not in {"In", "NotIn", "Exists", "DoesNotExist"}:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')
        yield Requirement(str(expression["key"]), operator, tuple(expression.get("values") or ()))


def parse_selector(text: str) -> Selector:
    """From kubectl's form: `env=prod,tier!=db,zone in (a,b),!legacy`. Raises SelectorError."""
    return Selector(tuple(_Parser(text).requirements()))


class _Parser:
    """A recursive descent over the few tokens that the form has."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def requirements(self) -> Iterable[Requirement]:
        if not self._peek():
            return
        while True:
            yield self._requirement()
            token = self._next()
            if not token:
                return
            if token != ",":
                raise _unexpected(token, "',' or 'end of string'")
            if not self._peek():
                raise _unexpected("", "identifier after ','")

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(self._key(), "DoesNotExist")
        key = self._key()
        token = self._peek()
        if token in {"", ","}:
            return Requirement(key, "Exists")
        self._next()
        match token:
            case "=" | "==":
                return Requirement(key, "In", (self._value(),))
            case "!=":
                return Requirement(key, "NotIn", (self._value(),))
            case "in":
                return Requirement(key, "In", self._values())
            case "notin":
                return Requirement(key, "NotIn", self._values())
            case ">" | "<":
                return Requirement(key, "Gt" if token == ">" else "Lt", (self._bound(),))
        raise _unexpected(token, "in, notin, =, ==, !=, gt, lt")

    def _key(self) -> str:
        token = self._next()
        if not token or not _is_word(token):
            raise _unexpected(token, "!, identifier, or 'end of string'")
        return token

    def _value(self) -> str:
        """A value may be absent: `key=` asks for the empty one."""
        return self._next() if _is_word(self._peek()) else ""

    def _bound(self) -> str:
        value = self._value()
        if not _INTEGER.fullmatch(value):
            raise SelectorError(f"for 'Gt', 'Lt' operators, the value must be an integer: {value!r}")
        return value

    def _values(self) -> tuple[str, ...]:
        if (token := self._next()) != "(":
            raise _unexpected(token, "'('")
        values: list[str] = []
        while True:
            values.append(self._value())
            match self._next():
                case ",":
                    continue
                case ")":
                    return tuple(sorted(set(values)))
                case token:
                    raise _unexpected(token, "',', or ')'")

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _tokens(text: str) -> Sequence[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SelectorError(f"unable to parse requirement: found {text[at]!r}")
        tokens.append(match[1] or match[2])
        at = match.end()
    return tokens


def _is_word(token: str) -> bool:
    return bool(token) and token[0] not in "=!,()<>"


def _unexpected(token: str, expected: str) -> SelectorError:
    return SelectorError(f"unable to parse requirement: found '{token}', expected: {expected}")
