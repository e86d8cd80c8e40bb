"""What no page of another site may do: ask, frame, or read what is shown here."""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube.serving import compact

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing but this server's own files is loaded, and no script or style that stands in a page."""

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
    """Adds the headers that keep other sites out, and refuses what their pages ask for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
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
