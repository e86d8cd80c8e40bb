"""``vault_append``: off by default; adds to the end of a note, and changes nothing before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import fumishirube
from stdio import Wire

from fumishirube import InvalidParameter
from fumishirube.text import decode_with_encoding, unify_line_ends
from fumishirube_vault.replacement import append_text, replace_text

EXTRAS = {"FUMISHIRUBE_SURFACE_EXTRAS": "cursor,append"}
LIMIT = 10 * 1024 * 1024
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp932", "euc-jp", "iso2022_jp")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manuals").mkdir()
    for name, content in {
        "plan.md": "# Plan\n",
        "open.md": "no line end",
        "empty.md": "",
        "daily/2026-11-23.md": "today\n",
        ".system/x.md": "x\n",
    }.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


@pytest.fixture
def server(workspace: Path) -> Iterator[Wire]:
    with Wire(workspace, **EXTRAS) as wire:
        yield wire


def names(wire: Wire) -> list[str]:
    return [tool["name"] for tool in wire.request("tools/list", {})["result"]["tools"]]


def test_it_is_listed_only_where_it_is_switched_on(workspace: Path, server: Wire) -> None:
    assert names(server)[-2:] == ["vault_replace", "vault_append"]
    with Wire(workspace) as usual:
        assert "vault_append" not in names(usual)
    settings = "surfaces: [{use: vault, with: {extras: [append]}}]\n"
    (workspace / "fumishirube.yaml").write_text(settings, encoding="utf-8")
    with Wire(workspace) as configured:
        assert names(configured)[-1] == "vault_append"


def test_an_unknown_extra_is_still_refused(workspace: Path) -> None:
    done = fumishirube("tools", cwd=workspace, environ={"FUMISHIRUBE_SURFACE_EXTRAS": "apend"})
    assert done.code == 2
    assert "FUMISHIRUBE_SURFACE_EXTRAS" in done.err


@pytest.mark.parametrize(
    ("path", "content", "whole"),
    [
        ("plan.md", "- one\n", "# Plan\n- one\n"),
        ("open.md", "- one", "no line end\n- one"),
        ("empty.md", "\n- one\r\n", "\n- one\n"),
    ],
)
def test_the_text_begins_on_a_new_line(
    workspace: Path, server: Wire, path: str, content: str, whole: str
) -> None:
    before = (workspace / "vault" / path).read_bytes()
    answer = server.ok("vault_append", path=path, content=content)
    data = (workspace / "vault" / path).read_bytes()
    assert data == whole.encode()
    assert answer == {
        "written_path": path,
        "written_bytes": len(data) - len(before),
        "content_hash": hashlib.sha256(data).hexdigest()[:12],
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "no.md"}, "not_found"),
        ({"path": "daily/2026-11-23.md"}, "forbidden"),
        ({"path": ".system/x.md"}, "forbidden"),
        ({"path": ".git/config"}, "forbidden"),
        ({"path": "../x.md"}, "invalid_path"),
        ({"path": "C:\\x.md"}, "invalid_path"),
        ({"path": "plan.md", "content": ""}, "invalid_parameter"),
        ({"path": "plan.md", "content": 5}, "invalid_parameter"),
        ({"path": "plan.md", "content": "\ud800"}, "invalid_parameter"),
        ({"path": "plan.md", "content": "x" * LIMIT}, "invalid_parameter"),
        ({"path": "plan.md", "more": 1}, "invalid_parameter"),
        ({"path": "plan.md", "expected_hash": "0" * 12}, "conflict"),
    ],
)
def test_what_cannot_be_added_changes_nothing(
    workspace: Path, server: Wire, arguments: dict[str, Any], code: str
) -> None:
    vault = workspace / "vault"
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    assert server.refused("vault_append", **{"content": "y\n", **arguments})["code"] == code
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before


def test_a_note_that_is_no_text_is_refused(workspace: Path, server: Wire) -> None:
    (workspace / "vault" / "a.md").write_bytes(b"\x81\xff\xfe\x80 \xff\xff")
    error = server.refused("vault_append", path="a.md", content="y")
    assert (error["code"], error["details"]["path"]) == ("invalid_scope", "a.md")
    (workspace / "vault" / "b.md").write_bytes("日本語のメモです。かな。\r\n".encode("cp932"))
    error = server.refused("vault_append", path="b.md", content="😀")
    assert (error["code"], error["details"]["parameter"]) == ("invalid_parameter", "content")


def test_a_note_that_ends_within_a_character_says_how_to_restore_it(
    workspace: Path, server: Wire
) -> None:
    note = workspace / "vault" / "cut.md"
    note.write_bytes("日本語のメモ".encode()[:-1])
    error = server.refused("vault_append", path="cut.md", content="次")
    assert error["code"] == "conflict"
    assert "replace its last character, U+FFFD, with vault_replace" in error["message"]
    server.ok("vault_replace", path="cut.md", find="\ufffd", replace="モ")
    server.ok("vault_append", path="cut.md", content="次")
    assert note.read_text(encoding="utf-8") == "日本語のメモ\n次"


def test_it_is_journaled_and_undone(workspace: Path) -> None:
    words = ("vault", "append", "plan.md", "- two")
    assert fumishirube(*words, cwd=workspace).out == "plan.md: 5 bytes written\n"
    assert "append" in fumishirube("vault", "log", cwd=workspace).out
    assert fumishirube("vault", "undo", cwd=workspace).code == 0
    assert (workspace / "vault" / "plan.md").read_bytes() == b"# Plan\n"


@pytest.mark.slow
def test_two_servers_lose_no_line(workspace: Path) -> None:
    def add(writer: int) -> None:
        with Wire(workspace, **EXTRAS) as wire:
            for number in range(20):
                wire.ok("vault_append", path="plan.md", content=f"{writer} {number}\n")

    with ThreadPoolExecutor() as both:
        assert [*both.map(add, range(2))] == [None, None]
    lines = (workspace / "vault" / "plan.md").read_text(encoding="utf-8").splitlines()
    assert sorted(lines[1:]) == sorted(f"{w} {n}" for w in range(2) for n in range(20))


TEXTS = st.text(st.sampled_from("aあ漢 \n\r"), max_size=20)


@given(
    before=TEXTS,
    added=TEXTS.filter(bool),
    encoding=st.sampled_from(ENCODINGS),
    end=st.sampled_from(("\n", "\r\n", "\r")),
)
def test_all_bytes_before_stay_and_the_text_is_read_back(
    before: str, added: str, encoding: str, end: str
) -> None:
    note = "漢字かな交じり文" + unify_line_ends(before).replace("\n", end)
    data = note.encode(encoding)
    assert decode_with_encoding(data).text == note
    after = append_text(data, added, LIMIT)
    assert after.startswith(data)
    read = decode_with_encoding(after).text
    assert read.startswith(note)
    expected = unify_line_ends(added)
    assert unify_line_ends(read).endswith(expected)
    assert unify_line_ends(read) in {
        unify_line_ends(note) + expected,
        unify_line_ends(note) + "\n" + expected,
    }
    with pytest.raises(InvalidParameter):
        append_text(data, added, len(data))


def test_a_note_in_iso_2022_jp_as_mail_programs_write_it_is_added_to_and_not_replaced_in() -> None:
    data = b"\x1b$B-!\x1b(B one\n"  # the circled digit, which Python does not write so
    assert append_text(data, "規程", LIMIT) == data + "規程".encode("iso2022_jp")
    with pytest.raises(InvalidParameter, match="save the note as UTF-8"):
        replace_text(data, "one", "two", 1, LIMIT)
