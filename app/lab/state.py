"""What is stored of a lab between two interactions: the cluster, and each machine's shell.

`{"format": 1, "cluster": {…}, "shells": {"controlplane": "base64"}}` as JSON, compressed. Never pickle: a broken
child must not be able to run code in the process that reads its answer.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field

import orjson

from app.cluster.cluster import Cluster

FORMAT = 1
MAX_STATE = 32 * 1024 * 1024
"""Bytes of JSON that a lab's state may take; a stored state that unpacks to more is refused."""


class StateError(ValueError):
    """A stored state that this version cannot read."""


def inflated(data: bytes) -> bytes:
    """The JSON of a stored state. Raises StateError for what is none, and for one that is too large."""
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, MAX_STATE)
    except zlib.error as error:
        raise StateError(f"these bytes are no state of a lab: {error}") from error
    if inflater.unconsumed_tail:
        raise StateError("the state is larger than a lab may be")
    return text


def deflated(text: bytes) -> bytes:
    """The inverse of `inflated`."""
    return zlib.compress(text, 5)


@dataclass
class LabState:
    """One lab, loaded."""

    cluster: Cluster
    shells: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def load(cls, data: bytes) -> LabState:
        """The lab from its stored bytes. Raises StateError for a format that is newer than this version."""
        return cls.read(inflated(data))

    @classmethod
    def read(cls, text: bytes) -> LabState:
        """The lab from the JSON of its stored bytes."""
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise StateError(f"a lab's state is JSON: {error}") from error
        found = document.get("format") if isinstance(document, dict) else None
        if found != FORMAT:
            raise StateError(f"the state has format {found!r}; this version reads {FORMAT}")
        shells = {machine: base64.b64decode(shell) for machine, shell in document["shells"].items()}
        return cls(Cluster.restore(document["cluster"]), shells)

    def fork(self) -> LabState:
        """An independent copy at the same instant."""
        return LabState(self.cluster.fork(), dict(self.shells))

    def dump(self) -> bytes:
        """The bytes to store. Equal labs give equal bytes."""
        return deflated(self.text())

    def text(self) -> bytes:
        """The JSON of these bytes. Raises StateError where it is more than a lab may take."""
        document = {
            "format": FORMAT,
            "cluster": orjson.Fragment(self.cluster.dump()),
            "shells": {machine: base64.b64encode(shell).decode() for machine, shell in sorted(self.shells.items())},
        }
        text = orjson.dumps(document)
        if len(text) > MAX_STATE:
            raise StateError("the lab has grown larger than a lab may be: delete what you do not need, or reset it")
        return text
