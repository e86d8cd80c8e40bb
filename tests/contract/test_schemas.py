"""Schemas that every client accepts, and the gate that says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ConfigDict, Field, computed_field, create_model, model_serializer

from fumishirube.errors import InvalidPath
from fumishirube.tools.argument_errors import FailsWith
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Answer, Call, Params, Tool
from fumishirube.tools.schemas import check_schema, check_tool, input_schema, output_schema

pytestmark = pytest.mark.timeout(60)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Budget(Params):
    time_ms: Annotated[int, Field(ge=1)] = 60_000


class Offset(Params):
    char_offset: int | None = None


class Everything(Params):
    """Ask for something."""

    query: Annotated[str, Field(min_length=1, description="What to look for.")]
    title: str | None = None
    budget: Budget | None = None
    cursor: Offset | Annotated[int, Field(ge=0)] | str | None = None
    terms: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("a",)
    path: Annotated[str, FailsWith(InvalidPath)] | None = None
    colour: Colour = Colour.RED
    words: frozenset[str] = frozenset({"x", "y", "z"})
    needed: int | None


class Found(Answer):
    hits: list[Offset]
    reason: str | None = None
    note: str | None = None

    @computed_field
    def count(self) -> int:
        return len(self.hits)

    @model_serializer(mode="wrap")
    def _sparse(self, handler: Any) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if key != "note" or value}


class Nothing(Params):
    pass


class Plain(Answer):
    text: str = ""


class Tree(Answer):
    children: tuple[Tree, ...] = ()


class Open(Params):
    model_config = ConfigDict(extra="allow")


class Pythonic(Params):
    date: Annotated[str, Field(pattern="(?i)^a++$")] = ""


def tool(**changes: Any) -> Tool[Any, Any]:
    given: dict[str, Any] = {
        "name": "ask",
        "title": "Ask",
        "summary": "Asks.",
        "params": Nothing,
        "answer": Plain,
        "run": lambda params, call: Plain(),
    }
    return Tool(**{**given, **changes})


def test_an_input_schema_is_closed_and_stands_on_its_own() -> None:
    schema = input_schema(tool(params=Everything))
    assert schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["query", "needed"],
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "What to look for."},
            "title": {"type": "string"},
            "budget": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"time_ms": {"type": "integer", "minimum": 1, "default": 60_000}},
            },
            "cursor": {
                "anyOf": [
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"char_offset": {"type": "integer"}},
                    },
                    {"type": "integer", "minimum": 0},
                    {"type": "string"},
                ]
            },
            "terms": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 2,
                "default": ["a"],
            },
            "path": {"type": "string"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "words": {
                "type": "array",
                "items": {"type": "string"},
                "uniqueItems": True,
                "default": ["x", "y", "z"],
            },
            "needed": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    }


def test_an_output_schema_describes_what_is_serialized() -> None:
    schema = output_schema(tool(answer=Found))
    assert schema["required"] == ["hits", "count"]
    properties: Any = schema["properties"]
    assert properties["count"] == {"type": "integer"}
    assert properties["reason"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    answer = call_tool(
        tool(answer=Found, run=lambda params, call: Found(hits=[Offset()])), {}, Call()
    )
    assert answer == {"hits": [{"char_offset": None}], "reason": None, "count": 1}
    Draft202012Validator(schema).validate(answer)


def test_a_schema_that_is_handed_out_may_be_changed() -> None:
    asked = tool(params=Everything)
    input_schema(asked)["properties"] = {}
    assert input_schema(asked)["properties"]


def test_good_tools_pass() -> None:
    asked = tool(params=Everything, answer=Found, examples=[{"query": "a", "needed": None}])
    assert check_tool(asked) == []
    assert check_tool(tool()) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "Ask"}, "the name 'Ask'"),
        ({"name": "a" * 41}, "does not match"),
        ({"name": "ask\n"}, "does not match"),
        ({"title": " "}, "it has no title"),
        ({"summary": ""}, "it has no summary"),
        ({"destructive": True}, "it is marked both read-only"),
        ({"answer": Tree}, "recursive"),
        ({"params": Open}, "unknown arguments are not refused"),
        ({"params": Pythonic}, "which other languages do not know"),
        (
            {"params": create_model("Odd", __base__=Params, x=(Callable[[int], int], ...))},
            "input schema",
        ),
        ({"params": create_model("Odd", __base__=Params, ä=(int, 1))}, "property name 'ä'"),
        ({"params": int}, "input schema: AttributeError"),
        ({"examples": [{"foo": 1}]}, "examples[0].foo"),
    ],
)
def test_bad_tools_are_named(changes: dict[str, Any], problem: str) -> None:
    assert any(problem in found for found in check_tool(tool(**changes)))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({}, "the root is not an object"),
        ({"type": "array"}, "the root is not an object"),
        ({"type": "object", "properties": {}, "anyOf": []}, "the root has 'anyOf'"),
        ({"type": "object", "properties": {"a": {"$schema": "x"}}}, "$.a has '$schema'"),
        ({"type": "object", "properties": {"a": {"$ref": "http://x"}}}, "$.a refers to"),
        (
            {"type": "object", "properties": {"a": {"items": {"anyOf": [{"$ref": "#"}]}}}},
            "$.a.items.anyOf[0] refers to",
        ),
        ({"type": "object", "properties": {"a": {"default": float("nan")}}}, "not JSON"),
    ],
)
def test_the_gate_names_what_strict_clients_refuse(schema: Any, problem: str) -> None:
    assert any(problem in found for found in check_schema(schema))


def test_a_property_may_be_called_as_a_keyword_is() -> None:
    keywords = ["title", "default", "properties", "items", "anyOf", "enum", "pattern", "type"]
    fields: Any = dict.fromkeys(keywords, (int, 1))
    asked = tool(params=create_model("Named", __base__=Params, **fields))
    assert check_tool(asked) == []
    assert input_schema(asked)["properties"] == {
        name: {"type": "integer", "default": 1} for name in keywords
    }


@pytest.mark.slow
def test_schemas_are_the_same_in_every_run() -> None:
    script = (
        "import json, test_schemas as t;"
        "x = t.tool(params=t.Everything, answer=t.Found);"
        "print(json.dumps([t.input_schema(x), t.output_schema(x)]))"
    )
    texts = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        here = Path(__file__).parent
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, cwd=here, capture_output=True, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1


KINDS: list[Any] = [
    bool,
    int,
    float,
    str,
    list[int],
    tuple[str, ...],
    dict[str, int],
    Literal["a", "b"],
    Budget,
    list[Budget],
    Annotated[int, Field(ge=1, le=9)],
    Annotated[str, Field(min_length=2, max_length=4)],
    Offset | int,
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["", "a", "abc", 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["time_ms", "char_offset", "x"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["", "default", "null"]))),
    st.data(),
)
def test_what_the_schema_takes_the_tool_takes(
    fields: list[tuple[Any, str]], data: st.DataObject
) -> None:
    made: dict[str, Any] = {
        f"f{number}": (kind, ...) if how == "" else (kind | None, None)
        for number, (kind, how) in enumerate(fields)
    }
    asked = tool(params=create_model("Made", __base__=Params, **made))
    assert check_tool(asked) == []
    schema = input_schema(asked)
    arguments = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(made, JSON)))
    if Draft202012Validator(schema).is_valid(arguments):
        call_tool(asked, json.loads(json.dumps(arguments)), Call())
