"""The wire format: what is read, and that nothing else than a WireError comes of bad bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.apimachinery.protobuf import WireError, fields, signed


def read(data):
    return [
        (number, bytes(value) if isinstance(value, memoryview) else value) for number, value in fields(memoryview(data))
    ]


def test_fields_come_in_their_order_with_numbers_and_bytes():
    assert read(b"\x08\x96\x01\x12\x02hi\x08\x00") == [(1, 150), (2, b"hi"), (1, 0)]


def test_fixed_sizes_are_stepped_over():
    assert read(b"\x0d1234\x11" + b"12345678" + b"\x18\x01") == [(3, 1)]


def test_a_negative_number_is_its_twos_complement():
    ((_, value),) = read(b"\x08" + b"\xff" * 9 + b"\x01")
    assert (value, signed(value), signed(5)) == (2**64 - 1, -1, 5)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x08", "unexpected EOF"),
        (b"\x08\x80", "unexpected EOF"),
        (b"\x12\x05abc", "unexpected EOF"),
        (b"\x0d12", "unexpected EOF"),
        (b"\x08" + b"\xff" * 11, "integer overflow"),
        (b"\x00", "illegal tag 0"),
        (b"\x0b", "illegal wireType 3"),
    ],
)
def test_bytes_that_are_no_message_say_why(data, says):
    with pytest.raises(WireError, match=says):
        read(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_wire_error(data):
    try:
        found = read(data)
    except WireError:
        return
    assert sum(len(value) if isinstance(value, bytes) else 1 for _, value in found) <= len(data)
