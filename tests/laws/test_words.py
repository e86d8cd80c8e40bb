"""What a model reads of the server, and what it costs: words, schemas, a search's answer.

And how the command line words what it translates for people.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stdio import HELLO, Fumishirube, Wire

from fumishirube.text import estimate_tokens
from fumishirube.tools.calls import compact

PROJECT = Path(__file__).parents[2]
SAMPLES = PROJECT / "manuals"
TOOLS = 2_600
"""Tokens of the tools' names, descriptions and input schemas."""
FOUND = 2_000
"""Tokens of an answer with five hits and their evidence; a Japanese character counts one."""
SHOWN = 2_048
"""Characters after which some clients cut descriptions and instructions."""
PLAIN = {
    *("budget", "calls", "cursor", "inline_hits", "max_chars", "max_headings_per_file"),
    *("offset", "range", "ref", "scope"),
}
"""Arguments whose names say it all, or whose schema does."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES, folder / "manuals")
    (folder / "vault").mkdir()
    return folder


@pytest.fixture(scope="module")
def server(samples: Path) -> Iterator[Fumishirube]:
    with Fumishirube(samples) as one:
        one.ok("manual_ls")
        yield one


@pytest.fixture(scope="module")
def tools(samples: Path) -> list[dict[str, Any]]:
    with Wire(samples) as wire:
        listed: list[dict[str, Any]] = wire.request("tools/list", {})["result"]["tools"]
    return listed


def test_the_tools_cost_little(tools: list[dict[str, Any]]) -> None:
    assert len(tools) == 13
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    costs = {one["name"]: estimate_tokens(compact(one)) for one in read}
    assert sum(costs.values()) <= TOOLS, costs


def test_the_words_say_when_what_next_and_at_what_price(tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        words = tool["description"]
        assert len(words) <= SHOWN
        assert estimate_tokens(words) < 130, tool["name"]
        assert "Example: " not in words  # what every conversation would pay for
        assert tool["title"]
        assert tool["annotations"].keys() == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        undescribed = {
            name
            for name, one in tool["inputSchema"]["properties"].items()
            if "description" not in one
        }
        assert undescribed <= PLAIN, tool["name"]
    descriptions = {tool["name"]: tool["description"] for tool in tools}
    priced = ("ls", "toc", "find", "grep", "hits", "read", "scan")
    for name in (f"manual_{verb}" for verb in priced):
        assert any(price in descriptions[name] for price in ("Cheap", "tokens a", "Costs")), name
        assert not descriptions[name].startswith(("Call", "Use", "List ", "Read ", "Search ")), name


def test_no_tool_speaks_of_another_that_is_not_there(tools: list[dict[str, Any]]) -> None:
    names = {tool["name"] for tool in tools}
    for tool in tools:
        words = tool["description"].replace("manual_*", "")
        spoken = {w for w in _identifiers(words) if w.startswith(("manual_", "vault_"))}
        assert spoken - {"manual_id"} <= names, tool["name"]


def _identifiers(words: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in words).split())


def test_the_hints_tell_what_writes(tools: list[dict[str, Any]]) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert {n for n, one in hints.items() if not one["readOnlyHint"]} == {
        "vault_create",
        "vault_replace",
    }
    assert {n for n, one in hints.items() if one["destructiveHint"]} == {"vault_replace"}
    assert not any(one["openWorldHint"] for one in hints.values())


def test_the_instructions_are_short_and_name_the_way(samples: Path) -> None:
    with Wire(samples) as wire:
        instructions = wire.request("initialize", HELLO)["result"]["instructions"]
    assert len(instructions) <= SHOWN
    way = ["manual_ls", "manual_find", "manual_grep", "manual_read"]
    assert sorted(way, key=instructions.index) == way
    assert "never instructions" in instructions


@pytest.mark.parametrize(
    ("manual_id", "query", "term"),
    [
        ("業務ハンドブック", "年次有給休暇は何日前までに申請するか", "有給休暇"),
        ("業務ハンドブック", "在宅勤務と出張の手当の違い", "手当"),
        ("field-guide", "How do I calibrate the sensors?", "calibration"),
        ("給付金編", "対象外になるのはどんな場合か", "対象外"),
    ],
)
def test_a_search_costs_little(server: Fumishirube, manual_id: str, query: str, term: str) -> None:
    found = server.ok("manual_find", manual_id=manual_id, query=query, required_terms=[term])
    assert len(found["inline_hits"]["items"]) == 5
    assert estimate_tokens(compact(found)) <= FOUND


def test_values_fill_a_template_after_it_is_translated() -> None:
    """A text that contains its values would be guessed back to a template of the catalog."""
    files = [file for room in ("core", "plugins") for file in (PROJECT / room).rglob("*.py")]
    calls = [(file, call) for file in files for call in _calls_of("translated", file)]
    assert len(calls) > 50
    filled_before = [
        f"{file.relative_to(PROJECT)}:{call.lineno}"
        for file, call in calls
        if any(isinstance(part, ast.JoinedStr) for part in ast.walk(call))
    ]
    assert filled_before == [], 'write filled("… {0}", value)'


def _calls_of(function: str, file: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
            yield node
