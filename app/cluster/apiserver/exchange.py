"""A request and a response of the Kubernetes API, as plain data: what every surface hands to `dispatch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.apimachinery.errors import BadRequest, StatusError

JSON = "application/json"

WATCH_REVISION = "x-watch-revision"
"""Header of the response to a watch: the revision that its body reaches, watch.ENDED where nothing follows."""

_FALSE = ("false", "0")


@dataclass(frozen=True)
class ApiRequest:
    """One request. `path` begins at the API's root (`/api/v1/pods`) and is decoded; `query` keeps its order.

    Header names are in lower case; `accept`, `content-type`, `user-agent`, `authorization` and those of impersonation
    matter here.
    """

    method: str
    path: str
    query: Sequence[Sequence[str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def head(self) -> dict[str, Any]:
        """Everything but the body as JSON values: `ApiRequest(**head, body=body)` is the request again."""
        return {
            "method": self.method,
            "path": self.path,
            "query": [list(pair) for pair in self.query],
            "headers": dict(self.headers),
        }

    def param(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        return next((pair[1] for pair in self.query if pair[0] == name), default)

    def flag(self, name: str) -> bool:
        """A boolean parameter: whatever is not `false` or `0` is true (runtime.Convert_Slice_string_To_bool)."""
        return self.param(name, "false").lower() not in _FALSE

    def number(self, name: str) -> int | None:
        """A whole number as a parameter, None where it is missing or empty; BadRequest for anything else."""
        value = self.param(name)
        if not value:
            return None
        if len(value) > 19 or not value.removeprefix("-").isdecimal() or not value.isascii():
            raise BadRequest(f'strconv.ParseInt: parsing "{value}": invalid syntax')
        return int(value)

    @property
    def is_watch(self) -> bool:
        """Whether the request asks for a stream of changes."""
        return self.method == "GET" and self.flag("watch")

    @property
    def accept(self) -> str:
        """The Accept header; everything where it is missing."""
        return self.headers.get("accept") or "*/*"

    @property
    def content_type(self) -> str:
        """The media type of the body without its parameters, in lower case."""
        return (self.headers.get("content-type") or "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class ApiResponse:
    """One response; `body` is text in UTF-8."""

    code: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, obj: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> ApiResponse:
        """A JSON body."""
        return cls(code, {"content-type": JSON, **(headers or {})}, orjson.dumps(obj) + b"\n")

    @classmethod
    def plain(cls, text: str, code: int = 200) -> ApiResponse:
        """A text body."""
        return cls(code, {"content-type": "text/plain; charset=utf-8"}, text.encode())

    @classmethod
    def failure(cls, error: StatusError, headers: Mapping[str, str] | None = None) -> ApiResponse:
        """A Status body with the error's code."""
        wait = error.details.get("retryAfterSeconds")
        paced = {"retry-after": str(wait)} if wait else {}
        return cls.of(error.status(), error.code, {**paced, **(headers or {})})
