"""The answer to a form that was carried out: go to a page, and say there what was done."""

from __future__ import annotations

from starlette.responses import RedirectResponse

from app.apimachinery.messages import Message
from app.web.flash import Tone, flash


def go(address: str, message: Message | str | None = None, tone: Tone = "good") -> RedirectResponse:
    """Redirect with 303, so that a reload repeats nothing. The next page shows the message."""
    response = RedirectResponse(address, status_code=303)
    if message is not None:
        flash(response, message, tone)
    return response
