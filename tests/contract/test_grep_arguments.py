"""When ``manual_grep`` may be called, what it costs, and which arguments it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stdio import Fumishirube, Wire

pytest_plugins = ["grep_servers"]


@pytest.fixture(scope="module")
def server(grep_server: Fumishirube) -> Fumishirube:
    return grep_server


def test_all_manuals_need_no_list_and_are_one(grep_workspace: Path) -> None:
    with Fumishirube(grep_workspace) as fresh:
        refused = fresh.refused("manual_grep", any=["x"], manual_id="m")
        assert refused["details"] == {"required_first_call": "manual_ls"}
        answer = fresh.ok("manual_grep", any=["5秒"], manual_id="*")
        assert answer["manuals"] == ["chapters", "m"]
        assert answer["total"] == 5
        assert [group["manual_id"] for group in answer["groups"]] == ["chapters", "m", "m"]
        assert fresh.ok("manual_toc", manual_id="m")["total_files"] == 5
        both = fresh.ok("manual_grep", any=["5秒"], manual_id=["m", "chapters", "m"])
        assert [group["manual_id"] for group in both["groups"]] == ["chapters", "m", "m"]


def test_the_contract_alone_has_no_such_tool(grep_workspace: Path) -> None:
    with Fumishirube(grep_workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        assert "manual_grep" not in server.tools()
    with Fumishirube(grep_workspace) as server:
        names = [*server.tools()]
        assert names[names.index("manual_find") + 1] == "manual_grep"


def test_what_it_costs_to_offer_it(server: Fumishirube) -> None:
    tool = server.tools()["manual_grep"]
    schema = json.dumps(tool.input_schema, ensure_ascii=False, separators=(",", ":"))
    assert (len(tool.name) + len(tool.description) + len(schema)) / 4 <= 420


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "any"),
        ({"any": ["a"], "regex": "a"}, "any"),
        ({"any": []}, "any"),
        ({"any": [""]}, "any[0]"),
        ({"any": ["a", " \u3000"]}, "any[1]"),
        ({"any": ["a\nb"]}, "any[0]"),
        ({"any": ["a"] * 9}, "any"),
        ({"any": ["a" * 201]}, "any[0]"),
        ({"any": "a"}, "any"),
        ({"regex": ""}, "regex"),
        ({"regex": "(a"}, "regex"),
        ({"regex": r"once\n+call|a\nb"}, "regex"),
        ({"regex": "a(?i)", "word": True}, "regex"),
        ({"any": ["a"], "context": 4}, "context"),
        ({"any": ["a"], "max_chars": 255}, "max_chars"),
        ({"any": ["a"], "cursor": "1"}, "cursor"),
        ({"any": ["a"], "cursor": "1.00000000"}, "cursor"),
        ({"any": ["a"], "exact": 1}, "exact"),
        ({"any": ["a"], "manual_id": []}, "manual_id"),
        ({"any": ["a"], "manual_id": "manuals"}, "manual_id"),
        ({"any": ["a"], "path_prefix": "../m"}, "path_prefix"),
    ],
)
def test_bad_arguments_are_named(
    server: Fumishirube, arguments: dict[str, Any], parameter: str
) -> None:
    with_manual: dict[str, Any] = {"manual_id": "m"} | arguments
    refused = server.refused("manual_grep", **with_manual)
    assert refused["code"] == (
        "invalid_path" if parameter == "path_prefix" else "invalid_parameter"
    )
    assert refused["details"]["parameter"] == parameter


def test_manuals_that_are_not_there_are_refused(server: Fumishirube) -> None:
    assert server.refused("manual_grep", any=["a"], manual_id="n")["code"] == "not_found"
    assert server.refused("manual_grep", any=["a"], manual_id=["m", "n"])["code"] == "not_found"


@pytest.mark.slow
def test_hostile_texts_are_answered(grep_workspace: Path) -> None:
    with Wire(grep_workspace) as wire:
        wire.ok("manual_ls")
        texts = [
            "\0",
            "あ" * 200,
            "a" * 200,
            "." * 200,
            "[" * 200,
            "5" * 200,
            "\ufdfa" * 200,
            "ß" * 200,
        ]
        assert wire.ok("manual_grep", any=texts, manual_id="*")["total"] == 0
        refused = wire.refused("manual_grep", any=["\ud800"], manual_id="m")
        assert refused["details"] == {"parameter": "any[0]"}
        assert (
            wire.refused("manual_grep", regex="\ud800", manual_id="m")["code"]
            == "invalid_parameter"
        )
        assert wire.ok("manual_grep", any=[" a " * 60], manual_id="*")["total"] == 0
        for pattern in ("a" * 2_000, "あ" * 2_000, "[ab]" + "𠮷" * 1_000):
            assert wire.ok("manual_grep", regex=pattern, manual_id="*")["total"] == 0
