"""Scores for graders: learner by exercise, filtered by group, exercise and name.

Accounts are listed, and guests who joined a group; other guests only on request. What somebody did as a guest before
they signed in counts for the account.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Select, or_, select
from sqlmodel import Session, col

from app.progress import accounts, owners, results
from app.progress.models import LearnerGroup, Membership, Result, User
from app.progress.results import Scores


@dataclass(frozen=True, slots=True)
class Filter:
    """What a grader asks for; the default is everybody's results."""

    group_id: int | None = None
    exercise: str | None = None
    text: str = ""
    """A part of the name or of the name that others see."""
    guests: bool = False
    """Whether guests without a group are listed, too."""


@dataclass(frozen=True, slots=True)
class Row:
    """One learner."""

    user_id: int
    name: str | None
    """None for a guest."""
    display_name: str | None
    groups: tuple[str, ...]
    cells: Mapping[str, Scores] = field(default_factory=dict)
    """The exercise's name → first, last and best result. What was never tried is not there."""

    @property
    def shown(self) -> str:
        """The name to show; empty for a guest who gave none."""
        return self.display_name or self.name or ""

    @property
    def points(self) -> int:
        """The best points of all exercises, summed."""
        return sum(scores.best.points for scores in self.cells.values())

    @property
    def attempts(self) -> int:
        """How many results there are."""
        return sum(scores.attempts for scores in self.cells.values())

    @property
    def last_at(self) -> datetime | None:
        """When the last result was recorded."""
        return max((scores.last.at for scores in self.cells.values()), default=None)


def table(session: Session, asked: Filter | None = None) -> list[Row]:
    """The learners by name, each with what they reached. Without results only members of the group asked for."""
    asked = asked or Filter()
    people = _people(asked)
    cells = _cells(session, people, asked.exercise)
    groups = _groups(session, people)
    listed = select(col(User.id), col(User.name), col(User.display_name)).where(col(User.id).in_(people))
    in_order = listed.order_by(col(User.name_key).is_(None), col(User.name_key), col(User.id))
    return [
        Row(user_id, name, display_name, tuple(groups[user_id]), cells[user_id])
        for user_id, name, display_name in session.execute(in_order)
        if user_id in cells or asked.group_id is not None
    ]


def row(session: Session, user_id: int) -> Row | None:
    """One learner, whoever they are; a merged guest's number gives the account. None for a number nobody has."""
    user = owners.owner_of(session, user_id)
    if user is None:
        return None
    alone = select(col(User.id)).where(col(User.id) == user.id)
    groups, cells = _groups(session, alone), _cells(session, alone, None)
    return Row(user.id, user.name, user.display_name, tuple(groups[user.id]), cells[user.id])


def exercises(session: Session) -> list[str]:
    """The names of all exercises that have results."""
    return list(session.scalars(select(col(Result.exercise_name)).distinct().order_by(col(Result.exercise_name))))


def _people(asked: Filter) -> Select[int]:
    query = select(col(User.id)).where(col(User.merged_into).is_(None))
    if asked.text:
        query = query.where(
            or_(
                col(User.name_key).contains(accounts.name_key(asked.text), autoescape=True),
                col(User.display_name).icontains(asked.text, autoescape=True),
            )
        )
    members = select(col(Membership.user_id))
    if asked.group_id is not None:
        query = query.where(col(User.id).in_(members.where(col(Membership.group_id) == asked.group_id)))
    elif not asked.guests:
        query = query.where(or_(col(User.name_key).is_not(None), col(User.id).in_(members)))
    return query


def _cells(session: Session, people: Select[int], exercise: str | None) -> dict[int, dict[str, Scores]]:
    query = results.ranked().where(owners.owner_id().in_(people))
    if exercise is not None:
        query = query.where(col(Result.exercise_name) == exercise)
    cells: dict[int, dict[str, Scores]] = defaultdict(dict)
    for owner, scores in results.collect(session.execute(results.notable(query))):
        cells[owner][scores.exercise] = scores
    return cells


def _groups(session: Session, people: Select[int]) -> dict[int, list[str]]:
    query = (
        select(col(Membership.user_id), col(LearnerGroup.name))
        .join(LearnerGroup, col(LearnerGroup.id) == col(Membership.group_id))
        .where(col(Membership.user_id).in_(people))
        .order_by(col(LearnerGroup.name), col(LearnerGroup.id))
    )
    groups: dict[int, list[str]] = defaultdict(list)
    for user_id, name in session.execute(query):
        groups[user_id].append(name)
    return groups
