"""Column types that behave alike on SQLite and PostgreSQL, whatever a visitor typed."""

from __future__ import annotations

import enum
from typing import Any

from sqlalchemy import BigInteger, Enum, Integer, Text
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.types import TypeDecorator

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_UNSTORABLE = {0: "\N{SYMBOL FOR NULL}", **_SURROGATES}
_LARGEST = 2**31 - 1


class Words(TypeDecorator[str]):
    """Text of any length. What PostgreSQL cannot hold is kept as a visible sign: NUL as ␀, a lone surrogate as �."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (SQLAlchemy's)
        """The text as both databases can hold it."""
        return value if value is None else value.translate(_UNSTORABLE)


class RowId(TypeDecorator[int]):
    """A row's number. A number from an address that no row can have becomes 0, which no row has."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002 (SQLAlchemy's)
        """The number, or 0 for one that is out of range."""
        return value if value is None or 0 < value <= _LARGEST else 0


class LongRowId(TypeDecorator[int]):
    """Like RowId, for tables that grow with every interaction: 64 bits wide."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """SQLite counts up only in a column that is called INTEGER; its integers have 64 bits anyway."""
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002 (SQLAlchemy's)
        """The number, or 0 for one that is out of range."""
        return value if value is None or 0 < value < 2**63 else 0


def one_of(kind: type[enum.StrEnum]) -> Enum:
    """A column that holds the values of an enumeration as text; anything else is refused on the way in and out."""
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )
