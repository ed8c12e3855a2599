"""Quantities parse, compare and print as the API server's do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.apimachinery import quantity
from app.apimachinery.quantity import QuantityError


@pytest.mark.parametrize(
    ("text", "printed", "milli", "value"),
    [
        ("0", "0", 0, 0),
        ("0.1", "100m", 100, 1),
        ("100m", "100m", 100, 1),
        ("1000m", "1", 1000, 1),
        ("1500m", "1500m", 1500, 2),
        ("1.5", "1500m", 1500, 2),
        ("2", "2", 2000, 2),
        ("1000", "1k", 1_000_000, 1000),
        ("1024", "1024", 1_024_000, 1024),
        ("1024Mi", "1Gi", 2**30 * 1000, 2**30),
        ("1.5Gi", "1536Mi", 1536 * 2**20 * 1000, 1536 * 2**20),
        ("0.5Ki", "512", 512_000, 512),
        ("1e3", "1e3", 1_000_000, 1000),
        ("1E3", "1e3", 1_000_000, 1000),
        ("12E", "12E", 12 * 10**21, 9223372036854775807),
        ("100u", "100u", 1, 1),
        ("0.1n", "1n", 1, 1),
        ("-1.5", "-1500m", -1500, -2),
        ("+5", "5", 5000, 5),
        (".5", "500m", 500, 1),
        ("5.", "5", 5000, 5),
    ],
)
def test_it_parses_and_prints_canonically(text, printed, milli, value):
    parsed = quantity.parse(text)
    if text != "12E":  # beyond 2^63-1 the amount is capped
        assert (str(parsed), parsed.milli_value(), parsed.value()) == (printed, milli, value)
    else:
        assert parsed.value() == value


@pytest.mark.parametrize("text", ["1vCPU", "1gb", " 1", "1 Gi", "1K", "1.2.3", "abc", "1mm", "１", "1e", "--1", "1Gi5"])
def test_it_refuses_what_the_api_server_refuses(text):
    with pytest.raises(QuantityError):
        quantity.parse(text)


def test_an_empty_text_has_its_own_words():
    with pytest.raises(QuantityError, match="quantities must not be empty string"):
        quantity.parse("")


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", "m", "u", "k", "Ki", "Mi", "Gi", "M"]))
def test_what_it_prints_parses_to_the_same_amount(number, suffix):
    parsed = quantity.parse(f"{number}{suffix}")
    assert quantity.parse(str(parsed)) == parsed


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_sums_are_exact(left, right):
    total = quantity.parse(f"{left}m") + quantity.parse(f"{right}m")
    assert total.milli_value() == left + right
    assert (total - quantity.parse(f"{right}m")).milli_value() == left
