"""The classic manual tools over MCP: what each answers, to the letter."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import manuals
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdio import Fumishirube, Wire

from fumishirube.disk import is_settled
from fumishirube.text import TextRange
from fumishirube_chapters.search_text import snippet

SURFACE = "surfaces: [{use: chapters}]\n"
NAME = "給付編"

FIRST = "第1章 総則\n\nこの編は給付について定める。\n"
SURGERY = (
    "第3章 重大手技\n異常分娩のうち、帝 王 切 開は対象とする。\n（１）入院給付金\n"
    "（２）手術給付金\n美容目的の手術は対象外とする。\n※事前の照会を要する。\n"
)

Toc = list[dict[str, Any]]
Make = Callable[..., Path]


def entry(number: str, title: str, file: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": number, "title": title, "file": file or f"{number}.txt", **more}


def made(workspace: Path, toc: object, settings: str = SURFACE, **files: str | bytes) -> Path:
    """Write a manual with a table of contents, and a configuration that serves it."""
    written = json.dumps({"manual": NAME, "toc": toc}, ensure_ascii=False)
    chapters = {f"{NAME}/{name}.txt": text for name, text in files.items()}
    manuals.write(workspace, {f"{NAME}/00_目次.json": written, **chapters})
    (workspace / "fumishirube.yaml").write_text(settings, encoding="utf-8")
    return workspace


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    toc = [
        entry("01", "第1章 総則"),
        entry("02-1", "第2章-1 資格"),
        entry("03", "第3章 重大手技", children=[{"label": "手術", "at": [1, None]}]),
        entry("07", "第7章 欠番"),
    ]
    workspace = made(
        tmp_path_factory.mktemp("chapters"),
        toc,
        **{
            "01": FIRST,
            "02-1": "第2章-1 資格\r\n会員とする。\r",
            "03": SURGERY,
        },
    )
    manuals.write(
        workspace, {"事務編/00_目次.json": '{"manual":"別","toc":[]}', "空/readme.md": ""}
    )
    with Fumishirube(workspace) as server:
        yield server


def searched(server: Fumishirube, query: str, **more: Any) -> list[str]:
    answer = server.ok("search_text", manual_name=NAME, query=query, **more)
    return [hit["section_id"] for hit in answer["results"]]


def scoring(*scorers: str) -> str:
    """Return a configuration that serves chapters with these scorers."""
    uses = ", ".join(f"{{use: {scorer}}}" for scorer in scorers)
    return f"{SURFACE}pipelines: {{chapters: {{scorers: [{uses}]}}}}\n"


def opened(workspace: Path, **environ: str) -> Callable[..., dict[str, Any]]:
    application = manuals.opened(workspace, **environ)
    return lambda name, **arguments: manuals.ask(application, name, **arguments)


# --- the tools ------------------------------------------------------------------------------


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


# --- searching ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["帝王切開", "帝 王-切開", " 帝王切開 ", "帝・王／切ー開".replace("ー", "−")]
)
def test_separators_in_a_loose_query_change_nothing(server: Fumishirube, query: str) -> None:
    assert searched(server, query, mode="loose") == ["03"]


def test_a_foreign_character_prevents_a_loose_match(server: Fumishirube) -> None:
    assert searched(server, "帝王の切開", mode="loose") == []
    assert searched(server, "帝王切開", mode="plain") == []


@pytest.mark.parametrize(
    ("query", "mode", "found"),
    [
        ("(1)", "plain", ["03"]),
        ("（１）", "plain", ["03"]),
        ("①", "plain", ["01", "02-1", "03"]),
        ("（１）", "regex", ["03"]),
        ("[①-③]章", "regex", ["01", "02-1", "03"]),
        (r"\１章", "regex", ["01"]),
        ("^第[１３]章", "regex", ["01", "03"]),
        ("定める。$", "regex", ["01"]),
        (r"定める。\s*$", "regex", ["01"]),
        ("(?m)定める。$", "regex", ["01"]),
        (r"(?<=王 )切", "regex", ["03"]),
        (r"(\n)\1", "regex", ["01"]),
        ("(", "regex", ["03"]),
        ("*", "regex", []),
        ("x*", "regex", ["01", "02-1", "03"]),
    ],
)
def test_modes(server: Fumishirube, query: str, mode: str, found: list[str]) -> None:
    assert searched(server, query, mode=mode) == found


def test_case_is_ignored_unless_it_matters(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a="Straße ＴＥＬ"))
    for mode, query in (
        ("plain", "tel"),
        ("plain", "STRASSE"),
        ("regex", "t.l"),
        ("loose", "t e l"),
    ):
        arguments = {"manual_name": NAME, "query": query, "mode": mode}
        assert len(ask("search_text", **arguments)["results"]) == 1, (mode, query)
        assert ask("search_text", **arguments, case_sensitive=True) == {"results": []}


SNIPPETS = [
    (0, 2, 0, "{m}"),
    (79, 2, 79, "{b}{m}{a}"),
    (80, 2, 80, "{b}{m}{a}"),
    (81, 2, 81, "…{b80}{m}{a80}…"),
    (0, 2, 300, "{m}{a80}…"),
    (300, 2, 0, "…{b80}{m}"),
    (100, 500, 100, "…{b80}{m280}…"),
]


@pytest.mark.parametrize(("before", "length", "after", "form"), SNIPPETS)
def test_snippets_are_cut_around_the_match(before: int, length: int, after: int, form: str) -> None:
    b, m, a = "前" * before, "標" * length, "後" * after
    match = TextRange(before, before + length)
    parts = {"b": b, "m": m, "a": a, "b80": b[:80], "a80": a[:80], "m280": m[:280]}
    assert snippet(b + m + a, match) == form.format(**parts)


def test_a_snippet_is_trimmed_after_it_was_cut() -> None:
    text = " " * 90 + "標的" + " " * 90
    assert snippet(text, TextRange(90, 92)) == "…標的…"


@given(st.text("あ 標\n", max_size=700), st.integers(0, 700), st.integers(0, 700))
def test_a_snippet_is_a_short_substring(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    shown = snippet(text, TextRange(start, end))
    assert shown.removeprefix("…").removesuffix("…") in text
    assert len(shown) <= 362


# --- exceptions -----------------------------------------------------------------------------

LINES = "一\n二\n三は対象外、例外\n四\n五は禁止\n六\n七\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ["一\n二\n三は対象外、例外\n四\n五は禁止", "三は対象外、例外\n四\n五は禁止\n六\n七"]),
        ("context_lines: 0", ["三は対象外、例外", "五は禁止"]),
        ("merge: true", [LINES.strip()]),
        ("vocabulary: [四], context_lines: 0", ["四"]),
        ("extra_words: [七], context_lines: 0", ["三は対象外、例外", "五は禁止", "七"]),
        ("max_chars: 4", ["…三は対象外、例…", "…五は禁止\n六…"]),
    ],
)
def test_exceptions_follow_their_settings(
    tmp_path: Path, settings: str, expected: list[str]
) -> None:
    yaml = scoring("plain", "regex", "loose", f"exceptions, with: {{{settings}}}")
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a=LINES))
    results = ask("find_exceptions", manual_name=NAME)["results"]
    assert [one["text"] for one in results] == expected


def test_loose_exceptions_do_not_reach_over_a_line_end(tmp_path: Path) -> None:
    told = "exceptions, with: {loose: true, context_lines: 0}"
    yaml = scoring("plain", "regex", "loose", told)
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a="対 象-外\n禁\n止\n"))
    assert ask("find_exceptions", manual_name=NAME)["results"] == [
        {"section_id": "a", "text": "対 象-外"}
    ]


def test_the_number_of_cut_off_lines_is_told(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a="禁止\n" * 60))
    answer = ask("find_exceptions", manual_name=NAME)
    assert (len(answer["results"]), answer["total"]) == (50, 60)


# --- manuals, tables of contents, files -----------------------------------------------------


def test_defects_cost_only_themselves(tmp_path: Path) -> None:
    toc = [
        "x", {"id": "no file"}, {"id": 5, "file": "5.txt"}, entry("a", "A"),
        entry("a", "B", "b.txt"),
        {"id": "t", "title": 3, "file": "a.txt", "children": "none"},
        entry("up", "Up", "../up.txt"), entry("toc", "Toc", "00_目次.json"),
        entry("", "Empty", "a.txt"),
    ]  # fmt: skip
    ask = opened(made(tmp_path, toc, a="本文", b="別", **{"5": "五"}))
    expected = ["5", "a", "a", "t", "up", "toc", ""]
    assert ask("list_sections", manual_name=NAME)["sections"] == expected
    assert ask("get_section", manual_name=NAME, section_id="a")["text"] == "本文"
    assert ask("get_section", manual_name=NAME, section_id="")["title"] == "Empty"
    answer = ask("search_text", manual_name=NAME, query=".")
    assert [one["section_id"] for one in answer["results"]] == ["5", "a", "t", ""]
    assert answer["skipped"] == [
        {"section_id": "up", "reason": "refused"}, {"section_id": "toc", "reason": "refused"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n"manual": "a",\n}', "invalid JSON at line 3"),
        ("[]", "no array 'toc'"),
        ('{"toc": {}}', "no array 'toc'"),
        ("[" * 100_000, "JSON nested too deeply"),
        (" " * 9_000_000, "too_large"),
    ],
)
def test_an_unusable_toc_is_named(tmp_path: Path, content: str, reason: str) -> None:
    workspace = made(tmp_path, [])
    manuals.write(workspace, {f"{NAME}/00_目次.json": content})
    with Fumishirube(workspace) as server:
        assert server.ok("list_manuals") == {"manuals": [NAME]}
        message = server.refused("list_sections", manual_name=NAME)["message"]
    assert message == f"manual '{NAME}' has no usable 00_目次.json: {reason}"


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        ("\ufeff本文".encode(), "utf-8-sig", "本文"),
        ("本文".encode("utf-16"), "utf-16", "本文"),
        ("本文は対象".encode("cp932"), "cp932", "本文は対象"),
        ("本文は対象".encode("euc-jp"), "euc-jp", "本文は対象"),
        ("本文は対象とする".encode() + b"\xff", "utf-8", "本文は対象とする\ufffd"),
        (b"", "utf-8", ""),
    ],
)
def test_every_encoding_is_read_and_named(
    tmp_path: Path, content: bytes, encoding: str, text: str
) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a=content))
    section = ask("get_section", manual_name=NAME, section_id="a")
    assert (section["encoding"], section["text"]) == (encoding, text)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_only_into_allowed_folders(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("in", "In"), entry("out", "Out")], a="内")
    folder = workspace / "manuals" / NAME
    (workspace / "out.txt").write_text("外", encoding="utf-8")
    (folder / "in.txt").symlink_to(folder / "a.txt")
    (folder / "out.txt").symlink_to(workspace / "out.txt")
    reasons = {"in": "refused", "out": "refused"}
    answer = opened(workspace)("search_text", manual_name=NAME, query=".")
    assert {one["section_id"]: one["reason"] for one in answer["skipped"]} == reasons
    ask = opened(workspace, FUMISHIRUBE_SECURITY_ALLOW_SYMLINK="true")
    answer = ask("search_text", manual_name=NAME, query=".")
    assert [one["section_id"] for one in answer["results"]] == ["in"]
    assert answer["skipped"] == [{"section_id": "out", "reason": "refused"}]


def test_edits_show_in_the_next_answer(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="旧い本文")
    with Fumishirube(workspace) as server:
        for text in ("旧い本文", "新しい本文", "旧い本文"):
            made(workspace, [entry("a", text)], a=text)
            assert server.ok("get_section", manual_name=NAME, section_id="a")["text"] == text
            assert searched(server, text, mode="plain") == ["a"]
            assert server.ok("get_toc", manual_name=NAME)["toc"][0]["title"] == text


def test_a_hidden_folder_counts_only_with_a_toc(tmp_path: Path) -> None:
    workspace = made(tmp_path, [])
    manuals.write(workspace, {".git/config": "", ".編/00_目次.json": '{"toc": []}'})
    assert opened(workspace)("list_manuals") == {"manuals": [".編", NAME]}


def test_no_root_is_no_manuals(tmp_path: Path) -> None:
    (tmp_path / "fumishirube.yaml").write_text(SURFACE, encoding="utf-8")
    assert opened(tmp_path)("list_manuals") == {"manuals": []}


def test_projections_are_kept_and_a_damaged_file_of_them_costs_only_time(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    file = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    first = opened(workspace)("search_text", **query)
    assert first["results"]
    assert file.exists()
    assert opened(workspace)("search_text", **query) == first
    for path in file.parent.iterdir():
        path.write_bytes(b"no database at all" * 100)
    assert opened(workspace)("search_text", **query) == first


def test_projections_that_another_process_holds_are_left_alone(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    file = workspace / ".fumishirube" / "chapters" / "projections.sqlite"
    with closing(manuals.opened(workspace)) as application:
        first = manuals.ask(application, "search_text", **query)
    before = file.stat().st_ino
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert opened(workspace)("search_text", **query) == first
        assert file.stat().st_ino == before
        other.execute("COMMIT")


def test_a_toc_read_right_after_a_change_is_read_once_more(tmp_path: Path) -> None:
    """Two changes may share one time stamp, where the clock of the file system is coarse."""
    workspace = made(tmp_path, [entry("a", "A")], a="x")
    toc = workspace / "manuals" / NAME / "00_目次.json"
    ask, stamp = opened(workspace), toc.stat().st_mtime_ns
    assert ask("get_toc", manual_name=NAME)["toc"][0]["title"] == "A"
    toc.write_text(toc.read_text(encoding="utf-8").replace('"A"', '"B"'), encoding="utf-8")
    os.utime(toc, ns=(stamp, stamp))
    while not is_settled(stamp):
        time.sleep(0.1)
    assert ask("get_toc", manual_name=NAME)["toc"][0]["title"] == "B"


def test_projections_of_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A"), entry("b", "B")], a="甲", b="乙")
    store = workspace / ".fumishirube" / "chapters" / "projections.sqlite"

    def searched_and_kept() -> set[str]:
        for file in (workspace / "manuals" / NAME).glob("*.txt"):
            os.utime(file, (1_600_000_000, 1_600_000_000))
        opened(workspace)("search_text", manual_name=NAME, query="甲", mode="plain")
        with closing(sqlite3.connect(store)) as connection:
            return {path for (path,) in connection.execute("SELECT path FROM projections")}

    assert searched_and_kept() == {"a.txt", "b.txt"}
    made(workspace, [entry("a", "A"), entry("c", "C")], a="甲の乙", c="丙")
    assert searched_and_kept() == {"a.txt", "c.txt"}


@pytest.mark.parametrize("kept", ["0", "1"])
def test_a_small_memory_changes_no_answer(tmp_path: Path, kept: str) -> None:
    toc = [entry(str(n), "A") for n in range(5)]
    workspace = made(tmp_path, toc, **{str(n): f"本文{n}" for n in range(5)})
    ask = opened(workspace, FUMISHIRUBE_CACHE_MAX_SECTIONS_IN_MEMORY=kept)
    for _ in range(2):
        assert len(ask("search_text", manual_name=NAME, query="本文")["results"]) == 5


# --- what could stop it ---------------------------------------------------------------------

HOSTILE = [
    r"(a+)+$",
    r"(a|aa)+\Z(?!b)",
    r"(.*)*\1x",
    r"(?:(?:(?:x{1000}){1000}){1000}){1000}(?=a)",
    r"((((((a{0,1000}){0,1000}){0,1000}){0,1000}){0,1000}){0,1000})b",
    "(" * 999,
    "(?:" * 200 + ")" * 200,
    "[" * 900,
    r"(?=a)" * 199,
    "a" * 1000,
    "(?i)(?s)(?x) a",
    r"(?P<n>a)(?(n)b|c)",
    r"\p{L}+",
    "a{1,4294967296}",
]


def test_hostile_patterns_are_answered(tmp_path: Path) -> None:
    toc = [entry(str(n), "A") for n in range(3)]
    workspace = made(tmp_path, toc, **{str(n): "a" * 5000 + "!\n" for n in range(3)})
    with Fumishirube(workspace) as server:
        for pattern in HOSTILE:
            answer = server.ok("search_text", manual_name=NAME, query=pattern)
            for one in answer.get("skipped", []):
                assert one["reason"] == "deadline"
        assert searched(server, "a!") == ["0", "1", "2"]


def test_blanks_without_end_are_no_trouble(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry("a", "A")], a="帝" + "　" * 10_000 + "王"))
    query = "帝" + "-" * 998 + "王"
    answer = ask("search_text", manual_name=NAME, query=query, mode="loose")
    assert len(answer["results"][0]["snippet"]) <= 362


def test_a_mode_can_be_another_scorer(tmp_path: Path) -> None:
    yaml = (
        f"{SURFACE}pipelines: {{chapters: {{scorers: [{{use: plain}}, {{use: plain, as: regex}}, "
    )
    yaml += "{use: loose, with: {extra_separators: '*'}}, {use: exceptions}]}}\n"
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a="a.b*c"))
    assert ask("search_text", manual_name=NAME, query="a.b")["results"]
    assert not ask("search_text", manual_name=NAME, query="a+")["results"]
    assert ask("search_text", manual_name=NAME, query="bc", mode="loose")["results"]


def test_alone_it_is_healthy_and_says_who_searches_manuals(tmp_path: Path) -> None:
    workspace = made(tmp_path, [entry("a", "A")], a="本文")
    assert manuals.fumishirube("doctor", cwd=workspace).code == 0
    found = manuals.fumishirube("find", "本文", cwd=workspace)
    assert found.code != 0
    assert "add {use: manual}" in found.err


def defective(workspace: Path) -> Path:
    """Write manuals of which much is wrong, and one chapter is well."""
    toc = [
        entry("a", "A"),
        entry("b", "B"),
        entry("large", "L"),
        entry("up", "Up", "../up.txt"),
        entry("c", "C", "c\x1b[2J.txt"),
    ]
    yaml = f"{SURFACE}pipelines: {{chapters: {{loaders: [{{use: toc-text, with: {LIMIT}}}]}}}}\n"
    made(workspace, toc, yaml, a="本文", large="x" * 1001)
    return manuals.write(workspace, {"事務編/00_目次.json": "{", f"{NAME}/{NAME}.md": "# A"})


LIMIT = "{max_chapter_bytes: 1000}"
FAULTS = {
    NAME: ["file missing: b.txt", "file too_large: large.txt", "file refused: c\ufffd[2J.txt"],
    "事務編": ["00_目次.json cannot be used: invalid JSON at line 1"],
}


def test_doctor_names_what_is_wrong_with_manuals(tmp_path: Path) -> None:
    done = manuals.fumishirube("doctor", "--json", cwd=defective(tmp_path))
    assert done.code == 0
    told = {
        (check["subject"], check["finding"]) for check in done.json if check["status"] == "warn"
    }
    for name, findings in FAULTS.items():
        assert {(f"manual {name}", finding) for finding in findings} <= told
    assert not any("a.txt" in finding for _, finding in told)


def test_a_server_tells_at_its_start_what_is_wrong_with_manuals(tmp_path: Path) -> None:
    with Wire(defective(tmp_path)) as server:
        assert server.ok("list_manuals")["manuals"] == ["事務編", NAME]
        expected = [f"[validate] manual={n} {one}" for n, many in FAULTS.items() for one in many]
        assert server.process.stderr is not None
        while expected:
            line = server.process.stderr.readline().decode()
            assert line, expected
            expected = [one for one in expected if one not in line]


def test_a_missing_mode_stops_the_start(tmp_path: Path) -> None:
    made(tmp_path, [], scoring("plain"))
    done = manuals.fumishirube("tools", cwd=tmp_path)
    assert done.code != 0
    assert "one called 'regex' is needed" in done.err


def test_a_query_of_megabytes_is_refused_and_the_next_call_answered(tmp_path: Path) -> None:
    with Fumishirube(made(tmp_path, [entry("a", "A")], a="本文")) as server:
        message = server.refused("search_text", manual_name=NAME, query="本" * 2_000_000)
        assert message["error"] == "invalid_request"
        assert searched(server, "本文") == ["a"]


@pytest.mark.slow
def test_a_huge_toc_is_no_trouble(tmp_path: Path) -> None:
    toc = [entry(str(n), "章" * 8, "a.txt") for n in range(50_000)]
    ask = opened(made(tmp_path, toc, a="本文"))
    assert len(ask("list_sections", manual_name=NAME)["sections"]) == 50_000
    answer = ask("search_text", manual_name=NAME, query="本文", limit=1)
    assert answer["total"] == 50_000
    assert ask("get_section", manual_name=NAME, section_id="49999")["text"] == "本文"


def test_only_the_first_unsearched_chapters_are_named(tmp_path: Path) -> None:
    ask = opened(made(tmp_path, [entry(str(n), "A") for n in range(25)]))
    answer = ask("search_text", manual_name=NAME, query="本文")
    assert [one["section_id"] for one in answer["skipped"]] == [str(n) for n in range(20)]
    assert answer["skipped_total"] == 25


def test_a_scorer_that_does_not_say_where_leads_to_the_beginning(tmp_path: Path) -> None:
    yaml = scoring("plain", "regex", "lexical, as: loose", "exceptions")
    ask = opened(made(tmp_path, [entry("a", "A")], yaml, a="本文は給付を定める。"))
    answer = ask("search_text", manual_name=NAME, query="給付", mode="loose")
    assert answer == {"results": [{"section_id": "a", "snippet": "本文は給付を定める。"}]}
