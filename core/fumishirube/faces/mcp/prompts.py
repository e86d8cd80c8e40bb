"""MCP requests for prompts, and completions of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice

import mcp_types as types

from fumishirube.errors import InvalidParameter
from fumishirube.faces.mcp.requests import RequestContext, RequestRunner
from fumishirube.faces.mcp.tools import refuse_cursor
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.tools.calls import replace_surrogates
from fumishirube.tools.definitions import Call
from fumishirube.tools.prompts import Prompt
from fumishirube.tools.resources import Completer

VALUES = 100
"""Values proposed at a time; the protocol allows no more."""


class PromptHandlers:
    """Answers requests for the prompts of the published catalog."""

    def __init__(self, publisher: CatalogPublisher, work: RequestRunner) -> None:
        self._publisher = publisher
        self._work = work

    async def list(
        self, _: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List all prompts, on one page."""
        refuse_cursor(params)
        return types.ListPromptsResult(
            prompts=[_listed(prompt) for prompt in self._publisher.catalog.prompts]
        )

    async def get(
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

    def _prompt(self, name: str) -> Prompt:
        for prompt in self._publisher.catalog.prompts:
            if prompt.name == name:
                return prompt
        raise InvalidParameter("there is no such prompt; prompts/list gives them", parameter="name")

    def _render(self, name: str, arguments: Mapping[str, str], _: Call) -> types.GetPromptResult:
        prompt = self._prompt(name)
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
        self,
        ref: types.ResourceTemplateReference | types.PromptReference,
        name: str,
        typed: str,
        others: Mapping[str, str],
        _: Call,
    ) -> types.CompleteResult:
        values = self._completing(ref)(name, typed, others)
        shown = list(islice(map(replace_surrogates, values), VALUES + 1))
        more = len(shown) > VALUES
        return types.CompleteResult(
            completion=types.Completion(
                values=shown[:VALUES], total=None if more else len(shown), has_more=more
            )
        )

    def _completing(
        self, ref: types.ResourceTemplateReference | types.PromptReference
    ) -> Completer:
        if isinstance(ref, types.PromptReference):
            return self._prompt(ref.name).complete
        for resources in self._publisher.catalog.resources:
            if ref.uri in (template.uri for template in resources.templates):
                return resources.complete
        raise InvalidParameter(
            "there is no such template; resources/templates/list gives them", parameter="ref"
        )


def _listed(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(
            name=argument.name, description=argument.summary, required=argument.required
        )
        for argument in prompt.arguments
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.summary, arguments=arguments
    )
