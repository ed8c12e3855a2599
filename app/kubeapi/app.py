"""The Kubernetes HTTP API of the labs: framing only, everything else is `cluster.apiserver.dispatch`.

Mounted at `/k`, below which the first part of the path is a lab's secret: clients drop their tokens on plain
http, so it is a part of the server's address in the kubeconfig. It is a credential: the backend compares it, and no
message or log line of this package carries it.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qsl, unquote

from starlette.types import Receive, Scope, Send

from app.apimachinery.errors import (
    BadRequest,
    MethodNotAllowed,
    RequestEntityTooLarge,
    StatusError,
    TooManyRequests,
    Unauthorized,
)
from app.cluster.apiserver.authorization import SEPARATOR
from app.cluster.apiserver.exchange import WATCH_REVISION, ApiRequest, ApiResponse
from app.cluster.apiserver.watch import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterator

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_HEADERS_READ = (b"accept", b"authorization", b"content-type", b"user-agent")
_MAX_PARAMETERS = 64


class UnknownSecret(LookupError):
    """No lab has this secret."""


class Unavailable(StatusError):
    """The lab could not answer: its worker was busy, too slow, or ended."""

    code = 503
    reason = "ServiceUnavailable"


class Backend(Protocol):
    """What answers for the labs. Each call raises UnknownSecret, or Unavailable where a worker failed."""

    async def call(self, secret: str, request: ApiRequest) -> ApiResponse:
        """`dispatch.handle` on the lab of the secret."""

    async def watch(self, secret: str, request: ApiRequest, since: int) -> tuple[list[bytes], int]:
        """`dispatch.watch` on the lab of the secret."""

    async def changed(self, secret: str, revision: int, within: float, /) -> None:
        """Returns when the lab may have moved past the revision, after `within` seconds at the latest."""


@dataclass(frozen=True)
class Limits:
    """What one lab's clients may ask of the surface."""

    body: int = 3 * 1024 * 1024
    watches: int = 64
    watch_seconds: float = 1800.0
    """How long a watch lives whose client names no `timeoutSeconds`, and the longest that one may name."""
    compress_from: int = 16 * 1024


class KubeApi:
    """The ASGI application of all labs."""

    def __init__(self, backend: Backend, limits: Limits | None = None) -> None:
        self._backend = backend
        self._limits = limits or Limits()
        self._watches: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        exchange = _Exchange(scope, receive, send, self._limits)
        try:
            secret, request = await exchange.request()
            await self._answer(exchange, secret, request)
        except UnknownSecret:
            await exchange.send(ApiResponse.failure(Unauthorized("Unauthorized")))
        except StatusError as error:
            await exchange.send(ApiResponse.failure(error))

    async def _answer(self, exchange: _Exchange, secret: str, request: ApiRequest) -> None:
        if not request.is_watch:
            await exchange.send(await self._backend.call(secret, request))
            return
        lifetime = self._lifetime(request)
        with self._one_more_watch(secret):
            opening = await self._backend.call(secret, request)
            if WATCH_REVISION in opening.headers:
                await self._stream(exchange, secret, request, opening, lifetime)
            else:
                await exchange.send(opening)

    async def _stream(
        self, exchange: _Exchange, secret: str, request: ApiRequest, opening: ApiResponse, lifetime: float
    ) -> None:
        """Send what the watch begins with, then what changes, until the client goes or the time is over."""
        revision = int(opening.headers[WATCH_REVISION])
        ends_at = time.monotonic() + lifetime
        await exchange.begin_stream(opening)
        gone = asyncio.create_task(exchange.gone())
        try:
            while revision != ENDED and (left := ends_at - time.monotonic()) > 0:
                change = asyncio.create_task(self._backend.changed(secret, revision, left))
                await asyncio.wait({gone, change}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    change.cancel()
                    await asyncio.gather(change, return_exceptions=True)
                    return
                await change
                lines, revision = await self._backend.watch(secret, request, revision)
                await exchange.send_lines(lines)
        except (UnknownSecret, Unavailable):
            # The stream's status is long sent: it just ends, and the client lists and watches anew.
            return
        finally:
            gone.cancel()
            await exchange.end_stream()

    def _lifetime(self, request: ApiRequest) -> float:
        asked = request.number("timeoutSeconds")
        return min(float(asked), self._limits.watch_seconds) if asked else self._limits.watch_seconds

    @contextmanager
    def _one_more_watch(self, secret: str) -> Iterator[None]:
        if self._watches[secret] >= self._limits.watches:
            raise TooManyRequests("too many open watches of this lab, please close some and try again")
        self._watches[secret] += 1
        try:
            yield
        finally:
            self._watches[secret] -= 1
            if not self._watches[secret]:
                del self._watches[secret]


class _Exchange:
    """One request and its response on the wire."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: Limits) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._limits = limits
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._impersonated = _several(scope["headers"], b"impersonate-")

    async def request(self) -> tuple[str, ApiRequest]:
        """The secret, and the request with its body. MethodNotAllowed, RequestEntityTooLarge."""
        method = self._scope["method"]
        if method not in _METHODS:
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        secret, _, path = self._scope["path"].removeprefix(self._scope.get("root_path", "")).lstrip("/").partition("/")
        text = self._scope["query_string"].decode("latin-1")
        try:
            query = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
        except ValueError as error:
            raise BadRequest(f"more than {_MAX_PARAMETERS} query parameters") from error
        headers = {
            name.decode(): self._headers[name].decode("latin-1") for name in _HEADERS_READ if name in self._headers
        } | self._impersonated
        read = "GET" if method == "HEAD" else method
        return secret, ApiRequest(read, f"/{path}", tuple(query), headers, await self._body())

    async def _body(self) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._limits.body:
                raise RequestEntityTooLarge(f"Request entity too large: limit is {self._limits.body}")
            chunks.append(chunk)
            if message["type"] != "http.request" or not message.get("more_body"):
                return b"".join(chunks)

    async def send(self, response: ApiResponse) -> None:
        """The whole response: 304 where the client has it, compressed where that pays."""
        headers = dict(response.headers)
        body = response.body
        if "etag" in headers and self._headers.get(b"if-none-match", b"").decode("latin-1") == headers["etag"]:
            await self._write(304, {"etag": headers["etag"], "vary": headers.get("vary", "Accept")}, b"")
            return
        if len(body) >= self._limits.compress_from and b"gzip" in self._headers.get(b"accept-encoding", b""):
            body = gzip.compress(body, 1, mtime=0)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        await self._write(response.code, headers, b"" if self._scope["method"] == "HEAD" else body)

    async def _write(self, code: int, headers: Mapping[str, str], body: bytes) -> None:
        await self._start(code, headers)
        await self._send({"type": "http.response.body", "body": body})

    async def _start(self, code: int, headers: Mapping[str, str]) -> None:
        raw = [(name.lower().encode(), value.encode("utf-8")) for name, value in headers.items()]
        raw.append((b"cache-control", b"no-cache, private"))
        await self._send({"type": "http.response.start", "status": code, "headers": raw})

    async def begin_stream(self, opening: ApiResponse) -> None:
        """The head of a chunked response, and what the opening already carries."""
        headers = {name: value for name, value in opening.headers.items() if name != WATCH_REVISION}
        headers["content-encoding"] = "identity"  # whoever compresses around this would hold lines back
        await self._start(opening.code, headers)
        await self._send({"type": "http.response.body", "body": opening.body, "more_body": True})

    async def send_lines(self, lines: list[bytes]) -> None:
        """More of the stream."""
        if lines:
            await self._send({"type": "http.response.body", "body": b"".join(lines), "more_body": True})

    async def end_stream(self) -> None:
        """The end of the stream; the client may have gone before."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def gone(self) -> None:
        """Returns when the client has closed the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _several(headers: Iterable[tuple[bytes, bytes]], prefix: bytes) -> dict[str, str]:
    """The headers with a prefix; the values of one that came more than once are lines of one text."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name.startswith(prefix):
            key, text = unquote(name.decode("latin-1")), value.decode("latin-1")
            found[key] = f"{found[key]}{SEPARATOR}{text}" if key in found else text
    return found
