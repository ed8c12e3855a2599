"""The author's workbench: exercises as text, validated while one types, proven, previewed and published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from app.apimachinery.messages import Message
from app.exercises.model import Exercise
from app.lab.library import Library
from app.lab.service import LabService
from app.progress import accounts
from app.progress import library as stored
from app.progress.db import Database
from app.progress.models import User
from app.web import authored, difference, drafts, templating
from app.web.authored import InForce
from app.web.dependencies import DatabaseDep, Language, LibraryDep, ServiceDep, require
from app.web.drafts import Draft, Panel
from app.web.forms import Form, Posted
from app.web.i18n import N_
from app.web.redirects import go
from app.web.roles import AUTHORS
from app.web.templating import render

router = APIRouter(prefix="/author")

Author = Annotated[User, Depends(require(*AUTHORS))]
_SKELETON = templating.TEMPLATES / "author" / "skeleton.yaml"
_OTHER_NAME = N_(
    "This text is named {other}, but this page is about {name}. Write “name: {name}” under metadata, "
    "or save it as a new exercise."
)
_NAME_TAKEN = N_(
    "There is an exercise {name} already. Write another name under metadata, or open it and edit it there."
)
_NOT_TEXT = N_("This file is not text in UTF-8. Save it as UTF-8 in your editor, then upload it again.")
_NO_FILE = N_("Choose a file first.")
_SAVED = N_("Saved and published: {name}, version {version}.")
_SAVED_UNRAISED = N_(
    "Saved and published: {name}. It still states version {version}: raise it where the meaning has changed, because "
    "results belong to a version."
)
_HAS_PROBLEMS = N_("This text is not saved: mend what the list of problems names, then save again.")


# What there is


def _existing(session: accounts.Session, library: Library, name: str) -> InForce:
    """The text in force. 404 for a name that no exercise has."""
    found = authored.in_force(session, library, name)
    if found is None:
        raise HTTPException(404)
    return found


@router.get("")
def list_page(request: Request, _: Author, database: DatabaseDep, library: LibraryDep, language: Language) -> Response:
    """All exercises, hidden ones too, and what is wrong with the files that could not be read."""
    catalogue = library.catalogue()
    with database.session() as session:
        saved = {row.name for row in stored.list_published(session) if row.digest}
    shown = [*catalogue.exercises.values(), *catalogue.hidden.values()]
    lines = [
        {
            "exercise": exercise,
            "title": exercise.text(language).title,
            "origin": "upload" if exercise.name in saved else "folder",
            "hidden": exercise.name in catalogue.hidden,
        }
        for exercise in sorted(shown, key=lambda exercise: exercise.name)
    ]
    return render(request, "author/list.html", lines=lines, problems=catalogue.problems)


# The editor


@dataclass
class _Editor:
    """What the editing page shows."""

    form: Form = field(default_factory=Form)
    draft: Draft = field(default_factory=lambda: Draft(""))
    panel: Panel = field(default_factory=Panel)
    stale: dict[str, Any] | None = None
    status: int = 200


def _edit_page(request: Request, database: Database, editor: _Editor, now: InForce | None) -> Response:
    name = editor.draft.name
    versions = []
    if name:
        with database.session() as session:
            versions = authored.versions(session, name)
    return render(
        request,
        "author/edit.html",
        status=editor.status,
        exercise=name,
        text=editor.draft.text,
        base=now.digest if now else "",
        form=editor.form,
        stale=editor.stale,
        unsaved=now is not None and editor.draft.text != now.text,
        versions=versions,
        panel=editor.panel.name,
        **editor.panel.facts,
    )


@router.get("/new")
def new_page(request: Request, _: Author, database: DatabaseDep) -> Response:
    """The editor with a text to start from, and a place to upload a file."""
    draft = Draft(_SKELETON.read_text(encoding="utf-8"))
    return _edit_page(request, database, _Editor(draft=draft), None)


@router.post("/new")
def save_new(
    request: Request,
    user: Author,
    form: Posted,
    database: DatabaseDep,
    library: LibraryDep,
    service: ServiceDep,
) -> Response:
    """Save and publish a text under the name that it states; an exercise that exists is not replaced."""
    return _save_new(request, _Saving(user, form, database, library, service), Draft.of(form))


@router.post("/upload")
def upload(
    request: Request,
    user: Author,
    form: Posted,
    database: DatabaseDep,
    library: LibraryDep,
    service: ServiceDep,
) -> Response:
    """Like `save_new`, with the text in a file. A refused file's text stands in the editor afterwards."""
    file = form.files.get("file")
    data = file.file.read(drafts.MAX_TEXT + 1) if file else b""
    if file is None:
        form.fail("file", _NO_FILE)
    else:
        drafts.check_size(form, "file", max(len(data), file.size or 0))
    text = ""
    if form.ok:
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            form.fail("file", _NOT_TEXT)
    return _save_new(request, _Saving(user, form, database, library, service), Draft(text))


@dataclass(frozen=True)
class _Saving:
    """Who saves what, with what it takes."""

    user: User
    form: Form
    database: Database
    library: Library
    service: LabService

    def refused(self, request: Request, draft: Draft, panel: Panel, now: InForce | None = None) -> Response:
        """The editor again with the text as it was sent, the faults beside their fields, and the panel."""
        status = 413 if any(error.text == drafts.TOO_LARGE for error in self.form.errors.values()) else 422
        editor = _Editor(self.form, draft, panel, status=status)
        return _edit_page(request, self.database, editor, now)

    def publish(self, exercise: Exercise, base: str | None, before: int | None = None) -> Response:
        """Record the text, and offer it from now on. Raises StaleVersion where another text was faster.

        `before` is the version that the text until now states: an author who did not raise it is told so.
        """
        with self.database.session() as session:
            stored.record_version(session, exercise, origin="upload", author_id=self.user.id)
            stored.publish(session, exercise.name, exercise.digest, base=base)
        self.library.refresh()
        text = _SAVED if before != exercise.version else _SAVED_UNRAISED
        message = Message(text, {"name": exercise.name, "version": exercise.version})
        return go(f"/author/{exercise.name}", message)


def _save_new(request: Request, saving: _Saving, draft: Draft) -> Response:
    form = saving.form
    if not form.ok:
        return saving.refused(request, draft, Panel())
    exercise = drafts.read(saving.service, draft)
    if isinstance(exercise, Panel):
        form.fail("text", _HAS_PROBLEMS)
        return saving.refused(request, draft, exercise)
    with saving.database.session() as session:
        taken = authored.in_force(session, saving.library, exercise.name) is not None
    try:
        if not taken:
            return saving.publish(exercise, None)
    except stored.StaleVersion:
        pass  # somebody took the name just now: said below
    form.fail("text", Message(_NAME_TAKEN, {"name": exercise.name}))
    return saving.refused(request, draft, Panel())


# While one writes: htmx gets the panel, any other client the page with it


@router.post("/validate")
def validate(
    request: Request, _: Author, form: Posted, database: DatabaseDep, library: LibraryDep, service: ServiceDep
) -> Response:
    """What is wrong with the text as it stands."""
    return _look(request, form, database, library, service, lambda _: drafts.problems_panel([]))


@router.post("/prove")
def prove(
    request: Request, _: Author, form: Posted, database: DatabaseDep, library: LibraryDep, service: ServiceDep
) -> Response:
    """Have the lab prove the text as it stands."""
    return _look(request, form, database, library, service, lambda exercise: drafts.proof_panel(service, exercise))


@router.post("/preview")
def preview(
    request: Request, _: Author, form: Posted, database: DatabaseDep, library: LibraryDep, service: ServiceDep
) -> Response:
    """The text as a learner would see it, in one variant and language."""
    seed = form.number("seed", least=0, most=drafts.MAX_SEED, default=1)
    language = form.values["language"]
    return _look(
        request,
        form,
        database,
        library,
        service,
        lambda exercise: drafts.preview_panel(exercise, seed, language),
    )


def _look(
    request: Request,
    form: Form,
    database: Database,
    library: Library,
    service: LabService,
    shown: Callable[[Exercise], Panel],
) -> Response:
    """The panel for a valid text, or the problems of another one. Nothing is stored."""
    draft = Draft.of(form)
    if form.ok:
        exercise = drafts.read(service, draft)
        panel = exercise if isinstance(exercise, Panel) else shown(exercise)
        status = 200
    else:
        panel, status = Panel("failure", {"failure": form.errors["text"]}), 413
    if templating.is_fragment(request):
        return render(
            request, "author/edit.html", fragment="author/panel.html", panel=panel.name, status=status, **panel.facts
        )
    now = None
    if draft.name:
        with database.session() as session:
            now = _existing(session, library, draft.name)
    return _edit_page(request, database, _Editor(form, draft, panel, status=status), now)


@router.get("/validate")
@router.get("/prove")
@router.get("/preview")
@router.get("/upload")
def back_to_list(_: Author) -> Response:
    """Whoever reloads such an address gets to the list: only forms lead there."""
    return go("/author")


# One exercise


@router.get("/{name}")
def edit_page(request: Request, name: str, _: Author, database: DatabaseDep, library: LibraryDep) -> Response:
    """The text in force in the editor, and all versions."""
    with database.session() as session:
        now = _existing(session, library, name)
    return _edit_page(request, database, _Editor(draft=Draft(now.text, name, now.digest)), now)


@router.post("/{name}")
def save(
    request: Request,
    name: str,
    user: Author,
    form: Posted,
    database: DatabaseDep,
    library: LibraryDep,
    service: ServiceDep,
) -> Response:
    """Save the text as the newest version and publish it, unless another one was saved since it was opened."""
    saving = _Saving(user, form, database, library, service)
    draft = replace(Draft.of(form), name=name)
    with database.session() as session:
        now = _existing(session, library, name)
    if not form.ok:
        return saving.refused(request, draft, Panel(), now)
    exercise = drafts.read(service, draft)
    if isinstance(exercise, Panel):
        form.fail("text", _HAS_PROBLEMS)
        return saving.refused(request, draft, exercise, now)
    if exercise.name != name:
        form.fail("text", Message(_OTHER_NAME, {"name": name, "other": exercise.name}))
        return saving.refused(request, draft, Panel(), now)
    if draft.base == now.digest:
        try:
            return saving.publish(exercise, now.published, now.version)
        except stored.StaleVersion:
            with database.session() as session:
                now = _existing(session, library, name)
    return _stale(request, saving, draft, now)


def _stale(request: Request, saving: _Saving, draft: Draft, now: InForce) -> Response:
    """Both texts, and what differs; saving again replaces the one in force knowingly."""
    both = {"theirs": now.text, "difference": difference.lines(now.text, draft.text)}
    editor = _Editor(saving.form, draft, stale=both, status=409)
    return _edit_page(request, saving.database, editor, now)


@router.get("/{name}/versions/{digest}")
def version_page(
    request: Request, name: str, digest: str, _: Author, database: DatabaseDep, library: LibraryDep
) -> Response:
    """An older text."""
    with database.session() as session:
        now = _existing(session, library, name)
        if digest not in {version.digest for version in stored.history(session, name)}:
            raise HTTPException(404)
        text = stored.get_source(session, digest)
    return render(request, "author/version.html", exercise=name, digest=digest, text=text or "", base=now.digest)


@router.post("/{name}/restore")
def restore(name: str, _: Author, form: Posted, database: DatabaseDep, library: LibraryDep) -> Response:
    """Publish an older version again."""
    address = f"/author/{name}"
    try:
        with database.session() as session:
            now = _existing(session, library, name)
            base = now.published if form.values["base"] == now.digest else form.values["base"]
            stored.publish(session, name, form.values["digest"], base=base)
    except (stored.StaleVersion, stored.UnknownVersion) as error:
        return go(address, Message(error.template, error.facts), "bad")
    library.refresh()
    return go(address, N_("This version is in use again."))


@router.get("/{name}/download")
def download(name: str, _: Author, database: DatabaseDep, library: LibraryDep) -> Response:
    """The text in force as a file."""
    with database.session() as session:
        now = _existing(session, library, name)
    headers = {"Content-Disposition": f'attachment; filename="{now.name}.yaml"'}
    return Response(now.text, media_type="application/yaml; charset=utf-8", headers=headers)


@router.post("/{name}/hide")
def hide(name: str, _: Author, database: DatabaseDep, library: LibraryDep) -> Response:
    """Take an exercise off the list of exercises. Labs that were started go on."""
    return _set_hidden(name, database, library, hidden=True)


@router.post("/{name}/show")
def show(name: str, _: Author, database: DatabaseDep, library: LibraryDep) -> Response:
    """Offer an exercise again."""
    return _set_hidden(name, database, library, hidden=False)


def _set_hidden(name: str, database: Database, library: Library, *, hidden: bool) -> Response:
    with database.session() as session:
        _existing(session, library, name)
        stored.hide(session, name, hidden=hidden)
    library.refresh()
    text = N_("{name} is hidden. Labs that were started with it go on.") if hidden else N_("{name} is on offer.")
    return go("/author", Message(text, {"name": name}))
