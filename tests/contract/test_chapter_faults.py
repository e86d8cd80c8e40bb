"""What could stop the tools of chapters: hostile patterns, and manuals with faults."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import manuals
import pytest
from chapter_manuals import (
    NAME,
    SURFACE,
    entry,
    made,
    opened,
    scoring,
    searched,
)
from stdio import Fumishirube, Wire

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


@pytest.mark.slow
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
REFUSED = "is refused: it must name a file in the folder"
FAULTS = {
    NAME: [
        "file missing: b.txt",
        "file too_large: large.txt",
        f"toc[3].file '../up.txt' {REFUSED}",
        f"toc[4].file 'c\\x1b[2J.txt' {REFUSED}",
    ],
    "事務編": ["00_目次.json cannot be used: invalid JSON at line 1"],
}


def test_doctor_names_what_is_wrong_with_manuals(tmp_path: Path) -> None:
    done = manuals.fumishirube("doctor", "--json", cwd=defective(tmp_path))
    assert done.code == 0
    told = {
        (check["subject"], check["finding"]) for check in done.json if check["status"] == "warn"
    }
    for name, findings in FAULTS.items():
        assert sorted(one for subject, one in told if subject == f"manual {name}") == findings


def test_warnings_of_a_toc_remain_when_it_names_itself(tmp_path: Path) -> None:
    toc = [entry("a", "A"), {"id": "none"}, entry("t", "T", "00_目次.json")]
    done = manuals.fumishirube("doctor", "--json", cwd=made(tmp_path, toc, a="本文"))
    found = [one["finding"] for one in done.json if one["subject"] == f"manual {NAME}"]
    assert "toc[1] has no file that is a string and was dropped" in found
    assert f"toc[2].file '00_目次.json' {REFUSED}" in found
    assert len(found) == 2


@pytest.mark.parametrize("within", ["", "付録/"])
def test_doctor_names_what_another_spelling_hides(tmp_path: Path, within: str) -> None:
    file, twin = (unicodedata.normalize(form, f"{within}ガ.txt") for form in ("NFC", "NFD"))
    toc = [entry("a", "A"), entry("ga", "ガ", file)]
    workspace = made(tmp_path, toc, a="本文", **{file[:-4]: "一"})
    if (workspace / "manuals" / NAME / twin).exists():
        pytest.skip("this file system takes both spellings for one")
    ga = {form: unicodedata.normalize(form, "ガイド") for form in ("NFC", "NFD")}
    contents = {
        f"{folder}/00_目次.json": '{"manual": "ガイド", "toc": []}' for folder in ga.values()
    }
    manuals.write(workspace, {f"{NAME}/{twin}": "二", **contents})
    done = manuals.fumishirube("doctor", "--json", cwd=workspace)
    hidden = "with this name in other characters (NFC or NFD) is hidden"
    assert [(one["subject"], one["finding"]) for one in done.json if one["status"] == "warn"] == [
        (f"manual {ga['NFC']}", f"another folder {hidden}"),
        (f"manual {NAME}", f"another file {hidden}: {file}"),
    ]
    ask = opened(workspace)
    assert ask("list_manuals") == {"manuals": [ga["NFC"], NAME]}
    assert ask("get_section", manual_name=NAME, section_id="ga")["text"] == "一"


def test_a_server_tells_at_its_start_what_is_wrong_with_manuals(tmp_path: Path) -> None:
    with Wire(defective(tmp_path)) as server:
        assert server.ok("list_manuals")["manuals"] == ["事務編", NAME]
        expected = [f"[validate] manual={n} {one}" for n, many in FAULTS.items() for one in many]
        assert server.process.stderr is not None
        while expected:
            line = server.process.stderr.readline().decode()
            assert line, expected
            expected = [one for one in expected if one not in line.replace("\\\\", "\\")]


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
