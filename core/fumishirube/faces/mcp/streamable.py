"""MCP over streamable HTTP for many clients; sessions where the protocol has them."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from fumishirube.faces.mcp.requests import CallReporter, RequestContext
from fumishirube.faces.mcp.server import build_server
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.tools.definitions import InnerCalls, Session

SESSIONS = 256
"""Open sessions, at most; a further session ends the one that is idle longest."""
AT_ONCE = 128
"""Sessions that may begin at the same moment beyond the limit."""
IDLE = 1800
"""Seconds without a request after which a session ends."""

_SESSION_ID = "mcp-session-id"


class Streamable:
    """An ASGI application that serves a published catalog while ``running``.

    The caller has checked the Host and Origin headers. ``report`` is called after every call, and
    ``inner`` for those that a tool makes for one call.
    ``largest`` is the limit of a request's body in bytes.
    """

    def __init__(
        self,
        publisher: CatalogPublisher,
        *,
        name: str,
        version: str,
        instructions: str,
        report: CallReporter,
        inner: InnerCalls | None,
        largest: int,
    ) -> None:
        server = build_server(
            publisher,
            name=name,
            version=version,
            instructions=instructions,
            session_of=self._session,
            report=report,
            inner=inner,
        )
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._manager = StreamableHTTPSessionManager(
            server,
            security_settings=checked,
            session_idle_timeout=IDLE,
            max_request_body_size=largest,
            max_sessions=SESSIONS + AT_ONCE,
        )
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._open: OrderedDict[str, None] = OrderedDict()
        self._under_way: Counter[str] = Counter()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Run the session manager while the body runs, then end all sessions. It runs once only."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; if it opens a session too many, end the one that is idle longest."""
        session = Headers(scope=scope).get(_SESSION_ID)
        opened: list[str] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and session is None:
                opened.extend(_session_ids(message))
            await send(message)

        self._under_way[session or ""] += 1
        try:
            await self._manager.handle_request(scope, receive, watched)
        finally:
            self._leave(session or "")
        if scope["method"] == "DELETE":
            self._open.pop(session or "", None)
        for identity in opened:
            self._open[identity] = None
            await self._end_idle(scope)

    def _leave(self, session: str) -> None:
        self._under_way[session] -= 1
        if not self._under_way[session]:
            del self._under_way[session]
        if session in self._open:
            self._open.move_to_end(session)

    async def _end_idle(self, scope: Scope) -> None:
        """End the sessions beyond the limit for which no request is running."""
        idle = [session for session in self._open if session not in self._under_way]
        for session in idle[: max(len(self._open) - SESSIONS, 0)]:
            del self._open[session]
            self._sessions.pop(session, None)
            await self._end(session, scope)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session with the request that a client would send."""
        headers = [(_SESSION_ID.encode(), session.encode())]

        async def disconnected() -> Message:
            return {"type": "http.disconnect"}

        async def discard(_: Message) -> None:
            pass

        ending = {**scope, "method": "DELETE", "headers": headers}
        await self._manager.handle_request(ending, disconnected, discard)

    def _session(self, ctx: RequestContext) -> Session | None:
        """Return the session of a request; the manager has checked that it exists."""
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS or ctx.request is None:
            return None
        identity = ctx.request.headers.get(_SESSION_ID)
        if identity is None:
            return None
        session = self._sessions.setdefault(identity, Session())
        self._sessions.move_to_end(identity)
        # The manager does not report the end of a session; old ones are dropped for new ones.
        while len(self._sessions) > 4 * SESSIONS:
            self._sessions.popitem(last=False)
        return session


def _session_ids(message: Message) -> Sequence[str]:
    """Return the ids of the sessions that a response opens: one or none."""
    name = _SESSION_ID.encode()
    return [value.decode() for key, value in message["headers"] if key.lower() == name]
