"""The classic manual tools over MCP: what each answers, to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from chapter_manuals import (
    NAME,
    SURGERY,
    four_chapters,
    made,
    searched,
)
from stdio import Fumishirube, Wire


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(four_chapters(tmp_path_factory.mktemp("chapters"))) as server:
        yield server


def test_the_six_tools_are_listed_and_nothing_else(server: Fumishirube) -> None:
    tools = server.tools()
    assert [*tools] == [
        "list_manuals",
        "get_toc",
        "list_sections",
        "get_section",
        "search_text",
        "find_exceptions",
    ]
    for tool in tools.values():
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["additionalProperties"] is False
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint


def test_served_alone_it_is_known_as_manual_tools(server: Fumishirube) -> None:
    assert server.client.server_info.name == "manual-tools"
    assert "loose" in (server.client.instructions or "")


REQUIRED = {
    "list_manuals": {"manuals"},
    "get_toc": {"manual", "toc"},
    "list_sections": {"manual", "sections"},
    "get_section": {"manual", "section_id", "title", "text"},
    "search_text": {"results"},
    "find_exceptions": {"results"},
}


@pytest.mark.parametrize("name", REQUIRED)
def test_the_output_schemas_require_what_a_client_relies_on(server: Fumishirube, name: str) -> None:
    schema = server.tools()[name].output_schema
    assert set(schema["required"]) == REQUIRED[name]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_manuals_are_the_folders_sorted_whether_usable_or_not(server: Fumishirube) -> None:
    assert server.ok("list_manuals") == {"manuals": ["事務編", "空", NAME]}


def test_the_toc_is_flat_unless_asked_for_children(server: Fumishirube) -> None:
    flat = server.ok("get_toc", manual_name=NAME)
    assert flat["manual"] == NAME
    assert flat["toc"][0] == {"id": "01", "title": "第1章 総則", "file": "01.txt"}
    deep = server.ok("get_toc", manual_name=NAME, hierarchical=True)["toc"]
    assert [one["children"] for one in deep] == [
        None,
        None,
        [{"label": "手術", "at": [1, None]}],
        None,
    ]


def test_sections_are_the_ids(server: Fumishirube) -> None:
    expected = {"manual": NAME, "sections": ["01", "02-1", "03", "07"]}
    assert server.ok("list_sections", manual_name=NAME) == expected
    assert server.ok("list_sections", manual_name="事務編") == {"manual": "事務編", "sections": []}


def test_a_section_has_seven_keys_and_unified_line_ends(server: Fumishirube) -> None:
    assert server.ok("get_section", manual_name=NAME, section_id="02-1") == {
        "manual": NAME,
        "section_id": "02-1",
        "title": "第2章-1 資格",
        "text": "第2章-1 資格\n会員とする。\n",
        "file": "02-1.txt",
        "encoding": "utf-8",
        "id": "02-1",
    }


def test_a_search_answers_with_snippets(server: Fumishirube) -> None:
    answer = server.ok(
        "search_text", manual_name=NAME, query="帝王切開", mode="loose", section_id="03"
    )
    assert answer == {"results": [{"section_id": "03", "snippet": SURGERY.strip()}]}
    missed = server.ok("search_text", manual_name=NAME, query="経理", section_id="03")
    assert missed == {"results": []}


def test_what_was_cut_off_and_not_searched_is_told(server: Fumishirube) -> None:
    answer = server.ok("search_text", manual_name=NAME, query="第.章", limit=1)
    assert answer["total"] == 3
    assert answer["skipped"] == [{"section_id": "07", "reason": "missing"}]
    assert answer.keys() == {"results", "total", "skipped"}


def test_exceptions_come_with_the_lines_around_them(server: Fumishirube) -> None:
    answer = server.ok("find_exceptions", manual_name=NAME, section_id="03", limit=50)
    assert answer == {
        "results": [
            {
                "section_id": "03",
                "text": SURGERY[SURGERY.index("（１）") :].strip(),
            }
        ]
    }


REFUSED = [
    ("get_toc", {}, "invalid_request", "manual_name is required"),
    ("get_toc", {"manual_name": 1}, "invalid_request", "manual_name must be a string"),
    ("get_toc", {"manual_name": "経理編"}, "not_found", "manual '経理編' was not found"),
    ("get_toc", {"manual_name": ".."}, "not_found", "manual '..' was not found"),
    ("get_toc", {"manual_name": "/etc"}, "not_found", "manual '/etc' was not found"),
    ("get_toc", {"manual_name": ""}, "not_found", "manual '' was not found"),
    ("get_toc", {"manual_name": "\0"}, "not_found", "manual '\0' was not found"),
    (
        "get_toc",
        {"manual_name": "空"},
        "not_found",
        "manual '空' has no usable 00_目次.json: missing",
    ),
    ("get_section", {"manual_name": NAME}, "invalid_request", "section_id is required"),
    (
        "get_section",
        {"manual_name": NAME, "section_id": "99"},
        "not_found",
        f"section '99' was not found in manual '{NAME}'",
    ),
    (
        "get_section",
        {"manual_name": NAME, "section_id": "07"},
        "not_found",
        f"section '07' of manual '{NAME}' has no readable file '07.txt': missing",
    ),
    (
        "search_text",
        {"manual_name": NAME, "query": "x", "section_id": "07"},
        "not_found",
        f"section '07' of manual '{NAME}' has no readable file '07.txt': missing",
    ),
    (
        "search_text",
        {"manual_name": NAME, "query": "x", "section_id": ""},
        "not_found",
        f"section '' was not found in manual '{NAME}'",
    ),
    ("search_text", {"manual_name": NAME, "query": ""}, "invalid_request", "query is required"),
    (
        "search_text",
        {"manual_name": NAME, "query": " ・-", "mode": "loose"},
        "invalid_request",
        "query is required",
    ),
    ("search_text", {"manual_name": NAME, "query": None}, "invalid_request", "query"),
    ("search_text", {"manual_name": NAME, "query": "x" * 1001}, "invalid_request", "query"),
    (
        "search_text",
        {"manual_name": NAME, "query": "x", "mode": "REGEX"},
        "invalid_request",
        "mode",
    ),
    ("search_text", {"manual_name": NAME, "query": "x", "mode": None}, "invalid_request", "mode"),
    *(
        (
            "search_text",
            {"manual_name": NAME, "query": "x", "limit": limit},
            "invalid_request",
            "limit",
        )
        for limit in (0, -1, 1.5, 5.0, "5", True, None, 101)
    ),
    *(
        ("find_exceptions", {"manual_name": NAME, "limit": limit}, "invalid_request", "limit")
        for limit in (0, 201)
    ),
    (
        "search_text",
        {"manual_name": NAME, "query": "x", "case_sensitive": 1},
        "invalid_request",
        "case_sensitive",
    ),
    ("get_toc", {"manual_name": NAME, "hierarchical": "maybe"}, "invalid_request", "hierarchical"),
    ("list_manuals", {"manual": "x"}, "invalid_request", "unknown argument 'manual'"),
]


@pytest.mark.parametrize(("tool", "arguments", "code", "message"), REFUSED)
def test_failures_have_a_code_and_name_what_is_wrong(
    server: Fumishirube, tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    told = server.refused(tool, **arguments)
    assert (told["code"], told["error"]) == (code, code)
    assert told["message"].startswith(message)


def test_a_name_with_a_lone_surrogate_is_only_not_found(tmp_path: Path) -> None:
    with Wire(made(tmp_path, [])) as wire:
        for tool, more in (("get_toc", {}), ("search_text", {"query": "x"})):
            told = wire.refused(tool, manual_name="\ud800", **more)
            assert (told["code"], told["error"]) == ("not_found", "not_found")
            assert told["message"] == "manual '\ufffd' was not found"
        told = wire.refused("search_text", manual_name=NAME, query="\ud800")
        assert told["code"] == "invalid_request"


def test_a_null_section_is_none(server: Fumishirube) -> None:
    assert searched(server, "給付", section_id=None) == ["01", "03"]


def test_quoted_values_are_cut(server: Fumishirube) -> None:
    message = server.refused("get_toc", manual_name="編" * 5000)["message"]
    assert message == f"manual '{'編' * 79}…' was not found"
