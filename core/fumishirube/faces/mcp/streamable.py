"""Many clients over streamable HTTP, each with a session of its own where its protocol has one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from fumishirube.faces.mcp.host import build_server
from fumishirube.faces.mcp.requests import CallReporter, RequestContext
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.tools.definitions import Session

SESSIONS = 256
"""Sessions that are open at a time."""
IDLE = 1800
"""Seconds after which a session ends of which nothing is heard."""

_SESSION_ID = "mcp-session-id"


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
            max_sessions=SESSIONS,
        )
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Let sessions begin, and end them all on leaving; once only."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._manager.handle_request(scope, receive, send)

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
