"""What is wrong with a request: its status, and the body that says so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

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

Body: TypeAlias = Mapping[str, JsonValue]
Location: TypeAlias = tuple[str | int, ...]

ECHOED = 80
"""Characters of a refused value that a body repeats."""

_INTERNAL = -32603
_STATUS: tuple[tuple[type[ToolError], int], ...] = (
    (NotFound, 404),
    (Forbidden, 403),
    (Conflict, 409),
    (InternalError, 500),
)


class Problem(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, body: Body, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def invalid(message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> Problem:
    """Return the problem of a request that no tool could have taken."""
    return Problem(status, {"error": "invalid_request", "message": message}, headers)


def no_room() -> Problem:
    """Return the problem of a request that comes when there is no room for it."""
    message = "too many requests are under way; try again in a moment"
    return Problem(503, {"error": "busy", "message": message}, {"retry-after": "1"})


def of_internal(error: InternalError) -> Problem:
    """Return the problem of something unexpected: an id, and not a word more."""
    return Problem(500, {"error": error.code, "error_id": error.error_id})


def error_id_of(error: ToolError) -> str | None:
    """Return under which id the log knows of an error, if it does."""
    known = error.details.get("error_id")
    return known if isinstance(known, str) else None


def of_tool(error: ToolError) -> Problem:
    """Return the problem of a tool's refusal: its code, its message and its details.

    A code of JSON-RPC stands under ``code``, as on every face.
    """
    if isinstance(error, InternalError):
        return of_internal(error)
    payload = error_payload(error)
    if isinstance(payload["code"], int):
        return Problem(_status_of(payload), payload)
    return Problem(_status(error), {"error": payload.pop("code"), **payload})


def of_endpoint(error: ToolError, params: type[Params], place: str) -> Problem:
    """Return the same where the tool has an endpoint of its own, with that endpoint's bodies.

    ``place`` is where the arguments stood: ``query`` or ``body``. What is missing comes first, as
    a 400; any other misfit is a 422 that lists all of them.
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
    return Problem(_status(error), {"error": code, "message": payload["message"]})


def validation_problem(details: Iterable[Body]) -> Problem:
    """Return the problem of values that do not fit, in the form that FastAPI gives it."""
    return Problem(422, {"detail": [dict(detail) for detail in details]})


def field_error(kind: str, location: Location, message: str, value: object) -> Body:
    """Return one value that does not fit."""
    where: Sequence[JsonValue] = list(location)
    return {"type": kind, "loc": where, "msg": message, "input": _echoed(value)}  # type: ignore[dict-item]


def _field_error(error: ErrorDetails, place: str) -> Body:
    detail = dict(field_error(error["type"], (place, *error["loc"]), error["msg"], error["input"]))
    context: dict[str, Any] = error.get("ctx", {})
    return {**detail, "ctx": {k: _echoed(v) for k, v in context.items()}} if context else detail


def _status(error: ToolError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


def _status_of(payload: Body) -> int:
    """Return the status of a refusal with a code of JSON-RPC, which says less than its details."""
    details = payload.get("details")
    known = details if isinstance(details, dict) else {}
    if payload["code"] == _INTERNAL:
        return 500 if "error_id" in known else 503
    return 404 if known.get("reason") == "not_found" else 400


def _echoed(value: object) -> JsonValue:
    """Return a value as JSON that every reader takes, and not much of it."""
    try:
        shown = plain(value)
    except (TypeError, ValueError):
        return None if isinstance(value, float) else str(value)[:ECHOED]
    if isinstance(shown, str):
        return shown if len(shown) <= ECHOED else f"{shown[: ECHOED - 1]}…"
    text = json.dumps(shown, ensure_ascii=False)
    return shown if len(text) <= ECHOED else f"{text[: ECHOED - 1]}…"
