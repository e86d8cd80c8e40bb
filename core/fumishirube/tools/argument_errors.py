"""Errors about the arguments of a call: one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pydantic import GetJsonSchemaHandler, JsonValue
from pydantic_core import CoreSchema, ErrorDetails

from fumishirube.errors import (
    Conflict,
    Forbidden,
    InvalidParameter,
    InvalidPath,
    InvalidScope,
    NeedsNarrowScope,
    NotFound,
    OutOfScope,
    ToolError,
    did_you_mean,
)
from fumishirube.tools.definitions import Schema, accepted, json_type, union_members
from fumishirube.tools.schemas import FAILS_WITH

_KINDS: dict[str, type[ToolError]] = {
    kind.code: kind
    for kind in (
        InvalidParameter,
        InvalidPath,
        OutOfScope,
        NeedsNarrowScope,
        NotFound,
        Forbidden,
        InvalidScope,
        Conflict,
    )
}
_NOUNS = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_BOUNDS = {
    "greater_than_equal": ("minimum", "maximum", ""),
    "less_than_equal": ("minimum", "maximum", ""),
    "string_too_short": ("minLength", "maxLength", " characters"),
    "string_too_long": ("minLength", "maxLength", " characters"),
    "too_short": ("minItems", "maxItems", " items"),
    "too_long": ("minItems", "maxItems", " items"),
}
_STRICTLY = {
    "greater_than": ("exclusiveMinimum", "gt", "greater than"),
    "less_than": ("exclusiveMaximum", "lt", "less than"),
}
_SHOWN = 60


@dataclass(frozen=True)
class FailsWith:
    """Annotates a field with the error that is raised when it is missing or wrong.

    ``path: Annotated[str, FailsWith(InvalidPath)]`` answers ``invalid_path`` for a number.
    """

    error: type[ToolError]

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> Schema:
        """Mark the property in the schema, where the error is looked up."""
        return {**handler(schema), FAILS_WITH: self.error.code}


class ArgumentLocation(NamedTuple):
    """The place of an argument: its dotted name, and its schema if it has one."""

    name: str
    schema: Schema

    @property
    def kind(self) -> type[ToolError]:
        """The class of the error for this argument."""
        return _KINDS.get(self.schema.get(FAILS_WITH, ""), InvalidParameter)


def refusal(errors: Sequence[ErrorDetails], shape: Schema) -> ToolError:
    """Return the one error to report, out of all that pydantic found.

    Wrong shapes come first, in the declared order of the arguments, unknown arguments last; then
    errors of validators with a code of their own, such as ``invalid_path``. A missing argument with
    a misspelt name is an unknown one.
    """
    shapes = [error for error in errors if of_shape(error)]
    chosen = (shapes or list(errors))[0]
    if chosen["type"] == "missing":
        chosen = _misspelt(chosen, shapes) or chosen
    place = _located(chosen, shape)
    if union_members(place.schema):
        below = (f"{place.name}.", f"{place.name}[")
        beside = [e for e in shapes if f"{_located(e, shape).name}.".startswith(below)]
        fitting = [e for e in beside if not _misfit(e, _located(e, shape).schema)]
        if beside and not fitting:
            return _mistyped(place)
        chosen = fitting[0] if fitting else chosen
    return _error(chosen, _located(chosen, shape), shape)


def _misspelt(missing: ErrorDetails, errors: Sequence[ErrorDetails]) -> ErrorDetails | None:
    """Return the error of an unknown argument whose name is nearly that of a missing one."""
    place, name = missing["loc"][:-1], str(missing["loc"][-1])
    for error in errors:
        beside = error["type"] == "extra_forbidden" and error["loc"][:-1] == place
        if beside and did_you_mean(str(error["loc"][-1]), [name], ""):
            return error
    return None


def of_shape(error: ErrorDetails) -> bool:
    """Tell whether an error is about an argument's shape, not its value."""
    return error["type"] not in _KINDS or error["type"] == InvalidParameter.code


def _located(error: ErrorDetails, shape: Schema) -> ArgumentLocation:
    """Return the argument of an error, without pydantic's tags of union members."""
    unknown = error["type"] == "extra_forbidden"
    place = _walked(error["loc"][:-1] if unknown else error["loc"], shape)
    return ArgumentLocation(joined(place.name, error["loc"][-1]), {}) if unknown else place


def _walked(steps: Sequence[str | int], shape: Schema) -> ArgumentLocation:
    place = ArgumentLocation("", shape)
    for step in steps:
        inner = _inside(place.schema, step)
        if inner is not None:
            place = ArgumentLocation(joined(place.name, step), inner)
    return place


def joined(name: str, step: str | int) -> str:
    """Return the dotted name of a member, shortened and printable."""
    if isinstance(step, int):
        return f"{name}[{step}]" if len(name) < _SHOWN else name
    short = step if len(step) <= _SHOWN else step[: _SHOWN - 1] + "…"
    shown = "".join(c if c.isprintable() else "�" for c in short)
    return f"{name}.{shown}" if name else shown


def _inside(schema: Schema, step: str | int) -> Schema | None:
    for member in (schema, *union_members(schema)):
        if isinstance(step, int):
            listed = member.get("prefixItems", ())
            inner = listed[step] if step < len(listed) else member.get("items")
        else:
            inner = member.get("properties", {}).get(step)
            if inner is None and member is schema and not union_members(schema):
                inner = member.get("additionalProperties")
        if isinstance(inner, dict):
            return inner
    return None


def _misfit(error: ErrorDetails, schema: Schema) -> bool:
    """Tell whether a union member refused a value only because it is of another type."""
    kinds = accepted(schema)
    if error["type"] in ("extra_forbidden", "missing") or not kinds:
        return False
    member = error["type"].removesuffix("_type")
    return member != error["type"] or json_type(error["input"]) not in kinds


def _error(error: ErrorDetails, place: ArgumentLocation, shape: Schema) -> ToolError:
    kind, name, schema = error["type"], place.name, place.schema
    context: dict[str, Any] = error.get("ctx", {})
    if kind in _KINDS:
        details = {key: context.get(key) for key in ("min", "max", "allowed", "reason")}
        return _KINDS[kind](error["msg"], parameter=name or None, **details)
    if kind == "json_invalid":
        return _unusable(place, "they are nested too deeply")
    if kind == "missing":
        return place.kind(f"{name} is required", parameter=name)
    if kind == "extra_forbidden":
        return _unknown(error, name, shape)
    if kind in ("value_error", "assertion_error"):
        return place.kind(str(context["error"]), parameter=name or None)
    if kind in _BOUNDS and (limited := _out_of_bounds(place, _BOUNDS[kind], context)):
        return limited
    if kind in _STRICTLY:
        key, same, words = _STRICTLY[kind]
        limit = schema.get(key, context[same])
        return place.kind(f"{name} must be {words} {limit}", parameter=name)
    if kind in ("literal_error", "enum") or json_type(error["input"]) not in accepted(schema):
        return _mistyped(place)
    if kind == "string_pattern_mismatch":
        examples = schema.get("examples")
        rule = f"be such as {examples[0]}" if examples else f"match {context['pattern']}"
        return place.kind(f"{name} must {rule}", parameter=name)
    return _unusable(place, error["msg"])


def _mistyped(place: ArgumentLocation) -> ToolError:
    members = union_members(place.schema) or [place.schema]
    allowed = [value for member in members for value in _choices(member)]
    nouns = [
        _NOUNS[member["type"]]
        for member in members
        if not _choices(member) and member.get("type") in _NOUNS
    ]
    if allowed:
        nouns.append("one of " + ", ".join(str(value) for value in allowed))
    if not nouns:
        return _unusable(place, "it has the wrong type")
    *others, last = dict.fromkeys(nouns)
    words = f"{', '.join(others)} or {last}" if others else last
    details: dict[str, JsonValue] = {"allowed": list(allowed)} if allowed else {}
    return place.kind(f"{place.name} must be {words}", parameter=place.name, **details)


def _choices(schema: Schema) -> list[JsonValue]:
    if "const" in schema:
        return [schema["const"]]
    return list(schema.get("enum", ()))


def _unusable(place: ArgumentLocation, why: str) -> ToolError:
    name = place.name or "arguments"
    return place.kind(f"{name} cannot be used: {why}", parameter=name)


def _out_of_bounds(
    place: ArgumentLocation, keys: tuple[str, str, str], context: Mapping[str, Any]
) -> ToolError | None:
    """Return the error for a value beyond the bounds of its schema, or of its model's field."""
    low_key, high_key, unit = keys
    members = [
        member
        for member in (place.schema, *union_members(place.schema))
        if member.keys() & {low_key, high_key}
    ]
    if members:
        low, high = members[0].get(low_key), members[0].get(high_key)
    else:
        low = context.get("ge", context.get("min_length"))
        high = context.get("le", context.get("max_length"))
    if low is None and high is None:
        return None
    if high is None and low == 1 and unit:
        rule = "not be empty"
    elif high is None:
        rule = f"be at least {low}{unit}"
    elif low is None:
        rule = f"be at most {high}{unit}"
    else:
        rule = f"be within {low}..{high}{unit}"
    return place.kind(f"{place.name} must {rule}", parameter=place.name, min=low, max=high)


def _unknown(error: ErrorDetails, name: str, shape: Schema) -> ToolError:
    parent = _walked(error["loc"][:-1], shape)
    known = [
        n
        for member in (parent.schema, *union_members(parent.schema))
        for n in member.get("properties", ())
    ]
    hint = did_you_mean(str(error["loc"][-1]), known, "", shown=partial(joined, parent.name))
    message = f"unknown argument '{name}'"
    return InvalidParameter("; ".join(filter(None, (message, hint))), parameter=name)
