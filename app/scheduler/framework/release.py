"""Releases of Kubernetes, as far as a scheduler of one differs from the next: plugins, configuration, message texts."""

from __future__ import annotations

import re
from typing import NamedTuple

_VERSION = re.compile(r"v?1\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-+].*)?", re.ASCII)


class Release(NamedTuple):
    """A release 1.`minor`.`patch`; later releases are greater."""

    minor: int
    patch: int


NEWEST = Release(35, 7)
"""The release that the engine follows where nothing else is said."""


def parse(version: str) -> Release:
    """`1.34.1`, `v1.34` (its first patch) or `v1.34.0-rc.1`; the newest for anything else."""
    found = _VERSION.fullmatch(version)
    return NEWEST if found is None else Release(int(found[1]), int(found[2] or 0))
