"""Lines of input: the messages that they are, or the errors with which they are answered."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from contextlib import suppress
from typing import NamedTuple

import mcp_types as types
from pydantic import ValidationError

MOST_DIGITS = 4_000
"""The longest integer, in characters, that is read as one."""


class RefusedLine(NamedTuple):
    """What a line that is no message is answered with."""

    answer: types.JSONRPCError


def parsed_line(line: bytes) -> types.JSONRPCMessage | RefusedLine | None:
    """Return a line's message or refusal; ``None`` for an empty line or a broken response."""
    adapter = types.jsonrpc_message_adapter
    line = line.removeprefix(BOM_UTF8)
    with suppress(ValidationError):
        message = adapter.validate_json(line, by_name=False)
        if b'"id"' not in line or not isinstance(message, types.JSONRPCNotification):
            return message
    text = line.decode("utf-8", "replace").strip()
    if not text:
        return None
    try:
        # pydantic refuses lone surrogates; json accepts them, so that argument checks can name
        # them.
        raw = json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        return RefusedLine(error_message(None, types.PARSE_ERROR, "Parse error"))
    with suppress(ValidationError):
        message = adapter.validate_python(raw, by_name=False)
        # A request with an id of another type looks like a notification, and would wait for ever.
        if not isinstance(message, types.JSONRPCNotification) or raw.get("id") is None:
            return message
    if isinstance(raw, dict) and "method" not in raw and raw.keys() & {"result", "error"}:
        return None
    identity = raw.get("id") if isinstance(raw, dict) else None
    known = identity if isinstance(identity, str) or type(identity) is int else None
    return RefusedLine(error_message(known, types.INVALID_REQUEST, "Invalid Request"))


def _integer(digits: str) -> float:
    """Return an integer, or infinity for one that Python does not parse.

    The check of the arguments refuses infinity, so that the request is answered.
    """
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def error_message(identity: str | int | None, code: int, message: str) -> types.JSONRPCError:
    """Return an answer that is an error of the protocol; ``identity`` is that of the request."""
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=identity, error=error)
