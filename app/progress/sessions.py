"""Browsers' sessions: a random token in a cookie, its hash here."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlmodel import Session, col

from app.progress import times, tokens
from app.progress.models import SignIn, User

SESSION_DAYS = 30
_SEEN_AGAIN = timedelta(minutes=10)
"""How exactly `last_seen_at` is kept: reading pages is no reason to write all the time."""


def create_session(session: Session, user_id: int) -> str:
    """A new session's token. The user's sessions that are over are forgotten."""
    now = times.now()
    session.execute(delete(SignIn).where(col(SignIn.user_id) == user_id, col(SignIn.expires_at) <= now))
    token = tokens.new()
    session.add(
        SignIn(
            token_hash=tokens.digest(token),
            user_id=user_id,
            created_at=now,
            expires_at=now + timedelta(days=SESSION_DAYS),
        )
    )
    session.flush()
    return token


def resolve_session(session: Session, token: str) -> User | None:
    """Who has this token; None for one that is unknown or over, and for those who are kept out."""
    now = times.now()
    user = session.scalar(
        select(User)
        .join(SignIn, col(SignIn.user_id) == col(User.id))
        .where(
            col(SignIn.token_hash) == tokens.digest(token),
            col(SignIn.expires_at) > now,
            col(User.disabled).is_(other=False),
            col(User.merged_into).is_(None),
        )
    )
    if user is not None and user.last_seen_at < now - _SEEN_AGAIN:
        session.execute(update(User).where(col(User.id) == user.id).values(last_seen_at=now))
    return user


def end_session(session: Session, token: str) -> None:
    """Make a token worthless. An unknown one is so already."""
    session.execute(delete(SignIn).where(col(SignIn.token_hash) == tokens.digest(token)))


def end_sessions_of(session: Session, user_id: int) -> None:
    """Sign somebody out everywhere."""
    session.execute(delete(SignIn).where(col(SignIn.user_id) == user_id))
