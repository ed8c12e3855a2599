"""Administration: who may what, groups, settings and health, and nobody else near them."""

import re

import pytest

from app.progress import accounts, groups
from app.progress.models import Role
from tests.web.conftest import PASSWORD

PAGES = ["/admin", "/admin/groups", "/admin/settings", "/admin/health"]
FORMS = ["/admin/users/1/role", "/admin/users/1/disable", "/admin/users/1/enable", "/admin/groups"]


@pytest.fixture
def group(site):
    with site.database.session() as session:
        return groups.create(session, "Class <3-1>")


@pytest.mark.parametrize("path", PAGES)
def test_an_administrator_sees_every_page(admin, path):
    answer = admin.get(path)
    assert answer.status_code == 200
    assert 'aria-current="page"' in answer.text


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("role", "status"), [("learner", 403), ("grader", 403), ("instructor", 403), (None, 401)])
def test_nobody_else_sees_any(site, path, role, status):
    person = site.person(Role(role)) if role else site.visitor()
    assert person.get(path).status_code == status


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(("role", "status"), [("learner", 403), ("grader", 403), ("instructor", 403), (None, 401)])
def test_nobody_else_changes_anything(site, owner, path, role, status):
    person = site.person(Role(role)) if role else site.visitor()
    path = path.replace("/1/", f"/{owner.id}/")
    assert person.post(path, {"role": "administrator", "name": "mine"}).status_code == status
    with site.database.session() as session:
        assert accounts.get(session, owner.id).role is Role.LEARNER


@pytest.mark.parametrize("path", [*FORMS, "/admin/groups/1", "/admin/groups/1/delete", "/admin/groups/1/code"])
def test_a_forged_form_is_not_carried_out(admin, path):
    answer = admin.post(path, {"role": "administrator", "name": "x"}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403


def test_a_role_is_changed_and_counts_at_once(site, admin, owner):
    assert owner.get("/admin").status_code == 403
    answer = admin.post(f"/admin/users/{owner.id}/role", {"role": "administrator", "next": "/admin?q=x&page=2"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin?q=x&page=2")
    assert owner.get("/admin").status_code == 200


def test_a_role_that_does_not_exist_is_refused(admin, owner):
    answer = admin.post(f"/admin/users/{owner.id}/role", {"role": "emperor"})
    assert answer.status_code == 422
    assert "Choose one of the roles in the list." in answer.text


def test_the_last_administrator_keeps_role_and_access(empty_site):
    last = empty_site.person(Role.ADMINISTRATOR, name="last")
    for path, data in ((f"/admin/users/{last.id}/role", {"role": "learner"}), (f"/admin/users/{last.id}/disable", {})):
        answer = last.post(path, data)
        assert answer.status_code == 422
        assert "last is the last administrator." in answer.text
    assert last.get("/admin").status_code == 200


def test_somebody_disabled_is_signed_out_and_can_be_let_in_again(site, admin, owner):
    assert admin.post(f"/admin/users/{owner.id}/disable").status_code == 303
    assert owner.get("/account").status_code == 401
    assert admin.post(f"/admin/users/{owner.id}/enable").status_code == 303
    data = {"name": owner.name, "password": PASSWORD}
    assert site.visitor().post("/sign-in", data).status_code == 303


@pytest.mark.parametrize("action", ["role", "disable", "enable"])
def test_an_account_that_does_not_exist_is_not_found(admin, guest, action):
    assert admin.post(f"/admin/users/999999999/{action}", {"role": "learner"}).status_code == 404
    assert admin.post(f"/admin/users/{guest.id}/{action}", {"role": "learner"}).status_code == 404


def test_search_finds_a_part_of_a_name_and_guests_are_not_listed(site, admin, guest):
    site.person(name="Needle in hay")
    page = admin.get("/admin?q=needle").text
    assert "Needle in hay" in page
    assert "1 account<" in page
    assert "Nobody fits this search." in admin.get("/admin?q=%25%25nothing").text


def test_a_long_list_is_shown_page_by_page(site, admin):
    for number in range(51):
        site.person(name=f"paged {number:02}")
    first = admin.get("/admin?q=paged").text
    assert "paged 49" in first
    assert "paged 50" not in first
    assert 'href="/admin?q=paged&amp;page=2"' in first
    assert "paged 50" in admin.get("/admin?q=paged&page=2").text
    assert "paged 50" in admin.get("/admin?q=paged&page=99999").text


def test_names_are_escaped_in_the_list(site, admin):
    site.person(name="<script>alert(1)</script>")
    page = admin.get("/admin?q=script").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


# Groups


def test_a_group_is_made_renamed_and_deleted(site, admin):
    made = admin.post("/admin/groups", {"name": "Class 4"})
    address = made.headers["location"]
    assert re.fullmatch(r"/admin/groups/\d+", address)
    assert admin.post(address, {"name": "Class 5"}).status_code == 303
    assert "Class 5" in admin.get("/admin/groups").text
    assert admin.post(f"{address}/delete").headers["location"] == "/admin/groups"
    assert admin.get(address).status_code == 404


@pytest.mark.parametrize("name", ["", "x" * 81, "a\x00b"])
def test_a_group_needs_a_name(admin, group, name):
    for path in ("/admin/groups", f"/admin/groups/{group.id}"):
        answer = admin.post(path, {"name": name})
        assert answer.status_code == 422
        assert 'id="error-name"' in answer.text


def test_a_new_code_replaces_the_old_one(site, admin, owner, group):
    assert admin.post(f"/admin/groups/{group.id}/code").status_code == 303
    assert owner.post("/account/groups", {"code": group.join_code}).status_code == 422
    with site.database.session() as session:
        renewed = groups.get(session, group.id).join_code
    assert renewed != group.join_code
    assert renewed in admin.get(f"/admin/groups/{group.id}").text


def test_a_member_is_taken_out(site, admin, owner, group):
    owner.post("/account/groups", {"code": group.join_code})
    page = admin.get(f"/admin/groups/{group.id}").text
    assert owner.name in page
    assert "Class &lt;3-1&gt;" in page
    admin.post(f"/admin/groups/{group.id}/members/{owner.id}/remove")
    assert owner.name not in admin.get(f"/admin/groups/{group.id}").text


@pytest.mark.parametrize("path", ["", "/code", "/delete", "/members/1/remove"])
def test_a_group_that_does_not_exist_is_not_found(admin, path):
    assert admin.post(f"/admin/groups/999999999{path}", {"name": "x"}).status_code == 404


# Settings and health


def test_settings_show_their_values_but_no_credential(site, admin):
    page = admin.get("/admin/settings").text
    assert "CKA_LAB_WORKER_DEADLINE" in page
    assert "DATABASE_URL" in page
    assert site.settings.database_url not in page
    assert "set, not shown" in page


def test_health_names_versions_database_and_workers(admin):
    page = admin.get("/admin/health").text
    assert "1.35" in page
    assert "sqlite" in page
    assert "of 2 are alive" in page


# The link for the first administrator


def test_the_link_makes_its_opener_the_administrator_once(empty_site):
    with empty_site.database.session() as session:
        token = accounts.create_setup_link(session)
    first, second = empty_site.visitor(), empty_site.visitor()
    assert first.get(f"/setup/{token}").status_code == 200
    assert second.get(f"/setup/{token}").status_code == 200
    data = {"name": "boss", "password": PASSWORD}
    answer = first.post(f"/setup/{token}", data)
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin")
    assert first.get("/admin").status_code == 200
    late = second.post(f"/setup/{token}", {"name": "thief", "password": PASSWORD})
    assert late.status_code == 410
    assert "works once" in late.text
    assert second.get(f"/setup/{token}").status_code == 410
    assert second.get("/admin").status_code == 401


@pytest.mark.parametrize("data", [{"name": "boss", "password": "short"}, {"name": "", "password": PASSWORD}])
def test_a_refused_form_does_not_use_the_link_up(empty_site, data):
    with empty_site.database.session() as session:
        token = accounts.create_setup_link(session)
    visitor = empty_site.visitor()
    assert visitor.post(f"/setup/{token}", data).status_code == 422
    assert visitor.get(f"/setup/{token}").status_code == 200


def test_a_link_that_nobody_made_says_what_to_do(visitor):
    answer = visitor.get("/setup/guessed")
    assert answer.status_code == 410
    assert "Sign in, or ask an administrator" in answer.text
