"""How much is taken on: requests under way, and large bodies among them."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube_http.problems import Problem, invalid
from fumishirube_http.replies import busy

UNDER_WAY = 128
"""Requests that may be under way; who comes then is told to come again."""
SMALL = 64 * 1024
"""Bytes of a body that are taken from anybody, and all that an endpoint takes."""
LARGE = 1024 * 1024
"""Bytes of a body that a tool takes."""
LARGE_AT_ONCE = 8
"""Bodies over the small size that are read and worked on at a time; others wait, unread."""
MESSAGE = 4 * 1024 * 1024
"""Bytes of a message of MCP."""
VALUES = 50_000
"""Values in a body over the small size; to read more would not let another thread run."""

_DIGITS = 16
# One match for each string, and for each other value that something precedes.
_VALUE = re.compile(rb'[",\[{](?:(?<=")[^"]*+"?)?')
_NO_JSON = "send the arguments as JSON, with the header 'Content-Type: application/json'"


class LimitMiddleware:
    """Counts the requests under way, so that no number of clients fills the memory.

    ``free`` tells which requests are not counted.
    """

    def __init__(self, app: ASGIApp, *, free: Callable[[Scope], bool]) -> None:
        self._app = app
        self._free = free
        self._under_way = 0
        self._large = anyio.Semaphore(LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if there is room."""
        if scope["type"] != "http" or self._free(scope):
            await self._app(scope, receive, send)
            return
        if self._under_way >= UNDER_WAY:
            await busy()(scope, receive, send)
            return
        self._under_way += 1
        body = _Body(receive, self._large)
        try:
            await self._app(scope, body.receive, send)
        finally:
            self._under_way -= 1
            body.close()


class _Body:
    """A request's body, of which more than a little is read only when it is its turn."""

    def __init__(self, receive: Receive, large: anyio.Semaphore) -> None:
        self._receive = receive
        self._large = large
        self._size = 0
        self._holds = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > SMALL and not self._holds:
            await self._large.acquire()
            self._holds = True
        return message

    def close(self) -> None:
        if self._holds:
            self._large.release()


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """Return the body of a request, or ``None`` when its client went away.

    Raises:
        Problem: 415 when it is no JSON, 413 when it is too large; the rest is left unread.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise invalid(_NO_JSON, 415)
    declared = headers.get("content-length", "0")
    if not (
        declared.isascii()
        and declared.isdigit()
        and len(declared) < _DIGITS
        and int(declared) <= most
    ):
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
    """Raise a :class:`Problem` when a body holds more values than any tool takes."""
    if len(body) <= SMALL:
        return
    bare = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if sum(1 for _ in islice(_VALUE.finditer(bare), VALUES + 1)) > VALUES:
        raise invalid(f"the body holds too many values; send at most {VALUES:,}", 413)


def _too_large(most: int) -> Problem:
    message = f"the body is too large; send at most {most:,} bytes"
    return invalid(message, 413, {"connection": "close"})
