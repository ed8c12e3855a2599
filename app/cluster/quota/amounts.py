"""Amounts by resource name, and their arithmetic (k8s.io/apiserver/pkg/quota/v1/resources.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.quantity import Quantity

Amounts = dict[str, Quantity]

ONE = quantity.parse("1")
ZERO = quantity.parse("0")


def parsed(listed: Mapping[str, Any] | None) -> Amounts:
    """The amounts of an object's field."""
    return {name: quantity.of(amount) for name, amount in (listed or {}).items()}


def shown(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    """The amounts as an object holds them."""
    return {name: str(amount) for name, amount in sorted(amounts.items())}


def added(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Amounts:
    """The sums, with every name of either."""
    total = dict(left)
    for name, amount in right.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def subtracted(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Amounts:
    """What is left, never below nothing (SubtractWithNonNegativeResult)."""
    rest = {name: amount - right.get(name, ZERO) for name, amount in left.items()}
    return {name: max(ZERO, amount) for name, amount in rest.items()}


def masked(amounts: Mapping[str, Quantity], names: Iterable[str]) -> Amounts:
    """Only the named ones."""
    kept = set(names)
    return {name: amount for name, amount in amounts.items() if name in kept}


def without_zeros(amounts: Mapping[str, Quantity]) -> Amounts:
    """Only what is not nothing."""
    return {name: amount for name, amount in amounts.items() if amount}


def exceeded(amounts: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> list[str]:
    """The names of which there is more than the limit; no limit holds everything (LessThanOrEqual)."""
    return [name for name, amount in sorted(amounts.items()) if name in limits and amount > limits[name]]


def printed(amounts: Mapping[str, Quantity]) -> str:
    """`cpu=1,memory=1Gi` (prettyPrint)."""
    return ",".join(f"{name}={amount}" for name, amount in sorted(amounts.items()))
