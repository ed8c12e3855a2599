"""Groups of learners: classes. Who knows a group's code may join it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete as delete_rows
from sqlalchemy import func, select
from sqlmodel import Session, col

from app.progress import times, tokens
from app.progress.db import insert_missing
from app.progress.errors import BadGroupName, GroupError, UnknownCode, UnknownGroup
from app.progress.models import LearnerGroup, Membership, User

__all__ = ["LONGEST_NAME", "BadGroupName", "GroupError", "GroupLine", "UnknownCode", "UnknownGroup"]

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in a list."""

    id: int
    name: str
    join_code: str
    members: int
    """How many belong to it."""


def create(session: Session, name: str) -> LearnerGroup:
    """A new group with a code of its own. Raises BadGroupName."""
    group = LearnerGroup(name=_checked(name), join_code=tokens.new_code(), created_at=times.now())
    session.add(group)
    session.flush()
    return group


def get(session: Session, group_id: int) -> LearnerGroup | None:
    """The group of this number."""
    return session.get(LearnerGroup, group_id)


def rename(session: Session, group_id: int, name: str) -> None:
    """Give a group another name. Raises BadGroupName, UnknownGroup."""
    group = _group(session, group_id)
    group.name = _checked(name)
    session.flush()


def renew_code(session: Session, group_id: int) -> str:
    """Draw a new code, and return it; the old one lets nobody in any more. Raises UnknownGroup."""
    group = _group(session, group_id)
    group.join_code = tokens.new_code()
    session.flush()
    return group.join_code


def delete(session: Session, group_id: int) -> None:
    """Delete a group. Its members' accounts and results stay."""
    session.execute(delete_rows(Membership).where(col(Membership.group_id) == group_id))
    session.execute(delete_rows(LearnerGroup).where(col(LearnerGroup.id) == group_id))


def list_groups(session: Session) -> list[GroupLine]:
    """All groups by name."""
    rows = session.execute(
        select(
            col(LearnerGroup.id),
            col(LearnerGroup.name),
            col(LearnerGroup.join_code),
            func.count(col(Membership.user_id)),
        )
        .outerjoin(Membership, col(Membership.group_id) == col(LearnerGroup.id))
        .group_by(col(LearnerGroup.id), col(LearnerGroup.name), col(LearnerGroup.join_code))
        .order_by(func.lower(LearnerGroup.name), col(LearnerGroup.id))
    )
    return [GroupLine(*row) for row in rows]


def join(session: Session, user_id: int, code: str) -> LearnerGroup:
    """Join the group with this code, typed in any way. Joining twice changes nothing. Raises UnknownCode."""
    group = session.scalar(select(LearnerGroup).where(col(LearnerGroup.join_code) == tokens.as_code(code)))
    if group is None:
        raise UnknownCode(code=code)
    insert_missing(session, Membership, [{"user_id": user_id, "group_id": group.id, "created_at": times.now()}])
    return group


def leave(session: Session, user_id: int, group_id: int) -> None:
    """Leave a group. Leaving one that one is not in changes nothing."""
    session.execute(
        delete_rows(Membership).where(col(Membership.user_id) == user_id, col(Membership.group_id) == group_id)
    )


def members(session: Session, group_id: int) -> list[User]:
    """Who belongs to a group: accounts by name, then guests."""
    return list(
        session.scalars(
            select(User)
            .join(Membership, col(Membership.user_id) == col(User.id))
            .where(col(Membership.group_id) == group_id, col(User.merged_into).is_(None))
            .order_by(col(User.name_key).is_(None), col(User.name_key), col(User.id))
        )
    )


def groups_of(session: Session, user_id: int) -> list[LearnerGroup]:
    """The groups that somebody belongs to, by name."""
    return list(
        session.scalars(
            select(LearnerGroup)
            .join(Membership, col(Membership.group_id) == col(LearnerGroup.id))
            .where(col(Membership.user_id) == user_id)
            .order_by(func.lower(LearnerGroup.name), col(LearnerGroup.id))
        )
    )


def _group(session: Session, group_id: int) -> LearnerGroup:
    group = session.get(LearnerGroup, group_id)
    if group is None:
        raise UnknownGroup
    return group


def _checked(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadGroupName(name=name[:LONGEST_NAME], longest=LONGEST_NAME)
    return name
