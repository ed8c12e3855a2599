"""The exercises on offer: files of the exercises folder, and what instructors have published in the database.

An upload wins over a file of the same name. Whatever version a lab was started with stays readable by its digest,
so nobody's task changes while they work on it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from app.exercises import loader
from app.exercises.model import Exercise
from app.progress import library as stored
from app.progress.db import Database

_RECHECK = 1.0
"""Seconds for which a catalogue is served without looking whether its sources changed."""

_Stamp = tuple[object, ...]


@dataclass(frozen=True)
class _Loaded:
    stamp: _Stamp
    checked_at: float
    catalogue: loader.Catalogue


class UnknownExercise(LookupError):
    """No exercise of this name is on offer."""


class Library:
    """Reads both sources, and notices when either changes. Safe to call from many threads."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def catalogue(self) -> loader.Catalogue:
        """All exercises on offer, and the problems of those that could not be read."""
        with self._lock:
            now = time.monotonic()
            loaded = self._loaded
            if loaded is not None and now - loaded.checked_at < _RECHECK:
                return loaded.catalogue
            stamp = self._stamp()
            if loaded is not None and loaded.stamp == stamp:
                self._loaded = replace(loaded, checked_at=now)
                return loaded.catalogue
            self._loaded = _Loaded(stamp, now, self._load())
            return self._loaded.catalogue

    def exercise(self, name: str) -> Exercise:
        """The exercise that is on offer under this name. Raises UnknownExercise."""
        found = self.catalogue().exercises.get(name)
        if found is None:
            raise UnknownExercise(name)
        return found

    def by_digest(self, digest: str) -> Exercise:
        """The very version that a lab was started with. Raises UnknownExercise."""
        return self._by_digest(digest)

    def refresh(self) -> None:
        """Forget what was loaded: the next call reads anew."""
        with self._lock:
            self._loaded = None

    @lru_cache(maxsize=256)  # noqa: B019 (one library lives as long as its process)
    def _by_digest(self, digest: str) -> Exercise:
        with self._database.session() as session:
            source = stored.get_source(session, digest)
        if source is None:
            raise UnknownExercise(digest)
        return loader.parse(source, source=f"{digest[:12]}.yaml")

    def _stamp(self) -> _Stamp:
        files = tuple(
            (str(path), status.st_mtime_ns, status.st_size)
            for path in sorted(self._folder.rglob("*.y*ml"))
            if (status := path.stat())
        )
        with self._database.session() as session:
            return (files, stored.stamp(session))

    def _load(self) -> loader.Catalogue:
        catalogue = loader.load_folder(self._folder)
        with self._database.session() as session:
            published = stored.current(session)
            stored.record_versions(session, catalogue.exercises.values(), origin="folder")
        return loader.overlay(catalogue, published)
