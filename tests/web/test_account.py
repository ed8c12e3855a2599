"""Accounts: what a guest keeps, who gets in, and what cannot be guessed, forged or planted."""

import re

import pytest

from app.progress import accounts, groups
from app.web.people import SESSION_COOKIE
from tests.web.conftest import PASSWORD


def cookie_of(response):
    """The session cookie that an answer sets, attributes and all."""
    return next((line for line in response.headers.get_list("set-cookie") if line.startswith(SESSION_COOKIE)), "")


def sign_in(person, name, password=PASSWORD, **data):
    return person.post("/sign-in", {"name": name, "password": password, **data})


# Signing up


def test_a_guest_becomes_an_account_and_stays_the_same_person(site, guest):
    before = guest.session
    answer = guest.post("/sign-up", {"name": "Kim Minjun", "password": PASSWORD, "display_name": "민준"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/learn")
    with site.database.session() as session:
        user = accounts.resolve_session(session, guest.session)
        assert accounts.resolve_session(session, before) is None
    assert (user.id, user.name, user.display_name) == (guest.id, "Kim Minjun", "민준")


def test_a_visitor_gets_an_account_too(site, visitor):
    answer = visitor.post("/sign-up", {"name": "newcomer", "password": PASSWORD, "next": "/me"})
    assert answer.headers["location"] == "/me"
    with site.database.session() as session:
        assert accounts.resolve_session(session, visitor.session).name == "newcomer"


@pytest.mark.parametrize(
    ("typed", "field", "message"),
    [
        ({"name": "", "password": PASSWORD}, "name", "Write the name that you want to sign in with."),
        ({"name": "x" * 65, "password": PASSWORD}, "name", "cannot be a name"),
        ({"name": "a\x00b", "password": PASSWORD}, "name", "characters that cannot be shown"),
        ({"name": "short", "password": "1234567"}, "password", "Write at least 8 characters."),
        ({"name": "none", "password": ""}, "password", "Write your password here."),
        ({"name": "long", "password": "x" * 1025}, "password", "at most 1024 characters"),
        ({"name": "ok", "display_name": "a\u202eb", "password": PASSWORD}, "display_name", "cannot be shown"),
    ],
)
def test_a_refused_form_says_what_is_wrong_beside_the_field_and_keeps_what_was_typed(visitor, typed, field, message):
    answer = visitor.post("/sign-up", typed)
    assert answer.status_code == 422
    error = re.search(rf'id="error-{field}">(.*?)</p>', answer.text, re.DOTALL)
    assert message in error[1]
    assert f'aria-describedby="error-{field} ' in answer.text or f'aria-describedby="error-{field}"' in answer.text
    if typed["name"] == "short":
        assert 'value="short"' in answer.text
    assert not visitor.session
    assert PASSWORD not in answer.text


def test_a_name_that_is_taken_is_refused_whatever_its_capitals(owner, visitor):
    answer = visitor.post("/sign-up", {"name": owner.name.upper(), "password": PASSWORD})
    assert answer.status_code == 422
    assert "is taken" in answer.text


def test_a_page_escapes_what_people_call_themselves(site, visitor):
    visitor.post("/sign-up", {"name": "<b>bee", "password": PASSWORD, "display_name": '"><script>alert(1)</script>'})
    page = visitor.get("/account").text
    assert "<script>alert" not in page
    assert "<b>bee" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


# Signing in and out


def test_the_right_password_lets_in_and_the_session_is_a_new_one(site, owner):
    browser = site.visitor()
    browser.carry("planted-by-somebody-else")
    answer = sign_in(browser, owner.name)
    assert answer.status_code == 303
    cookie = cookie_of(answer)
    assert "planted-by-somebody-else" not in cookie
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()
    assert "secure" not in cookie.lower()
    with site.database.session() as session:
        assert accounts.resolve_session(session, "planted-by-somebody-else") is None


def test_a_session_known_before_signing_in_is_worth_nothing_afterwards(site, guest, owner):
    known = guest.session
    sign_in(guest, owner.name)
    with site.database.session() as session:
        assert accounts.resolve_session(session, known) is None
        assert accounts.resolve_session(session, guest.session).id == owner.id


def test_over_https_the_cookie_is_for_https_alone(site, owner):
    browser = site.visitor()
    browser.client.base_url = "https://testserver"
    assert "secure" in cookie_of(sign_in(browser, owner.name)).lower()


def test_the_work_of_a_guest_goes_over_to_the_account(site, guest, owner):
    with site.database.session() as session:
        group = groups.create(session, "Adopted")
        groups.join(session, guest.id, group.join_code)
    sign_in(guest, owner.name)
    with site.database.session() as session:
        assert accounts.get(session, guest.id).merged_into == owner.id
        assert [joined.name for joined in groups.groups_of(session, owner.id)] == ["Adopted"]


@pytest.mark.parametrize("name", ["nobody-of-this-name", None])
def test_a_wrong_password_and_an_unknown_name_read_the_same(site, owner, name):
    answer = sign_in(site.visitor(), name or owner.name, "not the password")
    assert answer.status_code == 422
    assert "Name or password is wrong." in answer.text
    assert not cookie_of(answer)


def test_somebody_disabled_does_not_get_in(site, owner):
    with site.database.session() as session:
        accounts.set_disabled(session, owner.id, disabled=True)
    answer = sign_in(site.visitor(), owner.name)
    assert answer.status_code == 422
    assert "This account is disabled." in answer.text
    assert owner.get("/account").status_code == 401


def test_guessing_a_password_is_slowed_down_for_that_name_and_address(site, owner, stranger):
    guesser = site.visitor(address="192.0.2.50")
    for _ in range(5):
        assert sign_in(guesser, owner.name, "a wrong guess").status_code == 422
    answer = sign_in(guesser, owner.name)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert "seconds, then try again" in answer.text
    assert sign_in(site.visitor(address="192.0.2.51"), owner.name).status_code == 303
    assert sign_in(site.visitor(address="192.0.2.50"), stranger.name).status_code == 303


def test_whoever_mistypes_and_then_gets_in_is_not_slowed_down(site, owner):
    browser = site.visitor(address="192.0.2.60")
    for _ in range(3):
        for _ in range(4):
            sign_in(browser, owner.name, "mistyped")
        assert sign_in(browser, owner.name).status_code == 303


@pytest.mark.parametrize(
    ("wanted", "where"),
    [
        ("/lab/abc?hints=1", "/lab/abc?hints=1"),
        ("https://evil.example/", "/learn"),
        ("//evil.example/", "/learn"),
        ("/\\evil.example", "/learn"),
        ("javascript:alert(1)", "/learn"),
    ],
)
def test_signing_in_leads_nowhere_but_to_this_site(site, owner, wanted, where):
    assert sign_in(site.visitor(), owner.name, next=wanted).headers["location"] == where
    assert owner.get("/sign-in", params={"next": wanted}).headers["location"] == where


def test_a_hostile_address_is_not_kept_in_the_form(visitor):
    assert '<input type="hidden" name="next" value="">' in visitor.get("/sign-in?next=//evil.example/").text


def test_signing_out_ends_the_session_in_the_database_too(site, owner):
    token = owner.session
    answer = owner.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    with site.database.session() as session:
        assert accounts.resolve_session(session, token) is None


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}]
)
@pytest.mark.parametrize("path", ["/sign-in", "/sign-up", "/sign-out", "/account", "/account/password"])
def test_a_form_of_another_site_is_not_carried_out(owner, path, headers):
    answer = owner.post(path, {"name": owner.name, "password": PASSWORD, "display_name": "forged"}, headers=headers)
    assert answer.status_code == 403
    assert "forged" not in owner.get("/account").text


def test_signing_out_by_a_link_does_nothing(owner):
    assert owner.get("/sign-out").status_code == 405
    assert owner.get("/account").status_code == 200


# One's own account


def test_a_stranger_is_asked_to_sign_in(visitor):
    answer = visitor.get("/account")
    assert answer.status_code == 401
    assert 'href="/sign-in' in answer.text


def test_a_person_changes_name_and_language(owner):
    assert owner.post("/account", {"display_name": "Zoë", "language": "ko"}).status_code == 303
    page = owner.get("/account").text
    assert 'lang="ko"' in page
    assert 'value="Zoë"' in page
    assert "저장했습니다." in page


def test_a_language_that_is_not_offered_is_refused(owner):
    answer = owner.post("/account", {"display_name": "Zoë", "language": "xx"})
    assert answer.status_code == 422
    assert "This language is not offered." in answer.text
    assert 'value="Zoë"' in answer.text


def test_a_new_password_signs_out_everywhere_else(site, owner):
    elsewhere = site.visitor()
    sign_in(elsewhere, owner.name)
    answer = owner.post("/account/password", {"old": PASSWORD, "new": "another fine password"})
    assert answer.status_code == 303
    assert owner.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 401
    assert sign_in(site.visitor(), owner.name).status_code == 422
    assert sign_in(site.visitor(), owner.name, "another fine password").status_code == 303


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("wrong", "another fine password", "This is not your present password."),
        (PASSWORD, "short", "Write at least 8 characters."),
        ("", "another fine password", "Write your password here."),
    ],
)
def test_a_password_is_changed_only_by_whoever_knows_it(owner, old, new, message):
    answer = owner.post("/account/password", {"old": old, "new": new})
    assert answer.status_code == 422
    assert message in answer.text


def test_a_learner_joins_and_leaves_a_group(site, owner):
    with site.database.session() as session:
        group = groups.create(session, "Class 3-1")
    assert owner.post("/account/groups", {"code": group.join_code.lower()}).status_code == 303
    assert "Class 3-1" in owner.get("/account").text
    owner.post(f"/account/groups/{group.id}/leave")
    owner.get("/account")
    assert "Class 3-1" not in owner.get("/account").text


def test_a_code_of_no_group_is_told_at_the_field(owner):
    answer = owner.post("/account/groups", {"code": "<NOPE>"})
    assert answer.status_code == 422
    assert "No group has the code “&lt;NOPE&gt;”." in answer.text


def test_codes_cannot_be_guessed_quickly(owner):
    answers = [owner.post("/account/groups", {"code": f"guess{number}"}).status_code for number in range(11)]
    assert answers == [422] * 10 + [429]
