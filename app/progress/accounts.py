"""People: guests, accounts and their passwords, the first administrator, roles.

Browsers' sessions are in `sessions`, and offered here too.

Errors leave nothing behind once they leave the block of `Database.session()`, which rolls everything back.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col

from app.progress import passwords, times, tokens
from app.progress.db import changed, insert_missing
from app.progress.errors import (
    AccountDisabled,
    AccountError,
    AlreadyAccount,
    BadName,
    LastAdministrator,
    NameTaken,
    PasswordTooShort,
    SetupLinkUsed,
    UnknownUser,
    WrongCredentials,
    WrongPassword,
)
from app.progress.models import Membership, Role, SetupLink, User
from app.progress.sessions import SESSION_DAYS, create_session, end_session, end_sessions_of, resolve_session

__all__ = [
    "LONGEST_NAME",
    "PASSWORD_LEAST",
    "SESSION_DAYS",
    "AccountDisabled",
    "AccountError",
    "AlreadyAccount",
    "BadName",
    "LastAdministrator",
    "NameTaken",
    "PasswordTooShort",
    "Session",
    "SetupLinkUsed",
    "UnknownUser",
    "WrongCredentials",
    "WrongPassword",
    "adopt_guest",
    "change_password",
    "count_users",
    "create_account",
    "create_guest",
    "create_session",
    "create_setup_link",
    "end_session",
    "get",
    "has_administrator",
    "is_setup_link_open",
    "list_users",
    "name_key",
    "redeem_setup_link",
    "resolve_session",
    "set_disabled",
    "set_language",
    "set_role",
    "sign_in",
    "update_profile",
    "upgrade_guest",
]

PASSWORD_LEAST = 8
LONGEST_NAME = 64


# Guests and accounts


def create_guest(session: Session, *, language: str | None = None) -> User:
    """Somebody without a name, who can become an account later."""
    now = times.now()
    user = User(role=Role.LEARNER, language=language, created_at=now, last_seen_at=now)
    session.add(user)
    session.flush()
    return user


def create_account(
    session: Session, name: str, password: str, *, role: Role = Role.LEARNER, language: str | None = None
) -> User:
    """A new account. Raises BadName, NameTaken, PasswordTooShort."""
    guest = create_guest(session, language=language)
    account = upgrade_guest(session, guest.id, name, password)
    account.role = role
    session.flush()
    return account


def upgrade_guest(session: Session, user_id: int, name: str, password: str) -> User:
    """Give a guest a name and a password; labs and results stay theirs.

    Raises BadName, NameTaken, PasswordTooShort, AlreadyAccount.
    """
    name, key = _name(name)
    _check_length(password)
    if session.scalar(select(col(User.id)).where(col(User.name_key) == key)) is not None:
        raise NameTaken(name=name)
    change = (
        update(User)
        .where(col(User.id) == user_id, col(User.name_key).is_(None), col(User.merged_into).is_(None))
        .values(name=name, name_key=key, password_hash=passwords.hash_password(password))
    )
    try:
        if not changed(session, change):
            raise AlreadyAccount
    except IntegrityError as error:
        raise NameTaken(name=name) from error
    return _fresh(session, user_id)


def adopt_guest(session: Session, *, guest_id: int, user_id: int) -> bool:
    """Let an account take over a guest's labs, results and groups. False where the guest is none, or taken already."""
    account = session.get(User, user_id)
    if account is None or account.name_key is None or guest_id == user_id:
        return False
    change = (
        update(User)
        .where(col(User.id) == guest_id, col(User.name_key).is_(None), col(User.merged_into).is_(None))
        .values(merged_into=user_id)
    )
    if not changed(session, change):
        return False
    joined = session.scalars(select(Membership).where(col(Membership.user_id) == guest_id)).all()
    insert_missing(session, Membership, [{**member.model_dump(), "user_id": user_id} for member in joined])
    session.execute(delete(Membership).where(col(Membership.user_id) == guest_id))
    end_sessions_of(session, guest_id)
    return True


def sign_in(session: Session, name: str, password: str) -> User:
    """The account of this name. Raises WrongCredentials (as slowly for unknown names), AccountDisabled."""
    key = name_key(name)
    user = session.scalar(select(User).where(col(User.name_key) == key), execution_options={"populate_existing": True})
    password_hash = user.password_hash if user is not None else None
    if not passwords.is_right(password, password_hash) or user is None or password_hash is None:
        raise WrongCredentials
    if user.disabled:
        raise AccountDisabled
    if passwords.is_outdated(password_hash):
        _replace_password(session, user.id, password_hash, password)
    return user


def change_password(session: Session, user_id: int, old: str, new: str) -> None:
    """Set a new password, given the old one. All sessions of the account end.

    Raises WrongPassword, PasswordTooShort.
    """
    _check_length(new)
    old_hash = session.scalar(select(col(User.password_hash)).where(col(User.id) == user_id))
    if not passwords.is_right(old, old_hash) or old_hash is None:
        raise WrongPassword
    if not _replace_password(session, user_id, old_hash, new):
        raise WrongPassword
    end_sessions_of(session, user_id)


def update_profile(session: Session, user_id: int, *, display_name: str | None, language: str | None) -> User:
    """Set the name that others see (None or empty: the account's own) and the language. Raises UnknownUser."""
    user = _fresh(session, user_id)
    user.display_name = display_name or None
    user.language = language
    session.flush()
    return user


def set_language(session: Session, user_id: int, language: str | None) -> None:
    """Remember which language somebody reads."""
    session.execute(update(User).where(col(User.id) == user_id).values(language=language))


# The link that makes its opener the first administrator, once


def create_setup_link(session: Session) -> str:
    """A new link's token. Links that were made before and never used are worth nothing any more."""
    session.execute(delete(SetupLink).where(col(SetupLink.used_at).is_(None)))
    token = tokens.new()
    session.add(SetupLink(token_hash=tokens.digest(token), created_at=times.now()))
    session.flush()
    return token


def is_setup_link_open(session: Session, token: str) -> bool:
    """Whether the link would still make an administrator."""
    open_link = select(col(SetupLink.token_hash)).where(
        col(SetupLink.token_hash) == tokens.digest(token), col(SetupLink.used_at).is_(None)
    )
    return session.scalar(open_link) is not None and not has_administrator(session)


def redeem_setup_link(session: Session, token: str, name: str, password: str) -> User:
    """Use the link up and make the administrator, both or neither.

    Raises SetupLinkUsed, BadName, NameTaken, PasswordTooShort.
    """
    used = session.scalars(
        update(SetupLink)
        .where(col(SetupLink.token_hash) == tokens.digest(token), col(SetupLink.used_at).is_(None))
        .values(used_at=times.now())
        .returning(col(SetupLink.token_hash)),
        execution_options={"synchronize_session": False},
    ).all()
    if not used or has_administrator(session):
        raise SetupLinkUsed
    return create_account(session, name, password, role=Role.ADMINISTRATOR)


# Administration


def get(session: Session, user_id: int) -> User | None:
    """The user of this number: guest, account, or merged guest."""
    return session.get(User, user_id)


def list_users(
    session: Session, *, text: str = "", role: Role | None = None, offset: int = 0, limit: int = 50
) -> list[User]:
    """Accounts by name; `text` is a part of the name or of the name that others see."""
    query = select(User).where(*_sought(text, role)).order_by(col(User.name_key)).offset(offset).limit(limit)
    return list(session.scalars(query))


def count_users(session: Session, *, text: str = "", role: Role | None = None) -> int:
    """How many accounts `list_users` would give without a limit."""
    return session.scalar(select(func.count()).select_from(User).where(*_sought(text, role))) or 0


def has_administrator(session: Session) -> bool:
    """Whether somebody can administer this lab."""
    return session.scalar(select(col(User.id)).where(*_administrators()).limit(1)) is not None


def set_role(session: Session, user_id: int, role: Role) -> User:
    """Give an account another role. Raises UnknownUser, LastAdministrator."""
    _lock_administrators(session)
    user = _account(session, user_id)
    if role != Role.ADMINISTRATOR:
        _check_not_last(session, user)
    user.role = role
    session.flush()
    return user


def set_disabled(session: Session, user_id: int, *, disabled: bool) -> User:
    """Keep an account out (its sessions end, its results stay) or let it in. Raises UnknownUser, LastAdministrator."""
    _lock_administrators(session)
    user = _account(session, user_id)
    if disabled:
        _check_not_last(session, user)
        end_sessions_of(session, user_id)
    user.disabled = disabled
    session.flush()
    return user


def _administrators() -> Sequence[ColumnElement[bool]]:
    return col(User.role) == Role.ADMINISTRATOR, col(User.disabled).is_(other=False)


def _lock_administrators(session: Session) -> None:
    """Have others wait who change administrators: two must not remove each other at once."""
    session.execute(
        update(User).where(col(User.role) == Role.ADMINISTRATOR).values(role=col(User.role)),
        execution_options={"synchronize_session": False},
    )


def _check_not_last(session: Session, user: User) -> None:
    others = select(col(User.id)).where(*_administrators(), col(User.id) != user.id).limit(1)
    if user.role == Role.ADMINISTRATOR and not user.disabled and session.scalar(others) is None:
        raise LastAdministrator(name=user.name)


def _sought(text: str, role: Role | None) -> Sequence[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [col(User.name_key).is_not(None)]
    if text:
        conditions.append(
            or_(
                col(User.name_key).contains(name_key(text), autoescape=True),
                col(User.display_name).icontains(text, autoescape=True),
            )
        )
    if role is not None:
        conditions.append(col(User.role) == role)
    return conditions


def _account(session: Session, user_id: int) -> User:
    user = _fresh(session, user_id)
    if user.name_key is None:
        raise UnknownUser
    return user


def _fresh(session: Session, user_id: int) -> User:
    user = session.get(User, user_id, populate_existing=True)
    if user is None:
        raise UnknownUser
    return user


# Names and passwords


def _name(typed: str) -> tuple[str, str]:
    """The name as shown and its key. Raises BadName."""
    name = unicodedata.normalize("NFC", typed)
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip() or not name_key(name):
        raise BadName(name=typed[:LONGEST_NAME], longest=LONGEST_NAME)
    return name, name_key(name)


def name_key(name: str) -> str:
    """What makes two names the same: not capitals, not width, not how an accent is written."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _check_length(password: str) -> None:
    if len(password) < PASSWORD_LEAST:
        raise PasswordTooShort(least=PASSWORD_LEAST)


def _replace_password(session: Session, user_id: int, old_hash: str, password: str) -> bool:
    change = (
        update(User)
        .where(col(User.id) == user_id, col(User.password_hash) == old_hash)
        .values(password_hash=passwords.hash_password(password))
    )
    return changed(session, change) > 0
