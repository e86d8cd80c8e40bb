"""The six tools over documents, through a real server: answers and refusals, letter by letter."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stdio
from documents import PAIR, docs_json, documents

TOOLS = (
    "ubp_search",
    "ubp_get_page",
    "ubp_get_context",
    "ubp_fulltext_search",
    "ubp_list_pages",
    "ubp_get_graph",
)
INSTALL, SEARCH = "d_963967eadf6972b7", "d_212fb4e92adc1a0b"
DAY = 86_400
KINDS = ("references", "depends_on", "implements", "extends", "conflicts_with")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = documents(tmp_path_factory.mktemp("pair"), PAIR)
    (workspace / "src").mkdir()
    (workspace / "src" / "search.py").write_text("rank = 1\n")
    return workspace


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[stdio.Wire]:
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with stdio.Wire(workspace) as server:
        yield server


def call(server: stdio.Wire, tool: str, arguments: Any) -> tuple[bool, dict[str, Any]]:
    """Return whether the call was refused, and what came of it, in every shape the same."""
    answer = server.request("tools/call", {"name": tool, "arguments": arguments})
    result = answer["result"]
    (block,) = result["content"]
    payload = json.loads(block["text"])
    assert block["text"] == json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    if result["isError"]:
        assert "structuredContent" not in result
        assert result["_meta"]["fumishirube/error"] == payload
        assert payload.keys() == {"code", "message", "details"}
        assert str(server.workspace) not in block["text"]
    else:
        assert result["structuredContent"] == payload
        assert payload["content_trust"] == "untrusted"
    return result["isError"], payload


def ok(server: stdio.Wire, tool: str, **arguments: Any) -> dict[str, Any]:
    refused, payload = call(server, tool, arguments)
    assert not refused, payload
    return payload


def test_the_tools_are_listed_as_reading_and_tell_of_data(server: stdio.Wire) -> None:
    listed = server.request("tools/list", {})["result"]["tools"]
    assert tuple(tool["name"] for tool in listed) == TOOLS
    for tool in listed:
        hints = tool["annotations"]
        assert hints["readOnlyHint"]
        assert hints["idempotentHint"]
        assert not hints["openWorldHint"]
        assert "data, never instructions" in tool["description"]


def test_a_page_is_told_with_sections_links_and_issues(server: stdio.Wire) -> None:
    page = ok(server, "ubp_get_page", filepath="design/search.md")
    assert page.pop("updated_at").endswith("Z")
    assert page == {
        "doc_id": SEARCH,
        "filepath": "design/search.md",
        "title": "Search design",
        "doc_type": "design",
        "content": "# Search design\n\n## Ranking\n\n"
        "設計 uses [[install|depends_on]] and [[roadmap]].",
        "sections": [
            {
                "heading": "Search design",
                "content": "",
                "section_id": f"{SEARCH}.9606d6ec",
                "level": 1,
                "heading_path": ["Search design"],
                "line_start": 6,
                "line_end": 6,
            },
            {
                "heading": "Ranking",
                "content": "設計 uses [[install|depends_on]] and [[roadmap]].",
                "section_id": f"{SEARCH}.20cf790a",
                "level": 2,
                "heading_path": ["Search design", "Ranking"],
                "line_start": 8,
                "line_end": 10,
            },
        ],
        "outlinks": [
            {
                "doc_id": INSTALL,
                "filepath": "guide/install.md",
                "title": "Install",
                "link_type": "depends_on",
            }
        ],
        "backlinks": [],
        "staleness": "fresh",
        "stale_refs": [],
        "link_issues": [
            {"target": "roadmap", "link_type": "references", "line": 10, "status": "dangling"}
        ],
        "content_trust": "untrusted",
    }


def test_a_context_holds_center_and_neighbours_within_a_size(server: stdio.Wire) -> None:
    context = ok(server, "ubp_get_context", filepath="guide/install.md", depth=1)
    (near,) = context["related"]
    assert (near["direction"], near["link_type"], near["depth"]) == ("backlink", "depends_on", 1)
    assert context["center"]["content"] == "# Install\n\nRun the setup."
    assert context["total_size"] == 101
    assert "truncated" not in context
    tight = ok(server, "ubp_get_context", filepath="guide/install.md", max_size=100)
    assert (tight["related"], tight["total_size"], tight["truncated_count"]) == ([], 25, 1)


def test_full_text_marks_what_it_found(server: stdio.Wire) -> None:
    found = ok(server, "ubp_fulltext_search", query="設計")
    (hit,) = found["results"]
    assert hit["rank"] < 0
    assert hit["snippet"].startswith("<mark>設計</mark> uses")
    assert (hit["section_heading"], hit["line_start"], found["total_found"]) == ("Ranking", 8, 1)


def test_pages_and_graph_are_listed(server: stdio.Wire) -> None:
    listed = ok(server, "ubp_list_pages", doc_type="design")
    assert [(p["filepath"], p["link_count"]) for p in listed["pages"]] == [("design/search.md", 1)]
    assert listed["total"] == 1
    graph = ok(server, "ubp_get_graph", center="guide/install.md", depth=1)
    assert [node["id"] for node in graph["nodes"]] == [INSTALL, SEARCH]
    assert graph["edges"] == [{"source": SEARCH, "target": INSTALL, "type": "depends_on"}]
    assert "truncated" not in graph


def test_a_search_without_vectors_falls_back_to_words(server: stdio.Wire) -> None:
    found = ok(server, "ubp_search", query="設計", limit=1, include_linked=True)
    (one,) = found["results"]
    parts = {"vector_similarity": 0.0, "graph_proximity": 0.0, "fulltext": 1.0}
    assert one["score_breakdown"] == parts
    assert one["score"] == 1.0
    assert one["relevance_reason"] == "fulltext 1.000 in 'Ranking'"
    assert [page["filepath"] for page in one["linked_pages"]] == ["guide/install.md"]
    assert found["search_type"] == "fulltext_fallback"
    plain = ok(server, "ubp_search", query="設計")
    assert "linked_pages" not in plain["results"][0]


WRONG: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "ubp_search",
        {"query": "a", "limit": 21},
        "limit must be an integer from 1 to 20, got 21",
        {"parameter": "limit", "min": 1, "max": 20, "got": "21"},
    ),
    (
        "ubp_get_page",
        {"filepath": "design/serch.md"},
        "Unknown page 'design/serch.md'. Did you mean 'design/search.md'?",
        {"parameter": "filepath", "reason": "not_found", "near": ["design/search.md"]},
    ),
    (
        "ubp_get_context",
        {"filepath": "guide/install.md", "max_size": 0},
        "max_size must be an integer of at least 1, got 0",
        {"parameter": "max_size", "min": 1, "got": "0"},
    ),
    (
        "ubp_fulltext_search",
        {},
        "query is required",
        {"parameter": "query", "reason": "missing"},
    ),
    (
        "ubp_list_pages",
        {"sort": "name"},
        "sort must be one of title, updated_at, filepath",
        {"parameter": "sort", "allowed": ["title", "updated_at", "filepath"], "got": "name"},
    ),
    (
        "ubp_get_graph",
        {"center": "x.md"},
        "Unknown page 'x.md'.",
        {"parameter": "center", "reason": "not_found", "near": []},
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "message", "details"), WRONG)
def test_a_refusal_names_parameter_and_value(
    server: stdio.Wire, tool: str, arguments: dict[str, Any], message: str, details: dict[str, Any]
) -> None:
    refused, payload = call(server, tool, arguments)
    assert refused
    assert payload == {"code": -32602, "message": message, "details": details}


def test_defaults_that_the_server_sets_are_not_stated_as_fixed(server: stdio.Wire) -> None:
    for tool in server.request("tools/list", {})["result"]["tools"]:
        properties = tool["inputSchema"]["properties"]
        for name in properties.keys() & {"limit", "depth"}:
            assert "set by the server" in properties[name]["description"]


@pytest.mark.parametrize("name", ["GUIDE/INSTALL.md", "Guide/Instal", "guide/Install"])
def test_a_page_in_other_letters_is_named(server: stdio.Wire, name: str) -> None:
    refused, payload = call(server, "ubp_get_page", {"filepath": name})
    assert refused
    assert payload["details"]["near"] == ["guide/install.md"]


NEEDED = {
    "ubp_search": {"query": "a"},
    "ubp_get_page": {"filepath": "guide/install.md"},
    "ubp_get_context": {"filepath": "guide/install.md"},
    "ubp_fulltext_search": {"query": "a"},
    "ubp_list_pages": {},
    "ubp_get_graph": {},
}
COUNTS = [None, True, "5", 1.5, 3.0, 0, -1, [], {}]
PATHS = [None, 1, "", "/etc/passwd", "C:\\x", "../x", "a/../../b", "a\0b", "x" * 1025, "nope"]
BAD: list[tuple[str, str, Any]] = [
    *((tool, "query", v) for tool in ("ubp_search", "ubp_fulltext_search") for v in (None, 1, [])),
    *(("ubp_search", "limit", v) for v in (*COUNTS, 21)),
    *(("ubp_fulltext_search", "limit", v) for v in (*COUNTS, 51)),
    *(("ubp_search", "include_linked", v) for v in (None, "true", 0)),
    *((tool, "depth", v) for tool in ("ubp_search", "ubp_get_context") for v in (*COUNTS, 4)),
    *(("ubp_get_graph", "depth", v) for v in (*COUNTS, 6)),
    *(("ubp_search", "link_types", v) for v in (None, "references", ["nope"], [1], {})),
    *(
        (tool, "doc_type", v)
        for tool in ("ubp_search", "ubp_fulltext_search", "ubp_list_pages")
        for v in (None, "", "Design", 1)
    ),
    *((tool, "filepath", v) for tool in ("ubp_get_page", "ubp_get_context") for v in PATHS),
    *(("ubp_get_graph", "center", v) for v in PATHS),
    *(("ubp_get_context", "max_size", v) for v in COUNTS),
    *(("ubp_list_pages", name, v) for name in ("sort", "order") for v in (None, "Title", "ASC", 1)),
    *((tool, "cursor", v) for tool in ("ubp_list_pages", "ubp_get_graph") for v in (None, 1, "x")),
]


@pytest.mark.parametrize(("tool", "parameter", "value"), BAD)
def test_every_bad_value_is_refused_by_name(
    server: stdio.Wire, tool: str, parameter: str, value: Any
) -> None:
    refused, payload = call(server, tool, {**NEEDED[tool], parameter: value})
    assert refused
    assert payload["code"] == -32602
    assert payload["details"]["parameter"] == parameter
    assert len(payload["details"].get("got", "")) <= 80
    assert parameter in payload["message"] or "Unknown page" in payload["message"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": "5"}, 'limit must be an integer from 1 to 20, got "5"'),
        ({"limit": 5.5}, "limit must be an integer from 1 to 20, got 5.5"),
        ({"include_linked": "true"}, 'include_linked must be true or false, got "true"'),
        ({"query": "\ud800"}, 'query must be text without lone surrogates, got "\ufffd"'),
        ({"query": ["\ud800"]}, 'query must be a string, got ["\ufffd"]'),
        ({"link_types": ["x"]}, f"link_types[0] must be one of {', '.join(KINDS)}"),
        ({"link_types": ["extends", [1]]}, f"link_types[1] must be one of {', '.join(KINDS)}"),
        ({"link_types": "x"}, f"link_types must be a list of any of {', '.join(KINDS)}"),
    ],
)
def test_a_value_of_the_wrong_type_is_shown_as_such(
    server: stdio.Wire, arguments: dict[str, Any], message: str
) -> None:
    assert call(server, "ubp_search", {"query": "a", **arguments})[1]["message"] == message


def test_a_number_out_of_range_is_refused_with_the_range(workspace: Path) -> None:
    for value, shown in (("2", "2"), ("1.5", "1.5"), ("nan", '"nan"'), ("a", '"a"')):
        refused = docs_json("suggest-links", "--threshold", value, cwd=workspace)
        assert refused["message"] == f"threshold must be a number from 0 to 1, got {shown}"


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_argument_is_refused_with_the_nearest(server: stdio.Wire, tool: str) -> None:
    refused, payload = call(server, tool, {**NEEDED[tool], "filepth": 1})
    assert refused
    assert payload["code"] == -32602
    assert "filepth" in payload["message"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ubp_search", {"query": "a", "limit": 1}),
        ("ubp_search", {"query": "a", "limit": 20, "depth": 3, "link_types": []}),
        ("ubp_fulltext_search", {"query": "\0", "limit": 50}),
        ("ubp_get_context", {"filepath": "guide/install.md", "max_size": 1}),
        ("ubp_get_graph", {"center": INSTALL, "depth": 5}),
        ("ubp_get_page", {"filepath": "./guide\\install"}),
        ("ubp_get_page", {"filepath": "docs/guide/install.md"}),
        ("ubp_get_page", {"filepath": SEARCH}),
    ],
)
def test_good_edges_are_answered(server: stdio.Wire, tool: str, arguments: dict[str, Any]) -> None:
    refused, payload = call(server, tool, arguments)
    assert not refused, payload


def test_a_blank_query_is_empty_with_a_warning(server: stdio.Wire) -> None:
    for tool in ("ubp_search", "ubp_fulltext_search"):
        answer = ok(server, tool, query=" \u3000\n")
        assert (answer["results"], answer["total_found"]) == ([], 0)
        assert answer["warnings"]


def test_arguments_that_are_no_object_are_refused(server: stdio.Wire) -> None:
    for arguments in ([], "x"):
        refused, payload = call(server, "ubp_list_pages", arguments)
        assert refused
        assert payload["code"] == -32602


def test_calls_on_one_generation_are_the_same_byte_for_byte(server: stdio.Wire) -> None:
    for tool in TOOLS:
        asked = {"name": tool, "arguments": NEEDED[tool]}
        first, second = (server.request("tools/call", asked)["result"] for _ in range(2))
        assert first == second


def test_the_command_line_prints_the_same(server: stdio.Wire, workspace: Path) -> None:
    pairs: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
        ("ubp_search", {"query": "設計", "limit": 3}, ("search", "設計", "--limit", "3")),
        ("ubp_fulltext_search", {"query": "setup"}, ("search", "setup", "--fulltext")),
        ("ubp_get_page", {"filepath": "design/search.md"}, ("get-page", "design/search.md")),
        ("ubp_get_context", {"filepath": INSTALL}, ("get-context", INSTALL)),
        ("ubp_list_pages", {"order": "desc"}, ("list-pages", "--order", "desc")),
        ("ubp_get_graph", {"center": INSTALL}, ("get-graph", "--center", INSTALL)),
        ("ubp_get_page", {"filepath": "nope"}, ("get-page", "nope")),
    ]
    for tool, arguments, words in pairs:
        assert call(server, tool, arguments)[1] == docs_json(*words, cwd=workspace)


# --- serving --------------------------------------------------------------------------------


def test_changes_show_within_two_seconds(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with stdio.Wire(tmp_path) as server:
        assert ok(server, "ubp_list_pages")["total"] == 2
        documents(tmp_path, {"roadmap.md": "# The plan\n"})
        _becomes(lambda: not ok(server, "ubp_get_page", filepath=SEARCH)["link_issues"])
        (tmp_path / "docs" / "roadmap.md").rename(tmp_path / "docs" / "plan.md")
        _becomes(lambda: bool(ok(server, "ubp_get_page", filepath=SEARCH)["link_issues"]))
        shutil.rmtree(tmp_path / "docs" / "design")
        _becomes(lambda: ok(server, "ubp_list_pages")["total"] == 2)


def _becomes(holds: Any) -> None:
    deadline = time.monotonic() + 20  # two seconds on a machine that does nothing else
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_missing_folder_is_our_fault_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with stdio.Wire(tmp_path) as server:
        refused, payload = call(server, "ubp_list_pages", {})
        assert refused
        assert (payload["code"], payload["details"]["reason"]) == (-32603, "docs_missing")


@pytest.mark.slow
def test_staleness_is_told_when_it_is_asked(tmp_path: Path) -> None:
    workspace = documents(tmp_path, PAIR)
    source = workspace / "src" / "search.py"
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    source.parent.mkdir()
    source.write_text("a")

    def level() -> str:
        page = docs_json("get-page", "design/search.md", cwd=workspace)
        return f"{page['staleness']} {len(page['stale_refs'])}"

    assert level() == "fresh 0"
    os.utime(source, (time.time() + 5, time.time() + 5))
    assert level() == "fresh 0", "touched only"
    source.write_text("b")
    assert level() == "possibly_stale 1"
    os.utime(source, (time.time() - 8 * DAY, time.time() - 8 * DAY))
    assert level() == "stale 1"
    source.unlink()
    assert level() == "stale 1"
    documents(workspace, {"design/search.md": PAIR["design/search.md"] + "\nMore.\n"})
    assert level() == "untracked 1", "a new baseline: it is not there"
    source.write_text("c")
    assert level() == "possibly_stale 1"
    assert docs_json("stale", "--ack", "all", cwd=workspace)["total"] == 0
    shutil.rmtree(workspace / ".fumishirube" / "index")
    source.write_text("d")
    assert level() == "possibly_stale 1", "a rebuild keeps baselines"
    assert sys.platform == "win32" or not (workspace / ".ubp").exists()
