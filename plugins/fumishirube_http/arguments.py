"""The arguments of a request: strings from its address, or the JSON of its body."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from starlette.datastructures import QueryParams

from fumishirube.serving import Schema, accepted, replace_surrogates
from fumishirube_http.limits import check_values
from fumishirube_http.problems import Location, field_error, invalid, validation_problem

_TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})
_FALSE = frozenset({"false", "0", "no", "off", "f", "n"})
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
_TOO_DEEP = "the body is nested too deeply"


def from_query(query: QueryParams, shape: Schema) -> dict[str, Any]:
    """Return the known arguments, each converted to what its schema takes.

    A string that cannot be converted stays one, and is refused when the arguments are checked.
    The last of several values counts, except where the schema takes an array.
    """
    known: dict[str, Schema] = shape["properties"]
    return {name: _converted(query.getlist(name), known[name]) for name in known if name in query}


def from_json(body: bytes) -> object:
    """Return the JSON of a body.

    Raises:
        Problem: 400 when there is none, 413 when it holds too many values.
    """
    check_values(body)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid("the body must be JSON in UTF-8") from error
    if not text.strip():
        raise invalid("the body is missing; send a JSON object")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise invalid(f"the body is not JSON: {error.msg} at {where}") from error
    except RecursionError as error:
        raise invalid(_TOO_DEEP) from error
    except ValueError as error:  # an integer of thousands of digits
        raise invalid("the body holds a number of too many digits") from error


def known_of(value: object, shape: Schema) -> dict[str, Any]:
    """Return the known arguments of an endpoint's body; what is not known is ignored.

    Raises:
        Problem: 400 when the body is null, 422 when it is no object, or a number is not finite.
    """
    if value is None:
        raise invalid("the body is missing; send a JSON object")
    if not isinstance(value, dict):
        message = "Input should be a valid dictionary"
        raise validation_problem([field_error("dict_type", ("body",), message, value)])
    known = shape["properties"]
    members = {name: member for name, member in value.items() if name in known}
    try:
        cleaned: dict[str, Any] = _cleaned(members, ("body",))
    except RecursionError as error:
        raise invalid(_TOO_DEEP) from error
    return cleaned


def _converted(texts: list[str], schema: Schema) -> Any:
    kinds = accepted(schema)
    if "array" in kinds:
        items = schema.get("items", {})
        return [_converted([text], items) for text in texts]
    text = texts[-1]
    if "string" in kinds:
        return text
    if "boolean" in kinds and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if "integer" in kinds and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in kinds and _NUMBER.fullmatch(text):
        return float(text)
    return text


def _cleaned(value: Any, where: Location) -> Any:
    """Return a value whose strings can be encoded; numbers have to be finite."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise validation_problem(
            [field_error("finite_number", where, "Input should be a finite number", value)]
        )
    if isinstance(value, list):
        return [_cleaned(member, (*where, place)) for place, member in enumerate(value)]
    if isinstance(value, dict):
        return {
            replace_surrogates(k): _cleaned(v, (*where, replace_surrogates(k)))
            for k, v in value.items()
        }
    return value
