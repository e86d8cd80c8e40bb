"""Elicitation: questions to the person behind a client, before a tool runs."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from fumishirube.faces.mcp.requests import RequestContext
from fumishirube.tools.definitions import Question


def shows_forms(ctx: RequestContext) -> bool:
    """Tell whether a client has declared that it shows forms to its person."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    # A client of the first version of elicitation names no mode, and means forms.
    return elicitation is not None and not (elicitation.url and not elicitation.form)


def repeated_choice(question: Question, params: types.CallToolRequestParams) -> str | None:
    """Return the answer that came with the repeated call of a client of the newer protocol."""
    response = (params.input_responses or {}).get(question.parameter)
    return _chosen(question, response) if isinstance(response, types.ElicitResult) else None


def is_repeated(question: Question, params: types.CallToolRequestParams) -> bool:
    """Tell whether a call is the repetition of one that was answered with this question."""
    return question.parameter in (params.input_responses or {})


async def elicit(ctx: RequestContext, question: Question) -> str | types.InputRequiredResult | None:
    """Ask, and return the answer, or ``None`` if it was declined.

    A client of the newer protocol gets the question as the result of its call, which it repeats.
    """
    request = _form(question)
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        asking = types.ElicitRequest(params=request)
        return types.InputRequiredResult(input_requests={question.parameter: asking})
    response = await ctx.session.elicit_form(
        request.message, request.requested_schema, related_request_id=ctx.request_id
    )
    return _chosen(question, response)


def _form(question: Question) -> types.ElicitRequestFormParams:
    field = {"type": "string", "title": question.title, "enum": [*question.choices]}
    schema = {
        "type": "object",
        "properties": {question.parameter: field},
        "required": [question.parameter],
    }
    return types.ElicitRequestFormParams(message=question.message, requested_schema=schema)


def _chosen(question: Question, response: types.ElicitResult) -> str | None:
    content: dict[str, Any] = dict(response.content or {})
    value = content.get(question.parameter)
    if response.action != "accept" or not isinstance(value, str):
        return None
    return value if value in question.choices else None
