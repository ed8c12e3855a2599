"""Administration: people and their roles, groups, the settings in force, and how the lab is."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from app.apimachinery.messages import Message
from app.progress import accounts, groups
from app.progress.models import LearnerGroup, Role, User
from app.settings import Settings
from app.version import ENGINE_VERSION, VERSION
from app.web.dependencies import DatabaseDep, LibraryDep, SettingsDep, require
from app.web.forms import Asked, Form, Posted, local_path
from app.web.i18n import N_
from app.web.paging import Paging
from app.web.redirects import go
from app.web.roles import ROLE_NAMES
from app.web.routes.account import told
from app.web.templating import render

router = APIRouter(prefix="/admin")

Administrator = Annotated[User, Depends(require(Role.ADMINISTRATOR))]
_PER_PAGE = 50
_NAME_MISSING = N_("Write the group's name here.")
_SECRET = frozenset({"database_url"})
"""Settings whose values may hold a credential."""


# People


@router.get("")
def people_page(request: Request, _: Administrator, database: DatabaseDep, asked: Asked) -> Response:
    """Accounts by name: searched, filtered by role, page by page."""
    return _people(request, database, asked)


def _people(
    request: Request, database: DatabaseDep, asked: Form, problem: Message | None = None, status: int = 200
) -> Response:
    text = asked.values["q"].strip()[:100]
    role = _role(asked.values["role"])
    with database.session() as session:
        total = accounts.count_users(session, text=text, role=role)
        paging = Paging(
            "/admin",
            {"q": text, "role": role or ""},
            total,
            _PER_PAGE,
            asked.number("page", least=1, most=10**6, default=1),
        )
        found = accounts.list_users(session, text=text, role=role, offset=paging.offset, limit=_PER_PAGE)
    return render(
        request,
        "admin/users.html",
        status=status,
        people=found,
        total=total,
        paging=paging,
        back=paging.link(paging.page),
        roles=[(known.value, name) for known, name in ROLE_NAMES.items()],
        asked={"q": text, "role": role or ""},
        problem=problem,
    )


def _role(text: str) -> Role | None:
    return Role(text) if text in set(Role) else None


@router.post("/users/{user_id}/role")
def change_role(request: Request, user_id: int, _: Administrator, form: Posted, database: DatabaseDep) -> Response:
    """Give somebody another role. The last administrator keeps theirs."""
    role = _role(form.values["role"])
    if role is None:
        return _refused(request, database, form, Message(N_("Choose one of the roles in the list.")))
    try:
        with database.session() as session:
            person = accounts.set_role(session, user_id, role)
            name = person.name
    except accounts.UnknownUser as error:
        raise HTTPException(404) from error
    except accounts.AccountError as error:
        return _refused(request, database, form, told(error))
    return _done(form, Message(N_("The role of {name} is changed."), {"name": name}))


@router.post("/users/{user_id}/disable")
def disable(request: Request, user_id: int, _: Administrator, form: Posted, database: DatabaseDep) -> Response:
    """Keep somebody out: their sessions end, their results stay."""
    return _set_disabled(request, user_id, form, database, disabled=True)


@router.post("/users/{user_id}/enable")
def enable(request: Request, user_id: int, _: Administrator, form: Posted, database: DatabaseDep) -> Response:
    """Let somebody in again."""
    return _set_disabled(request, user_id, form, database, disabled=False)


def _set_disabled(request: Request, user_id: int, form: Form, database: DatabaseDep, *, disabled: bool) -> Response:
    try:
        with database.session() as session:
            name = accounts.set_disabled(session, user_id, disabled=disabled).name
    except accounts.UnknownUser as error:
        raise HTTPException(404) from error
    except accounts.AccountError as error:
        return _refused(request, database, form, told(error))
    text = N_("{name} is disabled and signed out.") if disabled else N_("{name} may sign in again.")
    return _done(form, Message(text, {"name": name}))


def _refused(request: Request, database: DatabaseDep, form: Form, problem: Message) -> Response:
    """The list again, as it was searched, saying why nothing changed."""
    query = urlsplit(local_path(form.values["next"], "")).query
    return _people(request, database, Form(dict(parse_qsl(query, max_num_fields=20))), problem, 422)


def _done(form: Form, message: Message) -> Response:
    """Back to the page of the list that the form stood on."""
    return go(local_path(form.values["next"], "/admin"), message)


# Groups


@router.get("/groups")
def groups_page(request: Request, _: Administrator, database: DatabaseDep) -> Response:
    """All groups with their codes."""
    return _groups(request, database, Form())


def _groups(request: Request, database: DatabaseDep, form: Form, status: int = 200) -> Response:
    with database.session() as session:
        found = groups.list_groups(session)
    return render(request, "admin/groups.html", status=status, groups=found, form=form)


@router.post("/groups")
def create_group(request: Request, _: Administrator, form: Posted, database: DatabaseDep) -> Response:
    """Make a group; its code is drawn."""
    name = form.line("name", required=_NAME_MISSING, longest=groups.LONGEST_NAME)
    if form.ok:
        try:
            with database.session() as session:
                group_id = groups.create(session, name).id
        except groups.GroupError as error:
            form.fail("name", told(error))
        else:
            return go(f"/admin/groups/{group_id}", N_("The group is made. Give its code to your learners."))
    return _groups(request, database, form, 422)


def _group(session: accounts.Session, group_id: int) -> LearnerGroup:
    """The group. 404 where there is none."""
    group = groups.get(session, group_id)
    if group is None:
        raise HTTPException(404)
    return group


@router.get("/groups/{group_id}")
def group_page(request: Request, group_id: int, _: Administrator, database: DatabaseDep) -> Response:
    """One group with its members."""
    return _group_page(request, group_id, database)


def _group_page(
    request: Request, group_id: int, database: DatabaseDep, form: Form | None = None, status: int = 200
) -> Response:
    with database.session() as session:
        group = _group(session, group_id)
        members = groups.members(session, group_id)
    return render(
        request,
        "admin/group.html",
        status=status,
        group=group,
        members=members,
        form=form or Form({"name": group.name}),
    )


@router.post("/groups/{group_id}")
def rename_group(request: Request, group_id: int, _: Administrator, form: Posted, database: DatabaseDep) -> Response:
    """Give a group another name."""
    name = form.line("name", required=_NAME_MISSING, longest=groups.LONGEST_NAME)
    if form.ok:
        try:
            with database.session() as session:
                _group(session, group_id)
                groups.rename(session, group_id, name)
        except groups.GroupError as error:
            form.fail("name", told(error))
        else:
            return go(f"/admin/groups/{group_id}", N_("Saved."))
    return _group_page(request, group_id, database, form, 422)


@router.post("/groups/{group_id}/code")
def renew_code(group_id: int, _: Administrator, database: DatabaseDep) -> Response:
    """Draw a new code; nobody can join with the old one any more."""
    with database.session() as session:
        _group(session, group_id)
        groups.renew_code(session, group_id)
    return go(f"/admin/groups/{group_id}", N_("The old code no longer works. Members stay in the group."))


@router.post("/groups/{group_id}/members/{user_id}/remove")
def remove_member(group_id: int, user_id: int, _: Administrator, database: DatabaseDep) -> Response:
    """Take somebody out of a group."""
    with database.session() as session:
        _group(session, group_id)
        groups.leave(session, user_id, group_id)
    return go(f"/admin/groups/{group_id}", N_("Taken out of the group."))


@router.post("/groups/{group_id}/delete")
def delete_group(group_id: int, _: Administrator, database: DatabaseDep) -> Response:
    """Delete a group. Its members' accounts and results stay."""
    with database.session() as session:
        name = _group(session, group_id).name
        groups.delete(session, group_id)
    return go("/admin/groups", Message(N_("The group {group} is deleted."), {"group": name}))


# Settings and health


@dataclass(frozen=True, slots=True)
class _Line:
    """One setting as the page shows it."""

    variable: str
    value: str
    meaning: str
    hidden: bool


@router.get("/settings")
def settings_page(request: Request, _: Administrator, settings: SettingsDep) -> Response:
    """Every setting with its value in force; those that may hold credentials only say whether they are set."""
    return render(request, "admin/settings.html", lines=_lines(settings))


def _lines(settings: Settings) -> list[_Line]:
    lines = []
    for name, described in Settings.model_fields.items():
        value = getattr(settings, name)
        variable = "DATABASE_URL" if name == "database_url" else f"CKA_LAB_{name.upper()}"
        hidden = name in _SECRET and bool(value)
        lines.append(_Line(variable, str(value), described.description or "", hidden))
    return lines


@router.get("/health")
def health_page(
    request: Request, _: Administrator, settings: SettingsDep, database: DatabaseDep, library: LibraryDep
) -> Response:
    """Versions, and whether the database and the workers answer."""
    catalogue = library.catalogue()
    pids = request.app.state.pool.pids()
    return render(
        request,
        "admin/health.html",
        versions={"lab": VERSION, "engine": ENGINE_VERSION, "python": platform.python_version()},
        database={"kind": settings.database.partition(":")[0], "problem": database.check()},
        workers={"size": len(pids), "alive": sum(map(_is_alive, pids))},
        exercises=len(catalogue.exercises),
        problems=len(catalogue.problems),
    )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
