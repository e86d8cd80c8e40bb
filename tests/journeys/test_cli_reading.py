"""The commands `ls`, `toc`, `read` and `scan`, as real processes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command_runs import fumishirube, indexed_samples
from manuals import RULES, write


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_samples(tmp_path_factory.mktemp("workspace"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    return write(tmp_path, {"m1/rules.md": RULES})


def test_ls_walks_by_name(workspace: Path) -> None:
    manuals = fumishirube("ls", cwd=workspace)
    assert manuals.out.splitlines() == [
        "field-guide/",
        "reference/",
        "業務ハンドブック/",
        "給付金編/",
    ]
    assert manuals.err == "next: fumishirube toc field-guide\n"
    assert "経費/" in fumishirube("ls", "業務ハンドブック", cwd=workspace).out.splitlines()
    below = fumishirube("ls", "業務ハンドブック/経費", cwd=workspace)
    assert "出張旅費.md" in below.out.splitlines()
    item = fumishirube("ls", "業務ハンドブック", "--json", cwd=workspace).json["items"]
    opaque = next(one["id"] for one in item if one["name"] == "経費")
    assert fumishirube("ls", opaque, cwd=workspace).out == below.out


def test_ls_walks_into_a_folder_with_the_colons_of_ids_in_its_name(own: Path) -> None:
    write(own, {"m1/sub::x/a.md": "# A\n"})
    assert fumishirube("ls", "m1/sub::x", cwd=own).out == "a.md\n"


@pytest.mark.parametrize(
    ("name", "meant"), [("業務ハンドブク", "業務ハンドブック"), ("業務ハンドブック/経", "経費")]
)
def test_ls_suggests_the_nearest_name(workspace: Path, name: str, meant: str) -> None:
    done = fumishirube("ls", name, cwd=workspace)
    assert done.code == 1
    assert f"did you mean '{meant}'?" in done.err
    refused = fumishirube("ls", name, "--json", cwd=workspace)
    assert refused.json["code"] == "not_found"


def test_toc_pages_and_shows_headings(workspace: Path) -> None:
    page = fumishirube("toc", "field-guide", "--max-files", "3", cwd=workspace)
    assert page.out.splitlines()[-1] == "files 1 to 3 of 10"
    assert page.err == "next: fumishirube toc field-guide --max-files 3 --cursor 3\n"
    words = ("--prefix", "!power.md", "--deep", "--max-files", "4", "--max-headings", "2")
    page = fumishirube("toc", "field-guide", *words, cwd=workspace)
    assert page.err == f"next: fumishirube toc field-guide {shlex.join(words)} --cursor 4\n"
    deep = fumishirube("toc", "field-guide", "--deep", "--prefix", "power.md", cwd=workspace)
    assert "  L1   Power" in deep.out.splitlines()
    assert "  L14      Sizing the panel" in deep.out.splitlines()
    plain = fumishirube("toc", "field-guide", "--json", cwd=workspace).json
    assert plain["total_files"] == 10
    refused = fumishirube("toc", "field-guide", "--deep", cwd=workspace)
    assert refused.code == 2
    assert "--deep needs --prefix PATH" in refused.err


def test_read_prints_the_text_and_nothing_else(workspace: Path) -> None:
    done = fumishirube("read", "manual://field-guide/power.md#L7-L13@abc123", cwd=workspace)
    text = (workspace / "manuals/field-guide/power.md").read_text(encoding="utf-8")
    assert done.out.startswith("## Solar power\n")
    assert done.out in text
    assert done.err.startswith("lines 7 to ")
    assert done.code == 1
    assert "note: this citation no longer holds (changed)" in done.err
    same = fumishirube("read", "field-guide/power.md", "--line", "7", cwd=workspace)
    assert same.out == done.out


def test_a_citation_of_one_line_is_read_to_the_end_of_its_section(workspace: Path) -> None:
    text = (workspace / "manuals/field-guide/power.md").read_text(encoding="utf-8").splitlines()
    whole = fumishirube("read", "manual://field-guide/power.md#L7", cwd=workspace).out.splitlines()
    done = fumishirube("read", "manual://field-guide/power.md#L10", cwd=workspace)
    assert (done.code, done.out.splitlines()) == (0, whole[3:])
    assert done.err == f"lines 10 to {6 + len(whole)} of field-guide/power.md\n"
    beyond = fumishirube("read", "manual://field-guide/power.md#L9999", cwd=workspace)
    assert (beyond.code, beyond.out) == (1, "")
    assert f"the first line must be within 1..{len(text)}" in beyond.err


def test_cited_lines_are_printed_page_by_page(own: Path) -> None:
    lines = [f"line {number} of a long section\n" for number in range(2, 1000)]
    (own / "manuals" / "m1" / "long.md").write_text("".join(["# Top\n", *lines]))
    for cited in ("L3-L900", "L3"):
        words = ("read", f"manual://m1/long.md#{cited}")
        done = fumishirube(*words, "--max-chars", "300", cwd=own)
        assert (done.code, done.out) == (0, f"{''.join(lines[1:])[:300]}\n")
        where, goes_on, following = done.err.splitlines()
        assert (where, goes_on) == ("lines 3 to 14 of m1/long.md", "the cited lines go on")
        assert following == "next: fumishirube scan m1 long.md --cursor 331"
    page = fumishirube(*words, "--json", cwd=own).json
    assert (len(page["text"]), page["truncated"]) == (12_000, True)
    assert page["next_cursor"] == {"char_offset": 12_031}
    refused = fumishirube(*words, "--max-chars", "5", cwd=own)
    assert (refused.code, "a whole number from 256 on, got '5'" in refused.err) == (2, True)


@pytest.mark.slow
def test_read_explains_what_to_do_instead(workspace: Path) -> None:
    inside = fumishirube("read", "field-guide/power.md", "--line", "12", cwd=workspace)
    assert inside.code == 1
    assert "next: fumishirube read 'manual://field-guide/power.md#L7'" in inside.err
    misspelt = fumishirube("read", "field-guide/pwer.md", cwd=workspace)
    assert "did you mean 'power.md'?" in misspelt.err
    refused = fumishirube("read", "field-guide/pwer.md", "--json", cwd=workspace)
    assert refused.json["code"] == "not_found"
    for word in ("nowhere", "manual://", "a/b#12", "/a"):
        assert fumishirube("read", word, cwd=workspace).code == 2


def test_read_takes_names_that_a_citation_has_to_escape(own: Path) -> None:
    odd = own / "manuals" / "m1" / "50% a　b.md"
    odd.write_text("# 珍しい名前\n本文。\n", encoding="utf-8")
    cite = fumishirube("find", "珍しい", "--json", cwd=own).json["hits"][0]["cite"]
    assert cite.startswith("manual://m1/50%25%20a%E3%80%80b.md#L1-L2@")
    assert "本文" in fumishirube("read", cite, cwd=own).out
    assert "本文" in fumishirube("read", f"m1/{odd.name}", cwd=own).out


def test_read_shows_a_file_without_sections_page_by_page(workspace: Path) -> None:
    hits = fumishirube("find", "気温計", "--manual", "reference", "--json", cwd=workspace).json[
        "hits"
    ]
    assert hits[0]["ref"]["path"].endswith(".json")
    page = fumishirube("read", hits[0]["cite"], "--max-chars", "300", cwd=workspace)
    path = hits[0]["ref"]["path"]
    text = (workspace / "manuals/reference" / path).read_text(encoding="utf-8")
    assert page.code == 0
    start = len("".join(text.splitlines(keepends=True)[: hits[0]["ref"]["start_line"] - 1]))
    assert page.out == text[start : start + 300].rstrip("\n") + "\n"
    assert f"next: fumishirube scan reference {path} --cursor {start + 300}" in page.err
    plain = fumishirube("read", hits[0]["cite"], "--json", cwd=workspace).json
    assert plain["text"] == text[start:][: len(plain["text"])] != ""


def test_read_refuses_a_file_that_nobody_can_decode(own: Path) -> None:
    (own / "manuals" / "m1" / "bad.md").write_bytes(b"\x81 \xff \x81")
    done = fumishirube("read", "m1/bad.md", cwd=own)
    assert (done.code, done.out) == (1, "")
    assert "[invalid_scope]" in done.err


def test_read_holds_a_citation_to_its_hash(own: Path) -> None:
    file = own / "manuals" / "m1" / "rules.md"
    rules = file.read_text(encoding="utf-8")
    cite = fumishirube("find", "対象外", "--json", cwd=own).json["hits"][0]["cite"]
    holds = fumishirube("read", cite, cwd=own)
    assert (holds.code, "note:" in holds.err) == (0, False)
    file.write_text(f"# 前文\n前文。\n{rules}", encoding="utf-8")
    moved = fumishirube("read", cite, cwd=own)
    assert (moved.code, moved.out) == (1, holds.out)
    assert (
        "no longer holds (moved): the same text is now at manual://m1/rules.md#L5-L6@" in moved.err
    )
    file.write_text(rules.replace("対象外です", "対象です"), encoding="utf-8")
    changed = fumishirube("read", cite, cwd=own)
    assert changed.code == 1
    assert "この場合は対象です。" in changed.out
    assert "no longer holds (changed)" in changed.err
    assert fumishirube("read", cite, "--line", "1", cwd=own).code == 0
    file.unlink()
    (own / "manuals" / "m1" / "other.md").write_text("# 別\n別。\n", encoding="utf-8")
    gone = fumishirube("read", cite, cwd=own)
    assert (gone.code, gone.out) == (1, "")
    assert "[not_found]" in gone.err


def test_a_file_that_no_loader_reads_is_not_denied(own: Path) -> None:
    (own / "manuals" / "m1" / "plan.pdf").write_bytes(b"%PDF-1.4")
    done = fumishirube("read", "m1/plan.pdf", cwd=own)
    assert (done.code, done.out) == (1, "")
    assert "no loader reads it" in done.err
    assert "it is there; to read it: the package fumishirube-documents" in done.err
    assert "there is no file" not in done.err


def test_scan_follows_its_own_advice_to_the_end(workspace: Path) -> None:
    text, words = "", ["scan", "給付金編", "09_請求手続.txt", "--max-chars", "700", "--json"]
    cursor: list[str] = []
    for _ in range(20):
        page = fumishirube(*words, *cursor, cwd=workspace).json
        text += page["text"]
        if page["eof"]:
            break
        cursor = ["--cursor", str(page["next_cursor"]["char_offset"])]
    file = workspace / "manuals/給付金編/09_請求手続.txt"
    assert text == file.read_text(encoding="utf-8-sig")
    human = fumishirube("scan", "reference", "sensors.json", "--max-chars", "300", cwd=workspace)
    assert "next: fumishirube scan reference sensors.json --cursor 300" in human.err
    both = fumishirube("scan", "a", "b", "--line", "1", "--cursor", "1", cwd=workspace)
    assert both.code == 2
