"""Sends each request of an MCP session to the worker that opened the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube_http.log import RequestLogEntry
from fumishirube_http.problems import overload, reply
from fumishirube_http.workers.places import CLIENT_HEADER, SECRET_HEADER, TRACE_PATH, WorkerPlace
from fumishirube_http.workers.relay import Unreachable, WorkerEnded, relay

_SESSION = b"mcp-session-id"
_ENDED = overload("the process that answered has ended; try again")


@dataclass(frozen=True)
class WorkerRouter:
    """An ASGI application around that of one worker.

    The ids of sessions begin with the number of their worker and a dash. ``trace`` returns a trace
    in memory as JSON, by the name of its store and its id, or ``None``.
    """

    app: ASGIApp
    place: WorkerPlace
    trace: Callable[[str, str], bytes | None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or relay it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope, relayed = self._received(scope)
        if relayed and scope["path"].startswith(TRACE_PATH):
            await self._answer_trace(scope, receive, send)
            return
        owner, session = _owner_of(Headers(scope=scope).get(_SESSION.decode()))
        known = owner is not None and 1 <= owner <= len(self.place.ports)
        if known and owner != self.place.number and not relayed:
            try:
                await self._relay(scope, receive, send, owner or 0)
            except Unreachable:  # no session of it is known here, or the request is malformed
                await self.app(scope, receive, send)
            return
        if known and owner == self.place.number:
            scope = {**scope, "headers": _replaced(scope["headers"], session)}
        await self.app(scope, receive, self._naming(send))

    def _received(self, scope: Scope) -> tuple[Scope, bool]:
        """Return the scope without the headers of workers, and whether a worker relayed it."""
        headers = dict(scope["headers"])
        relayed = self.place.is_peer(headers.get(SECRET_HEADER))
        own = (SECRET_HEADER, CLIENT_HEADER)
        received = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in own]}
        if relayed and CLIENT_HEADER in headers:
            scheme, host, port = headers[CLIENT_HEADER].decode().split(" ")
            received |= {"scheme": scheme, "client": (host, int(port))}
        return received, relayed

    async def _relay(self, scope: Scope, receive: Receive, send: Send, owner: int) -> None:
        """Relay a request; its owner logs it, unless it ends before."""
        started, line = monotonic(), RequestLogEntry(f"{scope['method']} {scope['path']}", status=0)

        async def watched(message: Message) -> None:
            line.status = message.get("status", line.status)
            await send(message)

        try:
            await relay(scope, receive, watched, self.place, owner)
        except WorkerEnded:
            answered, line.status = bool(line.status), 503
            line.write(monotonic() - started)
            if not answered:  # else the connection ends, which cuts the answer off
                await reply(_ENDED)(scope, receive, send)

    async def _answer_trace(self, scope: Scope, receive: Receive, send: Send) -> None:
        store, _, trace_id = scope["path"].removeprefix(TRACE_PATH).partition("/")
        data = await to_thread.run_sync(self.trace, store, trace_id)
        answer = Response(status_code=404) if data is None else Response(data)
        await answer(scope, receive, send)

    def _naming(self, send: Send) -> Send:
        """Return a function that puts the worker's number before the ids of its sessions."""
        prefix = f"{self.place.number}-".encode()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (name, prefix + value if name.lower() == _SESSION else value)
                    for name, value in message.get("headers", ())
                ]
                message = {**message, "headers": headers}
            await send(message)

        return named


def _owner_of(session: str | None) -> tuple[int | None, str]:
    """Return the number of the worker that an id of a session names, and the rest of the id."""
    number, dash, rest = (session or "").partition("-")
    named = dash and number.isascii() and number.isdigit() and len(number) < 4  # noqa: PLR2004 - more digits than workers
    return (int(number), rest) if named else (None, session or "")


def _replaced(headers: Iterable[tuple[bytes, bytes]], session: str) -> list[tuple[bytes, bytes]]:
    new = session.encode("latin-1")
    return [(name, new if name == _SESSION else value) for name, value in headers]
