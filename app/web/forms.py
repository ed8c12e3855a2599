"""Forms as they were posted: what was typed, what is wrong with it field by field, and where to go next.

A page that refuses a form shows it again with everything that was typed, so a form is one object from the
request to the template: `form.values["name"]`, `form.errors.get("name")`.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.datastructures import UploadFile
from starlette.requests import Request

from app.apimachinery.messages import Message
from app.web.i18n import N_

MAX_LINE = 200
"""Characters of a one-line field that says nothing else."""
_UNSEEN = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MAX_FIELDS = 200
_MAX_PART = 16 * 1024 * 1024


class Form:
    """One form's texts and files. Fields that were not sent are empty."""

    def __init__(self, values: Mapping[str, str] | None = None, files: Mapping[str, UploadFile] | None = None) -> None:
        self.values: dict[str, str] = defaultdict(str, values or {})
        self.files: dict[str, UploadFile] = dict(files or {})
        self.errors: dict[str, Message] = {}

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with it so far."""
        return not self.errors

    def fail(self, name: str, message: Message | str, **facts: object) -> None:
        """Say what is wrong with a field. The first fault of a field is the one to mend first."""
        self.errors.setdefault(name, message if isinstance(message, Message) else Message(message, facts))

    def text(self, name: str) -> str:
        """A text as it was sent, but with line feeds alone at line ends (browsers send CRLF)."""
        return self.values[name].replace("\r\n", "\n")

    def line(self, name: str, *, required: Message | str | None = None, longest: int = MAX_LINE) -> str:
        """A one-line text, trimmed. Control characters, too much, and nothing where `required` are faults."""
        value = self.values[name].strip()
        if not value and required is not None:
            self.fail(name, required)
        elif len(value) > longest:
            self.fail(name, N_("This is too long: write at most {longest} characters."), longest=longest)
        elif not is_printable(value):
            self.fail(name, N_("This holds characters that cannot be shown. Type it instead of pasting it."))
        return value

    def number(self, name: str, *, least: int, most: int, default: int) -> int:
        """A whole number within bounds; the default for anything else."""
        value = self.values[name].strip()
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            return default
        return min(most, max(least, int(value)))


def is_printable(text: str) -> bool:
    """Whether a one-line text has no control characters, line separators or marks that turn its direction."""
    return not any(unicodedata.category(char) in _UNSEEN or char in _TURNING for char in text)


async def _posted(request: Request) -> AsyncIterator[Form]:
    """The request's form, its files open until it is answered. Of a field that was sent twice the last one counts."""
    async with request.form(max_files=4, max_fields=_MAX_FIELDS, max_part_size=_MAX_PART) as data:
        values: dict[str, str] = {}
        files: dict[str, UploadFile] = {}
        for name, value in data.multi_items():
            if isinstance(value, str):
                values[name] = value
            elif value.filename:
                files[name] = value
        yield Form(values, files)


def _asked(request: Request) -> Form:
    return Form(dict(request.query_params))


Posted = Annotated[Form, Depends(_posted)]
"""The form in a request's body."""

Asked = Annotated[Form, Depends(_asked)]
"""The form in an address' query: filters, search, pages."""


def local_path(address: str, default: str = "/") -> str:
    """The address where it is a path of this site, else the default: nobody is sent elsewhere by signing in.

    Browsers read a backslash as a slash and drop tabs and line ends, so those are no paths of ours.
    """
    if not address.startswith("/") or address.startswith("//") or "\\" in address or len(address) > 2000:
        return default
    if any(char <= " " or char == "\x7f" for char in address):
        return default
    parts = urlsplit(address)
    return address if not parts.scheme and not parts.netloc else default
