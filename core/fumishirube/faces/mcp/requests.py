"""Working on requests, in threads that are told when the client stops waiting."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from threading import Event
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import JsonValue

from fumishirube.errors import InternalError, NotFound, ToolError
from fumishirube.faces.mcp.progress import relayed
from fumishirube.host.calls import LOG, error_payload, replace_surrogates
from fumishirube.host.logs import log_event
from fumishirube.host.scheduler import Scheduler
from fumishirube.query import Budget
from fumishirube.tools.definitions import Call, Progress, Session

T = TypeVar("T")

NO_RESOURCE = -32002
"""What older clients know for a resource that is not there."""

RequestContext: TypeAlias = ServerRequestContext[Any, Any]
SessionOf: TypeAlias = Callable[[RequestContext], Session | None]

CallReporter: TypeAlias = Callable[
    [str, object, Mapping[str, JsonValue], ToolError | None, float], None
]
"""Told of each call: the tool, its arguments, its answer or error, and the seconds it took."""


class RequestRunner:
    """The workers of one server.

    ``session_of`` gives the session that a request belongs to, or ``None`` where there is none.
    ``report`` is told of every call; without it each is an event of the log.
    """

    def __init__(self, session_of: SessionOf, report: CallReporter | None = None) -> None:
        self._session_of = session_of
        self._report = report or _logged
        self._turns = Scheduler()

    async def done(self, ctx: RequestContext, body: Callable[[Call], T]) -> T:
        """Run a body in its turn, and return what it returns."""
        gone = Event()
        try:
            async with _watched(ctx) as progress:
                call = Call(self._session_of(ctx), Budget(cancelled=gone), progress)
                return await self._turns.run(partial(body, call))
        finally:
            gone.set()

    async def answer_request(self, ctx: RequestContext, body: Callable[[Call], T]) -> T:
        """Run what answers anything but a tool call.

        Raises:
            MCPError: for whatever goes wrong, with our own code beside the protocol's.
        """
        began = monotonic()
        # A failure is returned: raised, it would come out of the turn in a group.
        answer = await self.done(ctx, partial(_attempted, ctx.method, body))
        if not isinstance(answer, ToolError):
            return answer
        self.report(ctx.method, {}, {}, answer, began)
        payload = error_payload(answer)
        raise MCPError(_code(ctx, answer), str(payload["message"]), payload)

    def report(
        self,
        name: str,
        arguments: object,
        answer: Mapping[str, JsonValue],
        error: ToolError | None,
        began: float,
    ) -> None:
        """Tell of what was done, and with what success."""
        self._report(name, arguments, answer, error, monotonic() - began)


def _logged(name: str, _: object, _answer: object, error: ToolError | None, seconds: float) -> None:
    failed = error_payload(error) if error else {}
    details = failed.get("details")
    refused = error is not None and not isinstance(error, InternalError)  # which is told already
    log_event(
        logging.WARNING if refused else logging.INFO,
        tool=name,
        elapsed_ms=round(seconds * 1000),
        code=failed.get("code"),
        error_id=details.get("error_id") if isinstance(details, dict) else None,
    )


def _attempted(method: str, body: Callable[[Call], T], call: Call) -> T | ToolError:
    try:
        return body(call)
    except ToolError as error:
        return error
    except Exception as error:
        failure = InternalError()
        failure.__cause__ = error
        if not call.budget.cancelled.is_set():
            fields = {"method": method, "code": failure.code, "error_id": failure.error_id}
            LOG.exception("error_id %s", failure.error_id, extra={"fields": fields})
        return failure


def _code(ctx: RequestContext, error: ToolError) -> int:
    if isinstance(error, InternalError):
        return types.INTERNAL_ERROR
    missing = isinstance(error, NotFound) and ctx.method == "resources/read"
    older = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    return NO_RESOURCE if missing and older else types.INVALID_PARAMS


@asynccontextmanager
async def _watched(ctx: RequestContext) -> AsyncIterator[Progress | None]:
    """Give what a tool reports its progress to, if the client asked for any."""
    if not ctx.meta or ctx.meta.get("progress_token") is None:
        yield None
        return

    async def report(done: int, total: int, message: str) -> None:
        await ctx.session.report_progress(done, total or None, replace_surrogates(message) or None)

    async with relayed(report) as progress:
        yield progress
