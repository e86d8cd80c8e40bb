"""MCP requests for resources and prompts, and completions of their arguments."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from itertools import chain, islice
from typing import TypeAlias

import mcp_types as types
from mcp.shared.exceptions import MCPError

from fumishirube.errors import InvalidParameter, NotFound, ToolError
from fumishirube.faces.mcp.requests import RequestContext, RequestRunner
from fumishirube.faces.mcp.tools import TRUST, page_of, refuse_cursor
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.text.encoding import replace_surrogates
from fumishirube.tools.definitions import ANSWER_CHARS, Call, fitting
from fumishirube.tools.resources import Completer, Content, Prompt, Resource, Template

PAGE = 500
"""Resources on a page, at most; a page is also bounded in characters."""
VALUES = 100
"""Values proposed at a time; the protocol allows no more."""
_Reference: TypeAlias = types.ResourceTemplateReference | types.PromptReference


class ResourceHandlers:
    """Answers requests for the resources and prompts of the published catalog."""

    def __init__(self, publisher: CatalogPublisher, work: RequestRunner) -> None:
        self._publisher = publisher
        self._work = work

    async def list_resources(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the resources in the order of their URIs, page by page."""
        after = params.cursor if params is not None else None
        if after is not None and self._publisher.catalog.resources_of(after) is None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: pass nextCursor as it came")
        return await self._work.answer_request(ctx, partial(self._page, after or ""))

    async def list_templates(
        self, _: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the URI templates."""
        refuse_cursor(params)
        listed = [
            _template(template)
            for resources in self._publisher.catalog.resources
            for template in resources.templates
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, ctx: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read the resource of a URI, or the page of a tool's view."""
        uri = str(params.uri)
        for tool in self._publisher.catalog.listed:
            if tool.view is not None and tool.view.uri == uri:
                return types.ReadResourceResult(contents=[page_of(tool.view)])
        return await self._work.answer_request(ctx, partial(self._read, uri), {"uri": uri})

    def _page(self, after: str, _: Call) -> types.ListResourcesResult:
        listed = (resources.listed() for resources in self._publisher.catalog.resources)
        rest = sorted(each for each in chain.from_iterable(listed) if each.uri > after)
        shown = (_resource(resource).model_dump(exclude_none=True) for resource in rest[:PAGE])
        page = [*map(_resource, rest[: len([*fitting(shown, ANSWER_CHARS)])])]
        more = rest[len(page) - 1].uri if len(rest) > len(page) else None
        return types.ListResourcesResult(resources=page, next_cursor=more)

    def _read(self, uri: str, call: Call) -> types.ReadResourceResult:
        try:
            resources = self._publisher.catalog.resources_of(uri)
            if resources is None:
                raise NotFound("there is no such resource; resources/list gives what there is")
            contents = [_content(content) for content in resources.read(uri, call)]
        except ToolError as error:
            error.details.setdefault("uri", replace_surrogates(uri[:200]))
            raise
        return types.ReadResourceResult(contents=[*contents])

    async def list_prompts(
        self, _: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List all prompts, on one page."""
        refuse_cursor(params)
        return types.ListPromptsResult(
            prompts=[_prompt(prompt) for prompt in self._publisher.catalog.prompts]
        )

    async def get_prompt(
        self, ctx: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Render a prompt."""
        arguments = dict(params.arguments or {})
        return await self._work.answer_request(ctx, partial(self._render, params.name, arguments))

    async def complete(
        self, ctx: RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Propose values of a prompt's argument, or of a variable of a URI template."""
        argument = params.argument
        others = (params.context.arguments if params.context else None) or {}
        body = partial(self._propose, params.ref, argument.name, argument.value, others)
        return await self._work.answer_request(ctx, body)

    def _named(self, name: str) -> Prompt:
        for prompt in self._publisher.catalog.prompts:
            if prompt.name == name:
                return prompt
        raise InvalidParameter("there is no such prompt; prompts/list gives them", parameter="name")

    def _render(self, name: str, arguments: Mapping[str, str], _: Call) -> types.GetPromptResult:
        prompt = self._named(name)
        known = {argument.name for argument in prompt.arguments}
        for unknown in arguments.keys() - known:
            shown = replace_surrogates(unknown[:60])
            refusal = f"unknown argument {shown!r}; prompts/list gives the arguments"
            raise InvalidParameter(refusal, parameter="arguments")
        for argument in prompt.arguments:
            if argument.required and not arguments.get(argument.name, "").strip():
                raise InvalidParameter(f"{argument.name} is required", parameter=argument.name)
        text = types.TextContent(type="text", text=replace_surrogates(prompt.write(arguments)))
        message = types.PromptMessage(role="user", content=text)
        return types.GetPromptResult(description=prompt.summary, messages=[message])

    def _propose(
        self, ref: _Reference, name: str, typed: str, others: Mapping[str, str], _: Call
    ) -> types.CompleteResult:
        values = self._completing(ref)(name, typed, others)
        shown = list(islice(map(replace_surrogates, values), VALUES + 1))
        more = len(shown) > VALUES
        return types.CompleteResult(
            completion=types.Completion(
                values=shown[:VALUES], total=None if more else len(shown), has_more=more
            )
        )

    def _completing(self, ref: _Reference) -> Completer:
        if isinstance(ref, types.PromptReference):
            return self._named(ref.name).complete
        for resources in self._publisher.catalog.resources:
            if ref.uri in (template.uri for template in resources.templates):
                return resources.complete
        raise InvalidParameter(
            "there is no such template; resources/templates/list gives them", parameter="ref"
        )


def _resource(resource: Resource) -> types.Resource:
    return types.Resource(
        uri=resource.uri, name=resource.name, title=resource.name, mime_type=resource.mime
    )


def _template(template: Template) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=template.uri,
        name=template.name,
        title=template.title,
        description=template.summary,
        mime_type=template.mime,
    )


def _content(content: Content) -> types.TextResourceContents | types.BlobResourceContents:
    uri, mime, trust = content.uri, content.mime, {**TRUST}
    if isinstance(content.body, bytes):
        coded = b64encode(content.body).decode()
        return types.BlobResourceContents(uri=uri, mime_type=mime, blob=coded, _meta=trust)
    text = replace_surrogates(content.body)
    return types.TextResourceContents(uri=uri, mime_type=mime, text=text, _meta=trust)


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(
            name=argument.name, description=argument.summary, required=argument.required
        )
        for argument in prompt.arguments
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.summary, arguments=arguments
    )
