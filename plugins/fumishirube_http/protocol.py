"""A connection: who is slow to ask, or slow to read, does not keep it."""

from __future__ import annotations

from asyncio import Transport
from operator import attrgetter
from time import monotonic
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from fumishirube.serving import compact
from fumishirube_http.lingering import LingeringTransport, Timer
from fumishirube_http.requests import RequestParser

CONNECTIONS = 448
"""Connections that are open; for another, the one that waited longest for a request is closed."""
HEAD = 16 * 1024
"""Bytes of a request's line and headers."""
ASKING = 15.0
"""Seconds in which a request has to arrive, from its connection or its first byte to its last."""
READING = 30.0
"""Seconds in which a client has to go on reading what it is sent."""


class Connection(H11Protocol):
    """What uvicorn does for a connection, with limits of time and number."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = RequestParser(HEAD)
        self.since = monotonic()
        self._asking = Timer(self.loop, ASKING, self._expire)
        self._reading = Timer(self.loop, READING, self._abandon)

    @property
    def idle(self) -> bool:
        """Whether no request of this connection is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether no whole request has arrived that still has to be answered."""
        return self.idle or self.cycle.more_body

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, if need be in place of one that only waits."""
        self.lingering = LingeringTransport(transport, self._may_send_more)
        super().connection_made(self.lingering)  # type: ignore[arg-type]
        if len(self.connections) > CONNECTIONS:
            ours = (
                connection
                for connection in self.connections
                if isinstance(connection, Connection) and connection.waits
            )
            oldest = min(ours, key=attrgetter("since"))
            # The transport says only later that it is gone; by then many more may have come.
            self.connections.discard(oldest)
            oldest.lingering.abort()
        self._asking.start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.lingering.end()
        self._asking.stop()
        self._reading.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what arrived; a request that begins has to end in time."""
        if self.lingering.drains:
            self.lingering.drop(data)
            return
        if self.idle and not self._asking.runs:
            self._asking.start()
        super().data_received(data)

    def handle_events(self) -> None:
        """Work on what arrived; once a request is whole, it may take its time."""
        super().handle_events()
        if not self.idle and not self.cycle.more_body:
            self._asking.stop()

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        self._asking.stop()
        self.since = monotonic()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close the connection, or after the request that is being answered."""
        if self.lingering.drains:
            self.lingering.abort()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """Wait for a client that reads too slowly, but not for ever."""
        super().pause_writing()
        self._reading.start()

    def resume_writing(self) -> None:
        """Go on writing."""
        self._reading.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or has too long a head, with a body like every other."""
        self._refuse(400, msg)

    def _expire(self) -> None:
        """Tell a client that it took too long; the application hears that it went away."""
        if not self.idle:
            if self.cycle.response_started:
                self.transport.abort()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._refuse(408, "the request took too long to arrive")

    def _abandon(self) -> None:
        self.transport.abort()

    def _may_send_more(self) -> bool:
        """Tell whether the client may still be sending what nobody will read."""
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def _refuse(self, status: int, message: str) -> None:
        body = compact({"error": "invalid_request", "message": message}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            events = (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
