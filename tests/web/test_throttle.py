"""Brakes: how often something may be tried, and by whom."""

import pytest
from starlette.requests import Request

from app.web.throttle import Throttle, address_of


def test_the_sixth_try_within_a_minute_has_to_wait():
    throttle = Throttle()
    waits = [throttle.hit("sign-in", "kim", "192.0.2.1") for _ in range(6)]
    assert waits[:5] == [0] * 5
    assert 0 < waits[5] <= 60


def test_another_name_and_another_address_are_counted_apart():
    throttle = Throttle()
    for _ in range(6):
        throttle.hit("sign-in", "kim", "192.0.2.1")
    assert throttle.hit("sign-in", "lee", "192.0.2.1") == 0
    assert throttle.hit("sign-in", "kim", "192.0.2.2") == 0


def test_letter_case_gives_no_second_chance():
    throttle = Throttle()
    for name in ("kim", "Kim", "KIM", "kIm", "kiM"):
        assert throttle.hit("sign-in", name, "192.0.2.1") == 0
    assert throttle.hit("sign-in", "KiM", "192.0.2.1") > 0


def test_whoever_got_it_right_starts_anew():
    throttle = Throttle()
    for _ in range(5):
        throttle.hit("sign-in", "kim", "192.0.2.1")
    throttle.forgive("sign-in", "kim", "192.0.2.1")
    assert throttle.hit("sign-in", "kim", "192.0.2.1") == 0


def test_a_whole_class_may_sign_in_from_one_address():
    throttle = Throttle()
    assert {throttle.hit("address", "192.0.2.1") for _ in range(40)} == {0}


@pytest.mark.parametrize(
    ("client", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_what_one_household_shares(client, address):
    assert address_of(Request({"type": "http", "client": (client, 1), "headers": []})) == address
