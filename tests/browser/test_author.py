"""The author's workbench in a real browser: mistakes while one types, preview, saving, and two authors at once."""

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from app.progress.models import Role
from app.web.people import SESSION_COOKIE
from tests.support.serving import serving
from tests.web.conftest import make_site

pytestmark = pytest.mark.browser


@pytest.fixture
def author(chromium, tmp_path):
    """An instructor's browser, and the pages that it opens."""
    made = make_site(tmp_path)
    with TestClient(made.app), serving(made.app) as address:
        token = made.person(Role.INSTRUCTOR).session
        with chromium.new_context(base_url=address, locale="en") as context:
            context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": address}])
            faults = []
            context.on("weberror", lambda error: faults.append(str(error.error)))
            yield context
            assert faults == []


def opened(context, path):
    page = context.new_page()
    page.goto(path)
    expect(page.locator(".cm-editor")).to_be_visible()
    return page


def write_first_line(page, line):
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type(f"{line}\n")


def test_mistakes_appear_while_one_types_and_go_when_they_are_mended(author):
    page = opened(author, "/author/new")
    write_first_line(page, "bogus: 1")
    panel = page.locator("#panel")
    expect(panel).to_contain_text("exercise.yaml:1:1")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Control+Shift+k")
    expect(panel).to_contain_text("The text is valid")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(0)


def test_a_text_is_previewed_saved_and_found_by_learners(author):
    page = opened(author, "/author/new")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#panel")).to_contain_text("As a learner sees it")
    page.get_by_role("button", name="Save and publish").click()
    expect(page.locator(".flash")).to_contain_text("Saved and published: my-exercise")
    page.goto("/learn")
    expect(page.locator("main")).to_contain_text("Put a pod on a node")


def test_whoever_saves_second_sees_both_texts_and_loses_none(author):
    first = opened(author, "/author/new")
    first.get_by_role("button", name="Save and publish").click()
    expect(first.locator(".flash")).to_be_visible()
    second = opened(author, "/author/my-exercise")
    write_first_line(second, "# theirs")
    second.keyboard.press("Control+s")
    expect(second.locator(".flash")).to_be_visible()
    write_first_line(first, "# mine")
    first.keyboard.press("Control+s")
    expect(first.locator(".notice")).to_contain_text("Nothing was overwritten.")
    expect(first.locator(".cm-content")).to_contain_text("# mine")
    expect(first.locator(".diff .taken")).to_contain_text("# theirs")
    first.get_by_role("button", name="Save and publish").click()
    expect(first.locator(".flash")).to_be_visible()
    expect(first.locator("a[href*='/versions/']")).to_have_count(3)
