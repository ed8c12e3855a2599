"""Every test here runs twice: on SQLite and on a real PostgreSQL server."""

import hashlib
import itertools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from app.progress import accounts, labs, library, times
from app.progress.models import Lab
from tests.support import databases as kinds

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session", params=kinds.KINDS)
def databases(request, tmp_path_factory):
    server = kinds.server(request.param, tmp_path_factory.mktemp(request.param))
    yield server
    server.stop()


@pytest.fixture
def database(databases):
    made = databases.migrated()
    yield made
    made.dispose()


@pytest.fixture
def empty_database(databases):
    made = databases.empty()
    yield made
    made.dispose()


@pytest.fixture
def session(database):
    with database.session() as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(times, "now", made)
    return made


@pytest.fixture(autouse=True)
def _quick_passwords(request, monkeypatch):
    """Argon2's cost is not under test, but in the tests of passwords."""
    if "passwords" not in request.node.nodeid:
        from argon2 import PasswordHasher

        from app.progress import passwords

        monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


class Clock:
    """A wall clock that stands until it is moved."""

    def __init__(self):
        self.instant = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def __call__(self):
        return self.instant

    def forward(self, **span):
        self.instant += timedelta(**span)


@dataclass(frozen=True)
class Text:
    """An exercise's text, as the library takes it."""

    name: str = "taint-a-node"
    version: int = 1
    source: str = "title: Taint a node\n"

    @property
    def digest(self):
        return hashlib.sha256(f"{self.name}{self.version}{self.source}".encode()).hexdigest()


_numbers = itertools.count(1)


def person(session, name="ada"):
    """An account."""
    return accounts.create_account(session, name, PASSWORD)


def lab_of(session, user, exercise="taint-a-node", version=1, lab_id=None):
    """A lab that somebody just started."""
    text = Text(exercise, version)
    library.record_version(session, text, origin="folder")
    return labs.add(
        session,
        Lab(
            id=lab_id or f"lab{next(_numbers)}",
            user_id=user.id,
            exercise_name=exercise,
            exercise_digest=text.digest,
            exercise_version=version,
            seed=7,
            state=b"start",
            start_state=b"start",
            sim_anchor=1_000,
            wall_anchor=2_000,
        ),
    )


def verdict_of(lab, points=1, possible=3, kind="submit"):
    """A verdict of a lab's exercise."""
    return labs.NewResult(
        user_id=lab.user_id,
        exercise_name=lab.exercise_name,
        exercise_version=lab.exercise_version,
        exercise_digest=lab.exercise_digest,
        seed=lab.seed,
        engine_version="1.35.0",
        kind=kind,
        points=points,
        possible=possible,
        verdict=[{"id": "tainted", "status": "failed"}],
        manifests="kind: Node\n",
    )


def command(kind="apply", text="kind: Pod\n", output="pod/web created", *, ok=True, sim_at=5_000):
    return labs.NewCommand(kind=kind, input=text, output=output, ok=ok, sim_at=sim_at)


def graded(session, lab, points, possible=3, kind="check"):
    """A check of the lab, recorded."""
    return labs.commit_interaction(
        session,
        lab.id,
        expected_revision=labs.revision(session, lab.id),
        change=None,
        command=command(kind, ""),
        result=verdict_of(lab, points, possible, kind),
    )
