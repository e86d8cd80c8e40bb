"""One tool as an endpoint: its arguments are read, it runs in a thread, its answer goes out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, ClassVar, TypeAlias

import anyio
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from fumishirube import Budget, Call, Cancelled, Params, Tool, ToolError
from fumishirube.commands import call_tool
from fumishirube.serving import Scheduler, arguments_shape, compact
from fumishirube_http.arguments import from_json, from_query, known_of
from fumishirube_http.limits import LARGE, SMALL, read_body
from fumishirube_http.log import HUNG_UP, RequestLogEntry
from fumishirube_http.problems import Problem, error_id_of, of_endpoint, of_tool
from fumishirube_http.replies import reply

ArgumentReader: TypeAlias = Callable[[], object]


class ToolThreads:
    """The threads in which tools run, so that the event loop is always free."""

    def __init__(self) -> None:
        self._turns = Scheduler()

    async def run(self, body: Callable[[Call], Response], receive: Receive) -> Response | None:
        """Return what the body returns, or ``None`` when the client went away before.

        The body is told when nobody waits for it any more.
        """
        gone, done = Event(), None
        work = partial(body, Call(budget=Budget(cancelled=gone)))
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_follow, receive, group.cancel_scope)
                done = await self._turns.run(work)
                group.cancel_scope.cancel()
        finally:
            gone.set()
        return done


async def _follow(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel a scope as soon as the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


class ToolEndpoint:
    """``POST /tools/<name>``: as strict as every face, with the tool's own codes and details."""

    most: ClassVar[int] = LARGE

    def __init__(self, tool: Tool[Any, Any], workers: ToolThreads) -> None:
        self.tool = tool
        params: type[Params] = tool.params
        self.shape = arguments_shape(params)
        self._workers = workers

    async def serve(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            Problem: when it is refused before any tool runs.
        """
        body = await read_body(request.headers, request.receive, self.most)
        if body is None:
            return Response(status_code=HUNG_UP)
        return await self.run(partial(self.arguments, body), request)

    async def run(self, read: ArgumentReader, request: Request) -> Response:
        """Run the tool in a worker, with the arguments that ``read`` gives there."""
        body = partial(self._respond, read, request.state.line)
        return await self._workers.run(body, request.receive) or Response(status_code=HUNG_UP)

    def arguments(self, body: bytes) -> object:
        """Return the arguments in a body; without one there are none."""
        return from_json(body) if body else None

    def problem(self, error: ToolError) -> Problem:
        """Return how an error of the tool is told."""
        return of_tool(error)

    def whole(self, answer: dict[str, JsonValue]) -> JsonValue:
        """Return what of an answer is the body."""
        return answer

    def _respond(self, read: ArgumentReader, line: RequestLogEntry, call: Call) -> Response:
        try:
            arguments = read()
            line.note_arguments(arguments)
            answer = call_tool(self.tool, arguments, call)
        except Problem as problem:
            return reply(problem)
        except ToolError as error:
            line.error_id = error_id_of(error)
            return reply(self.problem(error))
        except Cancelled:
            return Response(status_code=HUNG_UP)
        line.count(answer)
        return Response(compact(self.whole(answer)).encode(), media_type="application/json")


class OwnEndpoint(ToolEndpoint):
    """An endpoint that a tool declares: unknown arguments are ignored, its bodies are bare."""

    most = SMALL

    def arguments(self, body: bytes) -> object:
        """Return the known arguments in a body."""
        return known_of(from_json(body), self.shape)

    def problem(self, error: ToolError) -> Problem:
        """Return how an error of the tool is told."""
        return of_endpoint(error, self.tool.params, "body")

    def whole(self, answer: dict[str, JsonValue]) -> JsonValue:
        """Return what of an answer is the body."""
        return answer if self.tool.http_body is None else answer[self.tool.http_body]


class QueryEndpoint(OwnEndpoint):
    """The same, with the arguments in the address."""

    async def serve(self, request: Request) -> Response:
        """Answer a request."""
        return await self.run(partial(from_query, request.query_params, self.shape), request)

    def problem(self, error: ToolError) -> Problem:
        """Return how an error of the tool is told."""
        return of_endpoint(error, self.tool.params, "query")
