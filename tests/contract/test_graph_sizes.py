"""Lists, graphs and search results keep to 50,000 characters; walking on gives everything once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import stdio
from documents import call_named, docs, documents, graph
from hypothesis import given, settings
from hypothesis import strategies as st
from torture import examples

MOST = 50_000
PAGES = 1_200
HUB = "hub/the-page-that-all-others-link-to.md"
LONG = "設計の話は長い。" * 400

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stdio.Wire]:
    """Every page links to the one before and to a hub, which sorts in their middle."""
    files = {HUB: f"# Hub\n\n[[{name(0)}|extends]]\n"}
    for n in range(PAGES):
        files[name(n)] = f"# Page number {n} of the folder\n\n[[{name(max(n - 1, 0))}]] [[{HUB}]]\n"
    for n in range(20):
        parts = "".join(f"## Part {m}\n\n設計 {LONG}\n\n" for m in range(3))
        files[f"long/{n}.md"] = f"# 設計 {n}\n\n[[{HUB}]] [[{name(n)}]]\n\n{parts}"
    workspace = documents(tmp_path_factory.mktemp("sizes"), files)
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n", encoding="utf-8")
    assert docs("index", cwd=workspace).code == 0  # a server waits some seconds for it, no longer
    with stdio.Wire(workspace) as server:
        yield server


def name(number: int) -> str:
    return f"{'ahz'[number % 3]}/{number:04}-a-page-with-a-rather-long-name.md"


def bounded(server: stdio.Wire, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = server.ok(tool, **arguments)
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) <= MOST
    return answer


def walked(server: stdio.Wire, tool: str, key: str, **arguments: Any) -> list[dict[str, Any]]:
    """Return the answers of a walk over all cursors."""
    answers = [bounded(server, tool, **arguments)]
    while cursor := answers[-1].get("next_cursor"):
        answers.append(bounded(server, tool, cursor=cursor, **arguments))
        assert len(answers) < 100, key
    return answers


@pytest.mark.many_cases
@pytest.mark.parametrize("sort", ["title", "filepath", "updated_at"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_walking_a_list_gives_every_page_once(server: stdio.Wire, sort: str, order: str) -> None:
    answers = walked(server, "ubp_list_pages", "pages", sort=sort, order=order)
    pages = [page["filepath"] for answer in answers for page in answer["pages"]]
    assert len(answers) > 3
    assert len(pages) == len(set(pages)) == PAGES + 21
    assert {answer["total"] for answer in answers} == {len(pages)}


def the_edges() -> int:
    # The first page links to itself; so many pages of long texts have two links each.
    return 2 * PAGES + 1 + 2 * 20


def test_walking_the_graph_gives_every_node_and_every_edge_once(server: stdio.Wire) -> None:
    answers = walked(server, "ubp_get_graph", "nodes")
    nodes = [node["id"] for answer in answers for node in answer["nodes"]]
    edges = [(e["source"], e["target"], e["type"]) for a in answers for e in a["edges"]]
    assert len(nodes) == len(set(nodes)) == PAGES + 21
    assert len(edges) == len(set(edges)) == answers[0]["total_edges"] == the_edges()
    assert all(answer["truncated"] for answer in answers)
    known: set[str] = set()
    for answer in answers:
        known |= {node["id"] for node in answer["nodes"]}
        # An edge never comes before its ends.
        assert all({e["source"], e["target"]} <= known for e in answer["edges"])


def test_walking_on_from_a_center_gives_every_node_and_every_edge_once(server: stdio.Wire) -> None:
    answers = walked(server, "ubp_get_graph", "nodes", center=HUB, depth=1)
    nodes = [node["filepath"] for answer in answers for node in answer["nodes"]]
    edges = [(e["source"], e["target"], e["type"]) for a in answers for e in a["edges"]]
    assert nodes[0] == HUB
    assert len(nodes) == len(set(nodes)) == PAGES + 21
    assert len(edges) == len(set(edges)) == the_edges()


@pytest.mark.parametrize("linked", [False, True])
def test_a_search_shortens_texts_and_says_so(server: stdio.Wire, linked: bool) -> None:
    found = bounded(server, "ubp_search", query="設計", limit=20, include_linked=linked)
    assert found["content_truncated"]
    assert len(found["results"]) == 20
    for result in found["results"]:
        for section in result["sections"]:
            assert "設計" in section["content"]
            assert section["truncated"]
    few = bounded(server, "ubp_search", query="設計", limit=1)
    assert "content_truncated" not in few
    assert len(few["results"][0]["sections"][0]["content"]) == 2_000


def test_a_cursor_of_other_arguments_is_refused(server: stdio.Wire) -> None:
    whole = server.ok("ubp_get_graph")["next_cursor"]
    near = server.ok("ubp_get_graph", center=HUB, depth=1)["next_cursor"]
    for arguments in (
        {"center": HUB, "cursor": whole},
        {"center": HUB, "depth": 2, "cursor": near},
        {"center": name(1), "depth": 1, "cursor": near},
        {"cursor": near},
    ):
        asked_for = {"name": "ubp_get_graph", "arguments": arguments}
        result = server.request("tools/call", asked_for)["result"]
        assert result["_meta"]["fumishirube/error"]["details"]["reason"] == "invalid_cursor"


def test_a_picture_is_of_the_whole_graph(server: stdio.Wire) -> None:
    drawn = docs(
        "get-graph", "--center", HUB, "--depth", "1", "--format", "dot", cwd=server.workspace
    )
    assert drawn.code == 0, drawn.err
    assert drawn.out.count("->") > 1_000


LETTERS = "abcdefg"
links = st.lists(st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS)), max_size=25)


@settings(max_examples=examples(25), deadline=None)
@given(links=links, nodes=st.integers(1, 4), edges=st.integers(1, 4), depth=st.integers(1, 5))
def test_any_graph_can_be_walked_in_any_pages(
    tmp_path_factory: pytest.TempPathFactory,
    links: list[tuple[str, str]],
    nodes: int,
    edges: int,
    depth: int,
) -> None:
    out = {source: {t for s, t in links if s == source} for source in LETTERS}
    files = {f"{s}.md": " ".join(f"[[{t}]]" for t in sorted(ts)) for s, ts in out.items()}
    workspace = documents(tmp_path_factory.mktemp("any"), files)
    whole, paged = graph(workspace), graph(workspace, max_nodes=nodes, max_edges=edges, lock=False)
    try:
        for arguments in ({}, {"center": "a.md", "depth": depth}):
            expected = call_named(whole, "ubp_get_graph", **arguments)
            parts = [call_named(paged, "ubp_get_graph", **arguments)]
            while cursor := parts[-1].get("next_cursor"):
                parts.append(call_named(paged, "ubp_get_graph", cursor=cursor, **arguments))
            assert [n for part in parts for n in part["nodes"]] == expected["nodes"]
            assert Counter(str(e) for part in parts for e in part["edges"]) == Counter(
                map(str, expected["edges"])
            )
            assert all(len(part["nodes"]) <= nodes for part in parts)
    finally:
        paged.close()
        whole.close()


@pytest.mark.parametrize("arguments", [{}, {"center": "b.md", "depth": 1}])
def test_a_walk_goes_on_behind_its_last_node_though_others_come_before_it(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    workspace = documents(
        tmp_path, {"b.md": "[[c]] [[d]] [[e]]", **dict.fromkeys(["c.md", "d.md", "e.md"], "")}
    )
    with closing(graph(workspace, max_nodes=2)) as paged:
        first = call_named(paged, "ubp_get_graph", **arguments)
    documents(tmp_path, {"a.md": "# A\n", "b.md": "[[a]] [[c]] [[d]] [[e]]"})
    with closing(graph(workspace, max_nodes=2)) as paged:
        cursor = first["next_cursor"]
        second = call_named(paged, "ubp_get_graph", cursor=cursor, **arguments)
    walked = [[node["filepath"] for node in part["nodes"]] for part in (first, second)]
    assert walked == [["b.md", "c.md"], ["d.md", "e.md"]]


@pytest.mark.parametrize("size", [400, 3_000, 20_000, None])
def test_a_context_has_as_many_neighbours_as_its_size_allows(
    server: stdio.Wire, size: int | None
) -> None:
    """The size is that of the whole answer, keys and all; the page in the middle is never cut."""
    given = {} if size is None else {"max_size": size}
    answer = server.ok("ubp_get_context", filepath=HUB, depth=1, **given)
    most, characters = size or MOST, len(json.dumps(answer, ensure_ascii=False))
    related = [len(json.dumps(page, ensure_ascii=False)) for page in answer["related"]]
    assert characters <= most
    assert characters + max(related, default=400) + 20 > most, "one more would not fit"
    assert len(related) + answer["truncated_count"] == 1_000, "max_nodes"
    texts = [answer["center"]["content"], *(page["summary"] for page in answer["related"])]
    assert answer["total_size"] == sum(map(len, texts))


def test_a_context_too_small_for_its_page_has_it_whole_and_alone(server: stdio.Wire) -> None:
    answer = server.ok("ubp_get_context", filepath="long/0.md", depth=1, max_size=100)
    assert answer["related"] == []
    assert answer["truncated_count"] == 2
    assert len(answer["center"]["content"]) == answer["total_size"] > len(LONG)


def test_full_text_results_with_long_headings_keep_to_the_size_and_say_so(tmp_path: Path) -> None:
    heading = "見出し" * 340
    workspace = documents(tmp_path, {f"{n}.md": f"# {heading}\n\n本文\n" for n in range(60)})
    application = graph(workspace)
    answer = call_named(application, "ubp_fulltext_search", query="本文", limit=50)
    assert len(json.dumps(answer, ensure_ascii=False)) <= MOST
    assert 10 < len(answer["results"]) < 50
    assert answer["total_found"] == 60
    said = (
        f"the headings are so long that only {len(answer['results'])} results fit into the answer"
    )
    assert [*answer["warnings"]] == [said]
    few = call_named(application, "ubp_fulltext_search", query="本文", limit=5)
    assert few["results"] == answer["results"][:5]
    assert "warnings" not in few
    application.close()
