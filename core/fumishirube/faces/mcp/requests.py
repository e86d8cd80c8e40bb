"""Requests run in threads, which are cancelled when the client stops waiting."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Event, Lock
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import anyio
import mcp_types as types
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import JsonValue

from fumishirube.budget import Budget
from fumishirube.errors import Cancelled, InternalError, NotFound, ToolError
from fumishirube.host.logs import log_event
from fumishirube.host.scheduler import Scheduler
from fumishirube.text.encoding import replace_surrogates
from fumishirube.tools.calls import error_payload, logged_failure
from fumishirube.tools.definitions import Call, InnerCalls, Progress, Session

T = TypeVar("T")

NO_RESOURCE = -32002
"""The error code of the older protocol for a resource that does not exist."""

RequestContext: TypeAlias = ServerRequestContext[Any, Any]
SessionOf: TypeAlias = Callable[[RequestContext], Session | None]

CallReporter: TypeAlias = Callable[
    [str, object, Mapping[str, JsonValue], ToolError | Cancelled | None, float], None
]
"""Called after every call: with the tool, its arguments, its answer, its error, and the seconds.

A call that the client cancels ends there, whatever its thread still does.

Without one, every call is logged.
"""

PACE = 0.1
"""Seconds between two reports of one call."""
ProgressStep: TypeAlias = tuple[float, int, str]


class RequestRunner:
    """Runs the requests of one server in worker threads.

    ``session_of`` returns the session that a request belongs to, or ``None``. ``inner`` is for
    calls within calls.
    """

    def __init__(
        self,
        session_of: SessionOf,
        report: CallReporter | None = None,
        inner: InnerCalls | None = None,
    ) -> None:
        self.session_of = session_of
        self._inner = inner
        self._report = report or _logged
        self._scheduler = Scheduler()

    async def run(
        self, ctx: RequestContext, body: Callable[[Call], T], name: str, arguments: object
    ) -> T | ToolError:
        """Run a body when the scheduler has a thread free; return its result, or why there is none.

        ``name`` is what errors call the request. A cancelled one is reported here.
        """
        began, cancelled = monotonic(), Event()
        try:
            async with _progress(ctx) as progress:
                budget = Budget(cancelled=cancelled)
                call = Call(self.session_of(ctx), budget, progress, self._inner)
                try:
                    return await self._scheduler.run(partial(body, call), name)
                except ToolError as error:  # raised, it would leave the group as a group of errors
                    return error
        except anyio.get_cancelled_exc_class():
            self.report(name, arguments, {}, Cancelled("the request was cancelled"), began)
            raise
        finally:
            cancelled.set()

    async def answer_request(
        self, ctx: RequestContext, body: Callable[[Call], T], arguments: object = None
    ) -> T:
        """Run the body of a request other than a tool call; report it if it has arguments."""
        began = monotonic()
        answer = await self.run(ctx, partial(_attempt, ctx.method, body), ctx.method, arguments)
        if not isinstance(answer, ToolError):
            if arguments is not None:
                self.report(ctx.method, arguments, {}, None, began)
            return answer
        self.report(ctx.method, arguments or {}, {}, answer, began)
        payload = error_payload(answer)
        raise MCPError(_code(ctx, answer), str(payload["message"]), payload)

    def report(
        self,
        name: str,
        arguments: object,
        answer: Mapping[str, JsonValue],
        error: ToolError | Cancelled | None,
        began: float,
    ) -> None:
        """Report a call, its answer or error, and its time."""
        self._report(name, arguments, answer, error, monotonic() - began)


def connection_of(ctx: RequestContext) -> Connection:
    """Return the connection on which a request came; it outlives the request's session."""
    return ctx.session._connection  # noqa: SLF001 - the SDK has no public name for it


def _logged(
    name: str, _: object, _answer: object, error: ToolError | Cancelled | None, seconds: float
) -> None:
    left: dict[str, JsonValue] = {"code": "cancelled"} if error else {}
    failed = error_payload(error) if isinstance(error, ToolError) else left
    details = failed.get("details")
    # An internal error is logged already.
    refused = isinstance(error, ToolError) and not isinstance(error, InternalError)
    log_event(
        logging.WARNING if refused else logging.INFO,
        tool=name,
        elapsed_ms=round(seconds * 1000),
        code=failed.get("code"),
        error_id=details.get("error_id") if isinstance(details, dict) else None,
    )


def _attempt(method: str, body: Callable[[Call], T], call: Call) -> T | ToolError:
    try:
        return body(call)
    except BaseException as error:  # a plugin may exit; the server goes on
        return failure_of(error, call, method=method)


def failure_of(error: BaseException, call: Call, **fields: str) -> ToolError:
    """Return what a client gets for an error; another one is logged, if the client still waits."""
    if isinstance(error, ToolError):
        return error
    left = call.budget.cancelled.is_set()
    return InternalError() if left else logged_failure(error, **fields)


def _code(ctx: RequestContext, error: ToolError) -> int:
    if isinstance(error, InternalError):
        return types.INTERNAL_ERROR
    missing = isinstance(error, NotFound) and ctx.method == "resources/read"
    older = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    return NO_RESOURCE if missing and older else types.INVALID_PARAMS


@asynccontextmanager
async def _progress(ctx: RequestContext) -> AsyncIterator[Progress | None]:
    """Yield what a tool reports its progress to from any thread, if the client requested progress.

    All reports that were sent have reached the client before the body is left.
    """
    if not ctx.meta or ctx.meta.get("progress_token") is None:
        yield None
        return

    send, receive = anyio.create_memory_object_stream[ProgressStep](8)

    async def report_all() -> None:
        async with receive:
            async for done, total, message in receive:
                shown = replace_surrogates(message) or None
                await ctx.session.report_progress(done, total or None, shown)

    async with anyio.create_task_group() as group:
        group.start_soon(report_all)
        with send:
            yield _Steps(send, current_token())


class _Steps:
    def __init__(self, steps: MemoryObjectSendStream[ProgressStep], token: EventLoopToken) -> None:
        self._steps = steps
        self._token = token
        self._lock = Lock()
        self._done = -1.0
        self._at = -PACE

    def __call__(self, done: float, total: int, message: str) -> None:
        if not (math.isfinite(done) and math.isfinite(total) and isinstance(message, str)):
            raise TypeError("progress is reported as two finite numbers and a text")
        with self._lock:
            now, last = monotonic(), self._done
            complete = last < total <= done
            if done <= last or (now - self._at < PACE and not complete):
                return
            self._done, self._at = done, now
        # A client that left, or reads too slowly, misses a step; the tool continues.
        with suppress(
            anyio.WouldBlock,
            anyio.ClosedResourceError,
            anyio.BrokenResourceError,
            anyio.RunFinishedError,
        ):
            step = (done, total, message)
            from_thread.run_sync(self._steps.send_nowait, step, token=self._token)
