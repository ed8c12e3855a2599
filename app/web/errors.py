"""Domain errors to HTTP, once: every failure ends as a page (for htmx: a notice) with its status."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.apimachinery.messages import N_, Message
from app.lab.library import UnknownExercise
from app.lab.service import InteractionFailed, LabBusy, LabNotFound, NoStepBack
from app.lab.workers import WorkerCrashed, WorkersBusy, WorkerTimedOut
from app.progress.errors import LabEnded
from app.web import templating

log = logging.getLogger("cka_lab.web")

_SENTENCES: dict[type[Exception], tuple[int, Message | None]] = {
    LabNotFound: (404, None),
    NoStepBack: (404, None),
    UnknownExercise: (404, None),
    LabBusy: (409, None),
    LabEnded: (409, Message(LabEnded.template)),
    WorkersBusy: (503, None),
    WorkerTimedOut: (
        503,
        Message(
            N_("This took too long and was stopped. Your lab is as it was before. Send less at once, or try again.")
        ),
    ),
    WorkerCrashed: (
        503,
        Message(N_("What you sent needed more memory or time than the lab allows. Your lab is as it was before.")),
    ),
    InteractionFailed: (500, None),
}


def install(app: FastAPI) -> None:
    """Register the handlers."""
    for kind in _SENTENCES:
        app.add_exception_handler(kind, _domain)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)


def _domain(request: Request, error: Exception) -> Response:
    status, sentence = next(entry for kind, entry in _SENTENCES.items() if isinstance(error, kind))
    if status >= 500:
        log.error("%s %s: %s", request.method, _path(request), error, exc_info=error)
    response = templating.render_error(request, status, sentence)
    if status == 503:
        response.headers["Retry-After"] = "3"
    return response


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = error.detail if isinstance(error.detail, Message) else None
    response = templating.render_error(request, error.status_code, message)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


def _invalid(request: Request, error: Exception) -> Response:
    log.info("%s %s: %s", request.method, _path(request), error)
    return templating.render_error(request, 422)


def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, _path(request), exc_info=error)
    return templating.render_error(request, 500)


def _path(request: Request) -> str:
    """The route's template rather than the path: paths hold secrets of labs and links."""
    route = request.scope.get("route")
    return str(getattr(route, "path", "an unknown address"))
