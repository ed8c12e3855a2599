"""Messages between the web process and a worker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lab import wire


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "blobs"), st.integers(0, 9) | st.text()),
    st.lists(st.binary()),
)
def test_a_message_unpacks_to_what_was_packed(header, blobs):
    assert wire.unpack(wire.pack(header, *blobs)) == (header, blobs)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00\x00\x00\x09{}", id="header cut short"),
        pytest.param(b"\x00\x00\x00\x02[]", id="header no object"),
        pytest.param(wire.pack({}, b"abc")[:-1], id="blob cut short"),
        pytest.param(wire.pack({}, b"abc") + b"d", id="more than was promised"),
    ],
)
def test_it_refuses_what_is_no_message(message):
    with pytest.raises(wire.WireError):
        wire.unpack(message)
