from datetime import UTC

import pytest

from app.apimachinery import clock
from app.cluster import cron, time_zones

LARGE = "9" * 20
NOW = "2026-03-01T09:00:30Z"  # a Sunday


def following(schedule: str, start: str = NOW, count: int = 1, zone: str = "UTC") -> list[str]:
    parsed, moment, found = cron.parse(schedule), clock.parse(start), []
    for _ in range(count):
        step = parsed.next(moment, time_zones.load(zone))
        assert step is not None
        moment = step
        found.append(clock.rfc3339(moment)[5:16])
    return found


@pytest.mark.parametrize(
    ("schedule", "times"),
    [
        ("* * * * *", ["03-01T09:01", "03-01T09:02"]),
        ("*/20 * * * *", ["03-01T09:20", "03-01T09:40"]),
        ("5/20 * * * *", ["03-01T09:05", "03-01T09:25"]),
        ("0 0 * * *", ["03-02T00:00", "03-03T00:00"]),
        ("30 6-16/4 * * 1-5", ["03-02T06:30", "03-02T10:30"]),
        ("0 12 1,15 * *", ["03-01T12:00", "03-15T12:00"]),
        ("0 0 13 * 5", ["03-06T00:00", "03-13T00:00"]),
        ("0 0 * jan,JUL mon", ["07-06T00:00", "07-13T00:00"]),
        ("0 0 29 2 *", ["02-29T00:00"]),
        ("0 0 ? * 0", ["03-08T00:00"]),
        ("@hourly", ["03-01T10:00"]),
        ("@daily", ["03-02T00:00"]),
        ("@weekly", ["03-08T00:00"]),
        ("@monthly", ["04-01T00:00"]),
        ("@yearly", ["01-01T00:00"]),
        ("@every 90m", ["03-01T10:30"]),
    ],
)
def test_a_schedule_says_when_it_comes_next(schedule: str, times: list[str]) -> None:
    assert following(schedule, count=len(times)) == times


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("0 0 * * * *", "expected exactly 5 fields, found 6: [0 0 * * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("-1 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'),
        (f"{LARGE} * * * *", f'failed to parse int from {LARGE}: strconv.Atoi: parsing "{LARGE}": value out of range'),
        ("@fortnightly", "unrecognized descriptor: @fortnightly"),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every 5d", 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"'),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
        ("TZ=Nowhere/Land 0 0 * * *", "provided bad location Nowhere/Land: unknown time zone Nowhere/Land"),
        ("", "empty spec string"),
    ],
)
def test_what_cannot_be_read_is_refused_in_upstreams_words(schedule: str, problem: str) -> None:
    with pytest.raises(cron.ScheduleError) as caught:
        cron.parse(schedule)
    assert str(caught.value) == problem


def test_a_day_that_never_comes_has_no_next_time() -> None:
    assert cron.parse("59 23 31 2 *").next(clock.parse(NOW)) is None


def test_times_are_those_of_the_zone() -> None:
    assert following("0 9 * * *", zone="Asia/Seoul") == ["03-02T00:00"]


def test_an_hour_that_summer_time_leaves_out_is_left_out_and_one_that_comes_twice_counts_twice() -> None:
    assert following("30 2 * * *", "2026-03-28T12:00:00Z", 1, "Europe/Berlin") == ["03-30T00:30"]
    assert following("30 2 * * *", "2026-10-24T12:00:00Z", 2, "Europe/Berlin") == ["10-25T00:30", "10-25T01:30"]


def test_the_shortest_pause_is_a_second_and_fractions_are_cut() -> None:
    assert cron.parse("@every 1ms").every == clock.SECOND
    assert cron.parse("@every 1h0.5m2.9s").every == 3632 * clock.SECOND
    assert cron.parse("@every -5m").every == clock.SECOND


@pytest.mark.parametrize("schedule", ["* * * * *", "*/7 3 * * *", "* * * 1-11 *", "30 6-16/4 * * 1-5", "@every 7m"])
def test_the_latest_time_is_the_last_of_all_that_came(schedule: str) -> None:
    parsed, start, now = cron.parse(schedule), clock.parse("2026-11-29T22:00:00Z"), clock.parse("2026-12-03T05:11:07Z")
    last, moment = None, parsed.next(start)
    while moment is not None and moment <= now:
        last, moment = moment, parsed.next(moment)
    assert parsed.latest(start, now, UTC) == last


def test_a_machine_without_zones_knows_utc_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(time_zones, "ZoneInfo", without)
    assert time_zones.load.__wrapped__("UTC") is UTC
    with pytest.raises(time_zones.UnknownTimeZoneError, match="unknown time zone Asia/Seoul"):
        time_zones.load.__wrapped__("Asia/Seoul")
