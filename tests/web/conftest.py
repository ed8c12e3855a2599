"""The real application over a database of its own, and the people who use it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from app.progress import accounts
from app.progress.db import Database
from app.progress.models import Role
from app.settings import Settings
from app.web.people import SESSION_COOKIE

PASSWORD = "correct horse battery"


@dataclass
class Person:
    """Somebody with a browser of their own."""

    client: TestClient
    id: int = 0
    name: str = ""
    password: str = PASSWORD

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, data=None, **options):
        return self.client.post(path, data=data or {}, **options)

    def carry(self, token):
        """Put a session's token into the browser, as if the site had set it."""
        self.client.cookies.set(SESSION_COOKIE, token, domain="testserver.local", path="/")

    @property
    def session(self):
        return self.client.cookies.get(SESSION_COOKIE)


class Site:
    """The application and everybody on it."""

    def __init__(self, app, database, settings):
        self.app = app
        self.database = database
        self.settings = settings
        self._numbers = itertools.count(1)

    def visitor(self, address=None, **headers):
        """A browser that nobody has used yet, at an address of its own. Redirects are shown, not followed."""
        address = address or f"host-{next(self._numbers)}"
        client = TestClient(self.app, follow_redirects=False, client=(address, 50000), headers=headers)
        return Person(client)

    def person(self, role=Role.LEARNER, name=None, display_name=None):
        """Somebody with an account and this role, signed in."""
        name = name or f"{role.value}{next(self._numbers)}"
        person = self.visitor()
        with self.database.session() as session:
            user = accounts.upgrade_guest(session, accounts.create_guest(session).id, name, PASSWORD)
            if role is not Role.LEARNER:
                accounts.set_role(session, user.id, role)
            token = accounts.create_session(session, user.id)
        person.carry(token)
        person.id, person.name = user.id, name
        return person

    def guest(self):
        """Somebody who has started without an account."""
        person = self.visitor()
        with self.database.session() as session:
            user = accounts.create_guest(session)
            token = accounts.create_session(session, user.id)
        person.carry(token)
        person.id = user.id
        return person


def make_site(home, exercises=None):
    """An application over a fresh database in this folder; enter its client to run its lifespan."""
    from app.lab.library import Library  # imported here: tests of single parts need no whole application
    from app.web.app import create_app

    settings = Settings(home=home, database_url=f"sqlite:///{home / 'lab.db'}", workers=2)
    if exercises is not None:
        settings = settings.model_copy(update={"exercises": exercises})
    database = Database(settings.database)
    database.migrate()
    app = create_app(settings, database=database, library=Library(database, settings.exercises))
    return Site(app, database, settings)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """One application for all tests: they make their own people, so that none sees another's."""
    made = make_site(tmp_path_factory.mktemp("home"))
    with TestClient(made.app):
        yield made


@pytest.fixture
def empty_site(tmp_path):
    """An application that nobody has used, for what depends on who else is there."""
    made = make_site(tmp_path)
    with TestClient(made.app):
        yield made


@pytest.fixture
def visitor(site):
    return site.visitor()


@pytest.fixture
def guest(site):
    return site.guest()


@pytest.fixture
def owner(site):
    return site.person()


@pytest.fixture
def stranger(site):
    return site.person()


@pytest.fixture
def instructor(site):
    return site.person(Role.INSTRUCTOR)


@pytest.fixture
def grader(site):
    return site.person(Role.GRADER)


@pytest.fixture
def admin(site):
    return site.person(Role.ADMINISTRATOR)
