"""JSON Schemas of tools, in the narrow dialect that every client accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from fumishirube.errors import ToolError
from fumishirube.tools.definitions import Answer, Params, Schema, Tool

FAILS_WITH = "x-fails-with"
"""A private key: the error code of a property. It never leaves the process."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PYTHON_ONLY = re.compile(r"\(\?(P|#|[aiLmsux-]+[:)]|\(|>)|\\[AZz]|[*+?}]\+")
_MAPS = ("properties", "patternProperties", "$defs")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES = ("items", "additionalProperties", "not", "propertyNames", "contains")
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_UNREAD = ("default", "readOnly")
"""Keys that mean nothing to readers of an answer."""
_NULL: Schema = {"type": "null"}
_MAPPING_KEYS = frozenset({"type", "additionalProperties"})


def input_schema(tool: Tool[Any, Any]) -> dict[str, JsonValue]:
    """Return the schema of a tool's arguments: closed, self-contained, the same in every run.

    An optional argument does not advertise ``null``, although a caller may send it.
    """
    params: type[Params] = tool.params
    return _public(_without_summaries(arguments_shape(params)))


def output_schema(tool: Tool[Any, Any]) -> dict[str, JsonValue]:
    """Return the schema of a tool's answer: self-contained, the same in every run.

    Keys that a serializer may leave out have defaults in the schema.
    """
    answer: type[Answer] = tool.answer
    return _public(_answer_shape(answer))


def check_tool(tool: Tool[Any, Any]) -> list[str]:
    """Return why a tool cannot be offered, as sentences; empty if it can."""
    problems = []
    if not _NAME.fullmatch(tool.name):
        problems.append(f"the name {tool.name!r} does not match {_NAME.pattern}")
    problems += [
        f"it has no {what}" for what in ("title", "summary") if not str(getattr(tool, what)).strip()
    ]
    if tool.read_only and tool.destructive:
        problems.append("it is marked both read-only and destructive")
    for side, shape in (("input", input_schema), ("output", output_schema)):
        try:
            schema = shape(tool)
        except Exception as error:
            problems.append(f"{side} schema: {type(error).__name__}: {error}")
            continue
        problems += [f"{side} schema: {problem}" for problem in check_schema(schema)]
        if side == "input" and schema.get("additionalProperties") is not False:
            problems.append("input schema: unknown arguments are not refused")
    return problems or _check_examples(tool)


def check_schema(schema: dict[str, JsonValue]) -> list[str]:
    """Return why a strict client would refuse a schema; empty if it would not."""
    problems = []
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        problems.append("the root is not an object with properties")
    problems += [
        f"the root has {key!r}"
        for key in ("oneOf", "anyOf", "allOf", "not", "enum")
        if key in schema
    ]
    for where, node in _nodes(schema):
        problems += [f"{where} {problem}" for problem in _check_node(node)]
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        problems.append(f"it is not JSON: {error}")
    return problems


def _check_examples(tool: Tool[Any, Any]) -> list[str]:
    problems = []
    for number, example in enumerate(tool.examples):
        try:
            tool.params.model_validate_json(json.dumps(example))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            problems.append(f"examples[{number}].{where}: {first['msg']}")
        except ToolError as error:
            problems.append(f"examples[{number}]: {error}")
        except (TypeError, ValueError, RecursionError) as error:
            problems.append(f"examples[{number}] is not JSON: {error}")
    return problems


def _check_node(node: Schema) -> Iterator[str]:
    if "$ref" in node:
        yield f"refers to {node['$ref']!r}: it is recursive, or defined elsewhere"
    for key in ("$schema", "$id", "$anchor", "$dynamicRef"):
        if key in node:
            yield f"has {key!r}"
    types = node.get("type", [])
    for each in types if isinstance(types, list) else [types]:
        if each not in _TYPES:
            yield f"has the type {each!r}, which JSON Schema does not know"
    pattern = node.get("pattern")
    if isinstance(pattern, str) and _PYTHON_ONLY.search(pattern):
        yield f"has the pattern {pattern!r}, which other languages do not know"
    for name in node.get("properties", ()):
        if not _PROPERTY.fullmatch(name):
            yield f"has the property name {name!r}, which some clients refuse"


def _nodes(schema: Schema, where: str = "$") -> Iterator[tuple[str, Schema]]:
    yield where, schema
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            children = [(f"{where}.{name}", child) for name, child in value.items()]
        elif key in _LISTS and isinstance(value, list):
            children = [(f"{where}.{key}[{n}]", child) for n, child in enumerate(value)]
        elif key in _ONES:
            children = [(f"{where}.{key}", value)]
        else:
            continue
        for place, child in children:
            if isinstance(child, dict):
                yield from _nodes(child, place)


# --- generating -----------------------------------------------------------------------------


class _Generator(GenerateJsonSchema):
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - the parent's own form
        "skipped-choice",
        "non-serializable-default",
    }

    def encode_default(self, dft: Any) -> Any:
        """Sort the members of a set, which has no order of its own."""
        if isinstance(dft, (set, frozenset)):
            dft = sorted(dft, key=repr)
        return super().encode_default(dft)

    def ser_schema(self, schema: Any) -> Schema | None:
        """Describe a model by its fields, even if its serializer returns any mapping."""
        described = super().ser_schema(schema) or {}
        any_mapping = described.get("type") == "object" and described.keys() <= _MAPPING_KEYS
        return None if any_mapping else described or None


@lru_cache(maxsize=256)
def arguments_shape(params: type[BaseModel]) -> Schema:
    """Return the schema of arguments or settings, private keys included. Do not change it."""
    return _without_nulls(_generate(params, "validation"))


@lru_cache(maxsize=256)
def _answer_shape(answer: type[Answer]) -> Schema:
    return _without_keys(_generate(answer, "serialization"), _UNREAD)


def _generate(model: type[BaseModel], mode: Any) -> Schema:
    raw = model.model_json_schema(schema_generator=_Generator, mode=mode)
    definitions = raw.pop("$defs", {})
    return {"properties": {}, **_inlined(raw, definitions, ())}


def _inlined(schema: Schema, definitions: Schema, above: tuple[str, ...]) -> Schema:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if name in definitions and name not in above:
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**definitions[name], **siblings}, definitions, (*above, name))
    # A discriminator points into the definitions; a title repeats the property's name.
    remaining = {
        key: value for key, value in schema.items() if key not in ("title", "discriminator")
    }
    return _rebuilt(remaining, lambda child: _inlined(child, definitions, above))


def _without_nulls(schema: Schema) -> Schema:
    schema = _rebuilt(schema, _without_nulls)
    required = schema.get("required", ())
    if "properties" in schema:
        schema["properties"] = {
            name: child if name in required else _without_null(child)
            for name, child in schema["properties"].items()
        }
    return schema


def _without_null(schema: Schema) -> Schema:
    siblings = {k: v for k, v in schema.items() if not (k == "default" and v is None)}
    members = siblings.get("anyOf", [])
    if _NULL not in members:
        return siblings
    members = [member for member in members if member != _NULL]
    del siblings["anyOf"]
    return {**members[0], **siblings} if len(members) == 1 else {"anyOf": members, **siblings}


def _without_summaries(schema: Schema) -> Schema:
    """Remove descriptions of whole objects, which repeat the tool's own."""
    plain = _rebuilt(schema, _without_summaries)
    return {k: v for k, v in plain.items() if k != "description" or "properties" not in plain}


def _public(shape: Schema) -> dict[str, JsonValue]:
    return deepcopy(_without_keys(shape, (FAILS_WITH,)))


def _without_keys(schema: Schema, keys: Collection[str]) -> Schema:
    """Remove keys from a schema and from all schemas inside it."""
    remaining = {key: value for key, value in schema.items() if key not in keys}
    return _rebuilt(remaining, lambda child: _without_keys(child, keys))


def _rebuilt(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return a copy with every direct subschema changed."""
    copy = dict(schema)
    for key, value in schema.items():
        if key in _MAPS:
            copy[key] = {name: change(child) for name, child in value.items()}
        elif key in _LISTS:
            copy[key] = [change(child) for child in value]
        elif key in _ONES and isinstance(value, dict):
            copy[key] = change(value)
    return copy
