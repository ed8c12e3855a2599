"""The learner's pages in a real browser: typing, keys, drafts, tabs, phone width, no scripts, and axe."""

import re

import pytest
from playwright.sync_api import expect

from app.settings import ROOT
from tests.support.fake_lab import MANIFEST, MOVING
from tests.support.pages import pages_app
from tests.support.serving import serving

pytestmark = pytest.mark.browser

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
SEVERE = {"serious", "critical"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(pages_app(tmp_path_factory.mktemp("pages"))) as made:
        yield made


@pytest.fixture
def visit(chromium, address):
    """Opens a page as a new visitor; a page that raised an error in its scripts fails the test."""
    contexts, errors = [], []

    def open_page(path, *, guest=True, **options):
        context = chromium.new_context(**({"viewport": DESK, "locale": "en"} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        if guest:
            page.goto(f"{address}/learn/exercise-3")
            page.locator("form[action$='/start'] button").first.click()
            page.wait_for_url("**/lab/*")
        page.goto(address + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


LAB = "/lab/Zk3x9"


def editor(page):
    made = page.locator(".cm-content")
    made.wait_for(state="attached")
    return made


def write(page, text):
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_what_is_typed_reaches_the_form_and_is_marked_until_it_is_applied(visit):
    page = visit(LAB)
    write(page, "kind: Pod")
    expect(page.locator("[name=manifest]")).to_have_value("kind: Pod")
    expect(page.locator("[data-state]")).to_contain_text("not applied yet")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator("#output")).to_contain_text("pod/bee created")
    expect(page.locator("[data-state]")).to_be_empty()


def test_problems_are_marked_at_their_lines_and_their_links_lead_there(visit):
    page = visit(LAB)
    write(page, "oops\n" * 6)
    page.keyboard.press("Control+s")
    expect(page.locator(".problems li").first).to_contain_text("line 5, column 3")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.get_by_role("link", name="line 5, column 3").click()
    expect(page.locator(".cm-activeLineGutter").first).to_have_text("5")
    expect(page.locator(".cm-content")).to_be_focused()


def test_what_is_typed_survives_a_reload(visit):
    page = visit(LAB)
    write(page, "# mine")
    page.reload()
    expect(editor(page)).to_have_text("# mine")
    page.get_by_role("button", name="Use the text sent last").click()
    expect(editor(page)).to_contain_text("mortein")
    page.reload()
    expect(editor(page)).to_contain_text("mortein")


def test_what_is_typed_survives_a_lost_connection(visit):
    page = visit(LAB)
    write(page, "# mine")
    page.context.set_offline(True)
    page.keyboard.press("Control+s")
    expect(page.locator("#output [role=alert]")).to_contain_text("The lab cannot be reached")
    expect(editor(page)).to_have_text("# mine")
    page.context.set_offline(False)
    page.keyboard.press("Control+s")
    expect(page.locator("#output")).to_contain_text("pod/bee created")


def test_ctrl_enter_checks_and_the_verdict_gives_a_reason_per_check(visit):
    page = visit(LAB)
    editor(page).click()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdict .failed")).to_contain_text("it is bound to no node")
    expect(page.locator("#score")).to_have_text(re.compile("4 of 10 points"))
    expect(page.locator("[name=manifest]")).to_have_value(MANIFEST)


def test_keys_lead_to_panes_and_are_listed(visit):
    page = visit(LAB)
    editor(page)
    page.keyboard.press("Alt+2")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Alt+3")
    expect(page.locator("#pane-cluster")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_the_editor_can_be_left_by_keyboard(visit):
    page = visit(LAB)
    editor(page).click()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator(".cm-content")).not_to_be_focused()


def test_the_chosen_view_of_the_cluster_stays_through_answers_and_reloads(visit):
    page = visit(LAB)
    page.get_by_role("tab", name="Events").click()
    expect(page.locator("#view-events")).to_be_visible()
    expect(page.locator("#view-picture")).to_be_hidden()
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#verdict .failed")).to_be_visible()
    expect(page.locator("#view-events")).to_be_visible()
    page.reload()
    expect(page.locator("#view-events")).to_be_visible()
    page.get_by_role("tab", name="Events").press("ArrowRight")
    expect(page.get_by_role("tab", name="Changes")).to_be_focused()


def test_what_was_opened_on_a_node_stays_open(visit):
    page = visit(LAB)
    page.locator("#node-node01 .labels summary").click()
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator("#output")).to_contain_text("pod/bee created")
    expect(page.locator("#node-node01 .labels")).to_have_attribute("open", "")


def test_a_split_moves_by_keys_and_is_remembered(visit):
    page = visit(LAB)
    splitter = page.get_by_role("separator", name="Width of the task")
    splitter.press("ArrowRight")
    expect(splitter).to_have_attribute("aria-valuenow", "40")
    page.reload()
    expect(splitter).to_have_attribute("aria-valuenow", "40")


def test_a_pane_folds_and_comes_back(visit):
    page = visit(LAB)
    splitter = page.get_by_role("separator", name="Height of the cluster")
    splitter.press("Enter")
    expect(page.locator("#pane-cluster")).to_be_hidden()
    page.reload()
    expect(page.locator("#pane-cluster")).to_be_hidden()
    splitter.press("Enter")
    expect(page.locator("#pane-cluster")).to_be_visible()


def test_the_picture_follows_the_cluster_by_itself(visit):
    page = visit(f"/lab/{MOVING}")
    expect(page.locator("#view-picture .waiting")).to_contain_text("bee")
    page.locator("#node-node02 .labels summary").click()
    expect(page.locator("#node-node02 .pods")).to_contain_text("bee")
    expect(page.locator("#view-picture .waiting")).to_have_count(0)
    expect(page.locator("#node-node02 .labels")).to_have_attribute("open", "")


def test_a_picture_that_cannot_be_fetched_leaves_the_old_one(visit):
    page = visit("/learn")
    page.route("**/cluster", lambda route: route.fulfill(status=503, body="busy"))
    with page.expect_response("**/cluster"):
        page.goto(base(page) + f"/lab/{MOVING}?hints=1")
    expect(page.locator("#view-picture .nodes")).to_be_visible()
    assert "busy" not in page.locator("#pane-cluster").inner_text()


def test_a_slow_answer_shows_a_bar_then_a_sentence_and_can_be_stopped(visit):
    page = visit(LAB)
    held = []

    def hold(route):
        held.append(route)

    page.route("**/check", hold)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#busy")).to_be_visible()
    expect(page.locator("#busy")).to_contain_text("Still working on it", timeout=5000)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#output")).to_contain_text("Stopped.")
    expect(page.locator("#busy")).to_be_hidden()
    assert len(held) == 1
    page.unroute_all(behavior="ignoreErrors")


def test_hints_open_one_by_one_and_stay_in_the_address(visit):
    page = visit(LAB)
    page.get_by_role("link", name="Show hint 1 of 3").click()
    expect(page.locator("#help")).to_contain_text("Hint 1 of 3")
    page.reload()
    expect(page.locator("#help")).to_contain_text("Hint 1 of 3")


def test_colours_change_at_once_and_are_kept(visit):
    page = visit("/learn")
    page.get_by_text("Display").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_phone_shows_one_pane_at_a_time_and_check_stays_in_reach(visit):
    page = visit(LAB, viewport=PHONE)
    expect(page.locator("#pane-task")).to_be_visible()
    page.get_by_role("button", name="Editor").click()
    expect(page.locator("#pane-task")).to_be_hidden()
    expect(page.locator("#pane-editor")).to_be_visible()
    check = page.get_by_role("button", name="Check", exact=True)
    expect(check).to_be_in_viewport()
    check.click()
    expect(page.locator("#verdict .failed")).to_be_visible()


def test_without_scripts_the_task_the_form_and_the_verdict_work(visit):
    page = visit(LAB, java_script_enabled=False)
    expect(page.locator("#view-events")).to_be_visible()
    page.locator("[name=manifest]").fill("oops")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".problems li").first).to_contain_text("line 5, column 3")
    expect(page.locator("[name=manifest]")).to_have_value("oops")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#verdict .failed")).to_contain_text("it is bound to no node")


PAGES = ("/", "/learn", "/learn/exercise-3", LAB, "/me", "/nothing")


@pytest.mark.parametrize(("viewport", "scheme", "language"), [(DESK, "light", "en"), (PHONE, "dark", "ko")])
def test_no_page_has_a_serious_fault_for_assistive_technology(visit, viewport, scheme, language):
    faults = []
    page = visit(LAB, viewport=viewport, color_scheme=scheme, locale=language, reduced_motion="reduce")
    for path in PAGES:
        page.goto(base(page) + path)
        if path == LAB:
            editor(page)
            page.locator("[data-key=check]").click()
            page.locator("#verdict .failed").wait_for()
        page.evaluate(AXE.read_text())
        found = page.evaluate("axe.run()")["violations"]
        faults += [(path, fault["id"], fault["nodes"][0]["target"]) for fault in found if fault["impact"] in SEVERE]
    assert faults == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_page_is_wider_than_a_phone(visit, language):
    page = visit(LAB, viewport=PHONE, locale=language)
    wide = []
    for path in PAGES:
        page.goto(base(page) + path)
        for pane in ("task", "editor", "cluster") if path == LAB else ("",):
            if pane:
                page.locator(f".panetabs [value={pane}]").click()
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append((path, pane))
    assert wide == []


def base(page):
    return re.match(r"https?://[^/]+", page.url)[0]
