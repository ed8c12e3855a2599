"""Cron schedules as github.com/robfig/cron/v3 reads them (parser.go: ParseStandard; spec.go: SpecSchedule.Next).

Five fields with names, lists, ranges and steps, `@daily` and its like, `@every 1h30m`. Errors are upstream's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction

from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.validation import quoted
from app.cluster import time_zones

_MINUTE_SECONDS = 60
_YEARS = 5
"""How far ahead a time is looked for."""
_STAR = 1 << 63
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_INT64_MAX = 2**63 - 1
_LONGEST = 1000
"""Letters of a schedule; upstream reads any number."""


class ScheduleError(ValueError):
    """A schedule that cannot be read."""


@dataclass(frozen=True)
class _Field:
    """One field: its bounds and the names that stand for numbers."""

    low: int
    high: int
    names: tuple[str, ...] = ()


_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 6, _DAYS))


@dataclass(frozen=True)
class Schedule:
    """Bits of the minutes, hours, days, months and weekdays that match; or a constant pause."""

    minutes: int = 0
    hours: int = 0
    days: int = 0
    months: int = 0
    weekdays: int = 0
    every: Micros = 0

    def next(self, after: Instant, zone: tzinfo = UTC) -> Instant | None:
        """The first time after an instant, or None where there is none within five years."""
        second = after // SECOND
        if self.every:
            return second * SECOND + self.every
        moment = (second // _MINUTE_SECONDS + 1) * _MINUTE_SECONDS
        last = datetime.fromtimestamp(moment, zone).year + _YEARS
        while True:
            local = datetime.fromtimestamp(moment, zone)
            if local.year > last:
                return None
            step = self._step(local)
            if step == 0:
                return moment * SECOND
            moment = step

    def _step(self, local: datetime) -> int:
        """0 where the time matches, else a later second before which none does."""
        day = local.replace(hour=0, minute=0, fold=0)
        if not self.months >> local.month & 1:
            return _second((day.replace(day=1) + timedelta(days=32)).replace(day=1))
        if not self._is_day(local):
            return _second(day + timedelta(days=1))
        moment = _second(local)
        if not self.hours >> local.hour & 1:
            return moment + 3600 - local.minute * _MINUTE_SECONDS
        later = self.minutes >> local.minute
        if later & 1:
            return 0
        if later:
            return moment + ((later & -later).bit_length() - 1) * _MINUTE_SECONDS
        return moment + 3600 - local.minute * _MINUTE_SECONDS

    def _is_day(self, local: datetime) -> bool:
        """Both fields must match where one is a star, else one is enough (dayMatches)."""
        by_date = bool(self.days >> local.day & 1)
        by_weekday = bool(self.weekdays >> local.isoweekday() % 7 & 1)
        if (self.days | self.weekdays) & _STAR:
            return by_date and by_weekday
        return by_date or by_weekday

    def latest(self, after: Instant, now: Instant, zone: tzinfo = UTC) -> Instant | None:
        """The last time after `after` that is not after `now`, or None."""
        found = self.next(after, zone)
        if found is None or found > now:
            return None
        if self.every:
            return found + (now - found) // self.every * self.every
        end = now
        while end - found > _MINUTE_SECONDS * SECOND:
            middle = found + (end - found) // 2
            jump = self.next(middle, zone)
            if jump is not None and jump <= now:
                found = jump
            else:
                end = middle
        following = self.next(found, zone)
        return following if following is not None and following <= now else found


def _second(moment: datetime) -> int:
    return int(moment.timestamp())


def parse(text: str) -> Schedule:
    """Read a schedule (ParseStandard). ScheduleError."""
    if not text:
        raise ScheduleError("empty spec string")
    if len(text) > _LONGEST:
        raise ScheduleError(f"a schedule may have no more than {_LONGEST} letters")
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition("=")[2].partition(" ")
        try:
            time_zones.load(zone)
        except time_zones.UnknownTimeZoneError as error:
            raise ScheduleError(f"provided bad location {zone}: {error}") from error
        text = text.strip()
    if text.startswith("@every "):
        return Schedule(every=_pause(text))
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    return Schedule(*(_bits(part, bounds) for part, bounds in zip(fields, _FIELDS, strict=True)))


def _bits(text: str, bounds: _Field) -> int:
    """A list of ranges (getField)."""
    found = 0
    for part in text.split(","):
        if part:
            found |= _range(part, bounds)
    return found


def _range(text: str, bounds: _Field) -> int:
    """`*`, `5`, `1-5`, each with `/2` or without (getRange)."""
    parts = text.split("/")
    ends = parts[0].split("-")
    star = 0
    if ends[0] in {"*", "?"}:
        first, last, star = bounds.low, bounds.high, _STAR
    else:
        first = _number(ends[0], bounds.names)
        if len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {text}")
        last = _number(ends[1], bounds.names) if len(ends) == 2 else first
    step = 1
    if len(parts) > 2:
        raise ScheduleError(f"too many slashes: {text}")
    if len(parts) == 2:
        step = _number(parts[1])
        last = bounds.high if len(ends) == 1 else last
        star = 0 if step > 1 else star
    if first < bounds.low:
        raise ScheduleError(f"beginning of range ({first}) below minimum ({bounds.low}): {text}")
    if last > bounds.high:
        raise ScheduleError(f"end of range ({last}) above maximum ({bounds.high}): {text}")
    if first > last:
        raise ScheduleError(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return sum(1 << number for number in range(first, last + 1, step)) | star


def _number(text: str, names: tuple[str, ...] = ()) -> int:
    """A number, or one of the names (parseIntOrName, mustParseInt)."""
    if text.lower() in names:
        return names.index(text.lower()) + (1 if names is _MONTHS else 0)
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    number = int(text)
    if abs(number) > _INT64_MAX:
        raise ScheduleError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: value out of range"
        )
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


def _pause(text: str) -> Micros:
    """The pause of `@every`, whole seconds and at least one (Every)."""
    given = text.removeprefix("@every ")
    problem = _duration_problem(given)
    if problem:
        raise ScheduleError(f"failed to parse duration {text}: {problem}")
    sign = -1 if given.startswith("-") else 1
    parts = re.findall(r"([0-9]*\.?[0-9]*)([^0-9.]+)", given.lstrip("+-"))
    nanoseconds = sign * sum(Fraction(_decimal(number)) * _UNITS[unit] for number, unit in parts)
    if nanoseconds > _INT64_MAX:
        raise ScheduleError(f"failed to parse duration {text}: time: invalid duration {quoted(given)}")
    return max(int(nanoseconds // 10**9), 1) * SECOND


def _decimal(number: str) -> str:
    return f"0{number}0" if number.startswith(".") or number.endswith(".") else number


def _duration_problem(text: str) -> str:
    """What Go's time.ParseDuration says of a text that is none."""
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return ""
    if not rest:
        return f"time: invalid duration {quoted(text)}"
    while rest:
        found = re.match(r"[0-9]*\.?[0-9]*", rest, re.ASCII)
        number = found[0] if found else ""
        if not any(letter.isdecimal() for letter in number):
            return f"time: invalid duration {quoted(text)}"
        rest = rest[len(number) :]
        unit = re.match(r"[^0-9.]*", rest)
        name = unit[0] if unit else ""
        if not name:
            return f"time: missing unit in duration {quoted(text)}"
        if name not in _UNITS:
            return f"time: unknown unit {quoted(name)} in duration {quoted(text)}"
        rest = rest[len(name) :]
    return ""
