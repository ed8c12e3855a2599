"""What every answer and every unsafe request has in common: security headers, and where a request came from.

A form is accepted only from our own pages: browsers state `Sec-Fetch-Site` or `Origin`, and neither can be set by
another site's script. WebSockets are checked the same way. This needs no token in any form.
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_forged(headers: Headers) -> bool:
    """Whether another site made this request. Clients that are no browsers state neither header and may pass."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in {"same-origin", "none"}:
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


def content_security_policy(nonce: str) -> str:
    """The policy of every page: our own files, plus inline styles and scripts that carry this answer's nonce."""
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce}'",
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


class SecurityMiddleware:
    """Sets the headers, hands out `scope["csp_nonce"]`, and refuses forged requests.

    Paths under `/k/` are the Kubernetes API: their secret is the credential, and no cookie counts there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in {"http", "websocket"} or scope["path"].startswith("/k/"):
            await self._app(scope, receive, send)
            return
        unsafe = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if unsafe and is_forged(Headers(scope=scope)):
            await self._refuse(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope["csp_nonce"] = nonce

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", content_security_policy(nonce))
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "same-origin")
                headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
                headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403, "reason": "This request came from another site."})
            return
        answer = PlainTextResponse(
            "This request came from another site and was not carried out. Open the page here and send it again.\n",
            status_code=403,
        )
        await answer(scope, receive, send)
