"""Many clients over streamable HTTP, each with a session of its own where its protocol has one."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from fumishirube.faces.mcp.host import build_server
from fumishirube.faces.mcp.requests import CallReporter, RequestContext
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.tools.definitions import Session

SESSIONS = 256
"""Sessions that are open at a time; for another, the longest idle one is ended."""
AT_ONCE = 128
"""Sessions beyond them that may begin at the same moment."""
IDLE = 1800
"""Seconds after which a session ends of which nothing is heard."""

_SESSION_ID = "mcp-session-id"
_ADDRESSES = (b"host", b"origin")


class Streamable:
    """An ASGI application that serves what hangs on a board; it has to be running.

    ``hosts`` are the names by which a request may call the server, whatever the port, and
    ``report`` is told of every call; no message may have more bytes than ``largest``.
    """

    def __init__(
        self,
        publisher: CatalogPublisher,
        *,
        name: str,
        version: str,
        instructions: str,
        hosts: Sequence[str],
        report: CallReporter,
        largest: int,
    ) -> None:
        server = build_server(
            publisher,
            name=name,
            version=version,
            instructions=instructions,
            session_of=self._session,
            report=report,
        )
        settings = TransportSecuritySettings(
            allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
            allowed_origins=[
                f"{scheme}://{host}{port}"
                for scheme in ("http", "https")
                for host in hosts
                for port in ("", ":*")
            ],
        )
        self._manager = StreamableHTTPSessionManager(
            server,
            security_settings=settings,
            session_idle_timeout=IDLE,
            max_request_body_size=largest,
            max_sessions=SESSIONS + AT_ONCE,
        )
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._open: OrderedDict[str, None] = OrderedDict()
        self._under_way: Counter[str] = Counter()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Let sessions begin, and end them all on leaving; once only."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; where it opens a session too many, end the longest idle one."""
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
        """End what is too many of the sessions for which no request is under way."""
        idle = [session for session in self._open if session not in self._under_way]
        for session in idle[: max(len(self._open) - SESSIONS, 0)]:
            del self._open[session]
            self._sessions.pop(session, None)
            await self._end(session, scope)

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session as a client of its own does."""
        addresses = [pair for pair in scope["headers"] if pair[0] in _ADDRESSES]
        headers = [*addresses, (_SESSION_ID.encode(), session.encode())]

        async def silence() -> Message:
            return {"type": "http.disconnect"}

        async def nowhere(_: Message) -> None:
            pass

        ending = {**scope, "method": "DELETE", "headers": headers}
        await self._manager.handle_request(ending, silence, nowhere)

    def _session(self, ctx: RequestContext) -> Session | None:
        """Return the memory of a request's session, which the manager has checked to exist."""
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS or ctx.request is None:
            return None
        identity = ctx.request.headers.get(_SESSION_ID)
        if identity is None:
            return None
        session = self._sessions.setdefault(identity, Session())
        self._sessions.move_to_end(identity)
        # Sessions end in many ways, none of which tells us; old ones give way to new ones.
        while len(self._sessions) > 4 * SESSIONS:
            self._sessions.popitem(last=False)
        return session


def _session_ids(message: Message) -> Sequence[str]:
    """Return the session that an answer opens, if any."""
    name = _SESSION_ID.encode()
    return [value.decode() for key, value in message["headers"] if key.lower() == name]
