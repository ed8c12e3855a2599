"""What routes ask for, as typed aliases: `user: CurrentUser`, `service: ServiceDep`, `Depends(require(Role.…))`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, HTTPException, Request

from app.lab.library import Library
from app.lab.service import LabService
from app.progress.db import Database
from app.progress.models import Role, User
from app.settings import Settings
from app.web import templating


def settings_of(request: Request) -> Settings:
    """The settings this application was made with."""
    return cast("Settings", request.app.state.settings)


def database_of(request: Request) -> Database:
    """The database."""
    return cast("Database", request.app.state.database)


def service_of(request: Request) -> LabService:
    """The use cases."""
    return cast("LabService", request.app.state.service)


def library_of(request: Request) -> Library:
    """The exercises on offer."""
    return cast("Library", request.app.state.library)


def visitor(request: Request) -> User | None:
    """The guest or user who asks; None for somebody who has not started anything yet."""
    return cast("User | None", getattr(request.state, "user", None))


def current_user(request: Request) -> User:
    """The guest or user who asks. 401 with the way to sign in where there is none."""
    user = visitor(request)
    if user is None:
        raise HTTPException(401)
    return user


def require(*roles: Role) -> Callable[[Request], User]:
    """A dependency that lets only these roles through: 401 for strangers, 403 for other roles."""

    def check(request: Request) -> User:
        user = current_user(request)
        if user.role not in roles:
            raise HTTPException(403)
        return user

    return check


Visitor = Annotated[User | None, Depends(visitor)]
CurrentUser = Annotated[User, Depends(current_user)]
SettingsDep = Annotated[Settings, Depends(settings_of)]
DatabaseDep = Annotated[Database, Depends(database_of)]
ServiceDep = Annotated[LabService, Depends(service_of)]
LibraryDep = Annotated[Library, Depends(library_of)]
Language = Annotated[str, Depends(templating.language_of)]
