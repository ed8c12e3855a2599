"""What a page says when a request fails: one entry a status code, each with the next step."""

from __future__ import annotations

from dataclasses import dataclass

from app.web.i18n import N_


@dataclass(frozen=True, slots=True)
class Failure:
    """Three sentences: a title, what happened, what to do next."""

    title: str
    what: str
    then: str


_FAILURES = {
    400: Failure(
        N_("This request could not be read"),
        N_("Something in what the browser sent was incomplete or malformed."),
        N_("Go back, reload the page and try again."),
    ),
    401: Failure(
        N_("Please sign in"),
        N_("This page belongs to somebody, and the lab does not know yet who you are."),
        N_("Sign in, or start as a guest from the first page."),
    ),
    403: Failure(
        N_("This page is not for your role"),
        N_("You are known to the lab, but your role does not include this page."),
        N_("If you should see it, ask an administrator of this lab to change your role."),
    ),
    404: Failure(
        N_("There is nothing at this address"),
        N_("The page was removed, never existed, or belongs to somebody else."),
        N_("Check the address, or go on from the list of exercises."),
    ),
    405: Failure(
        N_("This address takes no such request"),
        N_("The address exists, but not for what was asked of it."),
        N_("Open the page itself and use its buttons."),
    ),
    409: Failure(
        N_("Somebody was faster"),
        N_("This lab changed while your request was on its way, perhaps in another tab. Nothing was lost."),
        N_("Reload the page, look at what changed, and send your text again."),
    ),
    410: Failure(
        N_("This link has been used"),
        N_("The link works once, and somebody has already opened it."),
        N_("Sign in, or ask an administrator of this lab for a new link."),
    ),
    413: Failure(
        N_("That is too large"),
        N_("What you sent is larger than the lab accepts. It was not read, and nothing changed."),
        N_("Send less at once: a manifest for a task needs a few kilobytes."),
    ),
    422: Failure(
        N_("This could not be accepted"),
        N_("Something in the form is missing or wrong. Nothing changed."),
        N_("Go back, correct it and send it again."),
    ),
    429: Failure(
        N_("Too many requests"),
        N_("The lab received more requests from you than it serves in this time."),
        N_("Wait a moment and try again. What you typed is still here."),
    ),
    500: Failure(
        N_("The lab made a mistake"),
        N_("Something broke on our side, not in your answer. Your lab is as it was before this request."),
        N_("Try again. If it happens again, tell whoever runs this lab the time and this address."),
    ),
    503: Failure(
        N_("The lab is busy"),
        N_("All workers are taken, or this request took too long and was stopped. Your lab is as it was."),
        N_("Wait a few seconds and try again. What you typed is still here."),
    ),
}


def of(status: int) -> Failure:
    """The sentences for a status code; those of 400 or 500 for a code without its own."""
    return _FAILURES.get(status) or _FAILURES[500 if status >= 500 else 400]
