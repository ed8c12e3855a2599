"""Groups and their codes."""

import pytest

from app.progress import accounts, groups
from tests.progress.conftest import person


def test_somebody_joins_by_the_code_however_it_is_typed(session):
    ada, group = person(session), groups.create(session, "  Monday ")
    assert group.name == "Monday"
    for typed in (group.join_code, group.join_code.lower(), f" {group.join_code.replace('-', ' ')}\n"):
        assert groups.join(session, ada.id, typed).id == group.id
    assert [user.id for user in groups.members(session, group.id)] == [ada.id]
    assert [found.name for found in groups.groups_of(session, ada.id)] == ["Monday"]
    assert [(line.name, line.members) for line in groups.list_groups(session)] == [("Monday", 1)]


@pytest.mark.parametrize("code", ["", "AAAA-AAAA", "\x00", "1OIL", "A" * 10_000])
def test_an_unknown_code_lets_nobody_in(session, code):
    groups.create(session, "Monday")
    with pytest.raises(groups.UnknownCode):
        groups.join(session, person(session).id, code)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x00", "a" * 81])
def test_it_refuses_a_name(session, name):
    with pytest.raises(groups.BadGroupName):
        groups.create(session, name)
    group = groups.create(session, "Monday")
    with pytest.raises(groups.BadGroupName):
        groups.rename(session, group.id, name)


def test_a_renewed_code_replaces_the_old_one_and_members_stay(session):
    ada, group = person(session), groups.create(session, "Monday")
    old = group.join_code
    groups.join(session, ada.id, old)
    new = groups.renew_code(session, group.id)
    with pytest.raises(groups.UnknownCode):
        groups.join(session, ada.id, old)
    assert groups.join(session, person(session, "eve").id, new).id == group.id
    assert len(groups.members(session, group.id)) == 2


def test_one_leaves_once_and_leaving_again_changes_nothing(session):
    ada, group = person(session), groups.create(session, "Monday")
    groups.join(session, ada.id, group.join_code)
    groups.leave(session, ada.id, group.id)
    groups.leave(session, ada.id, group.id)
    assert groups.members(session, group.id) == groups.groups_of(session, ada.id) == []


def test_a_deleted_group_leaves_its_members_alone(database):
    with database.session() as session:
        ada, group = person(session), groups.create(session, "Monday")
        groups.join(session, ada.id, group.join_code)
        groups.rename(session, group.id, "Tuesday")
        groups.delete(session, group.id)
    with database.session() as session:
        assert groups.list_groups(session) == groups.groups_of(session, ada.id) == []
        assert groups.get(session, group.id) is None
        assert accounts.get(session, ada.id).name == "ada"


def test_an_unknown_group_is_neither_renamed_nor_given_a_code(session):
    with pytest.raises(groups.UnknownGroup):
        groups.rename(session, 4711, "Monday")
    with pytest.raises(groups.UnknownGroup):
        groups.renew_code(session, 4711)


def test_members_are_listed_by_name_and_guests_last(session):
    group = groups.create(session, "Monday")
    for user in (accounts.create_guest(session), person(session, "eve"), person(session, "Ada")):
        groups.join(session, user.id, group.join_code)
    assert [user.name for user in groups.members(session, group.id)] == ["Ada", "eve", None]
