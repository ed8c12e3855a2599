"""Parameters: values drawn from a seed, and `${name}` filled in wherever it stands.

A value comes from the author's own choices and from nowhere else, and has no character that could end a YAML or CEL
string. `$${` stands for a plain `${`.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from app.exercises.base import MAX_CHOICES, Strict

_PLACE = re.compile(r"\$\$\{|\$\{([^{}\n]{0,64})\}?")
_VALUE_PATTERN = r"^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$"

ParameterName = Annotated[str, Field(pattern=r"^[a-z][a-zA-Z0-9]*$", max_length=32)]
Choice = Annotated[str, Field(pattern=_VALUE_PATTERN, max_length=63)]


class Parameter(Strict):
    """One parameter: what it may be, and which parameters it must differ from."""

    choices: Annotated[list[Choice], Field(min_length=1, max_length=MAX_CHOICES)]
    differsFrom: Annotated[  # noqa: N815 (the file's own spelling)
        list[ParameterName], Field(default_factory=list, max_length=MAX_CHOICES)
    ]


Values = Mapping[str, str]


def count(parameters: Mapping[str, Parameter]) -> int:
    """How many combinations there are before `differsFrom` is looked at."""
    total = 1
    for parameter in parameters.values():
        total *= len(parameter.choices)
    return total


def combinations(parameters: Mapping[str, Parameter]) -> list[dict[str, str]]:
    """All allowed combinations, in a fixed order; one empty one where there are no parameters."""
    names = sorted(parameters)
    products = itertools.product(*(parameters[name].choices for name in names))
    made = (dict(zip(names, values, strict=True)) for values in products)
    return [values for values in made if _differ(parameters, values)]


def _differ(parameters: Mapping[str, Parameter], values: Values) -> bool:
    return all(
        values[name] != values.get(other) for name, parameter in parameters.items() for other in parameter.differsFrom
    )


def draw(parameters: Mapping[str, Parameter], seed: int) -> dict[str, str]:
    """The combination of a seed: the same one each time, all of them equally likely."""
    allowed = combinations(parameters)
    digest = hashlib.sha256(f"variant/{seed}".encode()).digest()
    return allowed[int.from_bytes(digest[:8], "big") % len(allowed)]


def filled(value: Any, values: Values) -> Any:
    """A copy of a JSON value with every placeholder in its strings replaced. Unknown ones stay as they are."""
    if isinstance(value, str):
        return _PLACE.sub(lambda match: _replacement(match, values), value)
    if isinstance(value, dict):
        return {key: filled(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    return value


def _replacement(match: re.Match[str], values: Values) -> str:
    if match[0] == "$${":
        return "${"
    return values.get(match[1], match[0])


def placeholders(text: str) -> Iterator[tuple[str, int]]:
    """The names that a text asks for, each with its offset. What is no proper placeholder comes as it stands."""
    for match in _PLACE.finditer(text):
        if match[0] != "$${":
            yield match[1], match.start()
