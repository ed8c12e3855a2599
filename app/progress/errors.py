"""What people can get wrong. Every error has a `template` for translation, and the `facts` that go into it."""

from __future__ import annotations

from typing import Any, ClassVar

from app.apimachinery.messages import N_, fill


class ProgressError(Exception):
    """The base. `str()` is the sentence in English."""

    template: ClassVar[str] = ""

    def __init__(self, **facts: Any) -> None:
        super().__init__(fill(self.template, facts))
        self.facts = facts


class AccountError(ProgressError):
    """Something about an account."""


class BadName(AccountError):
    """A name that nobody can have."""

    template = N_(
        "“{name}” cannot be a name. Use 1 to {longest} letters, digits, spaces or signs, with no space at either end."
    )


class NameTaken(AccountError):
    """A name that somebody has, perhaps with other capitals."""

    template = N_("The name “{name}” is taken. Choose another one, or sign in if it is yours.")


class PasswordTooShort(AccountError):
    """A new password that is too easy to guess."""

    template = N_("The password is too short. Write at least {least} characters.")


class WrongCredentials(AccountError):
    """A name that does not exist or a password that is not its own: which of the two is not told."""

    template = N_("Name or password is wrong. Check both, and whether Caps Lock is on.")


class WrongPassword(AccountError):
    """The old password, asked for before a change, is not right."""

    template = N_("This is not your present password.")


class AccountDisabled(AccountError):
    """The right password of an account that an administrator keeps out."""

    template = N_("This account is disabled. Ask an administrator of this lab to enable it.")


class AlreadyAccount(AccountError):
    """A guest that is an account already, perhaps from another tab."""

    template = N_("You have an account already. Reload the page.")


class UnknownUser(AccountError):
    """There is no such account."""

    template = N_("There is no such account. Somebody may have removed it.")


class LastAdministrator(AccountError):
    """The lab would be left without an administrator."""

    template = N_("{name} is the last administrator. Make somebody else an administrator first.")


class SetupLinkUsed(AccountError):
    """The link was used, never existed, or there is an administrator already."""

    template = N_("This link has been used. Sign in, or ask an administrator of this lab.")


class GroupError(ProgressError):
    """Something about a group."""


class BadGroupName(GroupError):
    """A name that no group can have."""

    template = N_("“{name}” cannot be a group's name. Use 1 to {longest} letters, digits, spaces or signs.")


class UnknownCode(GroupError):
    """No group has this code."""

    template = N_("No group has the code “{code}”. Check it with your instructor: codes can be replaced.")


class UnknownGroup(GroupError):
    """There is no such group."""

    template = N_("There is no such group. Somebody may have deleted it.")


class LabError(ProgressError):
    """Something about a lab."""


class UnknownLab(LabError):
    """There is no such lab."""

    template = N_("There is no such lab.")


class RevisionConflict(LabError):
    """The lab was changed since it was read. Nothing was written: read it again, and do the work again."""

    template = N_("The lab was changed in the meantime: it is no longer at revision {expected}.")


class LabEnded(LabError):
    """The lab takes no more commands."""

    template = N_("This lab has ended. Start the exercise again.")


class LibraryError(ProgressError):
    """Something about stored exercises."""


class StaleVersion(LibraryError):
    """Somebody else published the exercise since the text was opened."""

    template = N_("The exercise {name} was changed in the meantime. Compare both texts, then save again.")


class UnknownVersion(LibraryError):
    """No exercise text has this digest."""

    template = N_("There is no version {digest} of the exercise {name}.")
