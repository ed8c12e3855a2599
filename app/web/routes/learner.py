"""What a learner sees: the first page, the catalogue, an exercise, the workplace, and their own progress.

Routes stay thin: read the form, call one use case, render. Each POST of the workplace answers htmx with
the parts that changed, and any other client with the whole page.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from app.apimachinery.clock import SECOND
from app.lab import passing
from app.lab.views import LabView, Mode, Outcome, Problem
from app.progress import accounts
from app.progress.models import User
from app.web import i18n, people, templating
from app.web.dependencies import CurrentUser, DatabaseDep, Language, ServiceDep, SettingsDep, Visitor
from app.web.forms import Posted, local_path
from app.web.templating import render

router = APIRouter()

_SPAN_LENGTH = 20
_YEAR = 400 * 24 * 3600
SPANS = ("10s", "1m", "5m", "30m")
"""What the page offers to let pass, besides a span of one's own."""


def _manifest(form: Posted) -> str:
    """The text of the editor. Browsers send forms with CRLF whatever was typed."""
    return form.text("manifest")


def _mode(form: Posted) -> Mode:
    """What kubectl shall do with it; 422 for a word that the page does not offer."""
    try:
        return Mode(form.values["mode"] or Mode.APPLY)
    except ValueError:
        raise HTTPException(422) from None


Manifest = Annotated[str, Depends(_manifest)]
Kubectl = Annotated[Mode, Depends(_mode)]


@router.get("/")
def home(request: Request, service: ServiceDep, user: Visitor, language: Language) -> Response:
    """What this is, and the way into the first task or back into the one that was left open."""
    catalogue = service.catalogue(user, language)
    cards = catalogue.exercises
    resume = next((card for card in cards if card.lab and card.standing != "full"), None)
    first = next((card for card in cards if card.standing != "full"), None)
    return render(request, "learner/home.html", catalogue=catalogue, resume=resume, first=first)


@router.get("/learn")
def catalogue_page(request: Request, service: ServiceDep, user: Visitor, language: Language) -> Response:
    """The chapters and their exercises, each with the reader's own state."""
    return render(request, "learner/catalogue.html", catalogue=service.catalogue(user, language))


@router.get("/learn/{name}")
def exercise_page(request: Request, name: str, service: ServiceDep, user: Visitor, language: Language) -> Response:
    """One exercise before it is started. 404 for an unknown name."""
    return render(request, "learner/exercise.html", exercise=service.exercise(user, name, language))


@router.get("/learn/{name}/start")
def start_page(name: str) -> Response:
    """Whoever reloads or bookmarks the starting address gets to the exercise: only a form starts labs."""
    return RedirectResponse(f"/learn/{name}", status_code=303)


@router.post("/learn/{name}/start")
def start(  # noqa: PLR0913, PLR0917 (each is a dependency or a field of the form)
    request: Request,
    name: str,
    service: ServiceDep,
    database: DatabaseDep,
    settings: SettingsDep,
    user: Visitor,
    language: Language,
    again: Annotated[bool, Form()] = False,
    direct: Annotated[bool, Form()] = False,
) -> Response:
    """Start a lab, or go on with the one that is open; `again` starts a new one, with names drawn anew.

    A visitor without an account becomes a guest, where guests are allowed. Scripts ask for the page `direct`, which
    saves a round trip, and give it its own address themselves; else the answer is a redirect there.
    """
    token = None
    if user is None:
        if not settings.guests:
            return RedirectResponse(f"/sign-in?next=/learn/{name}", status_code=303)
        service.exercise(None, name, language)  # an unknown exercise makes no guests
        with database.session() as session:
            user = accounts.create_guest(session)
            token = accounts.create_session(session, user.id)
    lab = service.start(user, name, seed=secrets.randbelow(2**31) if again else None)
    address = f"/lab/{lab}"
    response: Response = RedirectResponse(address, status_code=303)
    if direct:
        request.state.user, request.state.here = user, address
        response = _workplace(request, service, user, language, Page(service.view(user, lab, language)))
    if token is not None:
        people.sign_in(request, response, token)
    return response


@router.get("/lab/{lab}")
def lab_page(
    request: Request,
    lab: str,
    service: ServiceDep,
    user: CurrentUser,
    language: Language,
    hints: Annotated[int, Query(ge=0, le=100)] = 0,
    solution: Annotated[bool, Query()] = False,
) -> Response:
    """The workplace. `hints` says how many are open, `solution` whether the model solution is."""
    view = service.view(user, lab, language)
    return _workplace(request, service, user, language, Page(view, hints=hints, solution=solution))


@dataclass(frozen=True, slots=True)
class Page:
    """What the workplace shows beside the lab itself."""

    view: LabView
    outcome: Outcome | None = None
    action: str = ""
    mode: Mode = Mode.APPLY
    typed: str | None = None
    """The text as it was just posted, which wins over the one sent last."""
    hints: int = 0
    solution: bool = False
    span: str = ""

    @property
    def status(self) -> int:
        """422 where what was sent was refused."""
        return 422 if self.outcome is not None and not self.outcome.ok else 200


def _workplace(request: Request, service: ServiceDep, user: User, language: str, page: Page) -> Response:
    view = page.view
    whole = not templating.is_fragment(request) or page.outcome is None
    shown = min(page.hints, view.hints) if whole else 0
    return render(
        request,
        "learner/lab.html",
        block="help" if page.outcome is None else None,
        fragment="learner/answer.html" if page.outcome is not None else None,
        status=page.status,
        view=view,
        outcome=page.outcome,
        action=page.action,
        mode=page.mode.value,
        typed=page.typed,
        span=page.span[:_SPAN_LENGTH],
        unsent=page.typed is not None and page.typed.strip() != view.manifest.strip(),
        hints=[service.hint(user, view.id, number, language) for number in range(1, shown + 1)],
        solution=service.solution(user, view.id, language) if page.solution else None,
    )


@router.get("/lab/{lab}/cluster")
def cluster_part(request: Request, lab: str, service: ServiceDep, user: CurrentUser, language: Language) -> Response:
    """The picture as it is now, for a page that is already open; opened by itself, the whole page."""
    if not templating.is_fragment(request):
        return RedirectResponse(f"/lab/{lab}#picture", status_code=303)
    view = service.view(user, lab, language)
    return render(request, "learner/lab.html", fragment="learner/cluster.html", view=view)


@router.get("/lab/{lab}/steps")
def steps_page(request: Request, lab: str, service: ServiceDep, user: CurrentUser, language: Language) -> Response:
    """Every step that can be gone back to."""
    view, steps = service.steps(user, lab, language)
    return render(request, "learner/steps.html", view=view, steps=steps)


@router.get("/lab/{lab}/apply")
@router.get("/lab/{lab}/check")
@router.get("/lab/{lab}/submit")
@router.get("/lab/{lab}/reset")
@router.get("/lab/{lab}/advance")
@router.get("/lab/{lab}/pause")
@router.get("/lab/{lab}/resume")
@router.get("/lab/{lab}/back")
def after_post(lab: str) -> Response:
    """The address of an answered form, opened by hand or reloaded: back to the workplace."""
    return RedirectResponse(f"/lab/{lab}", status_code=303)


@dataclass(frozen=True)
class Turn:
    """What every form of the workplace brings along: whose lab, and the text of the editor to be shown again."""

    request: Request
    lab: str
    service: ServiceDep
    user: CurrentUser
    language: Language
    manifest: Manifest
    mode: Kubectl

    def answer(self, action: str, outcome: Outcome, span: str = "") -> Response:
        """The workplace after the action; `span` is what was written on the clock."""
        page = Page(outcome.view, outcome, action, self.mode, self.manifest, span=span)
        return _workplace(self.request, self.service, self.user, self.language, page)


ThisTurn = Annotated[Turn, Depends()]


@router.post("/lab/{lab}/apply")
def apply(turn: ThisTurn) -> Response:
    """Change the cluster. 422 with the problems, and the cluster as it was, where the text is refused."""
    outcome = turn.service.apply(turn.user, turn.lab, turn.manifest, turn.mode, turn.language)
    return turn.answer("apply", outcome)


@router.post("/lab/{lab}/check")
def check(turn: ThisTurn) -> Response:
    """Grade a copy of the cluster as it is."""
    return turn.answer("check", turn.service.check(turn.user, turn.lab, turn.language))


@router.post("/lab/{lab}/submit")
def submit(turn: ThisTurn) -> Response:
    """Apply, then check. 422 without a verdict where the text is refused."""
    outcome = turn.service.submit(turn.user, turn.lab, turn.manifest, turn.mode, turn.language)
    return turn.answer("submit", outcome)


@router.post("/lab/{lab}/reset")
def reset(
    request: Request,
    lab: str,
    service: ServiceDep,
    user: CurrentUser,
    language: Language,
    manifest: Manifest,
) -> Response:
    """Put the cluster back to its start. What was typed and every result stay."""
    outcome = service.reset(user, lab, language)
    typed = manifest or None
    return _workplace(request, service, user, language, Page(outcome.view, outcome, "reset", typed=typed))


@router.post("/lab/{lab}/advance")
def advance(turn: ThisTurn, by: Annotated[str, Form()], span: Annotated[str, Form()] = "") -> Response:
    """Let the cluster's time pass at once: `by` a span that the page offers, until the `next` event, or by one's `own`.

    422 for what is no span, with what to write instead.
    """
    if by not in {"next", "own", *SPANS}:
        raise HTTPException(422)
    try:
        seconds = None if by == "next" else passing.parse_span(span if by == "own" else by) / SECOND
    except passing.SpanError as error:
        view = turn.service.view(turn.user, turn.lab, turn.language)
        return turn.answer("advance", Outcome(ok=False, lines=(), view=view, problems=(Problem(error.message),)), span)
    return turn.answer("advance", turn.service.advance(turn.user, turn.lab, seconds, turn.language), span)


@router.post("/lab/{lab}/pause")
def pause(turn: ThisTurn) -> Response:
    """Let the cluster's time stand still."""
    return turn.answer("pause", turn.service.pause(turn.user, turn.lab, paused=True, language=turn.language))


@router.post("/lab/{lab}/resume")
def resume(turn: ThisTurn) -> Response:
    """Let the cluster's time go on."""
    return turn.answer("resume", turn.service.pause(turn.user, turn.lab, paused=False, language=turn.language))


@router.post("/lab/{lab}/back")
def step_back(turn: ThisTurn, to: Annotated[int, Form(ge=0, le=2**31 - 1)]) -> Response:
    """Put the cluster back to the state after an earlier command. 404 where that is not kept, or not allowed."""
    return turn.answer("back", turn.service.step_back(turn.user, turn.lab, to, turn.language))


@router.get("/me")
def progress_page(request: Request, service: ServiceDep, user: CurrentUser, language: Language) -> Response:
    """The reader's own results: first, last and best of each exercise, and the history."""
    return render(request, "learner/progress.html", progress=service.progress(user, language))


@router.post("/preferences")
def preferences(
    database: DatabaseDep,
    user: Visitor,
    language: Annotated[str, Form()] = "",
    theme: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 (the field's name in forms)
) -> Response:
    """Language and colours: kept in cookies, the language also with the account."""
    response = RedirectResponse(local_path(next), status_code=303)
    if language in i18n.LANGUAGES:
        response.set_cookie(i18n.LANGUAGE_COOKIE, language, max_age=_YEAR, samesite="lax")
        if user is not None:
            with database.session() as session:
                accounts.set_language(session, user.id, language)
    if theme in templating.THEMES:
        response.set_cookie(templating.THEME_COOKIE, theme, max_age=_YEAR, samesite="lax")
    elif theme:
        response.delete_cookie(templating.THEME_COOKIE)
    return response
