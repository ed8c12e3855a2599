"""The learner's pages: what they show, what htmx gets of them, and that they work as plain forms."""

import re

import pytest
from starlette.testclient import TestClient

from tests.support.fake_lab import MANIFEST, MOVING
from tests.support.pages import pages_app

HTMX = {"hx-request": "true"}
LAB = "/lab/Zk3x9"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return pages_app(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def stranger(app):
    return TestClient(app, headers={"accept-language": "en"})


@pytest.fixture
def guest(stranger):
    assert stranger.post("/learn/exercise-3/start").status_code == 200
    return stranger


def test_the_first_page_says_what_this_is_and_starts_without_an_account(stranger):
    page = stranger.get("/").text
    assert "Practise Kubernetes scheduling" in page
    assert 'action="/learn/exercise-2/start"' in page or "Continue:" in page
    assert 'href="/sign-in"' in page


def test_starting_makes_a_guest_and_opens_the_lab(stranger):
    answer = stranger.post("/learn/exercise-3/start", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, LAB)
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert stranger.get("/me").status_code == 200


def test_starting_again_keeps_the_guest(guest):
    answer = guest.post("/learn/exercise-3/start", follow_redirects=False)
    assert "set-cookie" not in answer.headers


def test_starting_anew_draws_a_new_variant(guest):
    answer = guest.post("/learn/exercise-3/start", data={"again": "1"}, follow_redirects=False)
    assert answer.headers["location"] == f"/lab/{MOVING}"


def test_where_guests_are_not_allowed_starting_leads_to_signing_in(tmp_path):
    client = TestClient(pages_app(tmp_path, guests=False))
    answer = client.post("/learn/exercise-3/start", follow_redirects=False)
    assert answer.headers["location"] == "/sign-in?next=/learn/exercise-3"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("address", ["/me", LAB, f"{LAB}/cluster"])
def test_a_stranger_is_asked_to_sign_in(stranger, address):
    page = stranger.get(address)
    assert page.status_code == 401
    assert 'href="/sign-in"' in page.text


@pytest.mark.parametrize("action", ["apply", "check", "submit", "reset"])
def test_a_stranger_changes_nothing(stranger, action):
    assert stranger.post(f"{LAB}/{action}", data={"manifest": "x"}).status_code == 401


def test_the_catalogue_shows_nine_chapters_with_the_readers_own_state(guest):
    page = guest.get("/learn").text
    assert page.count('class="chapter"') == 9
    assert all(state in page for state in ("full marks", "7 of 10", "begun", "new"))


def test_an_exercise_shows_its_text_points_and_hints_before_it_is_started(stranger):
    page = stranger.get("/learn/exercise-3").text
    assert "<code>NoSchedule</code>" in page
    assert "4 points" in page
    assert "3 hints are there" in page


def test_the_workplace_shows_task_nodes_pods_events_and_changes(guest):
    page = guest.get(LAB).text
    wanted = [
        "<code>mortein</code>",
        "spray=mortein:NoSchedule",
        "850m of 2000m",
        "color=blue",
        "web-5d9c7b6f4-x2x8k",
        "Give the pod a toleration for spray=mortein:NoSchedule",
        "FailedScheduling",
        "spec.taints[0]",
        "SchedulingDisabled",
    ]
    assert [part for part in wanted if part not in page] == []


def test_hints_and_the_solution_stand_in_the_address(guest):
    page = guest.get(f"{LAB}?hints=2").text
    assert "Hint 2 of 3" in page
    assert "Hint 3 of 3" not in page
    assert "Show hint 3 of 3" in page
    assert "A toleration does not <em>attract</em>." in guest.get(f"{LAB}?hints=3&solution=1").text


def test_more_hints_than_there_are_show_them_all(guest):
    assert "Hint 3 of 3" in guest.get(f"{LAB}?hints=99").text
    assert guest.get(f"{LAB}?hints=-1").status_code == 422
    assert guest.get(f"{LAB}?hints=100000000").status_code == 422


def test_htmx_gets_the_hints_alone(guest):
    part = guest.get(f"{LAB}?hints=1", headers=HTMX).text
    assert "Hint 1 of 3" in part
    assert "<html" not in part
    assert "<textarea" not in part


@pytest.mark.parametrize("action", ["apply", "check", "submit", "reset"])
def test_each_form_works_without_scripts_and_keeps_what_was_typed(guest, action):
    page = guest.post(f"{LAB}/{action}", data={"manifest": "kind: Pod\r\n# mine", "mode": "create"})
    assert page.status_code == 200
    assert "<html" in page.text
    assert "kind: Pod\n# mine</textarea>" in page.text


@pytest.mark.parametrize(("action", "graded"), [("apply", False), ("check", True), ("submit", True), ("reset", False)])
def test_htmx_gets_what_may_have_changed(guest, action, graded):
    part = guest.post(f"{LAB}/{action}", data={"manifest": MANIFEST}, headers=HTMX).text
    assert "<html" not in part
    assert all(f'id="{name}"' in part for name in ("verdict", "score", "cluster"))
    assert ("data-arrived" in part) == graded


def test_a_verdict_says_per_check_what_was_looked_for_and_found(guest):
    page = guest.post(f"{LAB}/check", data={"manifest": MANIFEST}).text
    wanted = ["4 of 10 points", "pod bee on node01", "it is bound to no node", "not graded", "not yet", "right"]
    assert [part for part in wanted if part not in page] == []


@pytest.mark.parametrize(
    ("text", "told"), [(MANIFEST, False), ("kind: Pod", True), (MANIFEST.replace("\n", "\r\n"), False)]
)
def test_check_says_when_the_editors_text_was_not_part_of_it(guest, text, told):
    page = guest.post(f"{LAB}/check", data={"manifest": text}).text
    assert ("The text in the editor was not part of this" in page) == told


@pytest.mark.parametrize(("by", "told"), [("5m", "300s passed in the cluster"), ("next", "Nothing will happen")])
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_time_passes_at_once_and_the_text_stays(guest, by, told, headers):
    page = guest.post(f"{LAB}/advance", data={"manifest": MANIFEST, "by": by}, headers=headers)
    assert page.status_code == 200
    assert told in page.text
    assert ("Successfully assigned" in page.text) == (by == "5m")


@pytest.mark.parametrize(
    ("action", "told", "then"), [("pause", "Time stands still", "Resume"), ("resume", "Time goes on", "Pause")]
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_time_stands_still_and_goes_on(guest, action, told, then, headers):
    page = guest.post(f"{LAB}/{action}", data={"manifest": MANIFEST}, headers=headers).text
    assert told in page
    assert f">{then}</button>" in page
    assert ("paused</strong>" in page) == (action == "pause")


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_earlier_step_is_gone_back_to(guest, headers):
    page = guest.post(f"{LAB}/back", data={"manifest": MANIFEST, "to": "2"}, headers=headers)
    assert page.status_code == 200
    assert "as it was after that step" in page.text


@pytest.mark.parametrize(("to", "status"), [("3", 404), ("-1", 422), ("x", 422), ("", 422), ("9" * 30, 422)])
def test_a_step_that_is_not_kept_cannot_be_gone_back_to(guest, to, status):
    assert guest.post(f"{LAB}/back", data={"to": to}).status_code == status


@pytest.mark.parametrize("by", ["", "1y", "-5m", "5"])
def test_only_what_the_page_offers_passes(guest, by):
    assert guest.post(f"{LAB}/advance", data={"by": by}).status_code == 422


@pytest.mark.parametrize(
    ("span", "seconds"), [("90s", 90), ("1h30m", 5400), (" 5M ", 300), ("1h 1s", 3601), ("24h", 86400)]
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_span_of_ones_own_passes(guest, span, seconds, headers):
    page = guest.post(f"{LAB}/advance", data={"manifest": MANIFEST, "by": "own", "span": span}, headers=headers)
    assert page.status_code == 200
    assert f"{seconds}s passed in the cluster" in page.text


@pytest.mark.parametrize(
    ("span", "told"),
    [
        ("", "Write how much time shall pass"),
        ("90", "Write a unit with the number: 90s, 90m or 90h."),
        ("5 minutes", "5 minutes is no span of time."),
        ("1m1h", "1m1h is no span of time."),
        ("-5m", "-5m is no span of time."),
        ("٥m", "٥m is no span of time."),
        ("<b>", "&lt;b&gt; is no span of time."),
        ("0s", "Write at least 1s."),
        ("24h1s", "at most 24h pass at once"),
        ("9" * 5000 + "h", "is no span of time."),
    ],
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_what_is_no_span_is_answered_with_what_to_write(guest, span, told, headers):
    page = guest.post(f"{LAB}/advance", data={"manifest": MANIFEST, "by": "own", "span": span}, headers=headers)
    assert page.status_code == 422
    assert told in page.text
    assert len(page.text) < 60_000
    if not headers:
        assert 'aria-invalid="true"' in page.text
        assert "spray=mortein" in page.text


def test_enter_in_the_field_for_a_span_lets_it_pass(guest):
    page = guest.get(LAB).text
    buttons = re.findall(r"<button[^>]*form=.answer.[^>]*>", page)
    assert 'value="own"' in buttons[0], "a form's first button is the one that Enter presses"
    assert f'formaction="{LAB}/advance"' in buttons[0]


def test_every_earlier_step_has_a_page(guest):
    page = guest.get(f"{LAB}/steps").text
    assert f'action="{LAB}/back"' in page
    assert 'name="to" value="1"' in page
    assert 'name="to" value="0"' in page
    assert 'name="to" value="2"' not in page, "that is now"


@pytest.mark.parametrize("action", ["apply", "submit"])
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_refused_text_is_answered_with_its_places_and_status_422(guest, action, headers):
    page = guest.post(f"{LAB}/{action}", data={"manifest": "oops <b>"}, headers=headers)
    assert page.status_code == 422
    assert 'data-line="5" data-column="3"' in page.text
    assert "line 5, column 3" in page.text
    assert "Write containers instead." in page.text
    assert "data-accepted" not in page.text


def test_what_was_typed_is_escaped(guest):
    page = guest.post(f"{LAB}/apply", data={"manifest": "oops </textarea><script>alert(1)</script>"}).text
    assert "<script>alert(1)" not in page
    assert "&lt;/textarea&gt;" in page


def test_an_unknown_way_to_apply_is_refused(guest):
    assert guest.post(f"{LAB}/apply", data={"manifest": "x", "mode": "patch"}).status_code == 422


@pytest.mark.parametrize("action", ["apply", "check", "submit", "reset", "advance", "pause", "resume", "back"])
def test_the_address_of_an_answered_form_leads_back_to_the_lab(guest, action):
    answer = guest.get(f"{LAB}/{action}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, LAB)


@pytest.mark.parametrize("action", ["apply", "check", "submit", "reset", "advance", "pause", "resume", "back"])
def test_a_forged_form_is_refused(guest, action):
    answer = guest.post(f"{LAB}/{action}", data={}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403


def test_the_picture_alone_is_for_pages_that_are_open(guest):
    assert guest.get(f"{LAB}/cluster", headers=HTMX).text.lstrip().startswith('<div id="cluster"')
    assert guest.get(f"{LAB}/cluster", follow_redirects=False).status_code == 303


def test_progress_shows_first_last_and_best(guest):
    page = guest.get("/me").text
    assert "4 of 10" in page
    assert "7 of 10" in page
    assert "You work as a guest" in page


def test_the_language_is_kept_in_a_cookie_and_with_the_guest(guest):
    page = guest.post("/preferences", data={"language": "ko", "next": "/learn"})
    assert page.url.path == "/learn"
    assert "연습 문제" in page.text
    guest.cookies.delete("lang")
    assert "연습 문제" in guest.get("/learn").text


def test_an_unknown_language_changes_nothing(stranger):
    answer = stranger.post("/preferences", data={"language": "xx", "theme": "pink"}, follow_redirects=False)
    assert "lang=" not in answer.headers.get("set-cookie", "")


@pytest.mark.parametrize(("theme", "expected"), [("dark", 'data-theme="dark"'), ("device", "<html")])
def test_colours_are_kept_in_a_cookie(stranger, theme, expected):
    head = stranger.post("/preferences", data={"theme": theme}).text.split("<head>")[0]
    assert expected in head
    assert ("data-theme" in head) == (theme == "dark")


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_preferences_lead_nowhere_else(stranger, address):
    answer = stranger.post("/preferences", data={"theme": "dark", "next": address}, follow_redirects=False)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("address", ["/", "/learn", "/learn/exercise-3", LAB, "/me"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_each_page_is_whole_in_each_language(guest, address, language):
    page = guest.get(address, headers={"cookie": guest_cookie(guest, language)})
    assert page.status_code == 200
    assert f'<html lang="{language}"' in page.text
    assert page.text.count("<h1") == 1
    assert 'href="#main"' in page.text
    assert ("연습 문제" in page.text) == (language == "ko")


def guest_cookie(client, language):
    client.post("/preferences", data={"language": language})
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)


def test_scripts_get_the_started_lab_without_a_redirect(site):
    visitor = site.visitor()
    answer = visitor.post("/learn/taint-a-node/start", {"direct": "1"})
    assert answer.status_code == 200
    address = re.search(r'data-address="(/lab/[^"]+)"', answer.text)[1]
    assert visitor.get(address).status_code == 200, "the guest's session came with the page"
    assert f'name="next" value="{address}"' in answer.text, "changing the language leads back to the lab"
    assert visitor.get("/learn/taint-a-node/start").headers["location"] == "/learn/taint-a-node"
