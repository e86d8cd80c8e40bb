"""MCP over HTTP, started while the server already answers other requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fumishirube.serving import CatalogPublisher, InnerCalls, ToolHost, streamable_mcp
from fumishirube_http.limits import MESSAGE, check_values, read_body
from fumishirube_http.log import HUNG_UP, CallRecorder, Recorder
from fumishirube_http.problems import overload, reply


class McpEndpoint:
    """An ASGI application that serves the tools over MCP; first requests wait until it is ready.

    ``record`` is called after each call; ``person`` is the one who makes the calls, where known,
    and ``inner`` records those that a tool makes for one call.
    """

    def __init__(
        self,
        application: ToolHost,
        publisher: CatalogPublisher,
        record: Recorder,
        person: str | None,
        inner: InnerCalls | None,
    ) -> None:
        self._inner = inner
        self._application = application
        self._publisher = publisher
        self._report = CallRecorder(record, "mcp", person)
        self._answer: Callable[[Scope, bytes | None, Receive, Send], Awaitable[None]] | None = None
        self._ready: anyio.Event | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start it in the background; end all sessions on exit."""
        self._ready = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._run, self._ready)
            try:
                yield
            finally:
                self._ready.set()  # a request that still waits is answered, if only with a refusal
            group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._ready is not None:
            await self._ready.wait()
        body = None
        if scope["method"] == "POST":
            body = await read_body(Headers(scope=scope), receive, MESSAGE)
            if body is None:
                await Response(status_code=HUNG_UP)(scope, receive, send)
                return
            await to_thread.run_sync(check_values, body)
        if self._answer is None:  # without its lifespan, as in some tests, it has no sessions
            await reply(overload())(scope, receive, send)
        else:
            await self._answer(scope, body, receive, send)

    async def _run(self, ready: anyio.Event) -> None:
        application, publisher = self._application, self._publisher
        make = partial(
            streamable_mcp, application, publisher, report=self._report, inner=self._inner
        )
        served = await to_thread.run_sync(make, abandon_on_cancel=True)
        async with served.running():
            self._answer = served.answer
            ready.set()
            await anyio.sleep_forever()
