"""The application, put together in one place: settings in, an ASGI app out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from app.kubeapi.app import KubeApi
from app.lab.api import LabApi
from app.lab.library import Library
from app.lab.service import LabService, make_pool
from app.lab.workers import WorkerPool
from app.progress.db import Database
from app.settings import Settings
from app.web import assets, errors
from app.web.people import PeopleMiddleware
from app.web.routes import account, admin, author, grader, learner, terminal
from app.web.security import SecurityMiddleware


def create_app(
    settings: Settings,
    *,
    database: Database | None = None,
    library: Library | None = None,
    pool: WorkerPool | None = None,
) -> FastAPI:
    """The lab's web application. Its worker processes end with the application's lifespan."""
    database = database or Database(settings.database)
    library = library or Library(database, settings.exercises)
    pool = pool or make_pool(settings)
    service = LabService(database, pool, library, settings)
    lab_api = LabApi(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        pool.close()
        database.dispose()

    app = FastAPI(
        title="CKA scheduling lab",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        max_body_size=settings.max_body,
    )
    app.state.settings = settings
    app.state.database = database
    app.state.library = library
    app.state.service = service
    app.state.pool = pool
    app.router.routes += [
        Route("/static/{digest}/{name:path}", assets.endpoint, name="static"),
        Mount("/k", KubeApi(lab_api), name="kubernetes"),
    ]
    for routes in (learner, account, author, grader, admin, terminal):
        app.include_router(routes.router)
    _add_probes(app, database)
    errors.install(app)
    app.add_middleware(PeopleMiddleware, database=database)
    app.add_middleware(SecurityMiddleware)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    return app


def _add_probes(app: FastAPI, database: Database) -> None:
    @app.get("/healthz")
    async def healthz() -> PlainTextResponse:
        """Whether the process answers."""
        return PlainTextResponse("ok\n")

    @app.get("/readyz")
    def readyz() -> PlainTextResponse:
        """Whether the database answers and has this version's tables."""
        problem = database.check()
        return PlainTextResponse("ok\n" if problem is None else f"{problem}\n", status_code=503 if problem else 200)
