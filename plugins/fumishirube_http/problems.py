"""The error responses: a status and a JSON body."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails
from starlette.responses import Response

from fumishirube import (
    Conflict,
    Forbidden,
    InternalError,
    InvalidParameter,
    NotFound,
    Params,
    ToolError,
)
from fumishirube.commands import error_payload
from fumishirube.serving import arguments_shape, plain, refusal
from fumishirube.tools import compact

Body: TypeAlias = Mapping[str, JsonValue]
Location: TypeAlias = tuple[str | int, ...]

ECHOED = 80
"""The most characters of a refused value that a body repeats."""

_INTERNAL = -32603


class TooManyRequests(ToolError):
    """A call beyond the rate of its caller; ``seconds`` later it is not, if it ever can be."""

    code = "too_many_requests"

    def __init__(self, message: str, seconds: int | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


_STATUS: tuple[tuple[type[ToolError], int], ...] = (
    (NotFound, 404),
    (Forbidden, 403),
    (Conflict, 409),
    (InternalError, 500),
    (TooManyRequests, 429),
)


class Problem(Exception):
    """An error response, raised where the request is refused."""

    def __init__(self, status: int, body: Body, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def reply(problem: Problem) -> Response:
    """Return the response for a problem."""
    body = compact(dict(problem.body)).encode()
    return Response(body, problem.status, problem.headers, "application/json")


def invalid(message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> Problem:
    """Return the problem of a malformed request."""
    return Problem(status, {"error": "invalid_request", "message": message}, headers)


def unauthorized(message: str, challenge: str = "Bearer") -> Problem:
    """Return the problem of a request without a token that counts."""
    body = {"error": "unauthorized", "message": message}
    return Problem(401, body, {"www-authenticate": challenge})


def forbidden(message: str) -> Problem:
    """Return the problem of a request by somebody who may not make it."""
    return Problem(403, {"error": "forbidden", "message": message})


def overload(message: str = "too many requests are under way; try again in a moment") -> Problem:
    """Return the problem of a request that may succeed in a moment: by default, one too many."""
    return Problem(503, {"error": "busy", "message": message}, {"retry-after": "1"})


def of_internal(error: InternalError) -> Problem:
    """Return the problem of an internal error: its id and nothing else."""
    return Problem(500, {"error": error.code, "error_id": error.error_id})


def error_id_of(error: ToolError) -> str | None:
    """Return the id of an internal error in the log, or ``None``."""
    error_id = error.details.get("error_id")
    return error_id if isinstance(error_id, str) else None


def of_tool(error: ToolError) -> Problem:
    """Return the problem of a tool's error: its code, message and details.

    A JSON-RPC code is in ``code``, as in all other protocols.
    """
    if isinstance(error, InternalError):
        return of_internal(error)
    payload = error_payload(error)
    if isinstance(payload["code"], int):
        return Problem(_status_of(payload), payload)
    return Problem(_status(error), {"error": payload.pop("code"), **payload}, _headers(error))


def of_endpoint(error: ToolError, params: type[Params], place: str) -> Problem:
    """Return the problem of a tool's error in the bodies of a declared endpoint.

    ``place`` is where the arguments were: ``query`` or ``body``. Missing ones are a 400; otherwise
    a 422 lists all invalid ones.
    """
    if isinstance(error, InternalError):
        return of_internal(error)
    if isinstance(error.__cause__, ValidationError):
        errors = error.__cause__.errors(include_url=False)
        missing = [item for item in errors if item["type"] == "missing"]
        if not missing:
            return validation_problem(_field_error(item, place) for item in errors)
        error = refusal(missing, arguments_shape(params))
    payload = error_payload(error)
    code = "invalid_request" if error.code == InvalidParameter.code else payload["code"]
    return Problem(_status(error), {"error": code, "message": payload["message"]}, _headers(error))


def validation_problem(details: Iterable[Body]) -> Problem:
    """Return the problem of invalid values, in the format of FastAPI."""
    return Problem(422, {"detail": [dict(detail) for detail in details]})


def field_error(kind: str, location: Location, message: str, value: object) -> Body:
    """Return the entry of one invalid value."""
    where: list[JsonValue] = [*location]
    return {"type": kind, "loc": where, "msg": message, "input": _echoed(value)}


def _field_error(error: ErrorDetails, place: str) -> Body:
    detail = dict(field_error(error["type"], (place, *error["loc"]), error["msg"], error["input"]))
    context: dict[str, Any] = error.get("ctx", {})
    return {**detail, "ctx": {k: _echoed(v) for k, v in context.items()}} if context else detail


def _headers(error: ToolError) -> Mapping[str, str]:
    seconds = error.seconds if isinstance(error, TooManyRequests) else None
    return {} if seconds is None else {"retry-after": str(seconds)}


def _status(error: ToolError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


def _status_of(payload: Body) -> int:
    """Return the status for a JSON-RPC error, by its details: the code alone is too general."""
    details = payload.get("details")
    fields = details if isinstance(details, dict) else {}
    if payload["code"] == _INTERNAL:
        return 500 if "error_id" in fields else 503
    return 404 if fields.get("reason") == "not_found" else 400


def _echoed(value: object) -> JsonValue:
    """Return a value, shortened, as JSON that any parser accepts."""
    try:
        shown = plain(value)
    except (TypeError, ValueError):
        return None if isinstance(value, float) else str(value)[:ECHOED]
    if isinstance(shown, str):
        return shown if len(shown) <= ECHOED else f"{shown[: ECHOED - 1]}…"
    text = json.dumps(shown, ensure_ascii=False)
    return shown if len(text) <= ECHOED else f"{text[: ECHOED - 1]}…"
