"""The endpoint of one tool: reads the arguments, runs the tool in a thread, sends the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, ClassVar

import anyio
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from fumishirube import Budget, Call, Cancelled, Params, Tool, ToolError
from fumishirube.commands import call_tool
from fumishirube.serving import InnerCalls, Scheduler, arguments_shape
from fumishirube.tools import compact
from fumishirube_http.arguments import from_json, from_query, known_arguments
from fumishirube_http.limits import LARGE, SMALL, read_body
from fumishirube_http.log import HUNG_UP, RequestLogEntry
from fumishirube_http.problems import Problem, error_id_of, of_endpoint, of_tool, reply


class ToolThreads:
    """The threads that run tools, so that the event loop stays free.

    ``inner`` records the calls that a tool makes for one call.
    """

    def __init__(self, inner: InnerCalls | None = None) -> None:
        self._turns = Scheduler()
        self._inner = inner

    async def run(
        self, body: Callable[[Call], Response], receive: Receive, name: str
    ) -> Response | None:
        """Run the body in a thread and return its response, or ``None`` when the client hung up.

        Cancels the body's call when the client hangs up. ``name`` is what errors call it.

        Raises:
            InternalError: when cancelled calls hold all threads.
        """
        gone, done, refused = Event(), None, None
        work = partial(body, Call(budget=Budget(cancelled=gone), inner=self._inner))
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_follow, receive, group.cancel_scope)
                try:
                    done = await self._turns.run(work, name)
                except ToolError as error:  # raised here, it would leave the group as one of errors
                    refused = error
                group.cancel_scope.cancel()
        finally:
            gone.set()
        if refused is not None:
            raise refused
        return done


async def _follow(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel a scope when the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


class ToolEndpoint:
    """``POST /tools/<name>``: strict arguments, with the tool's own error codes and details."""

    most: ClassVar[int] = LARGE

    def __init__(self, tool: Tool[Any, Any], workers: ToolThreads) -> None:
        self.tool = tool
        params: type[Params] = tool.params
        self.shape = arguments_shape(params)
        self._workers = workers

    async def serve(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            Problem: when it is refused before the tool runs.
        """
        body = await read_body(request.headers, request.receive, self.most)
        if body is None:
            return Response(status_code=HUNG_UP)
        return await self.run(partial(self.arguments, body), request)

    async def run(self, read: Callable[[], object], request: Request) -> Response:
        """Run the tool in a worker thread, with the arguments that ``read`` returns there."""
        request.state.line.tool = self.tool.name
        body = partial(self._respond, read, request.state.line)
        try:
            done = await self._workers.run(body, request.receive, self.tool.name)
        except ToolError as error:
            return self._refused(error, request.state.line)
        return done or Response(status_code=HUNG_UP)

    def arguments(self, body: bytes) -> object:
        """Return the arguments in a body; an empty body has none."""
        return from_json(body) if body else None

    def problem(self, error: ToolError) -> Problem:
        """Return the response body for an error of the tool."""
        return of_tool(error)

    def whole(self, answer: dict[str, JsonValue]) -> JsonValue:
        """Return the response body for an answer."""
        return answer

    def _respond(self, read: Callable[[], object], line: RequestLogEntry, call: Call) -> Response:
        try:
            arguments = read()
            line.note_arguments(arguments)
            answer = call_tool(self.tool, arguments, call)
        except Problem as problem:
            return reply(problem)
        except ToolError as error:
            return self._refused(error, line)
        except Cancelled:
            return Response(status_code=HUNG_UP)
        line.count(answer)
        return Response(compact(self.whole(answer)).encode(), media_type="application/json")

    def _refused(self, error: ToolError, line: RequestLogEntry) -> Response:
        line.error_id = error_id_of(error)
        return reply(self.problem(error))


class OwnEndpoint(ToolEndpoint):
    """An endpoint that a tool declares: it ignores unknown arguments and sends bare bodies."""

    most = SMALL

    def arguments(self, body: bytes) -> object:
        """Return the known arguments in a body."""
        return known_arguments(from_json(body), self.shape)

    def problem(self, error: ToolError) -> Problem:
        """Return the response body for an error of the tool."""
        return of_endpoint(error, self.tool.params, "body")

    def whole(self, answer: dict[str, JsonValue]) -> JsonValue:
        """Return the response body for an answer."""
        return answer if self.tool.http_body is None else answer[self.tool.http_body]


class QueryEndpoint(OwnEndpoint):
    """A declared endpoint with its arguments in the query string."""

    async def serve(self, request: Request) -> Response:
        """Answer a request."""
        return await self.run(partial(from_query, request.query_params, self.shape), request)

    def problem(self, error: ToolError) -> Problem:
        """Return the response body for an error of the tool."""
        return of_endpoint(error, self.tool.params, "query")
