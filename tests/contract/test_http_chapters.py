"""The classic manual tools over HTTP, to the letter; and over MCP and the bridge, the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manuals
import pytest
from chapter_manuals import FIRST, NAME, SURGERY, entry, made
from http_server import HttpServer
from stdio import Wire

SETTINGS = "surfaces: [{use: chapters}]\n"
ALL = {"FUMISHIRUBE_CHAPTERS_RESOLVE_REFERENCE": "true"}
SEARCH = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}


def served(folder: Path) -> Path:
    toc = [
        entry("01", "第1章 総則"),
        entry("03", "第3章 重大手技", children=[{"label": "手術"}]),
        entry("07", "第7章 欠番"),
    ]
    made(folder, toc, SETTINGS, **{"01": FIRST, "03": SURGERY})
    return manuals.write(folder, {"事務編/00_目次.json": '{\n"toc":\n'})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(served(tmp_path_factory.mktemp("chapters"))) as running:
        yield running


def refused(answer: Any, status: int, message: str | None = None) -> dict[str, Any]:
    """Return the body of a refusal, which has two keys and no more."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    assert body.keys() == {"error", "message"}
    assert body["error"] == ("not_found" if status == 404 else "invalid_request")
    if message is not None:
        assert body["message"] == message
    return body


# --- what is answered -----------------------------------------------------------------------


def test_manuals_are_a_bare_array(server: HttpServer) -> None:
    assert server.get("/list_manuals").json() == ["事務編", NAME]


def test_the_toc_is_flat_or_hierarchical(server: HttpServer) -> None:
    flat = server.get("/get_toc", manual_name=NAME).json()
    assert flat["manual"] == NAME
    assert flat["toc"][0] == {"id": "01", "title": "第1章 総則", "file": "01.txt"}
    for word in ("false", "0", "no", "off"):
        assert server.get("/get_toc", manual_name=NAME, hierarchical=word).json() == flat
    deep = server.get("/get_toc", manual_name=NAME, hierarchical="true").json()
    assert deep["toc"][0] == {**flat["toc"][0], "children": None}
    assert deep["toc"][1]["children"] == [{"label": "手術"}]


def test_sections_are_ids(server: HttpServer) -> None:
    answer = server.get("/list_sections", manual_name=NAME)
    assert answer.json() == {"manual": NAME, "sections": ["01", "03", "07"]}


def test_a_section_has_seven_keys(server: HttpServer) -> None:
    assert server.get("/get_section", manual_name=NAME, section_id="01").json() == {
        "manual": NAME,
        "section_id": "01",
        "title": "第1章 総則",
        "text": FIRST,
        "file": "01.txt",
        "encoding": "utf-8",
        "id": "01",
    }


def test_a_search_finds_what_is_written_with_blanks(server: HttpServer) -> None:
    (hit,) = server.post("/search_text", SEARCH).json()["results"]
    assert hit["section_id"] == "03"
    assert "帝 王 切 開は対象とする" in hit["snippet"]
    nothing = {**SEARCH, "query": "どこにもない語", "section_id": "03"}
    assert server.post("/search_text", nothing).json() == {"results": []}


@pytest.mark.parametrize("query", ["(", "[", "(?P<", "*", "(a+)+$", "(?<=(a|b)+)x"])
def test_no_pattern_is_an_error(server: HttpServer, query: str) -> None:
    answer = server.post("/search_text", {"manual_name": NAME, "query": query})
    assert answer.status_code == 200, answer.text
    assert "results" in answer.json()


def test_exceptions_are_found(server: HttpServer) -> None:
    asked = {"manual_name": NAME, "section_id": "03", "limit": 50}
    (hit,) = server.post("/find_exceptions", asked).json()["results"]
    assert hit["text"].startswith("（１）入院給付金\n")
    assert hit["text"].endswith("※事前の照会を要する。")


def test_a_reference_is_resolved(server: HttpServer) -> None:
    asked = {"manual_name": NAME, "ref_text": "第3章 重大手技を参照"}
    assert server.post("/resolve_reference", asked).json() == {
        "manual": NAME,
        "ref_text": "第3章 重大手技を参照",
        "target_section": "03",
        "candidates": [{"section_id": "03", "title": "第3章 重大手技", "rule": "number"}],
    }


# --- what is refused ------------------------------------------------------------------------

BODIES: dict[str, dict[str, Any]] = {
    "/search_text": {"manual_name": NAME, "query": "給付"},
    "/find_exceptions": {"manual_name": NAME},
    "/resolve_reference": {"manual_name": NAME, "ref_text": "第3章"},
}


@pytest.mark.parametrize("path", ["/get_toc", "/list_sections", "/get_section"])
def test_a_get_names_its_manual(server: HttpServer, path: str) -> None:
    refused(server.get(path, section_id="01"), 400, "manual_name is required")
    for name in ("経理編", "", "..", "/etc", "a\0", "x" * 5000, "編" * 5000):
        body = refused(server.get(path, manual_name=name, section_id="01"), 404)
        assert body["message"].startswith("manual '")
        assert len(body["message"]) < 120


@pytest.mark.parametrize("path", BODIES)
def test_a_post_names_its_manual(server: HttpServer, path: str) -> None:
    body = {key: value for key, value in BODIES[path].items() if key != "manual_name"}
    refused(server.post(path, body), 400, "manual_name is required")
    for name in (1, None, [], {}):
        answer = server.post(path, {**body, "manual_name": name})
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "manual_name"]
    for name in ("経理編", "", "..", "/etc", "a\0", "x" * 5000, "編" * 5000):
        refused(server.post(path, {**body, "manual_name": name}), 404)


def test_what_is_absent_is_named(server: HttpServer) -> None:
    message = f"section '99' was not found in manual '{NAME}'"
    missing = f"section '07' of manual '{NAME}' has no readable file '07.txt': missing"
    asked = {"manual_name": NAME}
    refused(server.get("/get_section", **asked), 400, "section_id is required")
    refused(server.get("/get_section", **asked, section_id="99"), 404, message)
    refused(server.get("/get_section", **asked, section_id=""), 404)
    refused(server.get("/get_section", **asked, section_id="07"), 404, missing)
    for path in ("/search_text", "/find_exceptions"):
        refused(server.post(path, {**BODIES[path], "section_id": "99"}), 404, message)
        refused(server.post(path, {**BODIES[path], "section_id": "07"}), 404, missing)
        assert server.post(path, {**BODIES[path], "section_id": None}).status_code == 200
    body = refused(server.get("/get_toc", manual_name="事務編"), 404)
    assert body["message"].startswith("manual '事務編' has no usable 00_目次.json: invalid JSON")


@pytest.mark.parametrize(
    ("path", "name", "value", "status"),
    [
        ("/search_text", "query", "", 400),
        ("/search_text", "query", None, 422),
        ("/search_text", "query", 1, 422),
        ("/search_text", "query", [], 422),
        ("/search_text", "query", "x" * 1001, 422),
        ("/search_text", "mode", None, 422),
        ("/search_text", "mode", "", 422),
        ("/search_text", "mode", "REGEX", 422),
        ("/search_text", "mode", "fuzzy", 422),
        ("/search_text", "mode", 1, 422),
        ("/search_text", "limit", 0, 422),
        ("/search_text", "limit", -1, 422),
        ("/search_text", "limit", 1.5, 422),
        ("/search_text", "limit", 5.0, 422),
        ("/search_text", "limit", "5", 422),
        ("/search_text", "limit", True, 422),
        ("/search_text", "limit", None, 422),
        ("/search_text", "limit", 101, 422),
        ("/search_text", "case_sensitive", "yes", 422),
        ("/search_text", "case_sensitive", 1, 422),
        ("/search_text", "case_sensitive", None, 422),
        ("/search_text", "section_id", 1, 422),
        ("/search_text", "section_id", [], 422),
        ("/find_exceptions", "limit", 201, 422),
        ("/find_exceptions", "limit", None, 422),
        ("/resolve_reference", "ref_text", "", 400),
        ("/resolve_reference", "ref_text", None, 422),
        ("/resolve_reference", "ref_text", 1, 422),
        ("/resolve_reference", "ref_text", "x" * 2001, 422),
    ],
)
def test_what_does_not_fit(
    server: HttpServer, path: str, name: str, value: object, status: int
) -> None:
    answer = server.post(path, {**BODIES[path], name: value})
    if status == 400:
        refused(answer, 400, f"{name} is required")
    else:
        assert answer.status_code == 422, answer.text
        (misfit,) = answer.json()["detail"]
        assert misfit["loc"] == ["body", name]
        assert misfit.keys() >= {"type", "msg", "input"}


def test_a_text_that_is_too_long_is_refused_as_a_text(server: HttpServer) -> None:
    answer = server.post("/search_text", {**BODIES["/search_text"], "query": "x" * 1001})
    (misfit,) = answer.json()["detail"]
    assert misfit["type"] == "string_too_long"
    assert misfit["msg"] == "String should have at most 1000 characters"


@pytest.mark.parametrize(
    ("path", "name", "wrong"),
    [
        ("/search_text", "query", {"query": "", "limit": 0}),
        ("/search_text", "query", {"query": " -", "mode": "loose", "limit": 0}),
        ("/resolve_reference", "ref_text", {"ref_text": "", "section_id": 5}),
    ],
)
def test_an_empty_text_is_missing_whatever_else_does_not_fit(
    server: HttpServer, path: str, name: str, wrong: dict[str, Any]
) -> None:
    refused(server.post(path, {**BODIES[path], **wrong}), 400, f"{name} is required")


def test_separators_alone_are_no_loose_query(server: HttpServer) -> None:
    refused(server.post("/search_text", {**SEARCH, "query": " ・-／ "}), 400, "query is required")


def test_a_hierarchy_is_asked_for_with_a_word(server: HttpServer) -> None:
    for word in ("", "2", "maybe"):
        answer = server.get("/get_toc", manual_name=NAME, hierarchical=word)
        assert answer.json()["detail"][0]["loc"] == ["query", "hierarchical"]


def test_unknown_parameters_are_ignored(server: HttpServer) -> None:
    assert server.get("/list_manuals", x=1).status_code == 200
    for path, body in BODIES.items():
        assert server.post(path, {**body, "unknown": [1]}).status_code == 200


def test_hostile_queries_are_answered(server: HttpServer) -> None:
    """Patterns that explode, a thousand separators: all of them in time, and the server well."""
    for query in ("(x+x+)+y", "(.*)*" * 50 + "z", "(?:a|a?)" * 100, "\\b" * 300):
        answer = server.post("/search_text", {"manual_name": NAME, "query": query})
        assert answer.status_code == 200, answer.text
    loose = {**SEARCH, "query": "帝" + "・" * 998 + "王"}
    assert server.post("/search_text", loose).json()["results"]
    assert server.is_well()


def test_the_log_tells_where_and_how_many_but_nothing_of_the_texts(server: HttpServer) -> None:
    server.post("/search_text", {**SEARCH, "query": "秘密の問い合わせ"})
    server.post("/resolve_reference", {"manual_name": NAME, "ref_text": "秘密の参照"})
    server.post("/find_exceptions", {"manual_name": NAME, "section_id": "03"})
    log = server.logged('"section_id":"03","result_count":1')
    lines = [json.loads(one) for one in log.splitlines() if one.startswith('{"ts"')]
    # Lines are written by workers, after their answers: the last one need not be this one.
    of_endpoint = [one for one in lines if one.get("endpoint") == "POST /find_exceptions"]
    found = next(one for one in of_endpoint if one.get("section_id") == "03")
    assert (found["manual_name"], found["status"]) == (NAME, 200)
    assert found["result_count"] == 1
    assert "秘密" not in server.log
    assert "帝" not in server.log
    assert "対象外" not in server.log


# --- the other faces ------------------------------------------------------------------------


def test_http_mcp_and_the_bridge_agree(server: HttpServer, tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_manuals", {}),
        ("get_toc", {"manual_name": NAME}),
        ("get_toc", {"manual_name": NAME, "hierarchical": True}),
        ("list_sections", {"manual_name": NAME}),
        ("get_section", {"manual_name": NAME, "section_id": "03"}),
        ("get_section", {"manual_name": NAME, "section_id": "07"}),
        ("get_section", {"manual_name": "経理編", "section_id": "07"}),
        ("search_text", SEARCH),
        ("search_text", {"manual_name": NAME, "query": "章", "limit": 1}),
        ("search_text", {"manual_name": NAME, "query": "x", "mode": "fuzzy"}),
        ("search_text", {"manual_name": NAME, "query": ""}),
        ("find_exceptions", {"manual_name": NAME}),
        ("resolve_reference", {"manual_name": NAME, "ref_text": "次章", "section_id": "01"}),
    ]
    elsewhere = made(tmp_path, [], SETTINGS)
    with (
        Wire(server.workspace, **ALL) as local,
        Wire(elsewhere, MANUAL_TOOLS_BASE_URL=server.url, **ALL) as bridged,
    ):
        for tool, arguments in calls:
            here, there = local.call(tool, arguments), bridged.call(tool, arguments)
            assert here.is_error is there.is_error
            assert {**here.payload, "details": 0} == {**there.payload, "details": 0}
            answer = server.post(f"/tools/{tool}", arguments)
            assert (answer.status_code == 200) is not here.is_error
            body = answer.json()
            if here.is_error:
                assert body["error"] == here.payload["code"]
                assert body["message"] == here.payload["message"]
            else:
                assert body == here.payload
