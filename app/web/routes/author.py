"""The author's workbench: exercises as text, validated while one types, proven, previewed and published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from app.apimachinery.messages import Message
from app.exercises import loader
from app.lab.library import Library
from app.lab.workers import WorkerError
from app.progress import library as stored
from app.progress.db import Database
from app.progress.models import User
from app.web import difference
from app.web.dependencies import DatabaseDep, Language, LibraryDep, ServiceDep, require
from app.web.forms import Form, Posted
from app.web.i18n import N_
from app.web.redirects import go
from app.web.roles import AUTHORS
from app.web.templating import render

router = APIRouter(prefix="/author")

Author = Annotated[User, Depends(require(*AUTHORS))]
MAX_TEXT = 256 * 1024
"""Bytes of an exercise's text."""
_TOO_LARGE = N_("This text has {size} KiB; an exercise may have {most}. Shorten it, or split it into two exercises.")
