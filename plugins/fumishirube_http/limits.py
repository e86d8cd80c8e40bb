"""Limits the requests in progress, and the size of their bodies."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import nullcontext, suppress
from itertools import islice

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube_http.problems import Problem, invalid, overload, reply
from fumishirube_http.protocol import STREAM

UNDER_WAY = 128
"""The most requests in progress; further ones are answered with 503."""
STREAMS = 256
"""The most open streams, which are counted apart."""
SMALL = 64 * 1024
"""Bytes of a small body, which is read at once; the most for a declared endpoint."""
LARGE = 1024 * 1024
"""The most bytes of a body for ``/tools``."""
LARGE_AT_ONCE = 8
"""The most large bodies in progress; others wait unread."""
LARGE_SECONDS = 3.0
"""Seconds in which a large body must arrive after its wait."""
MESSAGE = 4 * 1024 * 1024
"""The most bytes of an MCP message."""
VALUES = 50_000
"""The most values in a large body; parsing more would block other threads for long."""

_LENGTH = re.compile(r"[0-9]{1,15}")
# One match a string, and one a value after a separator.
_VALUE = re.compile(rb'[",\[{](?:(?<=")[^"]*+"?)?')
_TOO_SLOW = "the request took too long to arrive"
_NO_JSON = "send the arguments as JSON, with the header 'Content-Type: application/json'"


class LimitMiddleware:
    """Limits the number of requests in progress, and so the memory that clients can use.

    Requests for the ``unlimited`` paths are always answered; streams at ``mcp_path`` stay open.
    """

    def __init__(self, app: ASGIApp, *, unlimited: Collection[str], mcp_path: str) -> None:
        self._app = app
        self._unlimited = unlimited
        self._mcp_path = mcp_path
        self._requests = anyio.Semaphore(UNDER_WAY)
        self._streams = anyio.Semaphore(STREAMS)
        self._large = anyio.Semaphore(LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or answer 503."""
        if scope["type"] != "http" or scope["path"] in self._unlimited:
            await self._app(scope, receive, send)
            return
        stream = is_stream(self._mcp_path, scope)
        scope.setdefault("state", {})[STREAM] = stream
        places = self._streams if stream else self._requests
        admission = _Admission(receive, places, self._large)
        if not _waits_for_body(scope) and not admission.enter():
            await reply(overload())(scope, receive, send)
            return
        try:
            await self._app(scope, admission.receive, send)
        finally:
            admission.leave()


class _Admission:
    """A request; it takes a place only with a complete body, so that slow senders take none."""

    def __init__(self, receive: Receive, places: anyio.Semaphore, large: anyio.Semaphore) -> None:
        self._receive = receive
        self._places = places
        self._large = large
        self._size = 0
        self._entered = False
        self._large_until = 0.0

    def enter(self) -> bool:
        """Take a place; return whether there was one."""
        if not self._entered:
            with suppress(anyio.WouldBlock):
                self._places.acquire_nowait()
                self._entered = True
        return self._entered

    async def receive(self) -> Message:
        """Return the next part of the body; wait for a turn before the large rest.

        Raises:
            Problem: 503 when there is no place, 408 when a large body arrives too slowly.
        """
        message = await self._next_message()
        self._size += len(message.get("body", b""))
        if self._size > SMALL and not self._large_until:
            await self._large.acquire()
            self._large_until = anyio.current_time() + LARGE_SECONDS
        whole = message["type"] == "http.request" and not message.get("more_body", False)
        if whole and not self.enter():
            raise overload()
        return message

    def leave(self) -> None:
        """Release the place and the turn."""
        if self._entered:
            self._places.release()
        if self._large_until:
            self._large.release()

    async def _next_message(self) -> Message:
        hurries = self._large_until and not self._entered
        until = self._large_until - anyio.current_time()
        try:
            with anyio.fail_after(max(until, 0)) if hurries else nullcontext():
                return await self._receive()
        except TimeoutError:
            raise invalid(_TOO_SLOW, 408, {"connection": "close"}) from None


def is_stream(mcp_path: str, scope: Scope) -> bool:
    """Return whether a request opens an event stream of a session."""
    if scope["path"] != mcp_path:
        return False
    listens = Headers(scope=scope).get("mcp-method") == "subscriptions/listen"
    return listens or scope["method"] == "GET"


def _waits_for_body(scope: Scope) -> bool:
    """Return whether a request is handled only after its body is complete."""
    headers = Headers(scope=scope)
    length = headers.get("content-length", "0")
    return scope["method"] == "POST" and ("transfer-encoding" in headers or length != "0")


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """Return the body of a request, or ``None`` when its client hung up.

    Raises:
        Problem: 415 when it is not JSON, 413 when it is too large; the rest is not read.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise invalid(_NO_JSON, 415)
    declared = headers.get("content-length", "0")
    if not _LENGTH.fullmatch(declared) or int(declared) > most:
        raise _too_large(most)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            break
    if body and not kind:
        raise invalid(_NO_JSON, 415)
    return bytes(body)


def check_values(body: bytes) -> None:
    """Raise a :class:`Problem` when a body holds more values than allowed."""
    if len(body) <= SMALL:
        return
    bare = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if sum(1 for _ in islice(_VALUE.finditer(bare), VALUES + 1)) > VALUES:
        raise invalid(f"the body holds too many values; send at most {VALUES:,}", 413)


def _too_large(most: int) -> Problem:
    message = f"the body is too large; send at most {most:,} bytes"
    return invalid(message, 413, {"connection": "close"})
