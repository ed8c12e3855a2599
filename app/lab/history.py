"""Differences between two stored states of a lab, so that each of many states costs about a kilobyte.

A state is JSON of many small values, of which a command changes a few. The text is cut at its commas; what the
earlier state has is named by its place, and the rest is compressed with the help of the pieces that fell away,
which are mostly the same values before the change. Nothing is carried out again to get a state back.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import compress

import orjson

from app.lab import wire
from app.lab.state import deflated, inflated

_WINDOW = 32 * 1024
_LEVEL = 9
_STRIDE = 64
"""Pieces that are compared at once where nothing has changed."""

Run = list[int]
"""[first piece of the earlier state, how many of them, how many new pieces follow]"""


def difference(earlier: bytes, later: bytes) -> bytes:
    """What `applied` needs beside the earlier state to give the later one."""
    return between(inflated(earlier), inflated(later))


def between(earlier: bytes, later: bytes) -> bytes:
    """The same of the JSON of two states."""
    old, new = earlier.split(b","), later.split(b",")
    runs, fresh = _runs(old, new)
    packer = zlib.compressobj(_LEVEL, zdict=_fallen(old, runs))
    literals = packer.compress(b"\n".join(fresh)) + packer.flush()
    return wire.pack({}, zlib.compress(orjson.dumps(runs), _LEVEL), literals)


def applied(earlier: bytes, differences: Iterable[bytes]) -> bytes:
    """The state that the differences, one after the other, make of the earlier one."""
    state = earlier
    for change in differences:
        state = _applied(state, change)
    return state


def _applied(earlier: bytes, change: bytes) -> bytes:
    old = inflated(earlier).split(b",")
    _, (packed, literals) = wire.unpack(change)
    runs: list[Run] = orjson.loads(zlib.decompress(packed))
    unpacker = zlib.decompressobj(zdict=_fallen(old, runs))
    fresh = iter((unpacker.decompress(literals) + unpacker.flush()).split(b"\n"))
    pieces: list[bytes] = []
    for first, count, added in runs:
        pieces += old[first : first + count]
        pieces += [next(fresh) for _ in range(added)]
    return deflated(b",".join(pieces))


def _runs(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[list[Run], list[bytes]]:
    places = dict(zip(reversed(old), range(len(old) - 1, -1, -1), strict=True))
    runs: list[Run] = [[0, 0, 0]]
    fresh: list[bytes] = []
    at = 0
    while at < len(new):
        run = runs[-1]
        following = run[0] + run[1]
        if run[2] == 0 and old[following : following + _STRIDE] == new[at : at + _STRIDE]:
            step = min(_STRIDE, len(new) - at)
            run[1] += step
            at += step
            continue
        piece = new[at]
        if run[2] == 0 and following < len(old) and old[following] == piece:
            run[1] += 1
        elif piece in places:
            runs.append([places[piece], 1, 0])
        else:
            run[2] += 1
            fresh.append(piece)
        at += 1
    return runs, fresh


def _fallen(old: Sequence[bytes], runs: Iterable[Run]) -> bytes:
    """The pieces of the earlier state that the later one lacks, as a dictionary for compression."""
    lost = bytearray(b"\1" * len(old))
    for first, count, _ in runs:
        lost[first : first + count] = bytes(count)
    return b"".join(compress(old, lost))[-_WINDOW:]
