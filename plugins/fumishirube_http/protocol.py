"""The connection protocol, with timeouts for slow clients."""

from __future__ import annotations

from asyncio import Transport
from http import HTTPStatus
from operator import attrgetter
from time import monotonic
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from fumishirube.tools import compact
from fumishirube_http.lingering import LingeringTransport, Timer
from fumishirube_http.requests import RequestParser

CONNECTIONS = 448
"""The most open connections; a new one then closes the one that was idle longest."""
ARRIVAL = 15.0
"""Seconds for a request to arrive, from the connection or its first byte to its last."""
STREAM = "stream"
"""The key of a request's state that tells whether it stays open until its client leaves."""
READING = 30.0
"""Seconds for a client to continue to read a response."""


class Connection(H11Protocol):
    """uvicorn's protocol with limits of time and number."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = self._parser = RequestParser()
        self.since = monotonic()
        self._arrival = Timer(self.loop, ARRIVAL, self._expire)
        self._reading = Timer(self.loop, READING, self._abandon)

    @property
    def idle(self) -> bool:
        """Whether no request of this connection is in progress."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether the connection waits for a complete request."""
        return self.idle or self.cycle.more_body

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Accept a connection; if there are too many, close the one that was idle longest."""
        self.lingering = LingeringTransport(transport, self._may_send_more)
        super().connection_made(self.lingering)  # type: ignore[arg-type]  # it passes all on
        if len(self.connections) > CONNECTIONS:
            ours = (each for each in self.connections if isinstance(each, Connection))
            oldest = min((each for each in ours if each.waits), key=attrgetter("since"))
            # connection_lost comes later, and many connections may arrive before it.
            self.connections.discard(oldest)
            oldest.lingering.abort()
        self._arrival.start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self.lingering.end()
        self._arrival.stop()
        self._reading.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; start the timer at the beginning of a request."""
        if self.lingering.drains:
            self.lingering.drop(data)
            return
        if self.idle and not self._arrival.runs:
            self._arrival.start()
        super().data_received(data)

    def handle_events(self) -> None:
        """Handle events; stop the timer when the request is complete."""
        super().handle_events()
        if not self.idle and not self.cycle.more_body:
            self._arrival.stop()

    def on_response_complete(self) -> None:
        """Start the next request."""
        self._arrival.stop()
        self.since = monotonic()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close the connection, or wait for the request in progress unless it stays open."""
        if self.lingering.drains:
            self.lingering.abort()
        elif not self.idle and self.scope["state"].get(STREAM):
            self.transport.close()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """Wait for a slow reader, with a timeout."""
        super().pause_writing()
        self._reading.start()

    def resume_writing(self) -> None:
        """Continue to write."""
        self._reading.stop()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer malformed or oversized requests with a JSON body like all others."""
        self._refuse(400, self._parser.problem or msg)

    def _expire(self) -> None:
        """Answer 408, and tell the application that the client disconnected."""
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
        """Return whether the client may still send bytes that will not be read."""
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
                h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
