"""The command `find`, as a real process on copies of the sample manuals."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from command_runs import fumishirube, indexed_samples
from manuals import RULES, write

from fumishirube.faces.cli.output import width


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_samples(tmp_path_factory.mktemp("workspace"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    return write(tmp_path, {"m1/rules.md": RULES})


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


@pytest.mark.slow
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


def test_find_says_so_when_no_word_of_the_query_was_picked(workspace: Path) -> None:
    done = fumishirube("find", "needed", "--manual", "field-guide", "-v", cwd=workspace)
    assert done.code == 0
    assert "needed" in done.out
    assert "\nno terms were picked; searched with the whole query\n" in done.out
    assert "occurs in" not in done.out


def test_find_says_so_when_no_word_of_the_query_stands_there(workspace: Path) -> None:
    done = fumishirube("find", "zzyzx quux", "--manual", "field-guide", cwd=workspace)
    assert done.code == 1
    assert done.out.startswith("nothing found\n")
    assert "no terms were picked; searched with the whole query" in done.out
    assert "; none matched" in done.out
    assert done.out.endswith("next: fumishirube toc field-guide\n")


def test_find_tells_how_often_required_terms_stand_there(workspace: Path) -> None:
    words = ("find", "電池の交換 battery", "--require", "battery", "--require", "zzyzx")
    done = fumishirube(*words, "--manual", "field-guide", cwd=workspace)
    assert "required terms: battery (in " in done.out
    assert "zzyzx (in no section" in done.out
    assert "picked terms" not in done.out


def test_find_tells_that_a_required_term_is_in_other_files_than_those_of_prefix(
    workspace: Path,
) -> None:
    find = ("find", "battery power", "--manual", "field-guide", "--require", "battery")
    everywhere = fumishirube(*find, cwd=workspace).out
    (number,) = re.findall(r"battery \(in (\d+) sections\)", everywhere)
    others = fumishirube(*find, "--prefix", "telemetry.md", cwd=workspace).out
    said = f"battery (in no file of --prefix, in {number} sections elsewhere; searched without it)"
    assert f"\nrequired terms: {said}\n" in others
    assert "in no section" not in others
    found = fumishirube(*find, "--prefix", "telemetry.md", "--json", cwd=workspace).json
    told = fumishirube("coverage", *found["traces"].values(), cwd=workspace).out
    said = f"required term battery: in no file of --prefix, in {number} sections elsewhere"
    assert said in told.splitlines()


def test_find_calls_no_number_exact_that_may_be_higher(tmp_path: Path) -> None:
    """Sections with parts of ``--or`` alone are not counted."""
    workspace = write(tmp_path, {"m/a.md": "# A\n\nabacus\n", "m/b.md": "# B\n\nbanjo\n"})
    for more, said in (((), "1 matched and is listed"), (("--or", "banjo"), "2 of at least 2")):
        find = ("find", "abacus", *more)
        assert f"{said}\n" in fumishirube(*find, cwd=workspace).out
        counted = fumishirube(*find, "--json", cwd=workspace).json["coverage"]
        assert counted["matched_at_least"] is bool(more)


def test_find_names_the_words_that_are_in_no_section(workspace: Path) -> None:
    find = ("find", "TX-99 battery zzyzx qwrtp", "--manual", "field-guide", "--require", "zzyzx")
    assert "\nin no section: TX-99, qwrtp\n" in fumishirube(*find, cwd=workspace).out
    assert fumishirube(*find, "--json", cwd=workspace).json["nowhere"] == [
        "TX-99",
        "zzyzx",
        "qwrtp",
    ]
    within = ("find", "battery zzyQwrtp qwrtp", "--json")
    assert fumishirube(*within, cwd=workspace).json["nowhere"] == ["zzyQwrtp", "qwrtp"]
    known = fumishirube("find", "battery", "--json", cwd=workspace).json
    assert known["nowhere"] == []
    assert "in no section" not in fumishirube("find", "battery", cwd=workspace).out
    nothing = fumishirube("find", "zzyzx", cwd=workspace)
    assert (nothing.code, "\nin no section: zzyzx\n" in nothing.out) == (1, True)


@pytest.mark.parametrize(
    ("prefix", "files"),
    [("power.md", 1), ("field-guide/power.md", 1), ("!field-guide/power.md", 9)],
)
def test_find_searches_a_folder_or_a_file_alone(workspace: Path, prefix: str, files: int) -> None:
    find = ("find", "battery", "--manual", "field-guide", "--prefix", prefix)
    found = fumishirube(*find, "--json", cwd=workspace).json
    paths = {hit["ref"]["path"] for hit in found["hits"]}
    assert paths == {"power.md"} if files == 1 else paths and "power.md" not in paths
    assert found["coverage"]["files"] == files
    assert fumishirube(*find, "--full", cwd=workspace).json["summary"]["scanned_files"] == files


@pytest.mark.parametrize("command", ["find", "grep", "find --full --manual field-guide"])
def test_a_folder_that_is_not_there_is_named_as_it_was_typed(workspace: Path, command: str) -> None:
    words = (*command.split(), "battery", "--prefix")
    done = fumishirube(*words, "powr.md", cwd=workspace)
    assert done.code == 1
    assert "no file is at or below --prefix; did you mean 'power.md'" in done.err
    outside = fumishirube(*words, "/power.md", cwd=workspace).err
    assert "--prefix must be relative to its root" in outside


def test_only_the_option_is_named_as_it_was_typed(tmp_path: Path) -> None:
    write(tmp_path, {"path_prefix/a.md": "# Oil\n"})
    done = fumishirube("find", "oil", "--manual", "path_prefixx", cwd=tmp_path)
    assert "there is no manual 'path_prefixx'; did you mean 'path_prefix'?" in done.err


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "how_often"),
    [("en", r"--or TEXT .*?up to (\d+) times"), ("ja", r"--or TEXT .*?(\d+) 回まで")],
)
def test_the_help_says_how_often_the_question_may_be_put(
    workspace: Path, language: str, how_often: str
) -> None:
    environ = {"LANGUAGE": language, "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
    shown = fumishirube("find", "--help", cwd=workspace, **environ).out
    found = re.search(how_often, shown, re.DOTALL)
    assert found is not None
    others = [word for number in range(int(found[1])) for word in ("--or", f"battery {number}")]
    assert fumishirube("find", "battery", *others, cwd=workspace).code == 0
    done = fumishirube("find", "battery", *others, "--or", "pump", cwd=workspace)
    assert f"at most {found[1]} texts" in done.err


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
        (["find", "x", "--limit", "1", "y", "-z"], "unexpected argument '-z'"),
    ],
)
def test_find_refuses_what_it_cannot_use(workspace: Path, words: list[str], told: str) -> None:
    done = fumishirube(*words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1
