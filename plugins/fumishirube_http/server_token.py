"""The check of the server's own token, which all its clients share."""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from fumishirube_http.problems import reply, unauthorized


class ServerTokenMiddleware:
    """Passes on requests with the server's token, and answers all others with a 401.

    ``open_path`` needs no token, and without a ``token`` no path does.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, open_path: str) -> None:
        self._app = app
        self._token = token.encode() if token else None
        self._open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or answer it with a 401."""
        checked = scope["type"] == "http" and scope["path"] != self._open_path
        if self._token and checked and not self._has_token(Headers(scope=scope)):
            message = "send the header 'Authorization: Bearer TOKEN' with this server's token"
            await reply(unauthorized(message))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _has_token(self, headers: Headers) -> bool:
        presented = bearer_token(headers).encode("latin-1", "replace")
        return hmac.compare_digest(presented, self._token or b"")


def bearer_token(headers: Headers) -> str:
    """Return the token that a request sends; empty without one."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else ""
