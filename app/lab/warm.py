"""Labs that need not be loaded again: a worker mostly gets the state that it has just stored or looked at.

A lab that was loaded is the one that was saved, byte for byte, so whether it comes from here makes no difference.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from app.lab.state import LabState, inflated

_MOST = 8
_LARGEST = 4 * 1024 * 1024
"""Bytes of JSON of all that is kept: what is loaded takes some five times as much."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A lab and its JSON. The lab is never changed: whoever wants to takes a copy."""

    lab: LabState
    text: bytes


class WarmLabs:
    """The labs last used, by their stored bytes."""

    def __init__(self, most: int = _MOST, largest: int = _LARGEST) -> None:
        self._most = most
        self._largest = largest
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._size = 0

    def of(self, state: bytes) -> Kept:
        """The lab of a stored state. Raises StateError and FormatError as loading does."""
        found = self._kept.get(state)
        if found is None:
            text = inflated(state)
            found = Kept(LabState.read(text), text)
            self.keep(state, found)
        else:
            self._kept.move_to_end(state)
        return found

    def keep(self, state: bytes, kept: Kept) -> None:
        """Remember a lab; the ones that were not used for longest go."""
        if state in self._kept or len(kept.text) > self._largest:
            return
        self._kept[state] = kept
        self._size += len(kept.text)
        while len(self._kept) > self._most or self._size > self._largest:
            _, gone = self._kept.popitem(last=False)
            self._size -= len(gone.text)
