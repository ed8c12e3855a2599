"""People: guests, accounts, the first administrator, roles."""

import threading

import pytest

from app.progress import accounts, groups, labs, passwords, results
from app.progress.models import Role, User
from tests.progress.conftest import PASSWORD, graded, lab_of, person


def test_a_guest_becomes_an_account_and_keeps_everything(database):
    with database.session() as session:
        guest = accounts.create_guest(session, language="ko")
        graded(session, lab_of(session, guest), points=2)
        account = accounts.upgrade_guest(session, guest.id, "Ada", PASSWORD)
    assert (account.id, account.name, account.role, account.language) == (guest.id, "Ada", Role.LEARNER, "ko")
    with database.session() as session:
        assert accounts.sign_in(session, "Ada", PASSWORD).id == guest.id
        assert results.scores(session, guest.id, "taint-a-node").best.points == 2


@pytest.mark.parametrize("same", ["ada lovelace", "ADA LOVELACE", "Ａｄａ Lovelace"])
def test_names_that_look_the_same_are_the_same(database, same):
    with database.session() as session:
        person(session, "Ada Lovelace")
    with pytest.raises(accounts.NameTaken) as taken, database.session() as session:
        person(session, same)
    assert taken.value.facts == {"name": same}
    with database.session() as session:
        assert accounts.sign_in(session, same, PASSWORD).name == "Ada Lovelace"


@pytest.mark.parametrize(
    "name", ["", " ", " ada", "ada ", "a\nb", "a\x00b", "a\u200bb", "a\u202eb", "a" * 65, "\ud800"]
)
def test_it_refuses_a_name(database, name):
    with pytest.raises(accounts.BadName) as refused, database.session() as session:
        person(session, name)
    assert "1 to 64" in str(refused.value)


@pytest.mark.parametrize("name", ["a", "김철수", "o'neil; drop table users", "<b>", "a" * 64, "ada@example.org"])
def test_it_takes_a_name(session, name):
    assert person(session, name).name == name


def test_it_refuses_a_short_password(session):
    with pytest.raises(accounts.PasswordTooShort) as refused:
        accounts.create_account(session, "ada", "1234567")
    assert refused.value.facts == {"least": 8}


def test_a_name_is_given_once_even_to_two_who_ask_at_the_same_time(database):
    with database.session() as session:
        guests = [accounts.create_guest(session).id for _ in range(4)]
    outcomes, together = [], threading.Barrier(len(guests))

    def upgrade(guest_id):
        together.wait()
        try:
            with database.session() as session:
                accounts.upgrade_guest(session, guest_id, "ada", PASSWORD)
            outcomes.append("account")
        except accounts.NameTaken:
            outcomes.append("taken")

    threads = [threading.Thread(target=upgrade, args=[guest_id]) for guest_id in guests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["account", "taken", "taken", "taken"]
    with database.session() as session:
        assert accounts.count_users(session) == 1


def test_an_account_is_not_made_an_account_again(session):
    ada = person(session)
    with pytest.raises(accounts.AlreadyAccount):
        accounts.upgrade_guest(session, ada.id, "eve", PASSWORD)
    assert accounts.get(session, ada.id).name == "ada"


# Signing in


@pytest.mark.parametrize(("name", "password"), [("ada", "wrong"), ("eve", PASSWORD), ("", ""), ("a\x00", "\ud800\x00")])
def test_it_does_not_tell_a_wrong_name_from_a_wrong_password(session, name, password):
    person(session)
    with pytest.raises(accounts.WrongCredentials) as refused:
        accounts.sign_in(session, name, password)
    assert refused.value.facts == {}


def test_passwords_are_hashed_with_owasps_least_parameters(session):
    assert person(session).password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_passwords_of_unknown_names_are_verified_too(session, monkeypatch):
    verified = []
    hasher = passwords._hasher

    class Watched:
        hash = hasher.hash

        def verify(self, password_hash, password):
            verified.append(passwords.is_outdated(password_hash))
            return hasher.verify(password_hash, password)

        check_needs_rehash = hasher.check_needs_rehash

    monkeypatch.setattr(passwords, "_hasher", Watched())
    passwords._stand_in.cache_clear()
    with pytest.raises(accounts.WrongCredentials):
        accounts.sign_in(session, "nobody", "")
    assert verified == [False]


def test_passwords_with_old_parameters_are_hashed_anew_at_the_next_sign_in(session, monkeypatch):
    from argon2 import PasswordHasher

    today = passwords._hasher
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    ada = person(session)
    monkeypatch.setattr(passwords, "_hasher", today)
    accounts.sign_in(session, "ada", PASSWORD)
    session.refresh(ada)
    assert not passwords.is_outdated(ada.password_hash)
    assert accounts.sign_in(session, "ada", PASSWORD).id == ada.id


def test_a_guest_cannot_be_signed_in_to(session):
    accounts.create_guest(session)
    for name in ("", "None"):
        with pytest.raises(accounts.WrongCredentials):
            accounts.sign_in(session, name, "")


def test_a_disabled_account_is_told_so_only_after_the_right_password(session):
    ada = person(session)
    token = accounts.create_session(session, ada.id)
    accounts.set_disabled(session, ada.id, disabled=True)
    with pytest.raises(accounts.WrongCredentials):
        accounts.sign_in(session, "ada", "wrong")
    with pytest.raises(accounts.AccountDisabled):
        accounts.sign_in(session, "ada", PASSWORD)
    accounts.set_disabled(session, ada.id, disabled=False)
    assert accounts.resolve_session(session, token) is None
    assert accounts.sign_in(session, "ada", PASSWORD).id == ada.id


def test_a_new_password_ends_every_session(session):
    ada = person(session)
    token = accounts.create_session(session, ada.id)
    with pytest.raises(accounts.WrongPassword):
        accounts.change_password(session, ada.id, "wrong", "battery staple")
    with pytest.raises(accounts.PasswordTooShort):
        accounts.change_password(session, ada.id, PASSWORD, "short")
    assert accounts.resolve_session(session, token).id == ada.id
    accounts.change_password(session, ada.id, PASSWORD, "battery staple")
    assert accounts.resolve_session(session, token) is None
    assert accounts.sign_in(session, "ada", "battery staple").id == ada.id


def test_a_profile_is_kept(session):
    ada = person(session)
    accounts.update_profile(session, ada.id, display_name="Ada L.", language="ko")
    assert (ada.display_name, ada.language) == ("Ada L.", "ko")
    accounts.set_language(session, ada.id, "en")
    accounts.update_profile(session, ada.id, display_name="", language=None)
    session.expire_all()
    assert (ada.display_name, ada.language) == (None, None)
    with pytest.raises(accounts.UnknownUser):
        accounts.update_profile(session, 4711, display_name="", language=None)


# A guest who signs in


def test_an_account_takes_over_a_guests_labs_results_and_groups(database):
    with database.session() as session:
        ada, guest = person(session), accounts.create_guest(session)
        token = accounts.create_session(session, guest.id)
        both, guests = groups.create(session, "Both"), groups.create(session, "Guests")
        groups.join(session, ada.id, both.join_code)
        groups.join(session, guest.id, both.join_code)
        groups.join(session, guest.id, guests.join_code)
        lab = lab_of(session, guest)
        graded(session, lab, points=3)
        assert accounts.adopt_guest(session, guest_id=guest.id, user_id=ada.id)
    with database.session() as session:
        assert labs.get(session, lab.id, ada.id).user_id == guest.id
        assert labs.find_open(session, ada.id, "taint-a-node").id == lab.id
        assert results.standings(session, ada.id)["taint-a-node"].state == "full"
        assert [group.name for group in groups.groups_of(session, ada.id)] == ["Both", "Guests"]
        assert [len(groups.members(session, group.id)) for group in (both, guests)] == [1, 1]
        assert accounts.resolve_session(session, token) is None


def test_only_a_guest_is_taken_over_and_only_once(session):
    ada, eve, guest = person(session), person(session, "eve"), accounts.create_guest(session)
    assert not accounts.adopt_guest(session, guest_id=eve.id, user_id=ada.id)
    assert not accounts.adopt_guest(session, guest_id=ada.id, user_id=ada.id)
    assert not accounts.adopt_guest(session, guest_id=4711, user_id=ada.id)
    assert not accounts.adopt_guest(session, guest_id=guest.id, user_id=accounts.create_guest(session).id)
    assert accounts.adopt_guest(session, guest_id=guest.id, user_id=ada.id)
    assert not accounts.adopt_guest(session, guest_id=guest.id, user_id=eve.id)
    with pytest.raises(accounts.AlreadyAccount):
        accounts.upgrade_guest(session, guest.id, "mallory", PASSWORD)


# The first administrator


def test_a_setup_link_makes_one_administrator(database):
    with database.session() as session:
        token = accounts.create_setup_link(session)
        assert accounts.is_setup_link_open(session, token)
        assert not accounts.is_setup_link_open(session, token[:-1])
    with database.session() as session:
        account = accounts.redeem_setup_link(session, token, "root", PASSWORD)
    assert account.role == Role.ADMINISTRATOR
    with database.session() as session:
        assert accounts.has_administrator(session)
        assert not accounts.is_setup_link_open(session, token)
    with pytest.raises(accounts.SetupLinkUsed), database.session() as session:
        accounts.redeem_setup_link(session, token, "eve", PASSWORD)


def test_a_setup_link_survives_a_name_or_password_that_is_refused(database):
    with database.session() as session:
        person(session, "ada")
        token = accounts.create_setup_link(session)
    for name, password in (("ada", PASSWORD), ("", PASSWORD), ("root", "short")):
        with pytest.raises(accounts.AccountError), database.session() as session:
            accounts.redeem_setup_link(session, token, name, password)
    with database.session() as session:
        assert accounts.count_users(session) == 1
        assert accounts.redeem_setup_link(session, token, "root", PASSWORD).name == "root"


def test_a_newer_setup_link_replaces_an_older_one(session):
    old, new = accounts.create_setup_link(session), accounts.create_setup_link(session)
    assert not accounts.is_setup_link_open(session, old)
    assert accounts.is_setup_link_open(session, new)


def test_of_many_who_open_a_setup_link_at_once_one_becomes_administrator(database):
    with database.session() as session:
        token = accounts.create_setup_link(session)
    outcomes, together = [], threading.Barrier(4)

    def redeem(number):
        together.wait()
        try:
            with database.session() as session:
                accounts.redeem_setup_link(session, token, f"root{number}", PASSWORD)
            outcomes.append("administrator")
        except accounts.SetupLinkUsed:
            outcomes.append("used")

    threads = [threading.Thread(target=redeem, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["administrator", "used", "used", "used"]
    with database.session() as session:
        assert accounts.count_users(session) == 1


# Administration


def test_people_are_found_by_part_of_a_name_and_by_role(session):
    for name in ("Ada", "adam", "Eve", "100%"):
        person(session, name)
    accounts.create_guest(session)
    accounts.update_profile(session, person(session, "x").id, display_name="Adam's friend", language=None)
    accounts.set_role(session, accounts.list_users(session, text="eve")[0].id, Role.GRADER)

    def names(**asked):
        found = [user.name for user in accounts.list_users(session, **asked)]
        limits = {"offset", "limit"}
        assert limits & set(asked) or len(found) == accounts.count_users(session, **asked)
        return found

    assert names() == ["100%", "Ada", "adam", "Eve", "x"]
    assert names(text="ADA") == ["Ada", "adam", "x"]
    assert names(text="%") == ["100%"]
    assert names(text="_") == names(text="\x00") == []
    assert names(role=Role.GRADER) == ["Eve"]
    assert names(role=Role.GRADER, text="ada") == []
    assert names(offset=1, limit=2) == ["Ada", "adam"]


@pytest.mark.parametrize(
    "remove",
    [
        lambda session, user: accounts.set_role(session, user.id, Role.LEARNER),
        lambda session, user: accounts.set_disabled(session, user.id, disabled=True),
    ],
)
def test_the_last_administrator_stays(session, remove):
    first, second = person(session, "first"), person(session, "second")
    accounts.set_role(session, first.id, Role.ADMINISTRATOR)
    with pytest.raises(accounts.LastAdministrator) as refused:
        remove(session, first)
    assert refused.value.facts == {"name": "first"}
    accounts.set_role(session, second.id, Role.ADMINISTRATOR)
    remove(session, first)
    with pytest.raises(accounts.LastAdministrator):
        remove(session, second)
    assert accounts.has_administrator(session)


def test_two_administrators_cannot_remove_each_other_at_once(database):
    with database.session() as session:
        administrators = [
            accounts.create_account(session, name, PASSWORD, role=Role.ADMINISTRATOR).id for name in ("a", "b")
        ]
    outcomes, together = [], threading.Barrier(2)

    def demote(user_id):
        together.wait()
        try:
            with database.session() as session:
                accounts.set_role(session, user_id, Role.LEARNER)
            outcomes.append("demoted")
        except accounts.LastAdministrator:
            outcomes.append("last")

    threads = [threading.Thread(target=demote, args=[user_id]) for user_id in administrators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["demoted", "last"]
    with database.session() as session:
        assert accounts.has_administrator(session)


def test_only_accounts_have_roles(session):
    for user_id in (accounts.create_guest(session).id, 4711):
        with pytest.raises(accounts.UnknownUser):
            accounts.set_role(session, user_id, Role.ADMINISTRATOR)
        with pytest.raises(accounts.UnknownUser):
            accounts.set_disabled(session, user_id, disabled=True)


def test_every_error_is_a_sentence_with_its_facts(session):
    for error in (accounts.BadName(name="x", longest=64), accounts.NameTaken(name="x"), accounts.WrongCredentials()):
        assert str(error).endswith((".", "!"))
        assert "{" not in str(error)
    assert session.get(User, 1) is None
