"""Messages as bytes: those of lines of input, or what they are answered with; lines of output."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import mcp_types as types
from pydantic import ValidationError

from fumishirube.tools.calls import compact, plain

MOST_DIGITS = 4_000
"""The longest integer, in characters, that is read as one."""


class RefusedLine(NamedTuple):
    """What a line that is no message is answered with."""

    answer: types.JSONRPCError


def parsed_line(
    line: bytes, check: Callable[[bytes], object] = bytes.decode
) -> types.JSONRPCMessage | RefusedLine | None:
    """Return a line's message or refusal; ``None`` for an empty line.

    For a broken response that is an error, so that whoever waits for it goes on; ``None`` if it
    has no id. ``check`` raises ``ValueError`` for what the caller does not accept as JSON, which is
    refused with its id.
    """
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
    identity = raw.get("id") if isinstance(raw, dict) else None
    known = identity if isinstance(identity, str) or type(identity) is int else None
    try:
        check(line)
    except ValueError as error:
        return RefusedLine(error_message(known, types.PARSE_ERROR, f"Parse error: {error}"))
    with suppress(ValidationError):
        message = adapter.validate_python(raw, by_name=False)
        # A request with an id of another type looks like a notification, and would wait for ever.
        if not isinstance(message, types.JSONRPCNotification) or identity is None:
            return message
    if isinstance(raw, dict) and "method" not in raw and raw.keys() & {"result", "error"}:
        broken = error_message(known, types.INVALID_REQUEST, "Invalid response")
        return None if known is None else broken
    return RefusedLine(error_message(known, types.INVALID_REQUEST, "Invalid Request"))


def _integer(digits: str) -> float:
    """Return an integer, or infinity if it is too long: the check of arguments refuses that."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def error_message(identity: str | int | None, code: int, message: str) -> types.JSONRPCError:
    """Return an answer that is an error of the protocol; ``identity`` is that of the request."""
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=identity, error=error)


def encoded(message: types.JSONRPCMessage) -> bytes:
    """Return a message as JSON, whatever is in it."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        # Most likely a lone surrogate: a bad file name must not end the connection.
        try:
            return compact(plain(message.model_dump(by_alias=True, exclude_unset=True))).encode()
        except (ValueError, TypeError):
            identity = getattr(message, "id", None)
            failed = error_message(identity, types.INTERNAL_ERROR, "The answer is not JSON")
            return failed.model_dump_json(by_alias=True, exclude_unset=True).encode()
