"""One MCP client over standard input and output: one JSON-RPC message a line."""

from __future__ import annotations

import gc
import os
import sys
from asyncio import Event, get_running_loop
from collections import deque
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Semaphore, Thread
from time import monotonic, sleep

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from fumishirube.faces.mcp.incoming import RefusedLine, encoded, parsed_line
from fumishirube.faces.mcp.server import build_server
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.host.scheduler import SWITCH_SECONDS
from fumishirube.host.standard_streams import exit_within
from fumishirube.tools.definitions import Session

GRACE = 0.2
"""Seconds that running calls may take to answer after the client closed its input."""
LAST = 0.45
"""Seconds after which the process ends once the client closed its input."""

MOST_WAITING = 64
"""Messages that are read before the server receives them."""

GC_THRESHOLDS = (700, 10, 500)
"""Thresholds of ``gc``; full collections are so rare that only the idle collector runs them."""
GC_ANSWERS = 16
"""Answers after which a full collection is due."""
GC_REST = 1.0
"""Seconds without a request before a due collection runs."""


class Wire:
    """Lines of bytes in and out. One thread reads, one writes."""

    def __init__(self, source: int, output_descriptor: int) -> None:
        self._source = os.fdopen(source, "rb", closefd=False)
        self._sink = output_descriptor

    def lines(self) -> Iterator[bytes]:
        """Yield each incoming line, until the other side closes the stream."""
        with suppress(OSError):
            yield from self._source

    def write(self, line: bytes) -> None:
        """Write one line, and add the line end; raise an :class:`OSError` if the reader is gone."""
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self._sink, rest) :]


def run_stdio(publisher: CatalogPublisher, *, name: str, wire: tuple[int, int]) -> None:
    """Serve a catalog over the descriptors of a wire until the client closes it.

    The process ends within half a second after that, so the caller must close its resources at
    once.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    served = partial(serve, publisher, name=name, wire=Wire(*wire))
    with suppress(KeyboardInterrupt):
        anyio.run(served)
    exit_within(LAST)


async def serve(publisher: CatalogPublisher, *, name: str, wire: Wire) -> None:
    """Serve one client, as one session, until it closes the connection."""
    session = Session()
    server = build_server(publisher, name=name, session_of=lambda _: session)
    incoming, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    pending: set[types.RequestId | None] = set()
    collector = IdleCollector(pending)
    async with anyio.create_task_group() as group:
        group.start_soon(_write, wire, outgoing, pending, collector, group.cancel_scope)
        inbox = _Inbox(incoming)
        group.start_soon(inbox.deliver)
        reader = Thread(
            target=_read,
            args=(wire, inbox, outbound.clone(), pending, current_token()),
            name="fumishirube reader",
            daemon=True,
        )
        reader.start()
        async with collector.running():
            await server.run(inbound, outbound, server.create_initialization_options())


class _Inbox:
    """Messages on their way from the thread that reads to the server.

    The thread does not wait for each to be received: every wait costs a turn of the interpreter,
    which a computing call holds. So a ping behind ten calls would wait for ten turns and more.
    """

    def __init__(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        self._incoming = incoming
        self._loop = get_running_loop()
        self._room = Semaphore(MOST_WAITING)
        self._messages: deque[SessionMessage] = deque()
        self._arrived = Event()
        self._ended = False

    def put(self, message: SessionMessage) -> None:
        """Add a message, from another thread; wait while there are too many."""
        self._room.acquire()
        self._messages.append(message)
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError as error:
            raise anyio.RunFinishedError from error

    def __len__(self) -> int:
        return len(self._messages)

    async def deliver(self) -> None:
        """Deliver the messages in order, until they are closed or the server has ended."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            while not self._ended:
                await self._arrived.wait()
                self._arrived.clear()
                while self._messages:
                    await self._incoming.send(self._messages[0])
                    self._messages.popleft()
                    self._room.release()

    def close(self) -> None:
        """End the messages for the server."""
        self._ended = True
        self._arrived.set()
        self._incoming.close()


def _read(
    wire: Wire,
    inbox: _Inbox,
    outbound: MemoryObjectSendStream[SessionMessage],
    pending: set[types.RequestId | None],
    token: EventLoopToken,
) -> None:
    """Feed incoming messages to the loop; at the end of the input, start to end the process."""

    def close() -> None:
        inbox.close()
        outbound.close()

    ended = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.RunFinishedError)
    try:
        with suppress(*ended):
            for line in wire.lines():
                message = parsed_line(line)
                _follow(message, pending)
                if isinstance(message, RefusedLine):
                    from_thread.run(outbound.send, SessionMessage(message.answer), token=token)
                elif message is not None:
                    inbox.put(SessionMessage(message))
    finally:
        exit_within(LAST)
        deadline = monotonic() + GRACE
        while (pending or inbox) and monotonic() < deadline:
            sleep(0.005)
        with suppress(*ended):
            from_thread.run_sync(close, token=token)


def _follow(message: object, pending: set[types.RequestId | None]) -> None:
    """Track the ids of the requests that wait for an answer."""
    if isinstance(message, types.JSONRPCRequest):
        # A subscription never gets an answer, so it is not pending.
        if message.method != "subscriptions/listen":
            pending.add(message.id)
    elif isinstance(message, types.JSONRPCNotification):
        with suppress(TypeError):  # an id may be any JSON
            pending.discard((message.params or {}).get("requestId"))
    elif isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
        pending.discard(message.id)


async def _write(
    wire: Wire,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    pending: set[types.RequestId | None],
    collector: IdleCollector,
    scope: anyio.CancelScope,
) -> None:
    """Write outgoing messages in a thread, so that a slow reader does not block the loop."""
    limiter = anyio.CapacityLimiter(1)
    async with outgoing:
        async for item in outgoing:
            message = item.message
            line = partial(wire.write, encoded(message))
            try:
                await to_thread.run_sync(line, abandon_on_cancel=True, limiter=limiter)
            except OSError:
                exit_within(LAST)
                scope.cancel()
                return
            _follow(message, pending)
            collector.record_answer()


class IdleCollector:
    """Runs full collections while the client is idle.

    A full collection stops every thread, for tens of milliseconds once a large manual is open: too
    long for a ping behind it.
    """

    def __init__(self, pending: Collection[object]) -> None:
        self._pending = pending
        self._answers = 0
        self._last = 0.0
        self._due = anyio.Event()

    def record_answer(self) -> None:
        """Count an answer that has been written."""
        self._answers += 1
        self._last = monotonic()
        if self._answers >= GC_ANSWERS:
            self._due.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Collect while the body runs, whenever a collection is due and no request is pending."""
        # Objects made at start-up live as long as the process; the collector can skip them.
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()
        async with anyio.create_task_group() as group:
            group.start_soon(self._collect)
            yield
            group.cancel_scope.cancel()

    async def _collect(self) -> None:
        while True:
            await self._due.wait()
            await anyio.sleep(GC_REST)
            if not self._pending and monotonic() - self._last >= GC_REST:
                gc.collect()
                self._answers, self._due = 0, anyio.Event()
