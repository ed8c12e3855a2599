"""The whole story in a real browser, over the real application: learner, account, grader, instructor."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from app.exercises import loader
from app.progress import accounts
from app.progress.db import Database
from app.settings import ROOT, Settings
from app.web.app import create_app
from tests.support.serving import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

TASK = "taint-a-node"
PASSWORD = "correct horse battery"
REPORT = """
// Chromium's own editing commands style what replaces a selection; nothing else may break the policy.
document.addEventListener('securitypolicyviolation', event => {
  const typed = event.target.closest && event.target.closest('.cm-content')
  if (!typed) console.log('violates: ' + event.violatedDirective + ' ' + event.sample)
})
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A lab as `make run` starts it, and the link that makes its opener the first administrator."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url="", workers=2)
    database = Database(settings.database)
    database.migrate()
    with database.session() as session:
        token = accounts.create_setup_link(session)
    with serving(create_app(settings, database=database)) as address:
        yield address, f"{address}/setup/{token}", database


@pytest.fixture
def person(chromium, lab):
    """Opens a browser of somebody's own."""
    contexts, errors = [], []

    def arrive():
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en", accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(REPORT)
        page.on("console", lambda message: errors.append(message.text) if "violates:" in message.text else None)
        page.goto(lab[0])
        return page

    yield arrive
    for context in contexts:
        context.close()
    assert errors == []


def exercise(database, lab_path):
    """The variant that a lab was started with: the test answers as the model solution does."""
    from app.progress.models import Lab  # only this helper looks into the database

    with database.session() as session:
        row = session.get(Lab, lab_path.rsplit("/", 1)[1])
        seed = row.seed
    return loader.load_folder(ROOT / "exercises").exercises[TASK].variant(seed)


def write(page, text):
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def submit(page, answer):
    write(page, answer.manifests)
    page.locator("#mode").select_option(answer.mode)
    page.get_by_role("button", name="Submit").click()


def sign_up(page, address, name):
    page.goto(f"{address}/sign-up")
    page.locator("[name=name]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_url(re.compile(r"/(?!sign-up)"))


def give_role(administrator, address, name, role):
    administrator.goto(f"{address}/admin?q={name}")
    row = administrator.locator("tr", has_text=name)
    row.locator("select[name=role]").select_option(role)
    row.get_by_role("button", name="Save").first.click()
    expect(administrator.locator("tr", has_text=name).locator("select[name=role]")).to_have_value(role)


def test_a_guest_answers_keeps_the_work_and_is_graded(person, lab):
    address, setup_link, database = lab

    # A guest starts at once, from the first page.
    learner = person()
    learner.goto(f"{address}/learn")
    learner.locator(f"a[href='/learn/{TASK}']").first.click()
    learner.get_by_role("button", name="Start").click()
    learner.wait_for_url("**/lab/*")
    variant = exercise(database, learner.url)

    # A wrong answer is told why it is wrong, a right one gets every point.
    wrong = variant.spec.wrong[0]
    submit(learner, wrong)
    failed = learner.locator("#verdict li.failed")
    expect(failed.first).to_be_visible()
    expect(failed.first.locator(".reason")).to_contain_text("Found")
    learner.get_by_role("button", name="More").or_(learner.locator("summary", has_text="More")).first.click()
    learner.get_by_role("button", name="Reset the cluster").click()
    expect(learner.locator("#view-changes, #cluster").first).to_be_attached()
    submit(learner, variant.spec.solution)
    possible = variant.exercise.possible
    expect(learner.locator("#verdict")).to_contain_text(f"{possible} of {possible} points")
    expect(learner.locator("#verdict li.failed")).to_have_count(0)

    # Reload: the state is the URL's.
    learner.reload()
    expect(learner.locator("#verdict")).to_contain_text(f"{possible} of {possible} points")

    # An account keeps the work.
    sign_up(learner, address, "bora")
    learner.goto(f"{address}/me")
    expect(learner.locator("main")).to_contain_text(variant.text("en").title)
    expect(learner.locator("main")).to_contain_text(f"{possible} of {possible}")

    # The first administrator, and a grader whose export has the row.
    administrator = person()
    administrator.goto(setup_link)
    administrator.locator("[name=name]").fill("root-of-all")
    administrator.locator("[name=password]").fill(PASSWORD)
    administrator.get_by_role("button", name="Create the administrator").click()
    administrator.wait_for_url(re.compile(r"/(?!setup)"))
    grader = person()
    sign_up(grader, address, "gildong")
    give_role(administrator, address, "gildong", "grader")
    grader.goto(f"{address}/grades")
    expect(grader.locator("main")).to_contain_text("bora")
    with grader.expect_download() as download:
        grader.locator("a[href*='/grades/export.csv']").first.click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    mine = [row for row in rows if "bora" in row.values()]
    assert mine, text
    assert any(TASK in row.values() and str(possible) in row.values() for row in mine)

    # An instructor adds an exercise, and the learner solves it.
    instructor = person()
    sign_up(instructor, address, "insook")
    give_role(administrator, address, "insook", "instructor")
    source = variant.exercise.source.replace(f"name: {TASK}\n", "name: taint-again\n", 1)
    instructor.goto(f"{address}/author/new")
    write(instructor, source)
    instructor.get_by_role("button", name="Save and publish").click()
    instructor.wait_for_url("**/author/taint-again*")
    learner.goto(f"{address}/learn/taint-again")
    learner.get_by_role("button", name="Start").click()
    learner.wait_for_url("**/lab/*")
    again = exercise(database, learner.url)
    submit(learner, again.spec.solution)
    expect(learner.locator("#verdict")).to_contain_text(f"{possible} of {possible} points")
