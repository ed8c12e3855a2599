"""Whose rows are whose: an account owns its own rows and those of the guests that became part of it.

Labs and results keep the user they were made by; a guest's `merged_into` points to the account. Nothing is rewritten.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlmodel import Session, col

from app.progress.models import User


def ids_of(user_id: int) -> Select[int]:
    """The users whose rows belong to the same person as this user's, as a subquery."""
    person = select(func.coalesce(col(User.merged_into), col(User.id))).where(col(User.id) == user_id).scalar_subquery()
    return select(col(User.id)).where(or_(col(User.id) == person, col(User.merged_into) == person))


def owner_id() -> ColumnElement[int]:
    """The number of the account (or unmerged guest) behind a row of `users`."""
    return func.coalesce(col(User.merged_into), col(User.id))


def owner_of(session: Session, user_id: int) -> User | None:
    """The account or guest that a row with this `user_id` belongs to now."""
    user = session.get(User, user_id)
    if user is not None and user.merged_into is not None:
        return session.get(User, user.merged_into)
    return user
