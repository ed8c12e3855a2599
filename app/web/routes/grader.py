"""Everybody's results: the table, one learner, one result with its evidence, and the export."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response, StreamingResponse

from app.exercises.problems import ExerciseErrors
from app.lab import presenter, unfold
from app.lab.library import Library, UnknownExercise
from app.lab.views import VerdictView
from app.progress import gradebook, groups, owners, results
from app.progress.exporters import csv_scores
from app.progress.models import Result, User
from app.web.dependencies import DatabaseDep, Language, LibraryDep, require
from app.web.forms import Asked, Form
from app.web.i18n import N_
from app.web.paging import Paging
from app.web.roles import GRADERS
from app.web.templating import render

router = APIRouter(prefix="/grades")

Grader = Annotated[User, Depends(require(*GRADERS))]
_PER_PAGE = 100
_SORTS = {"name": N_("Name"), "points": N_("Points, most first"), "last": N_("Last result, newest first")}


@dataclass(frozen=True, slots=True)
class Column:
    """An exercise as a column."""

    name: str
    title: str


def _asked(form: Form) -> gradebook.Filter:
    group = form.values["group"]
    return gradebook.Filter(
        group_id=int(group) if group.isascii() and group.isdigit() and len(group) < 10 else None,
        exercise=form.values["exercise"][:100] or None,
        text=form.values["q"].strip()[:100],
    )


@router.get("")
def table_page(
    request: Request, _: Grader, asked: Asked, database: DatabaseDep, library: LibraryDep, language: Language
) -> Response:
    """The best result of each learner in each exercise: filtered, searched, sorted, page by page."""
    wanted = _asked(asked)
    sort = asked.values["sort"] if asked.values["sort"] in _SORTS else "name"
    with database.session() as session:
        rows = _sorted(gradebook.table(session, wanted), sort)
        all_groups = groups.list_groups(session)
        columns = _columns(library, gradebook.exercises(session), language)
    query = {name: asked.values[name].strip() for name in ("group", "exercise", "q")}
    page = asked.number("page", least=1, most=10**6, default=1)
    paging = Paging("/grades", {**query, "sort": "" if sort == "name" else sort}, len(rows), _PER_PAGE, page)
    return render(
        request,
        "grades/table.html",
        block="grades",
        rows=rows[paging.offset : paging.offset + _PER_PAGE],
        total=len(rows),
        columns=[column for column in columns if wanted.exercise in (None, column.name)],
        all_columns=columns,
        groups=all_groups,
        sorts=_SORTS.items(),
        asked={**query, "sort": sort},
        export=Paging("/grades/export.csv", query, 0, 1).link(1),
        paging=paging,
    )


def _sorted(rows: list[gradebook.Row], sort: str) -> list[gradebook.Row]:
    """The rows, which come by name; equals stay by name."""
    if sort == "points":
        return sorted(rows, key=lambda row: -row.points)
    if sort == "last":
        oldest = datetime.min.replace(tzinfo=UTC)
        return sorted(rows, key=lambda row: row.last_at or oldest, reverse=True)
    return rows


def _columns(library: Library, with_results: list[str], language: str) -> list[Column]:
    """The exercises on offer in the catalogue's order, then those that only have results."""
    offered = library.catalogue().exercises
    columns = [Column(name, exercise.text(language).title) for name, exercise in offered.items()]
    return columns + [Column(name, name) for name in with_results if name not in offered]


@router.get("/export.csv")
def export(_: Grader, asked: Asked, database: DatabaseDep) -> Response:
    """The results of the same filters as CSV, sent learner by learner."""
    wanted = _asked(asked)

    with database.session() as session:
        rows = gradebook.table(session, wanted)
    headers = {"Content-Disposition": f'attachment; filename="scores-{datetime.now(UTC):%Y-%m-%d}.csv"'}
    return StreamingResponse(csv_scores.export(rows), media_type=csv_scores.MEDIA_TYPE, headers=headers)


@router.get("/learner/{user_id}")
def learner_page(request: Request, user_id: int, _: Grader, asked: Asked, database: DatabaseDep) -> Response:
    """First, last and best result of one learner in each exercise, and all results."""
    with database.session() as session:
        row = gradebook.row(session, user_id)
        if row is None:
            raise HTTPException(404)
        total = results.count_of_user(session, row.user_id)
        page = asked.number("page", least=1, most=10**6, default=1)
        paging = Paging(f"/grades/learner/{row.user_id}", {}, total, _PER_PAGE, page)
        found = results.of_user(session, row.user_id, offset=paging.offset, limit=_PER_PAGE)
    return render(
        request,
        "grades/learner.html",
        row=row,
        summary=sorted(row.cells.values(), key=lambda scores: scores.exercise),
        results=found,
        paging=paging,
    )


@router.get("/result/{result_id}")
def result_page(
    request: Request, result_id: int, _: Grader, database: DatabaseDep, library: LibraryDep, language: Language
) -> Response:
    """One verdict with what it was given for."""
    with database.session() as session:
        result = results.get(session, result_id)
        owner = owners.owner_of(session, result.user_id) if result else None
    if result is None or owner is None:
        raise HTTPException(404)
    return render(
        request,
        "grades/result.html",
        result=result,
        owner=owner,
        checks=_verdict(library, result, language).results,
    )


def _verdict(library: Library, result: Result, language: str) -> VerdictView:
    """The verdict with the checks' sentences as they were in that version and variant."""
    try:
        exercise = library.by_digest(result.exercise_digest)
    except (UnknownExercise, ExerciseErrors):
        # A text that this version of the lab cannot read: the checks' names stand for their sentences.
        listed = tuple(unfold.result(check, check["name"]) for check in result.verdict)
        return VerdictView(result.points, result.possible, listed)
    variant = exercise.variant(result.seed)
    return presenter.verdict(variant, result.verdict, language, result.kind.value, result.created_at)
