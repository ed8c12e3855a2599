"""One-line programs of perl, python and node (`perl -wle 'print bpi(2000)'`), read for what examples do with them.

Known are what they print as a text, how long they sleep and the code that they exit with; the rest takes a moment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.apimachinery.clock import SECOND
from app.cluster.processes import QUICK, Run

NAMES = frozenset({"perl", "python", "python3", "node", "ruby"})
_SWITCH = re.compile(r"-[A-Za-z]*[ce]")
_SLEEP = re.compile(r"\bsleep[ (]+([0-9]{1,6}(?:\.[0-9]{1,3})?)")
_EXIT = re.compile(r"\b(?:sys\.)?exit[ (]+([0-9]{1,3})")
_PRINT = re.compile(r"""\b(?:print|console\.log)[ (]+(["'])([^"']{0,400})\1""")
_PI = re.compile(r"\bbpi\(([0-9]{1,4})\)")
_FOR_EVER = re.compile(r"\bwhile *\(?(?:True|1|true)\b")
_MOST_DIGITS = 2000
_LONGEST = 4000
_MOST_LINES = 50
_MOMENT = 4 * SECOND
"""What so many digits take."""


def run(argv: Sequence[str]) -> Run | None:
    """What a one-liner does, or None where the arguments are no one-liner."""
    program = next((argv[place + 1] for place, text in enumerate(argv[:-1]) if place and _SWITCH.fullmatch(text)), None)
    if program is None:
        return Run(runs=QUICK) if len(argv) == 1 else None
    text = program[:_LONGEST]
    lines = tuple(found[2] for found in _PRINT.finditer(text))[:_MOST_LINES]
    if _FOR_EVER.search(text):
        return Run(lines=lines)
    runs = sum(int(float(found[1]) * SECOND) for found in _SLEEP.finditer(text))
    if digits := _PI.search(text):
        return Run(runs=_MOMENT, lines=(_pi(min(int(digits[1]), _MOST_DIGITS)),))
    code = _EXIT.search(text)
    return Run(runs=max(runs, QUICK), code=int(code[1]) & 255 if code else 0, lines=lines)


def _pi(digits: int) -> str:
    """So many significant digits of pi, as perl's bignum gives them (Machin's formula)."""
    unity = 10 ** (digits + 10)
    found = 4 * (4 * _arctangent(5, unity) - _arctangent(239, unity))
    text = str((found // 10**10 + 5) // 10)
    return f"{text[0]}.{text[1:]}" if digits > 1 else text


def _arctangent(inverse: int, unity: int) -> int:
    total = term = unity // inverse
    square, divisor, sign = inverse * inverse, 3, -1
    while term:
        term //= square
        total += sign * (term // divisor)
        sign, divisor = -sign, divisor + 2
    return total
