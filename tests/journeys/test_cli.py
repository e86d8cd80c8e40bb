"""The command line, as a real process on copies of the sample manuals."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import yaml
from manuals import stranger
from warm_start import warm_script

from fumishirube.faces.cli import main
from fumishirube.faces.cli.config import outline
from fumishirube.faces.cli.output import clipped, table, width
from fumishirube.faces.cli.parser import COMMANDS
from fumishirube.faces.cli.workspace import Bar
from fumishirube.plugins.discovery import load_plugins
from fumishirube.text import places_of
from fumishirube_manual.commands import ls

SAMPLES = Path(__file__).parents[2] / "manuals"
NEUTRAL = ("PYTHONIOENCODING", "PYTHONUTF8", "WORKSPACE_ROOT", "MANUALS_ROOT", "LC_ALL", "LANG")

VERBS = [*load_plugins(strangers=False).commands.verbs(), *COMMANDS]

EVERY_COMMAND = [
    ["find", "申請"],
    ["ls"],
    ["toc", "field-guide"],
    ["read", "field-guide/power.md"],
    ["scan", "reference", "sensors.json"],
    ["call", "manual_ls"],
    ["tools"],
    ["serve"],
    ["cite", "check", "manual://field-guide/power.md"],
    ["index"],
    ["doctor"],
    ["config", "show"],
]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    return {**kept, "LANG": "C", "COLUMNS": "80", **more}


def fumishirube(*words: str, cwd: Path, stdin: bytes = b"", **env: str) -> Done:
    done = subprocess.run(
        [warm_script(), *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment(**env),
        timeout=120,
        check=False,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    if "--verbose" not in words:
        for text in (out, err):
            assert "Traceback" not in text
            assert str(cwd) not in text
            assert "site-packages" not in text
    return Done(done.returncode, out, err)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(SAMPLES, folder / "manuals")
    assert fumishirube("index", cwd=folder).code == 0
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    manual = tmp_path / "manuals" / "m1"
    manual.mkdir(parents=True)
    text = "# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n### 参照\n別表を参照。\n"
    (manual / "rules.md").write_text(text, encoding="utf-8")
    return tmp_path


# --- find -----------------------------------------------------------------------------------


def test_find_shows_hits_citations_snippets_terms_coverage_and_the_next_command(
    workspace: Path,
) -> None:
    done = fumishirube("find", "宿泊と日当", "--manual", "業務ハンドブック", "-v", cwd=workspace)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("1. ")
    assert lines[1].startswith("   manual://業務ハンドブック/経費/")
    assert "#L" in lines[1]
    assert "-L" in lines[1]
    assert any("日当" in line or "宿泊" in line for line in lines[2:4])
    assert any(line.startswith("picked terms: ") for line in lines)
    assert any(line.startswith("searched 83 sections in 10 files of 1 manual; ") for line in lines)
    assert lines[-1].startswith("next: fumishirube read ")
    assert lines[-2].startswith("account: fumishirube coverage ")
    assert all(width(line) <= 80 for line in lines if not line.startswith(("next:", "   manual:")))


def test_the_next_command_can_be_typed_as_it_stands(workspace: Path) -> None:
    found = fumishirube("find", "battery care", "--manual", "field-guide", cwd=workspace)
    words = shlex.split(found.out.splitlines()[-1].removeprefix("next: "))
    assert words[:2] == ["fumishirube", "read"]
    read = fumishirube(*words[1:], cwd=workspace)
    assert read.code == 0
    assert "attery" in read.out


def test_the_next_command_keeps_the_workspace_that_was_named(workspace: Path) -> None:
    words = ("find", "battery", "--manual", "field-guide", "--workspace", workspace.name)
    found = fumishirube(*words, cwd=workspace.parent)
    following = shlex.split(found.out.splitlines()[-1].removeprefix("next: "))
    assert following[-2:] == ["--workspace", workspace.name]
    assert fumishirube(*following[1:], cwd=workspace.parent).code == 0


def test_the_account_of_a_find_is_a_command_away(own: Path) -> None:
    for limit in ("1", "5"):
        found = fumishirube("find", "対象", "--limit", limit, "-v", cwd=own)
        words = shlex.split(found.out.splitlines()[-2].removeprefix("account: "))
        assert "nothing that matched is unread" in fumishirube(*words[1:], cwd=own).out
    (own / "manuals" / "m2").mkdir()
    (own / "manuals" / "m2" / "a.md").write_text("# 対象\n対象である。\n", encoding="utf-8")
    both = fumishirube("find", "対象", "--limit", "1", "-v", cwd=own)
    assert "of 2 manuals" in both.out
    words = shlex.split(both.out.splitlines()[-2].removeprefix("account: "))
    assert "of *: 対象" in fumishirube(*words[1:], cwd=own).out
    place = (*words[1:], "--why-not", "manual://m1/rules.md#L3")
    told = fumishirube(*place, cwd=own).out
    assert "manual://m1/rules.md#L3" in told
    assert "it ranks " in told
    told = fumishirube("coverage", words[-1], "--why-not", "manual://m3/a.md#L1", cwd=own)
    assert (told.code, "of other manuals" in told.err) == (1, True)


def test_a_manual_that_cannot_be_searched_is_named_and_the_others_answer(own: Path) -> None:
    (own / "manuals" / "m2").mkdir()
    (own / "manuals" / "m2" / "a.md").write_text("# 対象\n対象である。\n", encoding="utf-8")
    index = own / ".fumishirube" / "index"
    index.mkdir(parents=True)
    (index / "m2").write_text("no folder", encoding="utf-8")
    done = fumishirube("find", "対象", cwd=own)
    assert done.code == 1
    assert "manual://m1/rules.md" in done.out
    assert "of 1 manual;" in done.out
    assert "degraded: m2: not searched: " in done.out


def test_find_in_several_named_manuals_is_one_search(own: Path) -> None:
    for name in ("m2", "m3"):
        (own / "manuals" / name).mkdir()
        (own / "manuals" / name / "a.md").write_text("# 対象\n対象である。\n", encoding="utf-8")
    words = ("find", "対象", "--manual", "m3", "--manual", "m2", "--manual", "m3", "--json")
    found = fumishirube(*words, cwd=own).json
    assert found["manuals"] == ["m2", "m3"]
    assert [hit["ref"]["manual_id"] for hit in found["hits"]] == ["m2", "m3"]
    assert [hit["cite"].partition("#")[0] for hit in found["hits"]] == [
        "manual://m2/a.md",
        "manual://m3/a.md",
    ]
    assert found["traces"].keys() == found["terms"].keys() == {"m2/m3"}


def test_find_looks_in_all_manuals_and_orders_by_score(workspace: Path) -> None:
    found = fumishirube("find", "申請 期限", "--json", "--limit", "30", cwd=workspace).json
    assert len({hit["ref"]["manual_id"] for hit in found["hits"]}) > 1
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert found["coverage"]["manuals"] == len(found["manuals"]) == 4
    assert found["traces"].keys() == {"*"}
    assert found["coverage"]["returned"] == len(scores) <= found["coverage"]["matched"]


def test_find_as_json_names_reference_citation_and_signals(workspace: Path) -> None:
    done = fumishirube("find", "battery", "--manual", "field-guide", "--json", cwd=workspace)
    assert done.json["query"] == "battery"
    assert done.json["terms"] == {"field-guide": ["battery"]}
    assert done.json["terms_source"] == "picked"
    hit = done.json["hits"][0]
    assert set(hit) == {"ref", "title", "score", "matched", "cite", "signals"}
    ref = hit["ref"]
    start = f"manual://field-guide/{ref['path']}#L{ref['start_line']}-L"
    assert hit["cite"].startswith(start)
    assert hit["matched"] == ["battery"]
    assert hit["signals"]["lexical"] > 0
    assert len(done.json["traces"]["field-guide"]) == 32


def test_find_says_so_when_no_word_of_the_query_stands_there(workspace: Path) -> None:
    done = fumishirube("find", "zzyzx quux", "--manual", "field-guide", cwd=workspace)
    assert done.code == 1
    assert done.out.startswith("nothing found\n")
    assert "no word of the query occurs in field-guide; searched with the whole query" in done.out
    assert "; none matched" in done.out
    assert done.out.endswith("next: fumishirube toc field-guide\n")


def test_find_tells_how_often_required_terms_stand_there(workspace: Path) -> None:
    words = ("find", "電池の交換 battery", "--require", "battery", "--require", "zzyzx")
    done = fumishirube(*words, "--manual", "field-guide", cwd=workspace)
    assert "required terms: battery (in " in done.out
    assert "zzyzx (in no section" in done.out
    assert "picked terms" not in done.out


def test_find_takes_the_question_in_other_words_too(workspace: Path) -> None:
    question = ("find", "赤ちゃんのお金", "--json")
    assert "出産" not in fumishirube(*question, cwd=workspace).json["hits"][0]["title"]
    others = ("--or", "出産給付", "--or", "赤ちゃんのお金")  # the question itself is none
    found = fumishirube(*question, *others, cwd=workspace).json["hits"]
    assert found[0]["title"] == "第7章 出産・育児給付"
    shown = fumishirube(*question[:2], *others, cwd=workspace).out
    assert shown.startswith("1. 第7章 出産・育児給付")
    assert "出産・育児給付は" in shown


def test_find_suggests_as_many_words_as_the_surface_is_set_to(
    workspace: Path, tmp_path: Path
) -> None:
    few, question = tmp_path / "few.yaml", "赤ちゃんのお金"
    few.write_text("surfaces: [{use: manual, with: {vocabulary_words: 2}}]\n", encoding="utf-8")
    find = ("find", question, "--manual", "給付金編", "--require", "お金", "--json")
    usual = fumishirube(*find, cwd=workspace).json["vocabulary"]
    suggested = fumishirube(*find, "--config", str(few), cwd=workspace).json["vocabulary"]
    assert suggested == usual[:2] != usual
    arguments = {"query": question, "manual_id": "給付金編", "required_terms": ["お金"]}
    call = ("call", "manual_find", json.dumps(arguments), "--config", str(few), "--json")
    assert fumishirube(*call, cwd=workspace).json["vocabulary"] == suggested


def test_the_full_answer_takes_other_words_too(workspace: Path) -> None:
    full = ("find", "屋根", "--full", "--manual", "給付金編", "--require", "給付")
    plain = fumishirube(*full, cwd=workspace).json["summary"]["candidates"]
    other = fumishirube(*full, "--or", "出産給付", cwd=workspace).json["summary"]["candidates"]
    assert 0 < plain < other


def test_find_counts_what_it_shows(own: Path) -> None:
    all_of_it = fumishirube("find", "対象", cwd=own).out
    assert "searched 3 sections in 1 file of 1 manual; 2 matched and are listed" in all_of_it
    one = fumishirube("find", "対象", "--limit", "1", cwd=own).out
    assert "; showing 1 of 2\n" in one


def test_find_names_skipped_files_with_their_reason(own: Path) -> None:
    (own / "manuals" / "m1" / "bad.md").write_bytes(b"\x81 \xff \x81")
    done = fumishirube("find", "対象", "-v", cwd=own)
    assert "in 1 file of 1 manual" in done.out
    assert "skipped 1 file, no known encoding: m1/bad.md" in done.out


def test_find_explains_itself(workspace: Path) -> None:
    words = ("find", "battery", "--manual", "field-guide", "--explain")
    told = fumishirube(*words, cwd=workspace).out
    assert "signals: lexical " in told
    assert [line for line in told.splitlines() if line.startswith("legend: ")]
    assert "run g0" in told
    assert "fuser required-terms" in told
    assert "picked: battery" in told
    assert " ms" in told
    spans = fumishirube(*words, "--json", cwd=workspace).json["spans"]["field-guide"]
    assert spans["kind"] == "search"
    assert {child["kind"] for child in spans["children"]} == {"run", "fuser", "refiner"}


def test_find_sends_json_hits_to_scan(workspace: Path) -> None:
    done = fumishirube("find", "気温計", "--manual", "reference", cwd=workspace)
    assert done.out.splitlines()[-1].startswith("next: fumishirube scan reference ")


def test_find_suggests_the_manual_that_was_meant(workspace: Path) -> None:
    done = fumishirube("find", "battery", "--manual", "feild-guide", cwd=workspace)
    assert (done.code, done.out) == (1, "")
    assert "did you mean 'field-guide'?" in done.err


@pytest.mark.parametrize(
    ("language", "how_often"),
    [("en", r"--or TEXT .*?up to (\d+) times"), ("ja", r"--or TEXT .*?(\d+) 回まで")],
)
def test_the_help_says_how_often_the_question_may_be_put(
    workspace: Path, language: str, how_often: str
) -> None:
    environ = {"LANGUAGE": language, "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
    shown = fumishirube("find", "--help", cwd=workspace, **environ).out
    told = re.search(how_often, shown, re.DOTALL)
    assert told is not None
    others = [word for number in range(int(told[1])) for word in ("--or", f"battery {number}")]
    assert fumishirube("find", "battery", *others, cwd=workspace).code == 0
    done = fumishirube("find", "battery", *others, "--or", "pump", cwd=workspace)
    assert f"at most {told[1]} texts" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["find", "  "], "the query is blank"),
        (["find"], "WORD"),
        (["find", "x", "--limit", "0"], "from 1 on"),
        (["find", "x", "--require", "a", "--require", "b", "--require", "c"], "at most 2 terms"),
        (
            ["find", "x", *(w for n in range(9) for w in ("--or", f"y{n}"))],
            "at most 8 texts, got 9",
        ),
        (["find", "x", "--or", " "], "TEXT is blank"),
        (["find", "x", "--limit", "1", "y"], "unexpected argument 'y'"),
    ],
)
def test_find_refuses_what_it_cannot_use(workspace: Path, words: list[str], told: str) -> None:
    done = fumishirube(*words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1


# --- ls, toc, read, scan --------------------------------------------------------------------


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
    assert page.err == "next: fumishirube toc field-guide --cursor 3\n"
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


def test_read_explains_what_to_do_instead(workspace: Path) -> None:
    inside = fumishirube("read", "manual://field-guide/power.md#L12", cwd=workspace)
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


# --- call, tools ----------------------------------------------------------------------------


def test_call_prints_the_answer_as_one_line_of_json(workspace: Path) -> None:
    done = fumishirube("call", "manual_ls", '{"id": "給付金編"}', cwd=workspace)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert done.json["id"] == "給付金編"
    assert "給付金編" in done.out
    piped = fumishirube(
        "call", "manual_ls", "-", cwd=workspace, stdin='{"id":"給付金編"}'.encode("utf-8-sig")
    )
    assert piped.out == done.out
    assert fumishirube("call", "manual_ls", cwd=workspace).json["id"] == "manuals"


def test_call_prints_the_error_object_of_a_tool(workspace: Path) -> None:
    refused = fumishirube("call", "manual_find", '{"query":"x","manual_id":"m"}', cwd=workspace)
    assert refused.code == 1
    assert refused.json["code"] == "invalid_parameter"
    assert (
        fumishirube("call", "manual_ls", "[1]", cwd=workspace).json["code"] == "invalid_parameter"
    )
    unknown = fumishirube("call", "manual_fnd", "{}", cwd=workspace)
    assert unknown.code == 1
    assert unknown.json["code"] == "not_found"
    assert "did you mean 'manual_find'?" in unknown.json["message"]


@pytest.mark.parametrize("text", ["{oops", "[" * 5000, "{'id': 1}"])
def test_call_refuses_what_is_not_json(workspace: Path, text: str) -> None:
    done = fumishirube("call", "manual_ls", text, cwd=workspace)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_call_replaces_lone_surrogates(own: Path) -> None:
    done = fumishirube("call", "manual_ls", r'{"id": "\ud800"}', cwd=own)
    assert done.code == 1
    assert done.json["code"] == "invalid_parameter"


def test_tools_are_listed_with_their_schemas(workspace: Path) -> None:
    human = fumishirube("tools", cwd=workspace).out.splitlines()
    assert [line.split()[0] for line in human] == [
        "manual_ls",
        "manual_toc",
        "manual_find",
        "manual_grep",
        "manual_hits",
        "manual_read",
        "manual_scan",
        "manual_batch",
        "vault_ls",
        "vault_create",
        "vault_read",
        "vault_scan",
        "vault_replace",
    ]
    for tool in fumishirube("tools", "--json", cwd=workspace).json:
        assert tool["input_schema"]["additionalProperties"] is False
        assert tool["output_schema"]["type"] == "object"
        assert tool["description"]


# --- serve ----------------------------------------------------------------------------------


def test_serve_answers_the_protocol_and_nothing_else(workspace: Path) -> None:
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    stdin = "".join(json.dumps(one) + "\n" for one in asked).encode()
    done = fumishirube("serve", cwd=workspace, stdin=stdin)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert answers[0]["result"]["serverInfo"]["name"] == "fumishirube"


def test_serve_tells_plugin_problems_on_standard_error(own: Path) -> None:
    path = stranger(own, "print('noise')\nraise RuntimeError('no luck')\n")
    done = fumishirube("serve", cwd=own, PYTHONPATH=path)
    assert (done.code, done.out) == (0, "")
    assert "plugin stranger: cannot be imported: RuntimeError: no luck" in done.err


# --- index, plugins, doctor -----------------------------------------------------------------


def test_index_follows_the_files_until_it_is_interrupted(own: Path) -> None:
    command = [warm_script(), "index", "m1", "--follow"]
    with subprocess.Popen(command, cwd=own, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        before = process.stdout.readline()
        (own / "manuals" / "m1" / "later.md").write_text("# Later\n\nIt came while it ran.\n")
        after = process.stdout.readline()
        process.terminate()
        assert process.wait(20) == 0
    counts = [int(line.split()[1].replace(",", "")) for line in (before, after)]
    assert counts[1] == counts[0] + 1, (before, after)


def test_index_tells_sections_and_rebuilds(own: Path) -> None:
    first = fumishirube("index", cwd=own)
    assert first.out == "m1  3 sections in 1 file\n"
    made = {path.name for path in (own / ".fumishirube/index/m1").rglob("*") if path.is_file()}
    again = fumishirube("index", "m1", "--rebuild", "--json", cwd=own)
    remade = {path.name for path in (own / ".fumishirube/index/m1").rglob("*") if path.is_file()}
    assert again.json == [
        {"manual_id": "m1", "files": 1, "sections": 3, "skipped": [], "degraded": None}
    ]
    assert made != remade
    assert fumishirube("index", "m2", cwd=own).code == 1


def test_a_plugin_that_fails_is_reported_and_stops_nothing(own: Path) -> None:
    path = stranger(own, "raise RuntimeError('no luck')\n")
    plugins = fumishirube("plugins", cwd=own, PYTHONPATH=path)
    assert plugins.code == 0
    assert "stranger  stranger 1.2  refused" in plugins.out
    assert "problem: cannot be imported: RuntimeError: no luck" in plugins.out
    plain = fumishirube("plugins", "--json", cwd=own, PYTHONPATH=path).json
    *built_ins, own_report = plain
    assert own_report["plugin"] == "stranger"
    assert {report["distribution"] for report in built_ins} == {"fumishirube"}
    offers = {report["plugin"]: report["offers"] for report in built_ins}
    slices = {"authoring", "chapters", "clients", "eval", "graph", "http", "inspect", "manual"}
    assert offers.keys() == {*slices, "stages", "vault"}
    assert {"kind": "fuser", "name": "required-terms"} in offers["stages"]
    doctor = fumishirube("doctor", cwd=own, PYTHONPATH=path)
    assert doctor.code == 1
    assert "FAIL  plugin stranger" in doctor.out
    assert fumishirube("find", "対象", cwd=own, PYTHONPATH=path).code == 0
    alone = fumishirube("--no-plugins", "doctor", cwd=own, PYTHONPATH=path)
    assert alone.code == 0
    assert "disabled, stranger 1.2" in alone.out


def test_a_line_on_which_nothing_starts_names_commands_and_no_tools(workspace: Path) -> None:
    done = fumishirube("read", "manual://field-guide/power.md#L2", cwd=workspace)
    assert done.code == 1
    assert "manual_toc" not in done.err
    first, listing, nearest = done.err.splitlines()
    assert first == "error: no section starts on line 2 [not_found]"
    assert listing == "sections: fumishirube toc field-guide --deep --prefix power.md"
    for line in (listing, nearest):
        words = shlex.split(line.partition(": ")[2])[1:]
        assert fumishirube(*words, cwd=workspace).code == 0


def test_doctor_finds_all_well(workspace: Path) -> None:
    done = fumishirube("doctor", cwd=workspace)
    assert (done.code, done.err) == (0, "")
    assert {line.split()[0] for line in done.out.splitlines()} == {"ok"}
    assert "indexed: 83 sections in 10 files" in done.out
    checks = fumishirube("doctor", "--json", cwd=workspace).json
    assert all(set(check) == {"status", "subject", "finding", "remedy"} for check in checks)


def test_doctor_names_what_is_off_and_a_remedy(own: Path) -> None:
    (own / "manuals" / "m1" / "bad.md").write_bytes(b"\x81 \xff \x81")
    (own / "manuals" / "empty").mkdir()
    done = fumishirube("doctor", cwd=own)
    assert done.code == 1
    assert "no known encoding: bad.md; save it as UTF-8" in done.out
    assert "warn  manual empty" in done.out


def test_doctor_tells_what_stops_the_start(own: Path) -> None:
    (own / "fumishirube.yaml").write_text("surfaces: [{use: manaul}]\n")
    done = fumishirube("doctor", cwd=own)
    assert done.code == 2
    assert "ok    python" in done.out
    assert "FAIL  configuration" in done.out
    assert done.out.count("did you mean 'manual'?") == 1
    assert done.err == ""


# --- config ---------------------------------------------------------------------------------


def test_config_show_is_a_configuration_that_says_the_same(own: Path) -> None:
    shown = fumishirube("config", "show", cwd=own)
    plain = fumishirube("config", "show", "--json", cwd=own).json
    assert yaml.safe_load(shown.out) == plain["config"]
    assert plain["from_environment"] == {}
    (own / "fumishirube.yaml").write_text(shown.out, encoding="utf-8")
    again = fumishirube("config", "show", "--json", cwd=own).json
    assert again["config"] == plain["config"]
    assert set(again["origins"].values()) > {"fumishirube.yaml line 1"}


def test_config_show_marks_what_the_environment_decided(own: Path) -> None:
    env = {"LEXICAL_COVERAGE_WEIGHT": "0.7", "FUMISHIRUBE_SURFACE_EXTRAS": "none"}
    shown = fumishirube("config", "show", cwd=own, **env).out
    assert "coverage_weight: 0.7  # LEXICAL_COVERAGE_WEIGHT" in shown
    assert "extras: []  # FUMISHIRUBE_SURFACE_EXTRAS" in shown


def test_config_schema_knows_every_stage(own: Path) -> None:
    schema = fumishirube("config", "schema", cwd=own).json
    uses = [one["properties"] for one in schema["$defs"]["scorer"]["oneOf"]]
    lexical = next(one for one in uses if one["use"]["const"] == "lexical")
    assert lexical["with"]["properties"]["coverage_weight"]["default"] == 0.5
    assert lexical["with"]["additionalProperties"] is False
    for reference in _references(schema):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def test_config_env_lists_every_variable(own: Path) -> None:
    lines = fumishirube("config", "env", cwd=own, TRACE_TTL_SEC="60").out.splitlines()
    assert lines[0].split() == ["VARIABLE", "TAKES", "DEFAULT", "SETTING"]
    assert any(line.startswith("TRACE_TTL_SEC *") and "integer >= 1" in line for line in lines)
    rows = fumishirube("config", "env", "--json", cwd=own).json
    weight = next(row for row in rows if row["name"] == "LEXICAL_COVERAGE_WEIGHT")
    assert weight["default"] == "0.5"
    assert weight["setting"] == "scorer lexical: coverage_weight"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pipelines: {manual: {fusers: [{use: rff}]}}", "fusers[0]: no fuser is called 'rff'"),
        ("versoin: 1", "did you mean 'version'?"),
        ("a: [", "fumishirube.yaml"),
        ("roots: {manuals: fumishirube.yaml}", "roots.manuals"),
    ],
)
def test_a_configuration_error_is_one_line(own: Path, text: str, told: str) -> None:
    (own / "fumishirube.yaml").write_text(text)
    done = fumishirube("ls", cwd=own)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("configuration error: ")
    assert told in done.err


def test_a_bad_variable_is_named_once(own: Path) -> None:
    done = fumishirube("serve", cwd=own, TRACE_TTL_SEC="abc")
    wanted = 'configuration error: TRACE_TTL_SEC: expected integer >= 1, got "abc"\n'
    assert (done.code, done.out, done.err) == (2, "", wanted)


# --- every command --------------------------------------------------------------------------


ASKING = [words for words in EVERY_COMMAND if words != ["serve"]]


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_an_empty_folder_is_told_and_how_to_name_another(tmp_path: Path, words: list[str]) -> None:
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code == 2
    if words[0] == "doctor":
        assert re.search("FAIL +configuration +this folder has neither.*--workspace", done.out)
        assert done.err == ""
    else:
        assert done.err.startswith("configuration error: this folder has neither")
        assert "--workspace" in done.err
        assert (done.err.count("\n"), done.out) == (1, "")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_served_because_it_may_be_filled(tmp_path: Path) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = fumishirube("serve", cwd=tmp_path, stdin=json.dumps(asked).encode() + b"\n")
    assert (done.code, json.loads(done.out)["id"]) == (0, 1)
    assert done.err.startswith("warning: roots.manuals: there is no folder 'manuals'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["plugins"], ["config", "schema"], ["config", "env"]], ids=lambda words: words[-1]
)
def test_what_needs_no_workspace_works_without_and_says_so(
    tmp_path: Path, words: list[str]
) -> None:
    done = fumishirube(*words, cwd=tmp_path)
    assert done.code == 0
    assert done.out
    assert "--workspace" in done.err


def test_common_options_stand_before_or_after_the_command(workspace: Path) -> None:
    wanted = fumishirube("ls", cwd=workspace).out
    here = workspace.parent
    name = workspace.name
    assert fumishirube("--workspace", name, "ls", cwd=here).out == wanted
    assert fumishirube("ls", "--workspace", name, cwd=here).out == wanted
    assert fumishirube(f"--workspace={name}", "ls", "--no-plugins", cwd=here).out == wanted
    assert fumishirube("ls", cwd=here, WORKSPACE_ROOT=name).out == wanted
    missing = fumishirube("ls", "--workspace", "nowhere", cwd=here)
    assert missing.code == 2
    assert "there is no folder 'nowhere'" in missing.err
    assert fumishirube("ls", "--config", "nowhere.yaml", cwd=workspace).code == 2


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["fnd", "x"], "'find'"),
        (["--workspace", ".", "doctr"], "'doctor'"),
        (["find", "x", "--limmit", "3"], "'--limit'"),
        (["find", "--limmit", "3"], "'--limit'"),
        (["ls", "--worksapce", "."], "'--workspace'"),
        (["config", "shwo"], "'show'"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(
    workspace: Path, words: list[str], meant: str
) -> None:
    done = fumishirube(*words, cwd=workspace)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"did you mean {meant}?" in done.err


@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS)], ids=str)
def test_help_has_an_example(tmp_path: Path, verb: list[str]) -> None:
    done = fumishirube(*verb, "--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "--workspace" in done.out
    assert "example" in done.out or "first steps" in done.out
    assert fumishirube(cwd=tmp_path).code == 0


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "en_US.ISO-8859-1"])
def test_output_is_utf_8_whatever_the_locale(workspace: Path, locale: str) -> None:
    words = ("find", "申請", "--manual", "給付金編", "--limit", "1")
    done = fumishirube(*words, cwd=workspace, LANG=locale, LC_ALL=locale)
    assert done.code == 0
    assert "manual://給付金編/" in done.out
    with_encoding = fumishirube(*words, cwd=workspace, PYTHONIOENCODING="ascii")
    same = [re.sub("[0-9a-f]{32}", "TRACE", out) for out in (done.out, with_encoding.out)]
    assert same[0] == same[1]


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe shows itself differently")
def test_a_reader_that_hangs_up_is_no_error(workspace: Path) -> None:
    process = subprocess.Popen(
        [warm_script(), "scan", "reference", "sensors.json"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 130
    assert b"Error" not in err
    assert b"Traceback" not in err


def test_an_interrupt_is_quiet(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(ls, "run", interrupted)
    assert main(["ls", "--workspace", str(own)]) == 130
    assert capsys.readouterr() == ("", "")


BROKEN_FUSER = """
from fumishirube import Register, Fuser, Stage, hook

class Broken(Stage):
    def plan(self, query, corpus):
        raise ValueError("secret of /etc/passwd")
    def fuse(self, query, outcomes, corpus):
        raise ValueError

@hook
def register_fusers(register):
    register("broken", Broken)
"""


def test_the_unexpected_is_one_line_with_an_id(own: Path) -> None:
    path = stranger(own, BROKEN_FUSER)
    (own / "fumishirube.yaml").write_text(
        "strict: true\npipelines: {manual: {fusers: [{use: broken}]}}\n"
    )
    done = fumishirube("find", "対象", cwd=own, PYTHONPATH=path)
    assert (done.code, done.out) == (1, "")
    assert "error_id" in done.err
    assert "Traceback" not in done.err
    told = fumishirube("find", "対象", "--verbose", cwd=own, PYTHONPATH=path)
    assert "Traceback" in told.err
    assert "passwd" in told.err


def test_verbose_tells_even_what_goes_wrong_with_the_command_itself(own: Path) -> None:
    script = (
        "import sys; sys.modules['fumishirube_manual.commands.coverage_lines'] = None; "
        "from fumishirube.faces.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    for words, told in ((["--verbose"], True), ([], False), (["--", "--verbose"], False)):
        call = [sys.executable, "-c", script, "find", "対象", *words]
        done = subprocess.run(call, cwd=own, capture_output=True, env=environment(), check=False)
        assert done.returncode == 1
        assert (b"Traceback" in done.stderr) is told


def test_the_module_is_the_command(own: Path) -> None:
    words = [sys.executable, "-m", "fumishirube", "ls"]
    done = subprocess.run(words, cwd=own, capture_output=True, env=environment(), check=True)
    assert done.stdout.decode() == "m1/\n"


def test_only_the_chosen_command_is_imported(own: Path) -> None:
    script = (
        "import sys; from fumishirube.faces.cli import main; main(['plugins']); "
        "rooms = ('fumishirube.faces.cli.', 'fumishirube_manual.'); "
        "imported = [m for m in sys.modules if m.startswith(rooms)]; "
        "print(imported, file=sys.stderr); "
        "assert 'mcp' not in sys.modules and 'tqdm' not in sys.modules"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=own, capture_output=True, env=environment(), check=True)
    assert b"fumishirube.faces.cli.plugins" in done.stderr
    assert b"fumishirube_manual.commands" not in done.stderr
    assert b"fumishirube.faces.cli.doctor" not in done.stderr


# --- what is printed ------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_a_bar_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert Bar().progress is None
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = Bar()
    assert bar.progress
    bar.progress(1, 3, "indexing m1")
    bar.progress(3, 3, "indexing m1")
    assert "indexing m1" in screen.getvalue()
    bar.close()


def test_long_work_is_told_once_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    clock = iter([0.0, 0.9, 1.1])
    own = SimpleNamespace(monotonic=lambda: next(clock))  # other threads read the real one
    monkeypatch.setattr("fumishirube.faces.cli.workspace.time", own)
    bar = Bar()
    assert bar.progress
    for done in range(1, 5):
        bar.progress(done, 5, "indexing m1")
    bar.close()
    assert said.getvalue() == "indexing m1: 3 of 5 done; this may take a while\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_a_first_index_draws_its_bar_even_where_the_terminal_tells_no_size(own: Path) -> None:
    import pty  # noqa: PLC0415 - there is none on Windows

    screen, terminal = pty.openpty()
    done = subprocess.run(
        [warm_script(), "index"],
        cwd=own,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=environment(),
        timeout=60,
        check=True,
    )
    os.close(terminal)
    drawn = os.read(screen, 4096).decode()
    os.close(screen)
    assert "indexing m1" in drawn
    assert done.stdout.decode() == "m1  3 sections in 1 file\n"


def test_wide_characters_take_two_columns() -> None:
    assert width("給付 a") == 6
    assert width("e\u0301") == 1
    assert clipped("給付金編の請求", 7) == "給付金…"
    assert width(clipped("給付金編の請求", 7)) <= 7
    assert clipped("給付", 4) == "給付"
    assert list(table([("給付", "x"), ("abc", "y")])) == ["給付  x", "abc   y"]


def test_what_matched_is_found_in_the_words_of_the_text() -> None:
    assert places_of(("fee", "料金"), "ＦＥＥ と料金、Fees") == [(0, 3), (5, 7), (8, 11)]
    assert places_of(("入院給付", "給付の"), "入院給付の日額") == [(0, 5)]
    assert places_of(("",), "何も") == []


def test_an_outline_is_yaml_whatever_the_words() -> None:
    value = {
        "yes": "no",
        "空": ["日本", "a: b", "# c", "", "1.5", "0x10", "~", "a\nb", "-", ".inf"],
        "nested": [{"a": 1, "b": [True, None, 1.5]}, [], {}, [[1], {"x": "y"}]],
    }
    assert yaml.safe_load("\n".join(outline(value, {}))) == value


@pytest.mark.slow
def test_two_searches_of_a_new_folder_at_once_both_find(tmp_path: Path) -> None:
    folder = tmp_path / "manuals" / "m"
    folder.mkdir(parents=True)
    for number in range(1500):
        text = f"# 第{number}条\n" + "給付の要件と請求の期限を定める。\n" * 20
        (folder / f"f{number:04}.md").write_text(text, encoding="utf-8")
    command = [warm_script(), "find", "第1234条の要件", "--json", "--workspace", str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert [one["hits"][0]["ref"]["path"] for one in told] == ["f1234.md"] * 2
