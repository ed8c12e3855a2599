"""What a YAML scalar means to Kubernetes (sigs.k8s.io/yaml with its fork of go-yaml v2: resolve.go).

`yes` and `on` are booleans, `0x1F` and `1_000` are numbers, dates stay text, and a float without fraction is an
integer, because the value goes on as JSON.
"""

from __future__ import annotations

import math
import re
from typing import Any

from app.apimachinery.messages import N_, Message

_TRUE = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
_FALSE = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
_NULL = {"", "~", "null", "Null", "NULL"}
_INFINITE = {".nan", ".NaN", ".NAN"} | {sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")}
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_BASED = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_LONGEST_NUMBER = 400
_EXACT = 2**53
_PREFIX = "tag:yaml.org,2002:"
_TAGS = {"str", "int", "bool", "float", "null", "map", "seq", "timestamp", "merge"}


class ScalarError(ValueError):
    """A scalar that cannot become JSON."""

    def __init__(self, problem: Message, advice: Message | None = None) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.advice = advice


def is_plain_tag(tag: str) -> bool:
    """Whether a tag is one of YAML's own simple ones."""
    return tag == "!" or tag.removeprefix(_PREFIX) in _TAGS


def tag_problem(tag: str) -> Message:
    """What is said of any other tag."""
    return Message(N_("The tag “{tag}” has no meaning in a manifest."), {"tag": tag.replace(_PREFIX, "!!")[:80]})


def resolved(text: str, tag: str | None, *, plain: bool) -> Any:
    """The value of a scalar; `plain` says that it stood without quotes and without a tag.

    Raises:
        ScalarError: a tag without meaning here, or a number that JSON has none for.
    """
    if tag and not is_plain_tag(tag):
        raise ScalarError(tag_problem(tag), Message(N_("If this is text, put it in quotes.")))
    if not plain and tag in {None, "!", f"{_PREFIX}str"}:
        return text
    if tag in {f"{_PREFIX}str", f"{_PREFIX}timestamp", "!"}:
        return text
    value = _plain(text)
    if tag == f"{_PREFIX}float" and isinstance(value, int):
        return value
    return value


def _plain(text: str) -> Any:
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text in _INFINITE:
        raise ScalarError(
            Message(N_("“{value}” is not a number that a manifest can hold."), {"value": text}),
            Message(N_("If this is text, put it in quotes.")),
        )
    first = text[0]
    if not (first in "+-." or first.isdigit()) or len(text) > _LONGEST_NUMBER:
        return text
    return _number(text.replace("_", ""), text)


def _number(digits: str, text: str) -> Any:
    """An int that fits 64 bits, a float, or the text itself."""
    based = _BASED.fullmatch(digits)
    if based:
        return _whole(int(based[1] + _octal(based[2]), 0), text)
    if _DECIMAL.fullmatch(digits):
        return _whole(int(digits), text)
    if not _FLOAT.fullmatch(digits):
        return text
    number = float(digits)
    if math.isinf(number):
        return text
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _octal(digits: str) -> str:
    """`017` as Python writes it: a leading zero makes an octal number (YAML 1.1)."""
    return digits if digits[1:2].lower() in {"x", "b", "o"} else f"0o{digits[1:]}"


def _whole(number: int, text: str) -> Any:
    if -(2**63) <= number < 2**64:
        return number
    as_float = float(number) if abs(number) < 10**308 else math.inf
    return text if math.isinf(as_float) else as_float


def as_key(value: Any) -> str:
    """A mapping's key as JSON needs it: text (sigs.k8s.io/yaml: convertToJSONableObject)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
