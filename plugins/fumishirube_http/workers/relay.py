"""Relays one HTTP request to another worker, and its response back while it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
from starlette.types import Receive, Scope, Send

from fumishirube_http.workers.places import CLIENT_HEADER, LOCAL, SECRET_HEADER, WorkerPlace

_OF_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"upgrade", b"expect", b"te"}
)
"""Headers of one connection, which no relay passes on."""
_OF_RESPONSE = _OF_CONNECTION | {b"transfer-encoding", b"date"}
"""Headers of a response that this server adds itself."""
_CHUNK = 65536
_FIRST = asyncio.FIRST_COMPLETED
_LOOK_SECONDS = 0.2
"""Seconds between two looks at whether the other worker still serves."""


class Unreachable(Exception):
    """The other worker cannot answer the request."""


class WorkerEnded(Exception):
    """The other worker ended before its answer was complete."""


async def relay(
    scope: Scope, receive: Receive, send: Send, place: WorkerPlace, number: int
) -> None:
    """Relay a request to the worker of this number.

    Raises:
        Unreachable: when no worker of this number serves, or the request is not of HTTP/1.1: one
            of HTTP/1.0 may have no Host header.
        WorkerEnded: when it ends while it answers.
    """
    if number in place.unserved:
        raise Unreachable
    try:
        request = h11.Request(**_head(scope, place))
        reader, writer = await asyncio.open_connection(LOCAL, place.ports[number - 1])
    except (OSError, h11.LocalProtocolError) as error:
        raise Unreachable from error
    try:
        exchange = _Exchange(reader, writer)
        exchange.write(request)
        sending = asyncio.ensure_future(exchange.send_body(receive))
        try:
            await exchange.receive_response(send, sending, lambda: number in place.unserved)
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await sending
    except (OSError, h11.RemoteProtocolError) as error:
        raise WorkerEnded from error
    finally:
        writer.close()


class _Exchange:
    """One request and its response, over a connection of their own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connection = h11.Connection(h11.CLIENT)
        self._reader = reader
        self._writer = writer

    def write(self, event: Any) -> None:
        """Write an event of the request."""
        self._writer.write(self._connection.send(event) or b"")

    async def send_body(self, receive: Receive) -> None:
        """Send the body; return when the client has disconnected."""
        complete = False
        while (message := await receive())["type"] == "http.request":
            if complete:
                continue
            if message.get("body"):
                self.write(h11.Data(data=message["body"]))
                await self._writer.drain()
            if not message.get("more_body", False):
                self.write(h11.EndOfMessage())
                complete = True

    async def receive_response(
        self, send: Send, sending: asyncio.Future[None], ended: Callable[[], bool]
    ) -> None:
        """Pass on the response until its end, or until the client disconnects.

        The other worker may answer before it has the whole body, and take no more of it. If it
        has ``ended`` before it accepted the connection, nobody closes that.
        """
        pause: float | None = _LOOK_SECONDS
        while True:
            following = asyncio.ensure_future(self._event())
            either = (following, sending)
            while not (await asyncio.wait(either, timeout=pause, return_when=_FIRST))[0]:
                if ended():
                    following.cancel()
                    raise WorkerEnded
            if not following.done() and sending.exception() is None:
                following.cancel()
                return  # closing the connection tells the other worker too
            event = await following
            if isinstance(event, h11.Response):
                pause = None
                headers = [pair for pair in event.headers if pair[0] not in _OF_RESPONSE]
                start = {"type": "http.response.start", "status": event.status_code}
                await send({**start, "headers": headers})
            elif isinstance(event, h11.Data):
                body = bytes(event.data)
                await send({"type": "http.response.body", "body": body, "more_body": True})
            elif isinstance(event, h11.EndOfMessage):
                await send({"type": "http.response.body", "body": b""})
                return

    async def _event(self) -> Any:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            self._connection.receive_data(await self._reader.read(_CHUNK))
        return event


def _head(scope: Scope, place: WorkerPlace) -> dict[str, Any]:
    """Return the method, the target and the headers of a relayed request."""
    host, port = scope.get("client") or ("-", 0)
    target = scope["raw_path"]
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    headers = [pair for pair in scope["headers"] if pair[0] not in _OF_CONNECTION]
    return {
        "method": scope["method"],
        "target": target,
        "headers": [
            *headers,
            (b"connection", b"close"),
            (SECRET_HEADER, place.secret.encode()),
            (CLIENT_HEADER, f"{scope['scheme']} {host} {port}".encode()),
        ],
    }
