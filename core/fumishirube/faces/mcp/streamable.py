"""MCP over streamable HTTP for many clients; sessions where the protocol has them."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections import OrderedDict
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json
from sse_starlette.sse import AppStatus
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from fumishirube.faces.mcp.incoming import RefusedLine, encoded, error_message, parsed_line
from fumishirube.faces.mcp.requests import CallReporter, RequestContext, connection_of
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
_VERSION = "mcp-protocol-version"
_ENDED = (200, 404)
"""The statuses of a DELETE after which there is no session."""
_NO_MESSAGE = RefusedLine(error_message(None, types.INVALID_REQUEST, "Invalid Request"))


@dataclass
class _OpenSession:
    """The state of a session, its requests in progress, and the ids of those that have one."""

    state: Session = field(default_factory=Session)
    requests: int = 0
    ids: set[str] = field(default_factory=set)


class Streamable:
    """Answers requests with a published catalog while ``running``.

    The caller has checked the Host and Origin headers. ``inner`` is for calls that a tool makes for
    one call.
    """

    def __init__(
        self,
        publisher: CatalogPublisher,
        *,
        name: str,
        report: CallReporter,
        inner: InnerCalls | None,
    ) -> None:
        server = build_server(
            publisher,
            name=name,
            session_of=self._session,
            report=report,
            inner=inner,
        )
        # Else it ends all answers at a signal, also of calls that have some seconds left.
        AppStatus.enable_automatic_graceful_drain = False
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._manager = StreamableHTTPSessionManager(
            server,
            security_settings=checked,
            session_idle_timeout=IDLE,
            max_request_body_size=sys.maxsize,  # the caller has read it
            max_sessions=SESSIONS + AT_ONCE,
        )
        server.middleware.append(self._begin)
        self._open: OrderedDict[str, _OpenSession] = OrderedDict()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Run the session manager while the body runs, then end all sessions. It runs once only."""
        return self._manager.run()

    async def answer(self, scope: Scope, body: bytes | None, receive: Receive, send: Send) -> None:
        """Answer a request; if it opens a session too many, end the one that is idle longest.

        ``body`` is that of a POST, which the caller has received.
        """
        message = None
        if body is not None:
            message = await to_thread.run_sync(parsed_line, body, from_json) or _NO_MESSAGE
            if isinstance(message, RefusedLine):
                await _reply(message.answer)(scope, receive, send)
                return
            if isinstance(message, types.JSONRPCError):  # perhaps in place of a broken response
                body = encoded(message)
            receive = _again(body.removeprefix(BOM_UTF8), receive)
        headers = Headers(scope=scope)
        session = headers.get(_SESSION_ID)
        version = headers.get(_VERSION, HANDSHAKE_PROTOCOL_VERSIONS[0])
        if session is None or version not in HANDSHAKE_PROTOCOL_VERSIONS:  # later ones have none
            await self._answer_first(scope, receive, send)
            return
        known = self._open.get(session, _OpenSession())
        if not isinstance(message, types.JSONRPCRequest):
            await self._answer_in(session, known, scope, receive, send)
            return
        identity = str(message.id)  # as the manager tells its requests apart
        if identity in known.ids:
            refusal = error_message(message.id, types.INVALID_REQUEST, "this id is in use")
            await _reply(refusal)(scope, receive, send)
            return
        known.ids.add(identity)
        try:
            receive, send = self._cancelling(message.id, scope, receive, send)
            await self._answer_in(session, known, scope, receive, send)
        finally:
            known.ids.discard(identity)

    async def _answer_in(
        self, session: str, known: _OpenSession, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a request of a session."""
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        known.requests += 1
        try:
            await self._manager.handle_request(scope, receive, watched)
        finally:
            known.requests -= 1
            if session in self._open:
                self._open.move_to_end(session)
        if scope["method"] == "DELETE" and status in _ENDED:
            self._open.pop(session, None)

    async def _answer_first(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session, which may open one."""
        made: list[str] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                made.extend(Headers(raw=message["headers"]).getlist(_SESSION_ID))
            await send(message)

        await self._manager.handle_request(scope, receive, watched)
        for session in made:
            # The manager makes one before it looks at the request, and may refuse it with 200.
            if session not in self._open:
                await self._end(session, scope)
        while len(self._open) > SESSIONS:
            idle = next((name for name, known in self._open.items() if not known.requests), None)
            if idle is None:
                return
            del self._open[idle]
            await self._end(idle, scope)

    async def _begin(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Open a session when its ``initialize`` succeeds, before the client reads the answer."""
        result = await call_next(ctx)
        session = connection_of(ctx).session_id  # the request's headers have none yet
        if ctx.method == "initialize" and session is not None:
            self._open.setdefault(session, _OpenSession())
        return result

    def _cancelling(
        self, identity: str | int, scope: Scope, receive: Receive, send: Send
    ) -> tuple[Receive, Send]:
        """Return functions that receive and send, and cancel a request whose client hangs up.

        The manager would let it run on, with its id free and counted for no limit, and nobody could
        fetch the answer. Its answer, or that it was cancelled, ends the wait.
        """
        complete = False

        async def watched(message: Message) -> None:
            nonlocal complete
            complete = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        async def receive_or_cancel() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and not complete:
                params = {"requestId": identity}
                cancelling = types.JSONRPCNotification(
                    jsonrpc="2.0", method="notifications/cancelled", params=params
                )
                body = encoded(cancelling)
                await self._manager.handle_request(scope, _again(body, receive), _discard)
                await anyio.sleep_forever()
            return message

        return receive_or_cancel, watched

    async def _end(self, session: str, scope: Scope) -> None:
        """End a session with the request that a client would send."""
        headers = [(_SESSION_ID.encode(), session.encode())]

        async def disconnected() -> Message:
            return {"type": "http.disconnect"}

        ending = {**scope, "method": "DELETE", "headers": headers}
        await self._manager.handle_request(ending, disconnected, _discard)

    def _session(self, ctx: RequestContext) -> Session | None:
        """Return the session of a request; the manager has checked that it exists."""
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS or ctx.request is None:
            return None
        session = self._open.get(ctx.request.headers.get(_SESSION_ID, ""))
        return None if session is None else session.state


async def _discard(_: Message) -> None:
    pass


def _reply(refusal: types.JSONRPCError) -> Response:
    return Response(encoded(refusal), 400, media_type="application/json")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives a body again."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again
