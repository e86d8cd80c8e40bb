"""The operations of the OpenAPI document, from the schemas of the tools."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from fumishirube import Tool
from fumishirube.serving import Schema, input_schema, output_schema

_PATH = re.compile(r"/[a-z][a-z0-9_]{0,39}")
_TEXT: Schema = {"type": "string"}
_ERROR: Schema = {
    "type": "object",
    "properties": {"error": _TEXT, "message": _TEXT, "details": {"type": "object"}},
    "required": ["error", "message"],
}
_REFUSAL: Schema = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, **_ERROR["properties"]},
    "required": ["message"],
    "anyOf": [{"required": ["code"]}, {"required": ["error"]}],
}
"""Schemas for tools with error bodies of their own; the server's own errors have ``error``."""
_VALIDATION_ERRORS: Schema = {
    "type": "object",
    "properties": {
        "detail": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "type": _TEXT,
                    "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "msg": _TEXT,
                },
                "required": ["type", "loc", "msg"],
            },
        }
    },
    "required": ["detail"],
}
_UNEXPECTED: Schema = {
    "type": "object",
    "properties": {"error": {"const": "internal_error"}, "error_id": _TEXT},
    "required": ["error", "error_id"],
}
_ALWAYS = {
    400: ("The request is invalid.", _ERROR),
    404: ("The manual, file or section does not exist.", _ERROR),
    500: ("An internal error; the server's log has the details under this id.", _UNEXPECTED),
    503: ("Too many requests are in progress; try again in a moment.", _ERROR),
}
_OF_BODIES = {
    413: ("The body is too large.", _ERROR),
    415: ("The body is not JSON.", _ERROR),
}
_OF_TOOLS = {
    403: ("Access is not allowed.", _ERROR),
    409: ("It conflicts with the present state.", _ERROR),
}
_OF_ENDPOINTS = {422: ("Some values are invalid.", _VALIDATION_ERRORS)}


def endpoint_fault(tool: Tool[Any, Any], taken: Collection[str]) -> str | None:
    """Return why the endpoint that a tool declares cannot be added, or ``None``."""
    method, path = tool.http or ("", "")
    if method not in ("GET", "POST"):
        return f"the method is {method[:20]!r}; GET and POST are known"
    if not _PATH.fullmatch(path):
        return f"the path {path[:80]!r} is not of the form /name"
    if path in taken:
        return f"the path {path!r} is another's"
    answer: Schema = dict(output_schema(tool))
    if tool.http_body is not None and tool.http_body not in answer["properties"]:
        return f"the answer has no member {tool.http_body!r}"
    return None


def of_tool(tool: Tool[Any, Any]) -> Schema:
    """Return the OpenAPI operation of ``POST /tools/<name>``."""
    body = {"required": False, "content": _json(dict(input_schema(tool)), _example(tool))}
    responses = {**_ALWAYS, **_OF_BODIES, **_OF_TOOLS}
    if tool.refused is not None:
        responses |= {status: (responses[status][0], _REFUSAL) for status in (400, 404, 503)}
        responses[500] = (responses[500][0], {"anyOf": [_REFUSAL, _UNEXPECTED]})
    return {"requestBody": body, "responses": _responses(output_schema(tool), responses)}


def of_endpoint(tool: Tool[Any, Any], method: str) -> Schema:
    """Return the OpenAPI operation of the endpoint that a tool declares."""
    schema: Schema = dict(input_schema(tool))
    answer: Schema = dict(output_schema(tool))
    answer = answer if tool.http_body is None else answer["properties"][tool.http_body]
    errors = {**_ALWAYS, **_OF_ENDPOINTS}
    if method == "GET":
        parameters = [_parameter(name, schema) for name in schema["properties"]]
        return {"parameters": parameters, "responses": _responses(answer, errors)}
    del schema["additionalProperties"]
    body = {"required": True, "content": _json(schema, _example(tool))}
    return {"requestBody": body, "responses": _responses(answer, {**errors, **_OF_BODIES})}


def _parameter(name: str, arguments: Schema) -> Schema:
    schema = dict(arguments["properties"][name])
    description = {"description": schema.pop("description")} if "description" in schema else {}
    required = name in arguments.get("required", ())
    return {"name": name, "in": "query", "required": required, "schema": schema, **description}


def _example(tool: Tool[Any, Any]) -> Schema:
    return {"example": dict(tool.examples[0])} if tool.examples else {}


def _json(schema: Schema, more: Schema) -> Schema:
    return {"application/json": {"schema": schema, **more}}


def _responses(answer: Any, errors: dict[int, tuple[str, Schema]]) -> Schema:
    descriptions = {200: ("The tool's answer.", answer), **errors}
    return {
        str(status): {"description": words, "content": _json(schema, {})}
        for status, (words, schema) in sorted(descriptions.items())
    }
