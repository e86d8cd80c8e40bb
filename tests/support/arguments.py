"""Arguments for any tool that a server lists, made from its input schema alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

GOOD: Mapping[str, Any] = {
    "manual_id": "m",
    "path": "rules.md",
    "start_line": 1,
    "query": "対象外",
    "required_terms": ["対象外"],
    "content": "text\n",
    "find": "対象",
    "replace": "対象",
    "trace_id": "0" * 32,
    "id": "m",
}
"""What works, or nearly, for arguments of these names in the tests' workspaces."""

_PATHLIKE = re.compile(
    r"(?:^|_)(?:id|ids|path|paths|prefix|file|folder|dir|name|ref|cite|uri)(?:_|$)"
)


class Place(NamedTuple):
    """Where in a tool's arguments a string goes that may name something."""

    tool: str
    keys: tuple[str, ...]

    def filled(self, schema: Schema, value: Any) -> dict[str, Any]:
        """Return arguments with this value there, and what is needed besides."""
        made: dict[str, Any] = deepcopy(good(schema, schema))
        inner = made
        for key in self.keys[:-1]:
            schema = _object(resolved(schema, schema)["properties"][key], schema)
            if not isinstance(inner.get(key), dict):
                inner[key] = good(schema, schema)
            inner = inner[key]
        inner[self.keys[-1]] = value
        return made


def places(tool: str, schema: Schema) -> Iterator[Place]:
    """Yield the places of strings whose names say that they name something."""
    yield from (Place(tool, keys) for keys in _strings(schema, schema, ()))


def good(schema: Schema, top: Schema) -> Any:
    """Return a plain value of a schema: of an object only the members it needs."""
    schema = resolved(schema, top)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        known = schema.get("properties", {})
        needed = schema.get("required", ())
        return {k: deepcopy(GOOD[k]) if k in GOOD else good(known[k], top) for k in needed}
    if kind == "array":
        return [good(schema["items"], top)] * schema.get("minItems", 1)
    plain = {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": False, "null": None}
    return plain.get(str(kind), "a")


def resolved(schema: Schema, top: Schema) -> Schema:
    """Follow references, and take the first arm of a union that is no null."""
    while "$ref" in schema or "anyOf" in schema or "oneOf" in schema:
        if "$ref" in schema:
            schema = top["$defs"][schema["$ref"].rpartition("/")[2]]
            continue
        arms = schema.get("anyOf") or schema["oneOf"]
        schema = next((arm for arm in arms if arm.get("type") != "null"), arms[0])
    return schema


def _object(schema: Schema, top: Schema) -> Schema:
    return {**resolved(schema, top), "$defs": top.get("$defs", {})}


def _strings(schema: Schema, top: Schema, keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, inner in resolved(schema, top).get("properties", {}).items():
        shape = resolved(inner, top)
        if shape.get("type") == "object":
            yield from _strings(shape, top, (*keys, name))
        elif shape.get("type") == "string" and "enum" not in shape and _PATHLIKE.search(name):
            yield (*keys, name)
