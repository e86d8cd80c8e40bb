"""The tools as an MCP server lists and calls them, whatever the transport."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from threading import Event
from time import monotonic
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import JsonValue

from shirube.budget import Budget
from shirube.calling import call_tool, compact, described, failure_line, scrubbed
from shirube.errors import InternalError, ToolError
from shirube.model import Call, Progress, Tool
from shirube.refusals import accepted, json_type
from shirube.schemas import input_schema, output_schema
from shirube.server.progress import relayed
from shirube.session import Session
from shirube.turns import Turns
from shirube.wire import complain

WORKERS = 16
"""How many tools run at once at most, those included that take long."""

Context: TypeAlias = ServerRequestContext[Any, Any]
SessionOf: TypeAlias = Callable[[Context], Session | None]

Report: TypeAlias = Callable[[str, object, Mapping[str, JsonValue], ToolError | None, float], None]
"""Told of each call: the tool, its arguments, its answer or error, and the seconds it took."""

# No client can mean this name: it stands for arguments that are no object at all.
_WHOLE = "\0arguments"


def build_server(
    tools: Sequence[Tool[Any, Any]],
    *,
    name: str,
    version: str,
    instructions: str,
    session_of: SessionOf,
    report: Report | None = None,
) -> Server[Any]:
    """Return an MCP server for whatever transport.

    ``session_of`` gives the session that a request belongs to, or ``None`` where there is none.
    ``report`` is told of every call; without it, of those that fail, a line goes to standard error.
    """
    listed = types.ListToolsResult(tools=[_listed(tool) for tool in tools])
    calls = _Calls(tools, session_of, report or _complained)

    async def list_tools(
        _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: there is one page")
        return listed

    server = Server(
        name,
        version=version,
        instructions=instructions or None,
        on_list_tools=list_tools,
        on_call_tool=calls.call,
    )
    server.middleware.append(_admit)
    return server


def _listed(tool: Tool[Any, Any]) -> types.Tool:
    examples = "".join(f"\n\nExample: {compact(dict(example))}" for example in tool.examples)
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.summary + examples,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


# --- one call -------------------------------------------------------------------------------


async def _admit(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let arguments that are no object through to our own check, which answers with a code."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and not isinstance(arguments, (dict, type(None))):
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": {_WHOLE: arguments}})
    return await call_next(ctx)


class _Calls:
    """The tools by name, and the workers that run them."""

    def __init__(
        self, tools: Sequence[Tool[Any, Any]], session_of: SessionOf, report: Report
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._structured = {tool.name: _structured(tool) for tool in tools}
        self._session_of = session_of
        self._report = report
        self._limiter = anyio.CapacityLimiter(WORKERS)
        self._turns = Turns()

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool in a worker thread, which is told when the client stops waiting."""
        tool = self._tools.get(params.name)
        if tool is None:
            message = f"Unknown tool: {scrubbed(params.name[:80])}"
            raise MCPError(types.INVALID_PARAMS, message, {"code": "not_found", "message": message})
        started, gone = monotonic(), Event()
        try:
            async with self._turns.turn(), _watched(ctx) as progress:
                call = Call(self._session_of(ctx), Budget(cancelled=gone), progress)
                body = partial(self._answered, tool, params.arguments or {}, call, started)
                return await to_thread.run_sync(body, abandon_on_cancel=True, limiter=self._limiter)
        finally:
            gone.set()

    def _answered(
        self, tool: Tool[Any, Any], arguments: dict[str, Any], call: Call, started: float
    ) -> types.CallToolResult:
        try:
            payload = call_tool(tool, self._unpacked(tool, arguments), call)
            self._report(tool.name, arguments, payload, None, monotonic() - started)
            return types.CallToolResult(content=[_text(payload)], structured_content=payload)
        except Exception as error:
            # What escaped from here would reach the client raw.
            failure = error if isinstance(error, ToolError) else InternalError()
            payload = described(failure)
            if not call.budget.cancelled.is_set():
                self._report(tool.name, arguments, payload, failure, monotonic() - started)
            meta = {"shirube/error": payload}
            return types.CallToolResult(content=[_text(payload)], is_error=True, _meta=meta)

    def _unpacked(self, tool: Tool[Any, Any], arguments: dict[str, Any]) -> object:
        """Parse the arrays and objects that some clients send as strings of JSON."""
        if _WHOLE in arguments:
            return arguments[_WHOLE]
        unpacked = dict(arguments)
        for name, kinds in self._structured[tool.name].items():
            value = arguments.get(name)
            if isinstance(value, str):
                with suppress(ValueError, RecursionError):
                    parsed = json.loads(value)
                    unpacked[name] = parsed if json_type(parsed) in kinds else value
        return unpacked


def _complained(
    tool: str, _: object, _answer: object, error: ToolError | None, seconds: float
) -> None:
    if error is not None:
        complain(failure_line(tool, error, seconds))


@asynccontextmanager
async def _watched(ctx: Context) -> AsyncIterator[Progress | None]:
    """Give what a tool reports its progress to, if the client asked for any."""
    if not ctx.meta or ctx.meta.get("progress_token") is None:
        yield None
        return

    async def report(done: int, total: int, message: str) -> None:
        await ctx.session.report_progress(done, total or None, scrubbed(message) or None)

    async with relayed(report) as progress:
        yield progress


def _structured(tool: Tool[Any, Any]) -> dict[str, frozenset[str]]:
    properties: dict[str, Any] = dict(input_schema(tool))["properties"]  # type: ignore[assignment]
    kinds = {name: accepted(schema) for name, schema in properties.items()}
    containers = frozenset({"array", "object"})
    return {
        name: k & containers for name, k in kinds.items() if k & containers and "string" not in k
    }


def _text(payload: dict[str, JsonValue]) -> types.TextContent:
    return types.TextContent(type="text", text=compact(payload))
