"""Every list keeps to 50,000 characters; walking on gives everything once, and nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import manuals
import pytest
from fastapi.testclient import TestClient
from stdio import Wire

from fumishirube import InvalidParameter
from fumishirube.tools import paged
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call
from fumishirube_http.application import build_app

MOST = 50_000
NAME = "給付編"
LONG = "a-name-of-some-length-" * 10
CHAPTERS = 250
YAML = "surfaces: [{use: manual}, {use: vault, with: {history: true}}, {use: chapters}]\n"

LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "manual_ls": ("items", {"id": NAME}),
    "vault_ls": ("items", {"path": "many"}),
    "vault_history": ("items", {"limit": 200}),
    "list_manuals": ("manuals", {}),
    "list_sections": ("sections", {"manual_name": NAME}),
    "find_exceptions": ("results", {"manual_name": NAME, "limit": 200}),
    "get_toc": ("toc", {"manual_name": NAME, "hierarchical": True}),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("lists")
    chapters = [
        {
            "id": f"{n:04}-{LONG}",
            "title": f"第{n}章 {LONG}",
            "file": f"{n:04}{'x' * 200}.txt",
            "children": [n],
        }
        for n in range(CHAPTERS)
    ]
    contents = json.dumps({"manual": NAME, "toc": chapters}, ensure_ascii=False)
    manuals.write(workspace, {f"{NAME}/00_目次.json": contents})
    many = {f"{NAME}/{n:04}{'x' * 200}.txt": f"第{n}章\n例外と対象外。\n" for n in range(CHAPTERS)}
    manuals.write(workspace, many | {f"{n:04}-{LONG}/a.md": "# A\n" for n in range(CHAPTERS)})
    note = workspace / "vault/many"
    note.mkdir(parents=True)
    for n in range(CHAPTERS):
        (note / f"{n:04}-{LONG}.md").write_text("a")
    (workspace / "fumishirube.yaml").write_text(YAML, encoding="utf-8")
    deep = "/".join([LONG] * 4)
    with closing(manuals.opened(workspace)) as application:
        for n in range(60):
            manuals.ask(application, "vault_create", path=f"{deep}/{n}.md", content="a")
    return workspace


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Wire]:
    with Wire(workspace) as server:
        server.ok("manual_ls")
        yield server


def walked(ask: Callable[[dict[str, Any]], dict[str, Any]], key: str) -> list[Any]:
    """Return the items of a walk over all cursors."""
    answer, pages = ask({}), []
    while True:
        pages.append(answer[key])
        assert len(json.dumps(answer, ensure_ascii=False)) <= MOST
        if "next_cursor" not in answer:
            break
        answer = ask({"cursor": answer["next_cursor"]})
    assert len(pages) > 1
    return [item for page in pages for item in page]


@pytest.mark.many_cases
@pytest.mark.parametrize("tool", LISTS)
def test_walking_on_gives_every_item_once(server: Wire, workspace: Path, tool: str) -> None:
    key, arguments = LISTS[tool]
    with closing(manuals.opened(workspace)) as application:
        whole = manuals.ask(application, tool, **arguments)[key]
    assert walked(lambda more: server.ok(tool, **arguments, **more), key) == whole


def test_what_of_a_file_is_not_read_is_said_with_its_first_headings(tmp_path: Path) -> None:
    text = "".join(f"# 第{n}章\n" for n in range(30)).encode()
    manuals.write(tmp_path, {"m/a.md": text + "終".encode()[:2]})
    with closing(manuals.opened(tmp_path)) as application:
        asked = {"manual_id": "m", "path_prefix": "a.md", "depth": "deep"}
        (first,) = manuals.ask(application, "manual_toc", **asked)["items"]
        cursor = first["next_cursor"]
        (second,) = manuals.ask(application, "manual_toc", **asked, cursor=cursor)["items"]
    assert "ends within a character" in first["remarks"][0]
    assert second["headings"]
    assert "remarks" not in second


def test_a_tool_s_own_endpoint_gives_the_whole_list(workspace: Path) -> None:
    with (
        closing(manuals.opened(workspace)) as application,
        TestClient(build_app(application), "http://127.0.0.1") as client,
    ):
        toc = client.get("/get_toc", params={"manual_name": NAME}).json()
        assert len(toc["toc"]) == CHAPTERS
        assert toc.keys() == {"manual", "toc"}
        arguments = {"manual_name": NAME}
        paging = walked(
            lambda more: client.post("/tools/get_toc", json=arguments | more).json(), "toc"
        )
        assert paging == toc["toc"]


@pytest.mark.parametrize(
    "cursor", ["", "1", "0.00000000", "99999999.12345678", "５.12345678", "1." + "a" * 900]
)
def test_a_cursor_that_was_not_given_is_refused(server: Wire, cursor: str) -> None:
    assert server.refused("vault_ls", cursor=cursor)["details"]["parameter"] == "cursor"
    refusal = server.refused("get_toc", manual_name=NAME, cursor=cursor)
    assert refusal["code"] == refusal["error"] == "invalid_request"


def test_a_cursor_holds_while_what_was_given_stays(server: Wire, workspace: Path) -> None:
    cursor = server.ok("vault_ls", path="many")["next_cursor"]
    assert server.refused("vault_ls", path="other", cursor=cursor)
    late = workspace / "vault/many/zzz.md"
    late.write_text("a")
    assert server.ok("vault_ls", path="many", cursor=cursor)["items"]
    (early := workspace / "vault/many/0000.md").write_text("a")
    assert "again without it" in server.refused("vault_ls", path="many", cursor=cursor)["message"]
    early.unlink()
    late.unlink()


def test_without_extras_lists_are_whole(workspace: Path) -> None:
    with closing(manuals.opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="none")) as bare:
        offered = {tool.name: tool for tool in bare.catalog.tools}
        for name, (_, arguments) in LISTS.items():
            answer = call_tool(offered[name], arguments, Call())
            assert len(json.dumps(answer, ensure_ascii=False)) > MOST
            assert "next_cursor" not in answer
            with pytest.raises(InvalidParameter):
                call_tool(offered[name], arguments | {"cursor": "0.0"}, Call())


def test_a_tool_without_a_list_stays_as_it_is(workspace: Path) -> None:
    with closing(manuals.opened(workspace)) as application:
        tool = application.tools["vault_read"]
        assert paged(tool) is tool


def test_results_that_fit_have_no_cursor(server: Wire) -> None:
    answer = server.ok("search_text", manual_name=NAME, query="例外", limit=100)
    assert answer.keys() == {"results", "total"}
    assert answer["total"] == CHAPTERS


def test_headings_that_are_too_long_are_counted(tmp_path: Path) -> None:
    text = "".join(f"# {n} {'長い見出し' * 1_000}\n\ntext\n\n" for n in range(30))
    manuals.write(tmp_path, {"m/a.md": text})
    with closing(manuals.opened(tmp_path)) as application:
        answer = manuals.ask(
            application, "manual_toc", manual_id="m", path_prefix="a.md", depth="deep"
        )
    assert len(json.dumps(answer, ensure_ascii=False)) <= MOST
    assert len(answer["items"][0]["headings"]) < answer["items"][0]["headings_total"] == 30


def test_walking_resources_gives_every_file_once(server: Wire, workspace: Path) -> None:
    uris: list[str] = []
    page = server.request("resources/list", {})["result"]
    while True:
        assert len(json.dumps(page, ensure_ascii=False)) <= MOST
        uris += [resource["uri"] for resource in page["resources"]]
        if "nextCursor" not in page:
            break
        page = server.request("resources/list", {"cursor": page["nextCursor"]})["result"]
    files = [*(workspace / "manuals").rglob("*.*")]
    assert len(uris) == len(set(uris)) >= len(files)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "title"), [(7, "x"), (200, "x"), (200, LONG * 4)])
def test_the_headings_of_a_long_file_are_walked(tmp_path: Path, most: int, title: str) -> None:
    headings = [f"{number} {title}".strip() for number in range(450)]
    text = "".join(f"## {heading}\nText.\n" for heading in headings)
    manuals.write(tmp_path, {"m/a.md": text, "m/b.md": "# B\n"})
    with Wire(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "path_prefix": "a.md", "depth": "deep"}
        seen: list[str] = []
        following: dict[str, Any] = {}
        while len(seen) <= len(headings):
            answer = server.ok("manual_toc", **asked, max_headings_per_file=most, **following)
            assert len(json.dumps(answer, ensure_ascii=False)) < MOST
            (item,) = answer["items"]
            assert 0 < len(item["headings"]) <= most
            seen += [heading["title"] for heading in item["headings"]]
            if "next_cursor" not in item:
                break
            following = {"cursor": item["next_cursor"]}
        assert seen == headings
        refused = server.refused("manual_toc", **asked, cursor={"offset": 0, "heading": 0})
        assert refused["message"] == "cursor.heading must be at least 1"
        assert refused["details"] == {"parameter": "cursor.heading", "min": 1}
        beyond = server.ok("manual_toc", **asked, cursor={"offset": 0, "heading": 999})["items"][0]
        assert beyond["headings"] == []
        assert beyond["headings_total"] == len(headings)


def test_without_the_extra_headings_have_no_cursor(tmp_path: Path) -> None:
    manuals.write(tmp_path, {"m/a.md": "# A\n" * 30})
    with Wire(tmp_path, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        server.ok("manual_ls")
        asked = {"manual_id": "m", "path_prefix": "a.md", "depth": "deep"}
        assert "next_cursor" not in server.ok("manual_toc", **asked)["items"][0]
        refused = server.refused("manual_toc", **asked, cursor={"offset": 0, "heading": 2})
        assert refused["code"] == "invalid_parameter"


def test_a_very_long_title_is_shortened_and_all_of_it_is_found(tmp_path: Path) -> None:
    title = "word " * 12_000 + "zebra"
    page = f"---\ntitle: {title[-9_000:]}\n---\n\n# {title}\n\nAbout refunds.\n"
    manuals.write(tmp_path, {"m/page.md": page})
    (tmp_path / "docs/manual").mkdir(parents=True)
    (tmp_path / "docs/manual/page.md").write_text(page, encoding="utf-8")
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: manual}, {use: graph}]\n")
    asked: dict[str, dict[str, Any]] = {
        "manual_toc": {"manual_id": "m", "depth": "deep", "path_prefix": "page.md"},
        "manual_find": {"manual_id": "m", "query": "zebra", "required_terms": ["zebra"]},
        "manual_grep": {"manual_id": "m", "any": ["refunds"]},
        "ubp_list_pages": {},
        "ubp_search": {"query": "zebra"},
        "ubp_get_graph": {},
    }
    with Wire(tmp_path) as wire:
        wire.ok("manual_ls")
        answers = {tool: wire.ok(tool, **arguments) for tool, arguments in asked.items()}
    assert max(len(json.dumps(answer)) for answer in answers.values()) <= MOST
    assert len(answers["manual_find"]["inline_hits"]["items"]) == 1
    assert len(answers["ubp_search"]["results"]) == 1
