"""MCP requests for tools; their views (MCP Apps, SEP-1865), and questions before they run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from fumishirube.errors import ToolError
from fumishirube.faces.mcp.requests import RequestContext, RequestRunner, failure_of
from fumishirube.host.catalog import Catalog, CatalogPublisher
from fumishirube.text.encoding import replace_surrogates
from fumishirube.tools.calls import call_tool, compact, error_payload, unpack_arguments
from fumishirube.tools.definitions import Call, Question, QuestionMaker, Session, Tool, View
from fumishirube.tools.schemas import input_schema, output_schema

TRUST = {"fumishirube/content_trust": "untrusted"}
"""Marks answers that quote documents: their text is data, never instructions."""

# Stands for arguments that are not an object; no client can send this name.
_WHOLE = "\0arguments"

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"


class ToolHandlers:
    """Answers requests for the tools of the published catalog."""

    def __init__(self, publisher: CatalogPublisher, work: RequestRunner) -> None:
        self._publisher = publisher
        self._work = work
        self._tool_set = self._made()

    async def list(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List all tools, on one page; with their views for clients that show them."""
        refuse_cursor(params)
        tools = self._tools
        self._publisher.on_list()
        return tools.with_views if shows_views(ctx) else tools.listed

    async def call(
        self, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool in a worker thread, which is cancelled when the client stops waiting.

        A question of the tool is asked before, if the client can show it to its person.
        """
        tools = self._tools
        tool = tools.named.get(params.name)
        if tool is None:
            message = f"Unknown tool: {replace_surrogates(params.name[:80])}"
            raise MCPError(types.INVALID_PARAMS, message, {"code": "not_found", "message": message})
        arguments = params.arguments or {}
        if tool.question is not None and _WHOLE not in arguments and shows_forms(ctx):
            choice = await self._person_choice(tool.question, ctx, params)
            if isinstance(choice, types.InputRequiredResult):
                return choice
            arguments = {**arguments, **choice}
        began = monotonic()
        answer = await self._work.run(ctx, partial(_answer, tool, arguments), tool.name, arguments)
        if isinstance(answer, ToolError):
            payload = error_payload(answer)
            self._work.report(tool.name, arguments, payload, answer, began)
            return _failed(payload)
        self._work.report(tool.name, arguments, answer.structured_content or {}, None, began)
        return answer

    async def _person_choice(
        self, make: QuestionMaker, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> dict[str, Any] | types.InputRequiredResult:
        """Return the argument that a person chose, or the question for a newer client."""
        session = self._work.session_of(ctx)
        question = await to_thread.run_sync(_question, make, params.arguments or {}, session)
        if question is None:
            return {}
        answers = params.input_responses or {}
        if question.parameter not in answers:
            return await elicit(ctx, question)
        response = answers[question.parameter]  # of the repeated call of a newer client
        return _chosen(question, response) if isinstance(response, types.ElicitResult) else {}

    @property
    def _tools(self) -> _ToolSet:
        if self._tool_set.catalog is not self._publisher.catalog:
            self._tool_set = self._made()
        return self._tool_set

    def _made(self) -> _ToolSet:
        schemas = self._publisher.profile.output_schemas
        return _ToolSet(self._publisher.catalog, output_schemas=schemas)


def _answer(
    tool: Tool[Any, Any], arguments: dict[str, Any], call: Call
) -> types.CallToolResult | ToolError:
    try:
        unpacked = unpack_arguments(tool, arguments.get(_WHOLE, arguments))
        payload = call_tool(tool, unpacked, call)
        text = replace_surrogates(tool.text(payload)) if tool.text else compact(payload)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
        meta: dict[str, Any] | None = {**TRUST} if tool.quotes else None
        return types.CallToolResult(content=content, structured_content=payload, _meta=meta)
    except BaseException as error:  # a plugin may exit; the server goes on
        # An error that leaves this function would reach the client without a code.
        return failure_of(error, call, tool=tool.name)


def _failed(payload: dict[str, Any]) -> types.CallToolResult:
    meta = {"fumishirube/error": payload}
    failed = types.TextContent(type="text", text=compact(payload))
    return types.CallToolResult(content=[failed], is_error=True, _meta=meta)


def _question(
    make: QuestionMaker, arguments: Mapping[str, Any], session: Session | None
) -> Question | None:
    """Return the question that a call leaves open; what it cannot know, the call itself reports."""
    with suppress(ToolError):
        return make(arguments, session)
    return None


async def admit(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Pass on arguments that are not an object; the tool's own check refuses them with a code."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and not isinstance(arguments, (dict, type(None))):
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": {_WHOLE: arguments}})
    return await call_next(ctx)


def refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Refuse a cursor: lists other than resources have one page."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: there is one page")


class _ToolSet:
    """The tools of one catalog: by name, and as listed."""

    def __init__(self, catalog: Catalog, *, output_schemas: bool) -> None:
        self.catalog, tools = catalog, catalog.listed
        self.named = {tool.name: tool for tool in tools}
        entries = [_listed(tool, output_schemas=output_schemas) for tool in tools]
        self.listed = types.ListToolsResult(tools=entries)
        shown = [with_view(entry, tool) for entry, tool in zip(entries, tools, strict=True)]
        self.with_views = types.ListToolsResult(tools=shown)


def _listed(tool: Tool[Any, Any], *, output_schemas: bool) -> types.Tool:
    # The tool's description already says what the object of arguments is.
    arguments = {key: schema for key, schema in input_schema(tool).items() if key != "description"}
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.summary,
        input_schema=arguments,
        output_schema=output_schema(tool) if output_schemas else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def shows_forms(ctx: RequestContext) -> bool:
    """Tell whether a client has declared that it shows forms to its person."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    # A client of the first version of elicitation names no mode, and means forms.
    return elicitation is not None and not (elicitation.url and not elicitation.form)


async def elicit(
    ctx: RequestContext, question: Question
) -> dict[str, Any] | types.InputRequiredResult:
    """Ask, and return the chosen argument; none if the answer was declined or is unusable.

    A client of the newer protocol gets the question as the result of its call, which it repeats.
    """
    request = _form(question)
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        asking = types.ElicitRequest(params=request)
        return types.InputRequiredResult(input_requests={question.parameter: asking})
    try:
        response = await ctx.session.elicit_form(
            request.message, request.requested_schema, related_request_id=ctx.request_id
        )
    except (MCPError, ValidationError):
        return {}
    return _chosen(question, response)


def _form(question: Question) -> types.ElicitRequestFormParams:
    field = {"type": "string", "title": question.title, "enum": [*question.choices]}
    schema = {
        "type": "object",
        "properties": {question.parameter: field},
        "required": [question.parameter],
    }
    return types.ElicitRequestFormParams(message=question.message, requested_schema=schema)


def _chosen(question: Question, response: types.ElicitResult) -> dict[str, Any]:
    value = (response.content or {}).get(question.parameter)
    accepted = response.action == "accept" and value in question.choices
    return {question.parameter: value} if accepted else {}


def shows_views(ctx: RequestContext) -> bool:
    """Tell whether a client has declared that it shows such pages.

    The SDK's own function would import its larger server.
    """
    capabilities = ctx.session.client_capabilities
    declared = (capabilities.extensions or {}) if capabilities else {}
    mimes = (declared.get(EXTENSION) or {}).get("mimeTypes")
    return isinstance(mimes, (list, tuple)) and MIME in mimes


def with_view(entry: types.Tool, tool: Tool[Any, Any]) -> types.Tool:
    """Return the entry of a tool with its view, if it has one."""
    if tool.view is None:
        return entry
    return entry.model_copy(update={"meta": {"ui": {"resourceUri": tool.view.uri}}})


def page_of(view: View) -> types.TextResourceContents:
    """Return the page of a view; it needs no access to any network."""
    return types.TextResourceContents(
        uri=view.uri, mime_type=MIME, text=view.html, _meta={"ui": {"prefersBorder": True}}
    )
