"""Who is asking: the session cookie, looked up once a request, before any route runs."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.progress import accounts
from app.progress.db import Database
from app.progress.models import User

SESSION_COOKIE = "cka_lab_session"
_WITHOUT_PEOPLE = ("/static/", "/k/", "/healthz", "/readyz")


class PeopleMiddleware:
    """Sets `request.state.user` to the signed-in user or guest, or to None."""

    def __init__(self, app: ASGIApp, database: Database) -> None:
        self._app = app
        self._database = database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] in {"http", "websocket"} and not scope["path"].startswith(_WITHOUT_PEOPLE):
            token = HTTPConnection(scope).cookies.get(SESSION_COOKIE)
            user = await run_in_threadpool(self._find, token) if token else None
            scope.setdefault("state", {})["user"] = user
        await self._app(scope, receive, send)

    def _find(self, token: str) -> User | None:
        with self._database.session() as session:
            return accounts.resolve_session(session, token)


def sign_in(request: Request, response: Response, token: str) -> None:
    """Hand the browser its session. The cookie is only sent back over the scheme it came on."""
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=accounts.SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def sign_out(response: Response) -> None:
    """Have the browser forget its session."""
    response.delete_cookie(SESSION_COOKIE)
