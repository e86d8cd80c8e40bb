"""Reads the arguments of a request from its query string or its JSON body."""

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
    """Return the known arguments, converted to the types of the schema.

    A value that cannot be converted stays a string, and validation refuses it. The last of several
    values counts, unless the schema takes an array.
    """
    properties: dict[str, Schema] = shape["properties"]
    known = (name for name in properties if name in query)
    return {name: _converted(query.getlist(name), properties[name]) for name in known}


def from_json(body: bytes) -> object:
    """Parse the JSON of a body.

    Raises:
        Problem: 400 when it is not JSON, 413 when it holds too many values.
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
    except ValueError as error:  # an integer with thousands of digits
        raise invalid("the body holds a number of too many digits") from error


def known_arguments(value: object, shape: Schema) -> dict[str, Any]:
    """Return the known arguments in an endpoint's body, and ignore the others.

    Raises:
        Problem: 400 for a null body, 422 when it is not an object, or a number is not finite.
    """
    if value is None:
        raise invalid("the body is missing; send a JSON object")
    if not isinstance(value, dict):
        message = "Input should be a valid dictionary"
        raise validation_problem([field_error("dict_type", ("body",), message, value)])
    properties = shape["properties"]
    members = {name: member for name, member in value.items() if name in properties}
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
    """Return a value with encodable strings only; refuse numbers that are not finite."""
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
