"""Pages and fragments from `templates/`: one Jinja environment a language, everything escaped.

A request that htmx made gets the fragment, any other the whole page with the same content, so that every page
works without JavaScript.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.lab.views import Sentence
from app.settings import ROOT
from app.web import failures, flash, i18n
from app.web.assets import assets

TEMPLATES = ROOT / "templates"
THEME_COOKIE = "theme"
THEMES = ("light", "dark")


@cache
def environment(language: str) -> Environment:
    """The environment of one language. Each has its own: overlays of one would share their translations."""
    texts = i18n.translations(language)
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        texts.gettext, texts.ngettext, newstyle=True, pgettext=texts.pgettext, npgettext=texts.npgettext
    )
    made.globals |= {"static_url": assets.url, "languages": i18n.LANGUAGES, "lang": language}
    made.filters |= {"t": texts.sentence, "markdown": markdown, "instant": instant}
    return made


def language_of(request: Request) -> str:
    """The language of this request: the user's setting, the cookie, Accept-Language, the lab's default."""
    user = getattr(request.state, "user", None)
    settings = getattr(request.app.state, "settings", None)
    return i18n.choose(
        getattr(user, "language", None),
        request.cookies.get(i18n.LANGUAGE_COOKIE),
        accept=request.headers.get("accept-language", ""),
        default=getattr(settings, "language", i18n.SOURCE),
    )


def theme_of(request: Request) -> str:
    """`light` or `dark` as chosen; empty follows the device."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def is_fragment(request: Request) -> bool:
    """Whether htmx asks for a part of a page. Going back in history asks for the whole."""
    headers = request.headers
    return headers.get("hx-request") == "true" and "hx-history-restore-request" not in headers


def render(
    request: Request,
    name: str,
    block: str | None = None,
    status: int = 200,
    *,
    fragment: str | None = None,
    **context: Any,
) -> HTMLResponse:
    """The page `name`; for htmx only its block `block`, or the template `fragment`, where one is given.

    Every template also sees `request`, `user`, `lang`, `theme`, `nonce`, `here` (path and query) and `flash`.
    """
    env = environment(language_of(request))
    message = flash.read(request)
    values = _common(request) | {"flash": message} | context
    if is_fragment(request) and (block or fragment):
        template = env.get_template(fragment or name)
        made = template.new_context(values)
        html = "".join(template.blocks[block](made)) if block else template.render(values)
    else:
        html = env.get_template(name).render(values)
    response = HTMLResponse(html, status_code=status, headers={"Vary": "HX-Request, Cookie, Accept-Language"})
    if message is not None:
        response.delete_cookie(flash.FLASH_COOKIE)
    return response


def _common(request: Request) -> dict[str, Any]:
    query = request.url.query
    moved = getattr(request.state, "here", None)  # the address that the page takes for itself
    return {
        "request": request,
        "user": getattr(request.state, "user", None),
        "theme": theme_of(request),
        "nonce": request.scope.get("csp_nonce", ""),
        "here": moved or request.url.path + (f"?{query}" if query else ""),
        "get_here": moved is not None or request.method in {"GET", "HEAD"},
    }


def render_error(request: Request, status: int, message: Sentence | str | None = None) -> Response:
    """The page (for htmx: the notice) for a failed request: what happened and what to do next.

    `message`, where given, is more precise than the general sentence and replaces it.
    """
    return render(
        request,
        "errors/page.html",
        fragment="errors/notice.html",
        status=status,
        code=status,
        failure=failures.of(status),
        message=message,
    )


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")


def markdown(text: str) -> Markup:
    """Markdown as safe HTML: no raw HTML, no images, links only to http, https and this site."""
    return Markup(_parser().render(text))  # noqa: S704 (the parser escapes everything; raw HTML is off)


def instant(value: Any) -> Markup:
    """A `<time>` that scripts turn into the reader's zone; without them it is UTC, and says so."""
    text = value.strftime("%Y-%m-%d %H:%M")
    return Markup('<time datetime="{}">{} UTC</time>').format(value.isoformat(timespec="seconds"), text)
