"""Administration: people and their roles, groups, the settings in force, and how the lab is."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from app import settings as settings_module
from app.progress import accounts, groups
from app.progress.models import Role, User
from app.settings import Settings
from app.web.dependencies import DatabaseDep, LibraryDep, ServiceDep, SettingsDep, require
from app.web.forms import Asked, Form, Posted, local_path
from app.web.i18n import N_
from app.web.paging import Paging
from app.web.routes.account import go, told
from app.web.templating import render

router = APIRouter(prefix="/admin")

Administrator = Annotated[User, Depends(require(Role.ADMINISTRATOR))]
ROLES = (
    (Role.LEARNER.value, N_("Learner")),
    (Role.GRADER.value, N_("Grader")),
    (Role.INSTRUCTOR.value, N_("Instructor")),
    (Role.ADMINISTRATOR.value, N_("Administrator")),
)
_PER_PAGE = 50
_GROUP_NAME = 80
_SECRET = frozenset({"secret_key", "database_url"})
"""Settings whose values may hold a credential."""


# People


@router.get("")
def people_page(request: Request, user: Administrator, database: DatabaseDep, asked: Asked) -> Response:
    """Accounts by name, searched and page by page."""
    return _people(request, database, asked)
