"""Quantities: exact amounts with a suffix, as `500m`, `1Gi` or `1e3`.

Mirrors k8s.io/apimachinery/pkg/api/resource/quantity.go. An amount is an int of billionths, since nothing finer is
kept upstream either, so sums and comparisons are exact and cheap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

NANO = 1
MILLI = 1_000_000
ONE = 1_000_000_000

_LARGEST = (2**63 - 1) * ONE
_FORM = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([a-zA-Z]*)([-+]?[0-9]*)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
_LONGEST = 64

FORM_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
"""What the API server says of a text that is no quantity (quantity.go: ErrFormatWrong)."""


class QuantityError(ValueError):
    """The text is no quantity; the message is the API server's."""


class Format(Enum):
    """Which family of suffixes a quantity was written in, and is printed in."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True, order=False)
class Quantity:
    """An amount of billionths, and the format it prints in. Equal amounts are equal whatever their format."""

    nanos: int
    format: Format = Format.DECIMAL_SI

    def value(self) -> int:
        """In units, rounded away from zero (Quantity.Value)."""
        return _away(self.nanos, ONE)

    def milli_value(self) -> int:
        """In thousandths, rounded away from zero (Quantity.MilliValue)."""
        return _away(self.nanos, MILLI)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos - other.nanos, self.format if self.nanos else other.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nanos, self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: Quantity) -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: Quantity) -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: Quantity) -> bool:
        return self.nanos >= other.nanos

    def __str__(self) -> str:
        """The canonical form: the largest suffix that leaves a whole number (Quantity.CanonicalizeBytes)."""
        if self.format is Format.BINARY_SI and abs(self.nanos) >= 1024 * ONE:
            return _binary(self.value())
        number, exponent = self.nanos, -9
        while number and number % 1000 == 0 and exponent < 18:
            number, exponent = number // 1000, exponent + 3
        if not number:
            return "0"
        if self.format is Format.DECIMAL_EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_SUFFIX[exponent]}"


ZERO = Quantity(0)


@lru_cache(maxsize=4096)
def parse(text: str) -> Quantity:
    """The quantity that the text denotes. Raises QuantityError in the API server's words.

    Finer than billionths rounds away from zero; larger than 2^63-1 is capped (quantity.go: ParseQuantity).
    """
    if text == "":
        raise QuantityError("quantities must not be empty string")
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(FORM_TEXT)
    sign, digits, letters, exponent = match.groups()
    scale, shown = _suffix(letters, exponent)
    whole, _, fraction = digits.partition(".")
    number = int((whole + fraction) or "0")
    nanos = _scaled(number, len(fraction), scale)
    nanos = min(nanos, _LARGEST)
    return Quantity(-nanos if sign == "-" else nanos, shown)


def of(value: object) -> Quantity:
    """The quantity of a JSON value: objects may hold numbers where a quantity is due."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise QuantityError(FORM_TEXT)
    return parse(str(value))


def from_milli(amount: int, shown: Format = Format.DECIMAL_SI) -> Quantity:
    """So many thousandths."""
    return Quantity(amount * MILLI, shown)


def _suffix(letters: str, exponent: str) -> tuple[tuple[int, int], Format]:
    """`(base, power)` of a suffix, and its format."""
    if letters in {"e", "E"} and exponent.lstrip("+-"):
        return (10, max(-100, min(100, int(exponent)))), Format.DECIMAL_EXPONENT
    if exponent:
        raise QuantityError(FORM_TEXT)
    if letters in _DECIMAL:
        return (10, _DECIMAL[letters]), Format.DECIMAL_SI
    if letters in _BINARY:
        return (1024, _BINARY[letters]), Format.BINARY_SI
    raise QuantityError(FORM_TEXT if not set(letters) <= set("eEinumkKMGTP") else "unable to parse quantity's suffix")


def _scaled(number: int, decimals: int, scale: tuple[int, int]) -> int:
    base, power = scale
    numerator, denominator = number * ONE, int(10**decimals)
    if power >= 0:
        numerator *= int(base**power)
    else:
        denominator *= int(base**-power)
    return -(-numerator // denominator)


def _away(nanos: int, unit: int) -> int:
    return -(-nanos // unit) if nanos >= 0 else nanos // unit


def _binary(value: int) -> str:
    power = 0
    while value % 1024 == 0 and power < 6:
        value, power = value // 1024, power + 1
    return f"{value}{_BINARY_SUFFIX.get(power, '')}"
