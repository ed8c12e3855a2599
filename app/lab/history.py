"""Differences between two stored states of a lab, so that each of many states costs about a kilobyte.

A state is JSON of many small values, of which a command changes a few. The text is cut at its commas; what the
earlier state has is named by its place, and the rest is compressed with the help of the pieces that fell away,
which are mostly the same values before the change. Nothing is carried out again to get a state back.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

import orjson

from app.lab import wire
from app.lab.state import deflated, inflated

_BETWEEN = re.compile(rb",")
_WINDOW = 32 * 1024
_LEVEL = 9

Run = list[int]
"""[first piece of the earlier state, how many of them, how many new pieces follow]"""


def difference(earlier: bytes, later: bytes) -> bytes:
    """What `applied` needs beside the earlier state to give the later one."""
    old, new = _pieces(earlier), _pieces(later)
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
    old = _pieces(earlier)
    _, (packed, literals) = wire.unpack(change)
    runs: list[Run] = orjson.loads(zlib.decompress(packed))
    unpacker = zlib.decompressobj(zdict=_fallen(old, runs))
    fresh = iter((unpacker.decompress(literals) + unpacker.flush()).split(b"\n"))
    pieces: list[bytes] = []
    for first, count, added in runs:
        pieces += old[first : first + count]
        pieces += [next(fresh) for _ in range(added)]
    return deflated(b",".join(pieces))


def _pieces(state: bytes) -> list[bytes]:
    return _BETWEEN.split(inflated(state))


def _runs(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[list[Run], list[bytes]]:
    places: dict[bytes, int] = {}
    for place, piece in enumerate(old):
        places.setdefault(piece, place)
    runs: list[Run] = [[0, 0, 0]]
    fresh: list[bytes] = []
    for piece in new:
        first, count, added = runs[-1]
        following = first + count
        if added == 0 and following < len(old) and old[following] == piece:
            runs[-1][1] += 1
        elif piece in places:
            runs.append([places[piece], 1, 0])
        else:
            runs[-1][2] += 1
            fresh.append(piece)
    return runs, fresh


def _fallen(old: Sequence[bytes], runs: Iterable[Run]) -> bytes:
    """The pieces of the earlier state that the later one lacks, as a dictionary for compression."""
    kept = {place for first, count, _ in runs for place in range(first, first + count)}
    return b"".join(piece for place, piece in enumerate(old) if place not in kept)[-_WINDOW:]
