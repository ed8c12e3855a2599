"""Accounts: signing in and out, one's own settings and groups, and the link that makes the first administrator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from app.apimachinery.messages import Message
from app.progress import accounts, groups
from app.progress.models import User
from app.web import i18n, people
from app.web.dependencies import CurrentUser, DatabaseDep, Language, Visitor
from app.web.forms import Asked, Form, Posted, local_path
from app.web.i18n import N_
from app.web.redirects import go
from app.web.roles import ROLE_NAMES
from app.web.templating import render, render_error
from app.web.throttle import Throttle, address_of, hashing

router = APIRouter()

AFTER = "/learn"
"""Where signing in leads when no page asked for it."""
_PASSWORD_LONGEST = 1024
_TOO_OFTEN = N_("That was tried too often. Wait {seconds} seconds, then try again.")
_NAME_MISSING = N_("Write the name of your account here.")


def throttle_of(request: Request) -> Throttle:
    """The application's brakes, made on first use."""
    state = request.app.state
    if not hasattr(state, "throttle"):
        state.throttle = Throttle()
    made: Throttle = state.throttle
    return made


ThrottleDep = Annotated[Throttle, Depends(throttle_of)]


def told(error: accounts.AccountError | groups.GroupError) -> Message:
    """What such an error says to the person who caused it."""
    return Message(error.template, error.facts)


def _too_often(request: Request, seconds: int) -> Response:
    response = render_error(request, 429, Message(_TOO_OFTEN, {"seconds": seconds}))
    response.headers["Retry-After"] = str(seconds)
    return response


def _password(form: Form, name: str = "password") -> str:
    password = form.values[name]
    if not password:
        form.fail(name, N_("Write your password here."))
    elif len(password) > _PASSWORD_LONGEST:
        form.fail(name, N_("This is too long: write at most {longest} characters."), longest=_PASSWORD_LONGEST)
    return password


def is_guest(user: User | None) -> bool:
    """Whether somebody works without an account."""
    return user is not None and not user.name


# Signing in and out


@router.get("/sign-in")
def sign_in_page(request: Request, user: Visitor, asked: Asked) -> Response:
    """The form. Whoever is signed in already is sent on."""
    if user is not None and user.name:
        return go(local_path(asked.values["next"], AFTER))
    return _entrance(request, "sign_in", user, asked)


@router.post("/sign-in")
def sign_in(request: Request, user: Visitor, form: Posted, database: DatabaseDep, throttle: ThrottleDep) -> Response:
    """Check name and password, and begin a new session. A guest's work goes over to the account."""
    name = form.line("name", required=_NAME_MISSING)
    password = _password(form)
    if not form.ok:
        return _entrance(request, "sign_in", user, form, 422)
    address = address_of(request)
    wait = max(throttle.hit("address", address), throttle.hit("sign-in", name, address))
    if wait:
        return _too_often(request, wait)
    try:
        with hashing, database.session() as session:
            account = accounts.sign_in(session, name, password)
            if user is not None and is_guest(user):
                accounts.adopt_guest(session, guest_id=user.id, user_id=account.id)
            token = _renewed(request, session, account)
    except accounts.AccountError as error:
        form.fail("password", told(error))
        return _entrance(request, "sign_in", user, form, 422)
    throttle.forgive("sign-in", name, address)
    return _entered(request, token, local_path(form.values["next"], AFTER))


@router.get("/sign-up")
def sign_up_page(request: Request, user: Visitor, asked: Asked) -> Response:
    """The form for a new account. Whoever has one is sent on."""
    if user is not None and user.name:
        return go(local_path(asked.values["next"], AFTER))
    return _entrance(request, "sign_up", user, asked)


@router.post("/sign-up")
def sign_up(
    request: Request,
    user: Visitor,
    form: Posted,
    database: DatabaseDep,
    throttle: ThrottleDep,
    language: Language,
) -> Response:
    """Make an account. A guest becomes it, with everything they have done."""
    if user is not None and user.name:
        return go(local_path(form.values["next"], AFTER))
    name = form.line("name", required=N_("Write the name that you want to sign in with."))
    display_name = form.line("display_name")
    password = _password(form)
    if not form.ok:
        return _entrance(request, "sign_up", user, form, 422)
    wait = throttle.hit("sign-up", address_of(request))
    if wait:
        return _too_often(request, wait)
    try:
        with hashing, database.session() as session:
            guest = user or accounts.create_guest(session, language=language)
            account = accounts.upgrade_guest(session, guest.id, name, password)
            if display_name:
                accounts.update_profile(session, account.id, display_name=display_name, language=account.language)
            token = _renewed(request, session, account)
    except accounts.AccountError as error:
        form.fail(_field_of(error), told(error))
        return _entrance(request, "sign_up", user, form, 422)
    return _entered(request, token, local_path(form.values["next"], AFTER))


@router.post("/sign-out")
def sign_out(request: Request, database: DatabaseDep) -> Response:
    """End this browser's session, here and in the database."""
    token = request.cookies.get(people.SESSION_COOKIE)
    if token:
        with database.session() as session:
            accounts.end_session(session, token)
    response = go("/", N_("You are signed out."))
    people.sign_out(response)
    return response


def _entrance(request: Request, page: str, user: User | None, form: Form, status: int = 200) -> Response:
    return render(
        request,
        f"account/{page}.html",
        status=status,
        form=form,
        next=local_path(form.values["next"], ""),
        guest=is_guest(user),
    )


def _field_of(error: accounts.AccountError) -> str:
    """The field of the form that an error is about."""
    return "password" if isinstance(error, accounts.PasswordTooShort) else "name"


def _renewed(request: Request, session: accounts.Session, account: User) -> str:
    """A new session's token; the old one ends, so a token that somebody planted is worth nothing."""
    old = request.cookies.get(people.SESSION_COOKIE)
    if old:
        accounts.end_session(session, old)
    return accounts.create_session(session, account.id)


def _entered(request: Request, token: str, address: str) -> Response:
    response = go(address)
    people.sign_in(request, response, token)
    return response


# One's own account


@dataclass
class _Forms:
    """The forms of the account page; the one that was refused holds what was typed."""

    about: Form | None = None
    password: Form = field(default_factory=Form)
    joining: Form = field(default_factory=Form)


@router.get("/account")
def account_page(request: Request, user: CurrentUser, database: DatabaseDep) -> Response:
    """Name, language, password and groups."""
    return _account(request, user, database, _Forms())


def _account(request: Request, user: User, database: DatabaseDep, forms: _Forms, status: int = 200) -> Response:
    with database.session() as session:
        mine = groups.groups_of(session, user.id)
    return render(
        request,
        "account/account.html",
        status=status,
        about=forms.about or Form({"display_name": user.display_name or "", "language": user.language or ""}),
        password=forms.password,
        joining=forms.joining,
        mine=mine,
        role=ROLE_NAMES[user.role],
    )


@router.post("/account")
def change_account(request: Request, user: CurrentUser, form: Posted, database: DatabaseDep) -> Response:
    """Save the name that others see and the language."""
    display_name = form.line("display_name")
    language = form.values["language"]
    if language and language not in i18n.LANGUAGES:
        form.fail("language", N_("This language is not offered."))
    if not form.ok:
        return _account(request, user, database, _Forms(about=form), 422)
    with database.session() as session:
        accounts.update_profile(session, user.id, display_name=display_name, language=language or None)
    return go("/account", N_("Saved."))


@router.post("/account/password")
def change_password(
    request: Request, user: CurrentUser, form: Posted, database: DatabaseDep, throttle: ThrottleDep
) -> Response:
    """Set a new password, given the old one. Every other session of the account ends."""
    if not user.name:
        return go("/sign-up?next=/account")
    old, new = _password(form, "old"), _password(form, "new")
    if not form.ok:
        return _account(request, user, database, _Forms(password=form), 422)
    address = address_of(request)
    wait = throttle.hit("sign-in", user.name, address)
    if wait:
        return _too_often(request, wait)
    try:
        with hashing, database.session() as session:
            accounts.change_password(session, user.id, old, new)
            token = accounts.create_session(session, user.id)
    except accounts.AccountError as error:
        form.fail("new" if isinstance(error, accounts.PasswordTooShort) else "old", told(error))
        return _account(request, user, database, _Forms(password=form), 422)
    throttle.forgive("sign-in", user.name, address)
    response = go("/account", N_("The password is changed."))
    people.sign_in(request, response, token)
    return response


@router.post("/account/groups")
def join_group(
    request: Request, user: CurrentUser, form: Posted, database: DatabaseDep, throttle: ThrottleDep
) -> Response:
    """Join a group by its code."""
    code = form.line("code", required=N_("Write the code that your instructor gave you."), longest=64)
    if not form.ok:
        return _account(request, user, database, _Forms(joining=form), 422)
    wait = throttle.hit("join", str(user.id), address_of(request))
    if wait:
        return _too_often(request, wait)
    try:
        with database.session() as session:
            group = groups.join(session, user.id, code)
            name = group.name
    except groups.GroupError as error:
        form.fail("code", told(error))
        return _account(request, user, database, _Forms(joining=form), 422)
    return go("/account", Message(N_("You are now in the group {group}."), {"group": name}))


@router.post("/account/groups/{group_id}/leave")
def leave_group(group_id: int, user: CurrentUser, database: DatabaseDep) -> Response:
    """Leave a group. Leaving one that one is not in changes nothing."""
    with database.session() as session:
        groups.leave(session, user.id, group_id)
    return go("/account", N_("You have left the group."))


# The first administrator


@router.get("/setup/{token}")
def setup_page(request: Request, token: str, database: DatabaseDep) -> Response:
    """Ask for a name and a password. The link still works afterwards: only the form uses it up."""
    with database.session() as session:
        if not accounts.is_setup_link_open(session, token):
            return _used_up(request)
    return render(request, "account/setup.html", form=Form())


@router.post("/setup/{token}")
def setup(request: Request, token: str, form: Posted, database: DatabaseDep) -> Response:
    """Use the link up and make the administrator, both or neither."""
    with database.session() as session:
        if not accounts.is_setup_link_open(session, token):
            return _used_up(request)
    name = form.line("name", required=N_("Write the name that you want to sign in with."))
    password = _password(form)
    if not form.ok:
        return render(request, "account/setup.html", status=422, form=form)
    try:
        with hashing, database.session() as session:
            account = accounts.redeem_setup_link(session, token, name, password)
            session_token = _renewed(request, session, account)
    except accounts.SetupLinkUsed:
        return _used_up(request)
    except accounts.AccountError as error:
        form.fail(_field_of(error), told(error))
        return render(request, "account/setup.html", status=422, form=form)
    return _entered(request, session_token, "/admin")


def _used_up(request: Request) -> Response:
    return render_error(request, 410)
