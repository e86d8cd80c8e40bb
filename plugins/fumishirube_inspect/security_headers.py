"""HTTP headers that stop other sites from requesting, framing or reading these pages."""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube.tools import compact

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Load nothing but this server's files, and run no inline script or style."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}

_OURS = ("none", "same-origin")


class SameOriginMiddleware:
    """Adds the security headers, and refuses requests from other sites' pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or answer it with an error."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if Headers(scope=scope).get("sec-fetch-site", "none") in _OURS:
            await self._app(scope, receive, sending)
            return
        reason = "requests of other sites' pages are refused; open this address by yourself"
        body = compact({"error": "forbidden", "message": reason}).encode()
        await Response(body, HTTPStatus.FORBIDDEN, media_type="application/json")(
            scope, receive, sending
        )
