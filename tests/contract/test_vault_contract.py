"""What the five vault tools accept, answer and refuse, asked over a real connection."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stdio import Fumishirube, Wire

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:ping is removed"),
]

SOURCE = "line1\nline2\nline3\nline4\nline5\n"
NFC, NFD = (unicodedata.normalize(form, "がいど") for form in ("NFC", "NFD"))
LIMIT = 10 * 1024 * 1024
HUGE = 64 * 1024 * 1024 + 1
TOOLS = {
    "vault_ls": ["path", "cursor"],
    "vault_create": ["path", "content"],
    "vault_read": ["path", "full", "range"],
    "vault_scan": ["path", "start_line", "cursor"],
    "vault_replace": ["path", "find", "replace", "max_replacements", "expected_hash"],
}
GIVEN: dict[str, dict[str, Any]] = {
    "vault_ls": {},
    "vault_create": {"content": "x"},
    "vault_read": {"full": True},
    "vault_scan": {},
    "vault_replace": {"find": "a", "replace": "b"},
}
"""What each tool needs beside a path."""
BAD_PATHS: list[Any] = [
    "",
    ".",
    " ",
    "./",
    "/etc/passwd",
    "\\\\host\\share",
    "C:\\x.md",
    "c:x.md",
    "..",
    "a/../b.md",
    "a\\..\\b.md",
    "a\0b.md",
    "a\nb.md",
    "a\x7fb.md",
    "x" * 256,
    "あ" * 86,
    "/".join(["x" * 200] * 6),
    5,
    1.5,
    True,
    ["a.md"],
    {"path": "a.md"},
]


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("workspace")
    (root / "manuals").mkdir()
    vault = root / "vault"
    write(vault / "source.md", SOURCE)
    write(vault / "sub/a.md", "a\n")
    write(vault / "order/b.md", "")
    write(vault / "order/B.md", "")
    write(vault / "order/a.md", "")
    write(vault / "order/z/x.md", "")
    for hidden in (".DS_Store", "Thumbs.db", "desktop.ini", "._a.md"):
        write(vault / "order" / hidden, "")
    write(vault / ".system/stats.jsonl", "{}\n")
    write(vault / ".system/journal/secret.done", "secret")
    write(vault / "daily/2020-02-29.md", "leap\n")
    write(vault / "broken.md", b"\x81\xff\xfe\x80 \xff\xff")
    with (vault / "huge.md").open("wb") as huge:
        huge.truncate(HUGE)
    with (vault / "large.md").open("wb") as large:
        large.truncate(LIMIT + 1)
    write(vault / NFD / f"{NFD}.md", "本文\n")
    write(vault / "sjis.md", "日本語のメモです。\r\nかな。\r\n".encode("cp932"))
    write(root / "outside.md", "outside\n")
    (vault / "link.md").symlink_to(root / "outside.md")
    (vault / "dangling.md").symlink_to(root / "nowhere.md")
    (vault / "linked").symlink_to(root, target_is_directory=True)
    return root


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as connected:
        yield connected


@pytest.fixture(scope="module")
def wire(workspace: Path) -> Iterator[Wire]:
    with Wire(workspace) as connected:
        yield connected


def note(workspace: Path, name: str, content: str | bytes) -> Path:
    path = workspace / "vault" / name
    write(path, content)
    return path


def details(error: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = error.get("details", {})
    return found


# --- what is listed --------------------------------------------------------------------------


def test_the_tools_come_after_those_of_the_manuals(server: Fumishirube) -> None:
    listed = server.tools()
    assert list(listed)[8:] == list(TOOLS)
    for name, arguments in TOOLS.items():
        schema = listed[name].input_schema
        assert list(schema["properties"]) == arguments
        assert schema["additionalProperties"] is False
        hints = listed[name].annotations
        assert hints.read_only_hint == (name in {"vault_ls", "vault_read", "vault_scan"})
        assert hints.destructive_hint == (name == "vault_replace")
        assert hints.open_world_hint is False


# --- the examples ----------------------------------------------------------------------------


def test_a_folder_is_listed(server: Fumishirube) -> None:
    assert server.ok("vault_ls", path="sub") == {
        "base_path": "sub",
        "items": [{"name": "a.md", "path": "sub/a.md", "kind": "file"}],
    }
    assert server.refused("vault_ls", path="..") == {
        "code": "invalid_path",
        "message": "parent segments are not allowed",
        "details": {"parameter": "path"},
    }


def test_a_note_is_created(server: Fumishirube, workspace: Path) -> None:
    assert server.ok("vault_create", path="日本.md", content="あ") == {
        "written_path": "日本.md",
        "written_bytes": 3,
        "content_hash": hashed("あ".encode()),
    }
    assert (workspace / "vault/日本.md").read_bytes() == "あ".encode()
    assert server.refused("vault_create", path="daily/2026-13-99.md", content="x") == {
        "code": "forbidden",
        "message": "daily notes must be daily/YYYY-MM-DD.md",
        "details": {"path": "daily/2026-13-99.md"},
    }


def test_a_range_is_read(server: Fumishirube) -> None:
    assert server.ok("vault_read", path="source.md", range={"start_line": 1, "end_line": 2}) == {
        "text": "line1\nline2\n",
        "truncated": True,
        "returned_chars": 12,
        "applied_range": {"start_line": 1, "end_line": 2},
        "next_cursor": {"char_offset": 12},
        "truncated_reason": "range_end",
        "applied": {"full": False, "max_chars": 12000},
        "content_hash": hashed(SOURCE.encode()),
    }
    assert server.refused("vault_read", path="source.md") == {
        "code": "invalid_parameter",
        "message": "range is required unless full is true",
        "details": {"parameter": "range"},
    }


def test_a_note_is_scanned(server: Fumishirube) -> None:
    assert server.ok("vault_scan", path="source.md", cursor={"char_offset": 24}) == {
        "text": "line5\n",
        "applied_range": {"start_line": 5, "end_line": 5},
        "next_cursor": {"char_offset": None},
        "eof": True,
        "truncated": False,
        "truncated_reason": "none",
        "applied": {"max_chars": 12000},
        "content_hash": hashed(SOURCE.encode()),
    }
    assert server.refused("vault_scan", path="source.md", cursor=12) == {
        "code": "invalid_parameter",
        "message": "cursor must be an object",
        "details": {"parameter": "cursor"},
    }


def test_words_are_replaced(server: Fumishirube, workspace: Path) -> None:
    file = note(workspace, "replaced.md", SOURCE)
    given = {"path": "replaced.md", "find": "line", "replace": "LINE", "max_replacements": 2}
    expected = SOURCE.replace("line", "LINE", 2).encode()
    assert server.ok("vault_replace", **given) == {
        "written_path": "replaced.md",
        "replacements": 2,
        "content_hash": hashed(expected),
    }
    assert file.read_bytes() == expected
    assert server.refused("vault_replace", path=".system/x.md", find="a", replace="b") == {
        "code": "forbidden",
        "message": ".system is reserved",
        "details": {"path": ".system/x.md"},
    }


# --- listing ---------------------------------------------------------------------------------


def test_folders_come_first_then_names_without_case(server: Fumishirube) -> None:
    answer = server.ok("vault_ls", path="order")
    assert [item["name"] for item in answer["items"]] == ["z", "a.md", "B.md", "b.md"]
    assert [item["kind"] for item in answer["items"]] == ["dir", "file", "file", "file"]


def test_the_root_shows_the_reserved_folder_but_no_links(server: Fumishirube) -> None:
    answer = server.ok("vault_ls")
    names = [item["name"] for item in answer["items"]]
    assert answer["base_path"] is None
    assert ".system" in names
    assert NFC in names
    assert not {"link.md", "dangling.md", "linked"} & set(names)
    assert server.ok("vault_ls", path=None) == answer


def test_the_journal_is_neither_listed_nor_read(server: Fumishirube) -> None:
    items = server.ok("vault_ls", path=".system")["items"]
    assert [item["name"] for item in items] == ["stats.jsonl"]
    assert server.ok("vault_read", path=".system/stats.jsonl", full=True)["text"] == "{}\n"
    for path in (".system/journal", ".SYSTEM/Journal", ".system/journal."):
        assert server.refused("vault_ls", path=path)["code"] == "not_found"
        for tool in ("vault_read", "vault_scan"):
            given = {**GIVEN[tool], "path": f"{path}/secret.done"}
            assert server.refused(tool, **given)["code"] == "not_found"


def test_a_missing_vault_is_empty_until_the_first_note(tmp_path: Path) -> None:
    (tmp_path / "manuals").mkdir()
    with Fumishirube(tmp_path) as connected:
        assert connected.ok("vault_ls") == {"base_path": None, "items": []}
        for tool in ("vault_read", "vault_scan", "vault_replace"):
            refused = connected.refused(tool, **{**GIVEN[tool], "path": "a.md"})
            assert refused["code"] == "not_found"
        assert not (tmp_path / "vault").exists()
        connected.ok("vault_create", path="deep/er/a.md", content="x")
        assert (tmp_path / "vault/deep/er/a.md").read_bytes() == b"x"


# --- creating --------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["\ufeffmark", "a\r\nb\rc\n\n", "😀\x00\u2028", " "])
def test_content_is_stored_exactly(server: Fumishirube, workspace: Path, content: str) -> None:
    name = f"exact-{hashed(content.encode())}.any"
    answer = server.ok("vault_create", path=name, content=content)
    assert (workspace / "vault" / name).read_bytes() == content.encode()
    assert answer["written_bytes"] == len(content.encode())


def test_a_name_is_written_composed(server: Fumishirube, workspace: Path) -> None:
    answer = server.ok("vault_create", path=f"composed/{NFD}.md", content="x")
    assert answer["written_path"] == f"composed/{NFC}.md"
    assert [path.name for path in (workspace / "vault/composed").iterdir()] == [f"{NFC}.md"]


@pytest.mark.parametrize("day", ["2026-01-01", "2024-02-29"])
def test_a_real_day_may_be_written(server: Fumishirube, day: str) -> None:
    server.ok("vault_create", path=f"daily/{day}.md", content="x")


@pytest.mark.parametrize(
    "path",
    [
        "daily",
        "Daily/2026-01-02.md",
        "DAILY",
        "daily./2026-01-02.md",
        "ｄaily/2026-01-02.md",
        "daily/2026-1-2.md",
        "daily/2023-02-29.md",
        "daily/0000-01-01.md",
        "daily/2026-01-02.MD",
        "daily/2026-01-02.txt",
        "daily/２０２６-01-02.md",
        "daily/2026-01-02.md/x.md",
        "daily/sub/2026-01-02.md",
        "daily/note.md",
        ".system",
        ".system/x.md",
        ".System/x.md",
        ".system./x.md",
        "．system/x.md",
        ".system/journal/x.done",
        "a/._fumishirube-1",
    ],
)
def test_reserved_names_are_forbidden(server: Fumishirube, workspace: Path, path: str) -> None:
    before = sorted((workspace / "vault").rglob("*"))
    error = server.refused("vault_create", path=path, content="x")
    assert (error["code"], details(error)) == ("forbidden", {"path": path})
    assert sorted((workspace / "vault").rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    ["source.md", "sub", "source.md/x.md", "source.md/deep/x.md", f"{NFC}/{NFC}.md", NFC],
)
def test_nothing_is_created_over_anything(server: Fumishirube, workspace: Path, path: str) -> None:
    assert server.refused("vault_create", path=path, content="x")["code"] == "conflict"
    assert (workspace / "vault/source.md").read_text() == SOURCE


@pytest.mark.parametrize("content", [None, "", 5, True, ["x"], "x" * (LIMIT + 1)])
def test_content_that_is_no_content_is_refused(server: Fumishirube, content: Any) -> None:
    error = server.refused("vault_create", path="new.md", content=content)
    assert error["code"] == "invalid_parameter"
    assert details(error)["parameter"] == "content"


def test_the_largest_note_is_written(server: Fumishirube, workspace: Path) -> None:
    assert server.ok("vault_create", path="full.md", content="x" * LIMIT)["written_bytes"] == LIMIT
    assert (workspace / "vault/full.md").stat().st_size == LIMIT
    more = {"path": "full.md", "find": "x", "replace": "xx"}
    assert server.refused("vault_replace", **more)["code"] == "invalid_parameter"
    assert server.ok("vault_replace", **(more | {"replace": "y"}))["replacements"] == 1


def test_lone_surrogates_are_refused(wire: Wire) -> None:
    error = wire.refused("vault_create", path="new.md", content="\ud800")
    assert (error["code"], details(error)["parameter"]) == ("invalid_parameter", "content")
    assert wire.refused("vault_create", path="\ud800.md", content="x")["code"] == "invalid_path"


# --- reading ---------------------------------------------------------------------------------


def test_full_needs_no_range_and_passes_over_one(server: Fumishirube) -> None:
    whole = server.ok("vault_read", path="source.md", full=True)
    assert (whole["text"], whole["truncated"], whole["truncated_reason"]) == (SOURCE, False, "none")
    assert whole["next_cursor"] == {"char_offset": None}
    assert whole["applied"] == {"full": True, "max_chars": 12000}
    same = server.ok("vault_read", path="source.md", full=True, range={"start_line": 3})
    assert same == whole
    assert server.ok("vault_read", path="source.md", range={})["text"] == SOURCE


def test_a_range_ends_with_the_note(server: Fumishirube) -> None:
    answer = server.ok("vault_read", path="source.md", range={"start_line": 4, "end_line": 99})
    assert answer["text"] == "line4\nline5\n"
    assert answer["applied_range"] == {"start_line": 4, "end_line": 5}
    assert (answer["truncated"], answer["truncated_reason"]) == (False, "none")


def test_line_ends_are_kept(server: Fumishirube, workspace: Path) -> None:
    note(workspace, "ends.md", "\ufeffa\r\nb\rc\nd")
    answer = server.ok("vault_read", path="ends.md", range={"start_line": 1, "end_line": 2})
    assert (answer["text"], answer["returned_chars"]) == ("a\r\nb\r", 5)
    assert answer["next_cursor"] == {"char_offset": 4}
    assert server.ok("vault_scan", path="ends.md", cursor=answer["next_cursor"])["text"] == "c\nd"
    assert server.ok("vault_scan", path="ends.md")["text"] == "a\nb\nc\nd"


def test_a_page_does_not_end_inside_a_line_end(server: Fumishirube, workspace: Path) -> None:
    note(workspace, "cut.md", "x" * 11_999 + "\r\ny")
    answer = server.ok("vault_read", path="cut.md", full=True)
    assert (answer["returned_chars"], answer["truncated_reason"]) == (11_999, "max_chars")
    assert answer["next_cursor"] == {"char_offset": 11_999}
    assert server.ok("vault_scan", path="cut.md", cursor=answer["next_cursor"])["text"] == "\ny"


def test_an_empty_note_has_one_line(server: Fumishirube, workspace: Path) -> None:
    note(workspace, "empty.md", "")
    answer = server.ok("vault_read", path="empty.md", range={"start_line": 1})
    assert (answer["text"], answer["applied_range"]) == ("", {"start_line": 1, "end_line": 1})
    assert server.ok("vault_scan", path="empty.md", start_line=1)["eof"] is True


@pytest.mark.parametrize(
    "given",
    [
        {"range": 5},
        {"range": [1, 2]},
        {"range": "1-2"},
        {"range": {"start_line": 0}},
        {"range": {"end_line": 0}},
        {"range": {"start_line": 3, "end_line": 2}},
        {"range": {"start_line": 6}},
        {"range": {"start_line": 6}, "full": True},
        {"range": {"start_line": True}},
        {"range": {"start_line": "1"}},
        {"range": {"start_line": 1.0}},
        {"range": {"lines": 1}},
        {"full": False},
        {"full": 1},
        {"full": "true"},
        {"range": None},
        {"full": True, "max_chars": 300},
    ],
)
def test_a_range_out_of_bounds_is_refused(server: Fumishirube, given: dict[str, Any]) -> None:
    error = server.refused("vault_read", path="source.md", **given)
    assert error["code"] == "invalid_parameter"


@pytest.mark.parametrize(
    "given",
    [
        {"cursor": 0},
        {"cursor": "0"},
        {"cursor": [0]},
        {"cursor": {"offset": 0}},
        {"cursor": {"char_offset": 31}},
        {"cursor": {"char_offset": -1}},
        {"cursor": {"start_line": 6}},
        {"cursor": {"start_line": 0}},
        {"start_line": 0},
        {"start_line": 6},
        {"start_line": True},
        {"start_line": "1"},
        {"max_chars": 300},
    ],
)
def test_a_place_beyond_the_note_is_refused(server: Fumishirube, given: dict[str, Any]) -> None:
    error = server.refused("vault_scan", path="source.md", **given)
    assert error["code"] == "invalid_parameter"


def test_where_a_scan_starts(server: Fumishirube) -> None:
    cursor = {"char_offset": 6, "start_line": 4}
    assert server.ok("vault_scan", path="source.md", cursor=cursor)["text"].startswith("line2")
    text = server.ok("vault_scan", path="source.md", start_line=5, cursor=cursor)["text"]
    assert text == "line5\n"
    end = server.ok("vault_scan", path="source.md", cursor={"char_offset": 30})
    assert (end["text"], end["eof"]) == ("", True)


# --- replacing -------------------------------------------------------------------------------


def test_no_match_leaves_the_note_untouched(server: Fumishirube, workspace: Path) -> None:
    file = note(workspace, "still.md", SOURCE)
    stamp = file.stat()
    for given in ({"find": "nowhere"}, {"find": "line", "max_replacements": 0}):
        answer = server.ok("vault_replace", path="still.md", replace="x", **given)
        assert answer["replacements"] == 0
    now = file.stat()
    assert (now.st_mtime_ns, now.st_ino) == (stamp.st_mtime_ns, stamp.st_ino)


def test_encoding_mark_and_line_ends_stay(server: Fumishirube, workspace: Path) -> None:
    for encoding, mark in (("cp932", b""), ("utf-16-le", b"\xff\xfe"), ("utf-8", b"\xef\xbb\xbf")):
        text = "日本語のメモ。\r\nかなと漢字。\r\n終わり\n"
        file = note(workspace, "kept.md", mark + text.encode(encoding))
        given = {"find": "メモ。\nかな", "replace": "手帳。\n仮名\n"}
        assert server.ok("vault_replace", path="kept.md", **given)["replacements"] == 1
        expected = text.replace("メモ。\r\nかな", "手帳。\r\n仮名\r\n")
        assert file.read_bytes() == mark + expected.encode(encoding)


def test_what_an_encoding_cannot_write_is_refused(server: Fumishirube, workspace: Path) -> None:
    before = (workspace / "vault/sjis.md").read_bytes()
    error = server.refused("vault_replace", path="sjis.md", find="かな", replace="😀")
    assert (error["code"], details(error)["parameter"]) == ("invalid_parameter", "replace")
    assert (workspace / "vault/sjis.md").read_bytes() == before


def test_a_note_that_is_not_the_one_that_was_read_is_a_conflict(
    server: Fumishirube, workspace: Path
) -> None:
    note(workspace, "guarded.md", "one")
    read = server.ok("vault_read", path="guarded.md", full=True)
    given = {"path": "guarded.md", "find": "one", "replace": "two"}
    written = server.ok("vault_replace", **given, expected_hash=read["content_hash"])
    error = server.refused("vault_replace", **given, expected_hash=read["content_hash"])
    assert (error["code"], details(error)) == ("conflict", {"path": "guarded.md"})
    again = {"path": "guarded.md", "find": "two", "replace": "three"}
    assert server.ok("vault_replace", **again, expected_hash=written["content_hash"])


@pytest.mark.parametrize(
    "given",
    [
        {"find": ""},
        {"find": None},
        {"find": 5},
        {"replace": None},
        {"replace": 5},
        {"max_replacements": -1},
        {"max_replacements": True},
        {"max_replacements": 1.0},
        {"max_replacements": "1"},
        {"expected_hash": 5},
        {"count": 1},
    ],
)
def test_a_replacement_that_is_none_is_refused(server: Fumishirube, given: dict[str, Any]) -> None:
    asked = {"path": "source.md", "find": "line", "replace": "x", **given}
    assert server.refused("vault_replace", **asked)["code"] == "invalid_parameter"


@pytest.mark.parametrize(
    "path", ["daily/2020-02-29.md", "Daily/x.md", "daily", ".system", "daily/no.md"]
)
def test_reserved_notes_are_not_changed(server: Fumishirube, path: str) -> None:
    error = server.refused("vault_replace", path=path, find="leap", replace="x")
    assert error["code"] == "forbidden"


# --- every tool ------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("path", BAD_PATHS, ids=lambda path: json.dumps(path)[:20])
def test_a_bad_path_is_refused(wire: Wire, tool: str, path: Any) -> None:
    error = wire.refused(tool, path=path, **GIVEN[tool])
    assert (error["code"], details(error)) == ("invalid_path", {"parameter": "path"})


@pytest.mark.parametrize("tool", [name for name in TOOLS if name != "vault_ls"])
def test_a_path_is_needed(wire: Wire, tool: str) -> None:
    for given in (GIVEN[tool], GIVEN[tool] | {"path": None}):
        assert wire.refused(tool, **given)["code"] == "invalid_path"


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("path", ["link.md", "dangling.md", "linked", "linked/outside.md"])
def test_links_are_forbidden(server: Fumishirube, workspace: Path, tool: str, path: str) -> None:
    assert server.refused(tool, path=path, **GIVEN[tool])["code"] == "forbidden"
    assert (workspace / "outside.md").read_text() == "outside\n"
    assert not (workspace / "nowhere.md").exists()


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        *((tool, path) for tool in ("vault_read", "vault_scan") for path in ("no.md", "sub")),
        *(("vault_replace", path) for path in ("no.md", "sub", "source.md/x")),
        *(("vault_ls", path) for path in ("no", "source.md")),
    ],
)
def test_what_is_not_there_is_not_found(server: Fumishirube, tool: str, path: str) -> None:
    error = server.refused(tool, path=path, **GIVEN[tool])
    assert (error["code"], details(error)) == ("not_found", {"path": path})


@pytest.mark.parametrize("tool", ["vault_read", "vault_scan", "vault_replace"])
@pytest.mark.parametrize(
    ("path", "reason"), [("broken.md", "undecodable"), ("huge.md", "too_large")]
)
def test_what_is_no_text_is_out_of_scope(
    server: Fumishirube, tool: str, path: str, reason: str
) -> None:
    error = server.refused(tool, path=path, **GIVEN[tool])
    assert error["code"] == "invalid_scope"
    assert details(error) == {"reason": reason, "path": path}


def test_a_note_over_the_limit_is_read_but_not_changed(server: Fumishirube) -> None:
    assert server.ok("vault_scan", path="large.md")["eof"] is False
    assert server.refused("vault_replace", path="large.md", find="a", replace="")["code"] == (
        "invalid_scope"
    )


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [[], "x", 5, True, [{}]])
def test_arguments_are_an_object(wire: Wire, tool: str, arguments: Any) -> None:
    answer = wire.call(tool, arguments)
    assert (answer.is_error, answer.payload["code"]) == (True, "invalid_parameter")


@pytest.mark.parametrize("tool", TOOLS)
def test_unknown_arguments_are_refused(wire: Wire, tool: str) -> None:
    error = wire.refused(tool, path="source.md", **GIVEN[tool], colour="red")
    assert (error["code"], details(error)) == ("invalid_parameter", {"parameter": "colour"})


def test_names_are_found_in_whatever_form_the_disk_has(server: Fumishirube) -> None:
    for name in (NFC, NFD):
        assert server.ok("vault_read", path=f"{name}/{name}.md", full=True)["text"] == "本文\n"
        assert server.ok("vault_ls", path=name)["items"][0]["path"] == f"{NFC}/{NFC}.md"
