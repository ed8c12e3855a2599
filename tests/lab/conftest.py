"""A service with its workers, over both databases that are promised."""

import pytest

from app.lab.library import Library
from app.lab.service import LabService, make_pool
from app.progress import accounts
from app.settings import Settings
from tests.support import databases as kinds


@pytest.fixture(scope="module")
def pool():
    made = make_pool(Settings(workers=2))
    yield made
    made.close()


@pytest.fixture(params=kinds.KINDS)
def service(request, tmp_path, pool):
    server = kinds.server(request.param, tmp_path)
    database = server.migrated()
    settings = Settings(home=tmp_path)
    yield LabService(database, pool, Library(database, settings.exercises), settings)
    database.dispose()
    server.stop()


@pytest.fixture
def user(service):
    with service._database.session() as session:
        return accounts.create_guest(session)
