"""The staff's pages in a real browser: on a phone and a desk, dark and light, in both languages, and axe."""

import pytest
from starlette.testclient import TestClient

from app.progress import groups
from app.progress.models import Role
from app.settings import ROOT
from app.web.people import SESSION_COOKIE
from tests.support.serving import serving
from tests.web.conftest import make_site

pytestmark = pytest.mark.browser

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/account",
    "/author",
    "/author/new",
    "/author/taint-a-node",
    "/grades",
    "/grades/learner/{person}",
    "/admin",
    "/admin/groups",
    "/admin/groups/{group}",
    "/admin/settings",
    "/admin/health",
)


@pytest.fixture(scope="module")
def staffed(tmp_path_factory):
    """A server with an administrator and a group of one learner: address, session, and numbers for PAGES."""
    made = make_site(tmp_path_factory.mktemp("staffed"))
    with TestClient(made.app), serving(made.app) as address:
        person = made.person(name="Kim Minjun")
        with made.database.session() as session:
            group = groups.create(session, "Class 3-1")
            groups.join(session, person.id, group.join_code)
        yield address, made.person(Role.ADMINISTRATOR).session, {"person": person.id, "group": group.id}


@pytest.mark.parametrize(
    ("width", "scheme", "language"), [(1280, "light", "en"), (1280, "dark", "ko"), (360, "light", "ko")]
)
def test_no_staff_page_is_too_wide_or_has_a_fault_for_assistive_technology(chromium, staffed, width, scheme, language):
    address, token, numbers = staffed
    faults = []
    with chromium.new_context(
        base_url=address, locale=language, color_scheme=scheme, viewport={"width": width, "height": 800}
    ) as context:
        page = context.new_page()
        for path in ("/sign-in", "/sign-up", *(path.format(**numbers) for path in PAGES)):
            if path == "/account":
                context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": address}])
            page.goto(path)
            page.evaluate(AXE.read_text())
            faults += [(path, fault["id"]) for fault in page.evaluate("axe.run()")["violations"]]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                faults.append((path, "wider than the screen"))
    assert faults == []
