"""One call of one tool, in any face: MCP, HTTP or the command line."""

from __future__ import annotations

import json
import logging
import math
from contextlib import suppress
from typing import Any

from pydantic import JsonValue, ValidationError

from fumishirube.errors import Cancelled, InternalError, InvalidParameter, PluginError, ToolError
from fumishirube.text.encoding import has_surrogates, replace_surrogates
from fumishirube.tools.argument_errors import ArgumentLocation, joined, of_shape, refusal
from fumishirube.tools.definitions import (
    A,
    Answer,
    Call,
    P,
    Params,
    Schema,
    Tool,
    accepted,
    check_answer,
    json_type,
    union_members,
)
from fumishirube.tools.schemas import arguments_shape

LOG = logging.getLogger("fumishirube")

_CONTAINERS = frozenset({"array", "object"})

EXACT = 2**53
"""The largest integer that all JSON readers parse without loss."""

_PIECE_CHARS = 262_144
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def call_tool(tool: Tool[P, A], arguments: object, call: Call) -> dict[str, JsonValue]:
    """Check the arguments, run the tool, and return its answer as plain JSON.

    The answer contains no NaN, infinity or lone surrogate; integers beyond 2^53 are strings.

    Raises:
        ToolError: when the call is refused or fails with a code.
        InternalError: for any other failure, which is logged under its ``error_id``.
        Cancelled: when the caller stopped waiting.
    """
    try:
        return _called(tool, arguments, call)
    except ToolError as error:
        raise _refusal(tool, arguments, error) from error.__cause__


def _called(tool: Tool[P, A], arguments: object, call: Call) -> dict[str, JsonValue]:
    try:
        if tool.before is not None:
            tool.before(call, arguments)
        answer = tool.run(parse_arguments(tool.params, arguments), call)
        check_answer(tool, answer)
        return _plain_object(dumped(answer))
    except (ToolError, Cancelled, KeyboardInterrupt):
        raise
    except BaseException as error:
        # A body that calls sys.exit() fails this call; the server goes on.
        raise logged_failure(error, tool=tool.name) from error


def _refusal(tool: Tool[P, A], arguments: object, error: ToolError) -> ToolError:
    """Return the error for the caller of a tool; its payload is JSON."""
    try:
        refusal = error if tool.refused is None else tool.refused(error, arguments)
        _plain_object(refusal.payload())
    except (ToolError, Cancelled, KeyboardInterrupt):
        raise
    except BaseException as failure:
        return logged_failure(failure, tool=tool.name)
    return refusal


def logged_failure(error: BaseException, **fields: str) -> InternalError:
    """Log an unexpected error with its stack trace, and return what the caller gets for it."""
    problem = {"problem": str(error)} if isinstance(error, PluginError) else {}
    failure = InternalError(**problem)
    fields = {**fields, "code": failure.code, "error_id": failure.error_id}
    extra = {"fields": fields}
    LOG.log(logging.ERROR, "error_id %s", failure.error_id, exc_info=error, extra=extra)
    return failure


def parse_arguments(params: type[P], arguments: object) -> P:
    """Return the checked arguments of a tool; ``None`` stands for no arguments.

    A ``null`` counts as absent for an optional argument and as missing for a required one, unless
    the model sets ``null_is_absent = False``.

    Raises:
        InvalidParameter: for the first invalid argument, in declared order; its cause, if from
            pydantic, lists all of them.
        InvalidPath: the same, for an argument that is a path.
    """
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise InvalidParameter("arguments must be an object", parameter="arguments")
    shape = arguments_shape(params)
    present = _without_nulls(arguments, shape) if params.null_is_absent else arguments
    return _validated(params, present, shape)


def unpack_arguments(tool: Tool[Any, Any], arguments: object) -> object:
    """Return the arguments of a tool, with each string parsed that must be an array or an object.

    Some clients send these as strings of JSON. A string that is not such JSON stays as it is.
    """
    if not isinstance(arguments, dict):
        return arguments
    params: type[Params] = tool.params
    return _unpacked(arguments, arguments_shape(params))


def plain(value: object) -> JsonValue:
    """Return a value as JSON that every reader accepts.

    Raises:
        ValueError: for NaN and infinity.
        TypeError: for other values that JSON cannot express.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, int):
        return int(value) if -EXACT <= value <= EXACT else str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("JSON has no number for NaN or infinity")
        return value
    if isinstance(value, dict):
        return {**_plain_object(value)}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def error_payload(error: ToolError) -> dict[str, JsonValue]:
    """Return a failure as plain JSON, whatever its details are."""
    try:
        return _plain_object(error.payload())
    except (TypeError, ValueError) as unwritable:
        return logged_failure(unwritable).payload()


def compact(value: JsonValue) -> str:
    """Return a value as JSON without spaces or escapes of non-ASCII characters."""
    if isinstance(value, dict):
        members = (f"{_json(str(name))}:{_member(member)}" for name, member in value.items())
        return f"{{{','.join(members)}}}"
    return _json(value)


def _member(value: JsonValue) -> str:
    """Encode a long text in pieces, because encoding one blocks all other threads."""
    if not isinstance(value, str):
        return _json(value)
    starts = range(0, len(value), _PIECE_CHARS)
    return f'"{"".join(_json(value[at : at + _PIECE_CHARS])[1:-1] for at in starts)}"'


def _plain_object(answer: object) -> dict[str, JsonValue]:
    if not isinstance(answer, dict):
        raise TypeError(f"an answer is an object, not {type(answer).__name__}")
    return {replace_surrogates(str(key)): plain(value) for key, value in answer.items()}


def dumped(answer: Answer) -> object:
    """Return an answer as JSON; raise what pydantic does for values of other types."""
    try:
        return answer.model_dump(mode="json", by_alias=True, warnings="error")
    except UnicodeEncodeError:  # pydantic cannot write keys with lone surrogates
        return answer.model_dump(mode="python", by_alias=True)


def _without_nulls(value: Any, shape: Schema) -> Any:
    """Drop null members that are optional; elsewhere null is a value."""
    if isinstance(value, list) and "items" in shape:
        return [_without_nulls(member, shape["items"]) for member in value]
    if not isinstance(value, dict):
        return value
    members = (shape, *union_members(shape))
    known = next(filter(None, (member.get("properties") for member in members)), None)
    if known is None:
        return value
    return {
        name: _without_nulls(member, known.get(name, {}))
        for name, member in value.items()
        if member is not None or name not in known or "null" in accepted(known[name])
    }


def _unpacked(value: Any, schema: Schema) -> Any:
    kinds = accepted(schema)
    if isinstance(value, str) and kinds & _CONTAINERS and "string" not in kinds:
        with suppress(ValueError, RecursionError):
            parsed = json.loads(value)
            value = parsed if json_type(parsed) in kinds & _CONTAINERS else value
    if isinstance(value, list) and "items" in schema:
        return [_unpacked(member, schema["items"]) for member in value]
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {name: _unpacked(member, known.get(name, {})) for name, member in value.items()}
    return value


def _validated(params: type[P], arguments: dict[str, Any], shape: Schema) -> P:
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        rule = "must hold finite numbers, of less than 4,000 digits, and not be nested too deeply"
        raise InvalidParameter(f"arguments {rule}", parameter="arguments") from error
    if has_surrogates(text):
        raise _first_to_report(_unencodable(arguments, shape), params, arguments, shape)
    try:
        # Checked as JSON, because only then does a strict model accept an array for a tuple.
        return params.model_validate_json(text)
    except ValidationError as error:
        raise refusal(error.errors(include_url=False), shape) from error
    except ToolError as error:
        raise _first_to_report(error, params, arguments, shape) from None


def _first_to_report(
    raised: ToolError, params: type[Params], arguments: dict[str, Any], shape: Schema
) -> ToolError:
    """Return the error to report first if a validator's own error hid those of other arguments.

    Wrong shapes come first, in declared order.
    """
    steps = str(raised.details.get("parameter", "")).replace("]", "").replace("[", ".").split(".")
    place = tuple(int(step) if step.isdecimal() else step for step in steps)
    try:
        rest = _without(arguments, *place)
    except (AttributeError, TypeError, LookupError):
        return raised
    by_shape = raised.code == InvalidParameter.code
    names = list(shape["properties"])
    earlier = set(names[: names.index(place[0])] if place[0] in names else names)
    try:
        params.model_validate_json(replace_surrogates(json.dumps(rest, ensure_ascii=False)))
    except ValidationError as error:
        errors = [e for e in error.errors(include_url=False) if e["loc"][: len(place)] != place]
        errors = [e for e in errors if of_shape(e) and (not by_shape or earlier & {*e["loc"][:1]})]
        return refusal(errors, shape) if errors else raised
    except ToolError as error:
        return error if not by_shape and error.code == InvalidParameter.code else raised
    return raised


def _without(members: Any, step: str | int, *inner: str | int) -> Any:
    """Return an object or array with null for a member, or for one inside that member."""
    rest, member = members.copy(), members[step]
    rest[step] = _without(member, *inner) if inner else None
    return rest


def _unencodable(arguments: dict[str, Any], shape: Schema) -> ToolError:
    place = None
    with suppress(RecursionError):
        place = _first_broken(arguments, ArgumentLocation("", shape))
    place = place or ArgumentLocation("arguments", {})
    return place.kind(f"{place.name} must not hold unpaired surrogates", parameter=place.name)


def _first_broken(value: object, place: ArgumentLocation) -> ArgumentLocation | None:
    if isinstance(value, str):
        return place if has_surrogates(value) else None
    if isinstance(value, list):
        inner = place.schema.get("items", {})
        members = [(joined(place.name, n), member, inner) for n, member in enumerate(value)]
    elif isinstance(value, dict):
        known = place.schema.get("properties", {})
        names = [*(n for n in known if n in value), *(n for n in value if n not in known)]
        members = [(joined(place.name, n), value[n], known.get(n, {})) for n in names]
    else:
        return None
    broken = (
        _first_broken(member, ArgumentLocation(name, schema)) for name, member, schema in members
    )
    return next((place for place in broken if place is not None), None)
