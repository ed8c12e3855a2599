"""Browsers' sessions."""

import pytest

from app.progress import accounts
from app.progress.models import SignIn
from tests.progress.conftest import person


def test_a_token_finds_its_user_and_is_not_stored(database):
    with database.session() as session:
        ada = person(session)
        token = accounts.create_session(session, ada.id)
    with database.session() as session:
        assert accounts.resolve_session(session, token).id == ada.id
        assert token not in str(
            session.get(SignIn, session.connection().exec_driver_sql("SELECT token_hash FROM sign_ins").scalar())
        )


@pytest.mark.parametrize("token", ["", "x", "\x00", "\ud800", "a" * 100_000])
def test_an_unknown_token_finds_nobody(session, token):
    accounts.create_session(session, person(session).id)
    assert accounts.resolve_session(session, token) is None


def test_an_ended_session_finds_nobody_and_the_others_go_on(session):
    ada = person(session)
    one, other = accounts.create_session(session, ada.id), accounts.create_session(session, ada.id)
    accounts.end_session(session, one)
    accounts.end_session(session, one)
    assert accounts.resolve_session(session, one) is None
    assert accounts.resolve_session(session, other).id == ada.id


def test_a_session_lasts_thirty_days_and_is_then_forgotten(session, clock):
    ada = person(session)
    token = accounts.create_session(session, ada.id)
    clock.forward(days=30, seconds=-1)
    assert accounts.resolve_session(session, token).id == ada.id
    clock.forward(seconds=1)
    assert accounts.resolve_session(session, token) is None
    accounts.create_session(session, ada.id)
    assert session.connection().exec_driver_sql("SELECT count(*) FROM sign_ins").scalar() == 1


def test_when_somebody_was_seen_is_written_every_ten_minutes_at_most(session, clock):
    ada = person(session)
    token = accounts.create_session(session, ada.id)
    began = clock.instant
    clock.forward(minutes=10)
    accounts.resolve_session(session, token)
    session.refresh(ada)
    assert ada.last_seen_at == began
    clock.forward(seconds=1)
    accounts.resolve_session(session, token)
    session.refresh(ada)
    assert ada.last_seen_at == clock.instant
