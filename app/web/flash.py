"""One sentence for the next page, after a redirect: in a short-lived cookie, so it needs no session."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from app.lab.views import Sentence

FLASH_COOKIE = "flash"
_LONGEST = 2000

Tone = Literal["good", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class Flash:
    """A sentence and how it is meant. It satisfies `Sentence`, so it is translated where it is shown."""

    text: str
    facts: dict[str, str]
    tone: Tone = "good"


def flash(response: Response, message: Sentence | str, tone: Tone = "good") -> None:
    """Have the next page show this sentence. What does not fit into a cookie is not sent."""
    text = message if isinstance(message, str) else message.text
    facts = {} if isinstance(message, str) else {name: str(fact) for name, fact in message.facts.items()}
    document = json.dumps([text, facts, tone], separators=(",", ":"))
    value = base64.urlsafe_b64encode(document.encode()).decode()
    if len(value) <= _LONGEST:
        response.set_cookie(FLASH_COOKIE, value, max_age=60, httponly=True, samesite="lax")


def read(request: Request) -> Flash | None:
    """The sentence that the page before left. A cookie that is no flash counts as none."""
    value = request.cookies.get(FLASH_COOKIE, "")
    if not value or len(value) > _LONGEST:
        return None
    try:
        text, facts, tone = json.loads(base64.urlsafe_b64decode(value))
        if not isinstance(text, str) or tone not in ("good", "bad", "quiet"):
            return None
        return Flash(text, {str(name): str(fact) for name, fact in facts.items()}, tone)
    except (binascii.Error, ValueError, TypeError, AttributeError):
        return None
