"""Pages, fragments, Markdown, flashes and static files, from a small application of their own."""

import hashlib
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.apimachinery.messages import Message
from app.web import assets, failures, flash, templating
from app.web.assets import Assets
from app.web.security import SecurityMiddleware


def failing(request):
    return templating.render_error(request, int(request.path_params["status"]))


def precise(request):
    return templating.render_error(request, 422, Message("The name {name} is taken.", {"name": "<b>mina</b>"}))


def leave(_request):
    response = RedirectResponse("/fail/404", status_code=303)
    flash.flash(response, Message("Saved {what}.", {"what": "<i>this</i>"}))
    return response


@pytest.fixture
def client():
    routes = [
        Route("/fail/{status}", failing),
        Route("/precise", precise),
        Route("/leave", leave),
        Route("/static/{digest}/{name:path}", assets.endpoint),
    ]
    app = Starlette(routes=routes)
    app.state.settings = SimpleNamespace(language="en")
    app.add_middleware(SecurityMiddleware)
    with TestClient(app) as made:
        yield made


@pytest.mark.parametrize("status", sorted(failures._FAILURES))
@pytest.mark.parametrize("language", ["en", "ko"])
def test_each_failure_has_a_page_that_says_what_to_do_next(client, status, language):
    page = client.get(f"/fail/{status}", headers={"accept-language": language})
    assert page.status_code == status
    assert f'<html lang="{language}"' in page.text
    failure = failures.of(status)
    texts = [failure.title, failure.what, failure.then]
    assert all((text in page.text) == (language == "en") for text in texts)


@pytest.mark.parametrize(("status", "like"), [(418, 400), (502, 500)])
def test_a_rare_failure_is_explained_like_its_kind(client, status, like):
    page = client.get(f"/fail/{status}")
    assert page.status_code == status
    assert failures.of(like).what in page.text


def test_htmx_gets_the_notice_alone(client):
    part = client.get("/fail/404", headers={"hx-request": "true"})
    assert part.status_code == 404
    assert "<html" not in part.text
    assert failures.of(404).then in part.text
    assert "HX-Request" in part.headers["vary"]


def test_going_back_in_history_gets_the_whole_page(client):
    headers = {"hx-request": "true", "hx-history-restore-request": "true"}
    assert "<html" in client.get("/fail/404", headers=headers).text


def test_a_precise_sentence_replaces_the_general_one_and_is_escaped(client):
    page = client.get("/precise").text
    assert "The name &lt;b&gt;mina&lt;/b&gt; is taken." in page
    assert failures.of(422).what not in page


def test_the_inline_script_carries_the_nonce_of_the_policy(client):
    page = client.get("/fail/404")
    nonce = page.headers["content-security-policy"].split("'nonce-")[1].split("'")[0]
    assert f'<script nonce="{nonce}">' in page.text


def test_a_flash_is_shown_once_and_escaped(client):
    first = client.get("/leave").text
    assert "Saved &lt;i&gt;this&lt;/i&gt;." in first
    assert "Saved" not in client.get("/fail/404").text


@pytest.mark.parametrize("cookie", ["", "x", "%%%", "WyJhIl0=", "bnVsbA==", "W1tdLHt9LCJnb29kIl0=", "A" * 5000])
def test_a_forged_flash_shows_nothing(client, cookie):
    page = client.get("/fail/404", headers={"cookie": f"flash={cookie}"})
    assert page.status_code == 404
    assert 'class="flash' not in page.text


@pytest.mark.parametrize(
    ("cookie", "expected"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"'), ('"><script>', "")]
)
def test_only_known_colours_reach_the_page(client, cookie, expected):
    page = client.get("/fail/404", headers={"cookie": f"theme={cookie}"}).text
    head = page.split("<head>")[0]
    assert expected in head
    assert ("data-theme" in head) == bool(expected)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        '<img src=x onerror="alert(1)">',
    ],
)
def test_markdown_makes_nothing_that_runs_or_calls_out(text):
    html = templating.markdown(text)
    assert not any(f"<{tag}" in html for tag in ("script", "img", "a "))


def test_an_image_in_markdown_is_not_fetched():
    assert "<img" not in templating.markdown("![x](https://example.org/pixel.png)")


_UNWANTED = {
    "an inline handler": r"<[^>]*\son\w+=",
    "an inline style": r"<[^>]*\sstyle=",
    "a style element": r"<style",
    "htmx' inline handlers": r"hx-on",
    "JavaScript in hx-vals": r"hx-vals=['\"]js:",
    "a filter in hx-trigger": r"hx-trigger=['\"][^'\"]*\[",
    "text that skips escaping": r"\|\s*safe\b|autoescape false",
}


@pytest.mark.parametrize("what", _UNWANTED)
def test_no_template_has_what_the_policy_or_htmx_silently_ignores(what):
    pattern = re.compile(_UNWANTED[what])
    found = [
        str(path.relative_to(templating.TEMPLATES))
        for path in sorted(templating.TEMPLATES.rglob("*.html"))
        if pattern.search(path.read_text())
    ]
    assert found == []


def test_markdown_keeps_what_a_task_needs():
    html = templating.markdown(
        "1. Use `spec.taints`\n\n| a | b |\n|---|---|\n| c | d |\n\n**now** [docs](https://kubernetes.io/)"
    )
    wanted = ("<ol>", "<code>spec.taints</code>", "<table>", "<strong>", '<a href="https://kubernetes.io/">')
    assert [part for part in wanted if part not in html] == []


def test_an_instant_says_its_zone():
    html = templating.instant(datetime(2026, 12, 1, 9, 30, tzinfo=UTC))
    assert html == '<time datetime="2026-12-01T09:30:00+00:00">2026-12-01 09:30 UTC</time>'


def test_a_static_file_may_be_kept_for_ever_under_its_hash(client):
    address = assets.assets.url("app.css")
    answer = client.get(address)
    assert address.split("/")[2] == hashlib.sha256(answer.content).hexdigest()[:12]
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")


def test_a_stale_hash_gets_the_file_for_a_short_time(client):
    answer = client.get("/static/000000000000/app.css")
    assert answer.status_code == 200
    assert "immutable" not in answer.headers["cache-control"]


@pytest.mark.parametrize("name", ["nothing.css", "../pyproject.toml", "%2e%2e/pyproject.toml", "", "dist", "a%00b"])
def test_nothing_outside_the_folder_is_served(client, name):
    assert client.get(f"/static/000000000000/{name}").status_code == 404


def test_a_changed_file_gets_a_new_address(tmp_path):
    folder = Assets(tmp_path)
    file = tmp_path / "a.js"
    file.write_text("one")
    before = folder.url("a.js")
    file.write_text("other")
    assert folder.url("a.js") != before
    assert folder.url("missing.js") == "/static/none/missing.js"
