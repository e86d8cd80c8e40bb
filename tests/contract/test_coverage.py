"""The account of a search: what it saw, what it left, and why; never more than was done."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from documents import documents
from manuals import RULES, ask, fumishirube, opened, trace_appears, write
from stdio import Fumishirube, Wire

from fumishirube import Budget, CoverageReport, Passage, Query, SequenceCorpus
from fumishirube.engine.spellings import near_spellings
from fumishirube.host.application import Application
from fumishirube.text import estimate_tokens, fold

LEAVE = """# 休暇
## 年次有給休暇
年次有給休暇は十日とする。申し込みは前日までに行う。
## 特別休暇
結婚のときは五日とする。
"""
MANUALS: dict[str, str | bytes] = {
    "m1/rules.md": RULES,
    "odd/leave.md": LEAVE,
    "odd/目次.md": "# 目次\n休暇\n",
    "odd/broken.md": b"\x81\xff\xfe\x80 \xff\xff",
    "odd/notes.txt": "休暇のメモ\n",
    "odd/photo.png": b"\x89PNG",
    "odd/.hidden.md": "# 休暇\n隠し\n",
    "papers/copy.md": "# 写し\n証明書の写しを使う。\n",
    "papers/hand.md": "# 窓口\n窓口へ提出する。\n",
    "papers/both.md": "# 両方\n届書の提出先は窓口である。\n",
    "trip/a.md": "# 節1\n災害と日当。災害日当を払う。\n",
    "trip/b.md": "# 節2\n災害のときの連絡。\n",
    "trip/c.md": "# 節3\n日当の額。\n",
    "trip/d.md": "# 節4\n大災害に備える。\n",
    "trip/e.md": "# 節5\n日当は千円。\n",
    "field/power.md": "# Calibration\nCalibrate the sensor. Battery voltage matters.\n",
    **{f"wide/{n:03}.md": f"# 届出{n}\n届出の期限は{n}日である。\n" for n in range(120)},
    **{f"noisy/{n:02}.md": f"# 支払{n}\n" + "年金の支払日。" * n for n in range(1, 31)},
}


ACCOUNT = {"FUMISHIRUBE_SURFACE_EXTRAS": "coverage,cite"}
"""The account joins every answer, and not only where something was not searched."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = write(tmp_path_factory.mktemp("coverage"), MANUALS)
    (workspace / "manuals/odd/link.md").symlink_to(workspace / "manuals/odd/leave.md")
    (workspace / "manuals/odd/linked").symlink_to(workspace / "manuals/m1")
    return workspace


@pytest.fixture(scope="module")
def application(workspace: Path) -> Iterator[Application]:
    application = opened(workspace, **ACCOUNT)
    yield application
    application.close()


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace, **ACCOUNT) as connected:
        connected.ok("manual_ls")
        yield connected


def covered(application: Application, query: str, manual: str, *terms: str, **more: Any) -> Any:
    arguments = {"query": query, "manual_id": manual, "required_terms": [*terms], **more}
    return ask(application, "manual_find", **arguments)


def unscanned(application: Application, trace_id: str) -> list[Any]:
    rows: list[Any] = []
    while True:
        asked = {"trace_id": trace_id, "kind": "unscanned", "offset": len(rows), "limit": 1000}
        page = ask(application, "manual_hits", **asked)
        rows += page["items"]
        if len(rows) == page["total"]:
            return rows


def skipped(coverage: Any) -> dict[tuple[str, str], int]:
    return {(row["reason"], row["unit"]): row["count"] for row in coverage["skipped"]}


# --- the key --------------------------------------------------------------------------------


def test_the_account_of_a_small_manual_in_this_shape(server: Fumishirube) -> None:
    asked = {"query": "対象外になる場合は？", "manual_id": "m1", "required_terms": ["対象外"]}
    assert server.ok("manual_find", **asked)["coverage"] == {
        "scope": {"files": 1, "sections": 3},
        "scanned": {"files": 1, "sections": 3},
        "matched": 2,
        "returned": 2,
        "cutoff_reason": "stage_cap",
        "skipped": [],
        "terms": [{"term": "対象外", "sections": 1}],
    }


def test_what_was_not_searched_is_counted_by_reason(application: Application) -> None:
    coverage = covered(application, "有給休暇", "odd", "休暇")["coverage"]
    assert skipped(coverage) == {
        ("heading_only", "section"): 1,
        ("navigation_file", "file"): 1,
        ("undecodable", "file"): 1,
        ("symlink", "file"): 2,
        ("ignored", "file"): 3,
    }
    assert coverage["scope"] == {"files": 3, "sections": 3}
    assert coverage["scanned"] == {"files": 1, "sections": 2}


def test_a_heading_without_text_counts_as_presence_but_not_as_a_match(
    application: Application,
) -> None:
    coverage = covered(application, "休暇", "odd", "休暇")["coverage"]
    assert coverage["terms"] == [{"term": "休暇", "sections": 3}]
    assert coverage["matched"] == coverage["returned"] == 2


def test_a_link_that_comes_or_goes_is_counted_at_once(tmp_path: Path) -> None:
    write(tmp_path, {"m1/rules.md": RULES})
    link = tmp_path / "manuals/m1/link.md"
    application = opened(tmp_path, **ACCOUNT)
    for expected in ({}, {("symlink", "file"): 1}, {}):
        if expected:
            link.symlink_to("nowhere")
        else:
            link.unlink(missing_ok=True)
        assert skipped(covered(application, "対象", "m1", "対象")["coverage"]) == expected
    application.close()


def test_the_account_is_what_was_asked_for(workspace: Path) -> None:
    asked = {"query": "対象", "manual_id": "m1", "required_terms": ["対象"]}
    extras = {"none": set(), "cite": set(), "est_tokens": {"est_tokens"}}
    extras |= {"coverage": {"coverage"}, " coverage , est_tokens ": {"coverage", "est_tokens"}}
    seed = {
        "trace_id",
        "candidates",
        "status",
        "failure_reason",
        "next_actions",
        "inline_hits",
    }
    for named, keys in extras.items():
        application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS=named)
        answer = ask(application, "manual_find", **asked)
        assert answer.keys() - seed == keys, named
        cited = ["cite" in item for item in answer["inline_hits"]["items"]]
        assert cited == [named == "cite"] * 2
        application.close()


def test_the_estimate_is_that_of_the_line_without_it(workspace: Path) -> None:
    with Wire(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage,cite,est_tokens") as server:
        server.ok("manual_ls")
        asked = {"query": "対象外", "manual_id": "m1", "required_terms": ["対象外"]}
        message = server.request("tools/call", {"name": "manual_find", "arguments": asked})
    text = message["result"]["content"][0]["text"]
    answer = json.loads(text)
    estimate = answer.pop("est_tokens")
    without = re.sub(rf',?"est_tokens":\s*{estimate}', "", text)
    assert json.loads(without) == answer
    assert estimate == estimate_tokens(without)


# --- numbers that are true ------------------------------------------------------------------

QUERIES = [
    ("対象", "m1", ["対象"]),
    ("zebra", "m1", ["zebra"]),
    ("届出の期限は？", "wide", ["届出"]),
    ("届出の期限は？", "wide", ["届出", "期限"]),
    ("届出", "wide", ["ほか"]),
    ("年金の支払日", "noisy", ["年金"]),
    ("支払日と年金の違い", "noisy", ["支払"]),
    ("休暇", "odd", ["結婚"]),
]


@pytest.mark.parametrize(("query", "manual", "terms"), QUERIES)
def test_the_numbers_agree_with_the_pages(
    application: Application, query: str, manual: str, terms: list[str]
) -> None:
    answer = covered(application, query, manual, *terms)
    coverage = answer["coverage"]
    hits = ask(application, "manual_hits", trace_id=answer["trace_id"], limit=1000)
    rows = unscanned(application, answer["trace_id"])
    returned = {(hit["ref"]["path"], hit["ref"]["start_line"]) for hit in hits["items"]}
    left = {(row["path"], row["start_line"]) for row in rows if row["start_line"]}
    assert coverage["returned"] == answer["candidates"] == len(returned)
    assert not returned & left
    assert len(left) == len([row for row in rows if row["start_line"]])
    assert len(returned) + len(left) <= coverage["matched"]
    assert coverage["matched"] <= coverage["scanned"]["sections"] <= coverage["scope"]["sections"]
    files = sum(
        row["count"]
        for row in coverage["skipped"]
        if row["reason"] in ("navigation_file", "undecodable")
    )
    assert coverage["scope"]["files"] - coverage["scanned"]["files"] == files


def test_matches_that_no_stage_named_are_counted(application: Application) -> None:
    answer = covered(application, "届出の期限は？", "wide", "届出")
    coverage = answer["coverage"]
    assert coverage["matched"] == 120
    assert "matched_at_least" not in coverage
    assert coverage["returned"] == 50
    assert len(unscanned(application, answer["trace_id"])) < 70


def test_what_stands_between_two_words_of_a_query_is_no_match(application: Application) -> None:
    answer = covered(application, "入学願書の提出", "papers", "入学願書")
    coverage = answer["coverage"]
    assert coverage["matched"] == 2
    assert "matched_at_least" not in coverage
    page = ask(application, "manual_hits", trace_id=answer["trace_id"])["items"]
    paths = [one["ref"]["path"] for one in page]
    paths += [one["path"] for one in unscanned(application, answer["trace_id"])]
    assert sorted(paths) == ["both.md", "hand.md"]


def test_a_term_beyond_the_query_may_match_more_than_was_counted(
    application: Application,
) -> None:
    coverage = covered(application, "特別", "odd", "申し込み")["coverage"]
    assert coverage["matched_at_least"] is True
    assert coverage["matched"] == coverage["returned"] == 2


def test_what_a_search_left_out_is_listed_with_its_reason(application: Application) -> None:
    few = covered(application, "届出の期限は？", "wide", "届出", budget={"max_candidates": 3})
    assert few["coverage"]["cutoff_reason"] == "candidate_cap"
    reasons = {row["reason"] for row in unscanned(application, few["trace_id"])}
    assert "candidate_cap" in reasons
    odd = covered(application, "休暇", "odd", "休暇")
    whole = [row for row in unscanned(application, odd["trace_id"]) if row["start_line"] is None]
    assert {(row["path"], row["reason"]) for row in whole} == {
        ("目次.md", "navigation_file"),
        ("broken.md", "undecodable"),
    }


def test_who_found_no_room_was_not_kept_out_by_its_file(application: Application) -> None:
    wide = covered(application, "届出の期限は？", "wide", "届出")
    reasons = {row["reason"] for row in unscanned(application, wide["trace_id"])}
    assert "candidate_cap" in reasons
    assert "per_file_cap" not in reasons  # every file has one section


def test_weak_matches_that_were_dropped_are_listed(application: Application) -> None:
    answer = covered(application, "年次有給休暇と申し込みと結婚と電池", "odd", "zebra")
    rows = unscanned(application, answer["trace_id"])
    left = [row for row in rows if row["start_line"]]
    assert {row["reason"] for row in left} <= {"stage_cap"}
    assert len(left) + answer["candidates"] == 2


def test_a_scan_cap_is_told(workspace: Path) -> None:
    application = opened(workspace, **ACCOUNT, MANUAL_FIND_SCAN_HARD_CAP="5")
    coverage = covered(application, "届出の期限は？", "wide", "届出")["coverage"]
    assert coverage["cutoff_reason"] == "candidate_cap"
    assert coverage["returned"] <= 10 < coverage["matched"] == 120
    application.close()


def test_matches_that_there_was_no_time_to_look_at_are_not_called_partial(
    application: Application,
) -> None:
    covered(application, "届出の期限は？", "wide", "届出")  # its index is finished from now on
    asked = {"budget": {"time_ms": 1}, "use_cache": False}
    coverage = covered(application, "届出の期限は？", "wide", "届出", **asked)["coverage"]
    assert coverage["cutoff_reason"] == "time_budget"
    assert coverage["matched"] == 120 > coverage["returned"]
    assert skipped(coverage).keys() <= {("unranked", "section"), ("candidate_cap", "section")}


def test_a_follow_up_says_what_it_passed_over(application: Application) -> None:
    first = covered(application, "対象", "m1", "対象", budget={"max_candidates": 1})
    asked = {"only_unscanned_from_trace_id": first["trace_id"]}
    second = covered(application, "対象", "m1", "対象", **asked)
    coverage = second["coverage"]
    assert skipped(coverage) == {("excluded_by_trace", "section"): 1}
    assert coverage["scope"]["sections"] == 3
    assert coverage["scanned"]["sections"] == 2
    assert coverage["matched"] == coverage["returned"] == 1
    assert coverage["terms"] == [{"term": "対象", "sections": 2}]
    third = covered(
        application, "対象", "m1", "対象", only_unscanned_from_trace_id=second["trace_id"]
    )
    assert third["candidates"] == third["coverage"]["matched"] == 0


def test_follow_ups_return_all_that_a_longer_list_has(application: Application) -> None:
    def asked(most: int, **more: Any) -> tuple[Any, list[str]]:
        budget = {"max_candidates": most}
        answer = covered(application, "災害日当の額", "trip", "災害日当", budget=budget, **more)
        page = ask(application, "manual_hits", trace_id=answer["trace_id"])["items"]
        return answer, [row["ref"]["path"] for row in page]

    _, everything = asked(10)
    answer, paths = asked(2)
    assert len(everything) == 5
    assert paths == everything[:2]
    for _ in range(2):
        answer, more = asked(2, only_unscanned_from_trace_id=answer["trace_id"])
        assert answer["status"] == "required_fallback"
        assert answer["failure_reason"] == f"required_terms_not_in_top_{len(more)}"
        paths += more
    assert sorted(paths) == sorted(everything)


def test_a_follow_up_that_finds_nothing_says_why(application: Application) -> None:
    first = covered(application, "対象", "m1", "対象")
    more = {"only_unscanned_from_trace_id": first["trace_id"]}
    second = covered(application, "対象", "m1", "対象", **more)
    assert second["candidates"] == 0
    (gap,) = ask(application, "manual_hits", trace_id=second["trace_id"], kind="gaps")["items"]
    assert gap["gap"] == "no_candidates"
    assert gap["gap_hint"].startswith("nothing more matched than was returned")


def test_files_that_there_was_no_time_to_index_are_told(tmp_path: Path) -> None:
    write(tmp_path, {f"big/{n:04}.md": f"# 章{n}\n届出{n}\n" for n in range(600)})
    application = opened(tmp_path, **ACCOUNT)
    query = Query("届出", ("届出",), limit=200, budget=Budget.of(1))
    time.sleep(0.002)
    trace = application.contexts["manual"].find("big", query).trace
    account = CoverageReport.of(trace)
    assert account.files == 600
    assert 0 < account.scanned_files < 600
    assert [(one.reason, one.unit) for one in account.skipped] == [("time_budget", "file")]
    assert account.scanned_files + account.skipped[0].number == 600
    rows = unscanned(application, trace.id)
    whole = [row for row in rows if row["start_line"] is None]
    assert {row["reason"] for row in whole} == {"time_budget"}
    assert len(whole) == account.skipped[0].number
    assert covered(application, "届出", "big", "届出")["coverage"]["scanned"]["files"] == 600
    application.close()


# --- near spellings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manual", "term", "near"),
    [
        ("odd", "年次有給休假", "年次有給休暇"),
        ("odd", "有給休假", "有給休暇"),
        ("odd", "申込み", "申し込み"),
        ("odd", "結昏", "結婚"),
        ("m1", "対照外", "対象外"),
        ("field", "calibraton", "calibration"),
        ("field", "Batery", "battery"),
        ("field", "batery voltages", "battery voltage"),
    ],
)
def test_a_term_that_stands_nowhere_comes_with_what_is_near_it(
    application: Application, manual: str, term: str, near: str
) -> None:
    (row,) = covered(application, term, manual, term)["coverage"]["terms"]
    assert (row["term"], row["sections"]) == (term, 0)
    assert row["near"][0] == near
    assert len(row["near"]) <= 3
    texts = [fold(text) for name, text in MANUALS.items() if isinstance(text, str)]
    assert all(any(one in text for text in texts) for one in row["near"])


@pytest.mark.parametrize("term", ["zebra", "量子力学", "qqqqqqqq", "!?", "💠"])
def test_what_is_near_nothing_comes_with_nothing(application: Application, term: str) -> None:
    for manual in ("odd", "field"):
        (row,) = covered(application, "休暇", manual, term)["coverage"]["terms"]
        assert row == {"term": term, "sections": 0, "near": []}


def test_a_gap_and_the_command_line_name_the_near_spelling(
    application: Application, workspace: Path
) -> None:
    answer = covered(application, "対象", "m1", "対照外")
    asked = {"trace_id": answer["trace_id"], "kind": "gaps"}
    gaps = ask(application, "manual_hits", **asked)["items"]
    assert any("such as 対象外" in gap["gap_hint"] for gap in gaps)
    words = ("find", "対象", "--manual", "m1", "--require", "対照外")
    told = fumishirube(*words, cwd=workspace).out
    assert "対照外 (in no section; searched without it; near it: 対象外)" in told


@pytest.mark.timeout(20)
def test_spellings_of_long_terms_are_looked_for_in_bounded_time(application: Application) -> None:
    state = application.contexts["manual"].prepare("noisy", Query(""))
    near_spellings("年金の支払目" * 30, state.corpus)
    near_spellings("x" * 200, state.corpus)


# --- the command line -----------------------------------------------------------------------


def test_coverage_lists_what_is_unread_in_another_process(
    server: Fumishirube, workspace: Path
) -> None:
    asked = {"query": "届出の期限は？", "manual_id": "wide", "required_terms": ["届出"]}
    found = server.ok("manual_find", **asked, budget={"max_candidates": 3})
    trace_appears(workspace, found["trace_id"])
    told = fumishirube("coverage", found["trace_id"], cwd=workspace)
    assert (told.code, told.err) == (0, "")
    assert "searched 120 sections of 120 in 120 files of 120" in told.out
    assert "120 matched; 3 returned" in told.out
    assert "manual://wide/" in told.out
    assert "matching sections that ranked too low to be named" in told.out
    plain = fumishirube("coverage", found["trace_id"], "--json", cwd=workspace).json
    page = server.ok("manual_hits", trace_id=found["trace_id"], kind="unscanned", limit=1000)
    assert [row["path"] for row in plain["unread"]][: len(page["items"])] == [
        row["path"] for row in page["items"]
    ]
    assert plain["unranked"] + len(plain["unread"]) + plain["returned"] == plain["matched"] == 120


def test_coverage_leads_to_every_match_in_the_end(
    workspace: Path, application: Application
) -> None:
    words = ("届出の期限は？", "--manual", "wide", "--json")
    trace_id = fumishirube("find", *words, cwd=workspace).json["traces"]["wide"]
    seen: set[str] = set()
    while True:
        account = fumishirube("coverage", trace_id, "--json", cwd=workspace).json
        page = ask(application, "manual_hits", trace_id=trace_id, limit=1000)
        paths = {one["ref"]["path"] for one in page["items"]}
        assert not paths & seen
        seen |= paths
        told = fumishirube("coverage", trace_id, cwd=workspace).out.splitlines()[-1]
        if not account["follow_up"]:
            assert "next: " not in told
            break
        command = shlex.split(told.removeprefix("next: "))
        trace_id = fumishirube(*command[1:], "--json", cwd=workspace).json["trace_id"]
    unread = {one["path"] for one in account["unread"]}
    assert seen | unread == {f"{n:03}.md" for n in range(120)}


def test_coverage_says_when_nothing_is_unread(workspace: Path) -> None:
    found = fumishirube("find", "対象", "--manual", "m1", "--json", cwd=workspace).json
    told = fumishirube("coverage", found["traces"]["m1"], "--explain", cwd=workspace).out
    assert "nothing that matched is unread" in told
    assert "run g0" in told
    assert "signals: lexical" in told


@pytest.mark.parametrize("words", [("nope",), ("0" * 32,), ("../x",)])
def test_coverage_of_an_unknown_trace_is_refused(workspace: Path, words: tuple[str]) -> None:
    done = fumishirube("coverage", *words, cwd=workspace)
    assert (done.code, done.out) == (1, "")
    assert "trace is unknown or expired" in done.err


# --- why not --------------------------------------------------------------------------------


def why_not(workspace: Path, query: str, ref: str, *more: str) -> Any:
    return fumishirube("find", query, "--why-not", ref, "--json", *more, cwd=workspace).json


def test_why_not_says_where_a_section_ranks(workspace: Path) -> None:
    told = why_not(workspace, "対象外", "manual://m1/rules.md#L4")
    assert told["ref"] == "manual://m1/rules.md#L3"
    assert told["rank"] == 1
    assert told["reason"] is None
    stages = [step["stage"] for step in told["steps"]]
    assert stages[0] == "run g0"
    assert stages[-1] == "refiner cutoff"
    assert all(step["rank"] == 1 for step in told["steps"] if step["depth"] == 1)


def test_why_not_explains_the_search_of_all_manuals(workspace: Path) -> None:
    query = "窓口の届出と支払日"
    found = fumishirube("find", query, "--limit", "50", "--json", cwd=workspace).json
    last = {hit["ref"]["manual_id"]: (rank, hit) for rank, hit in enumerate(found["hits"], 1)}
    assert len(last) > 1
    for rank, hit in last.values():
        assert why_not(workspace, query, hit["cite"])["rank"] == rank


def test_why_not_says_that_nothing_nominated_it(workspace: Path) -> None:
    little = "contains too little of the query, or nothing"
    for query, ref, why in (
        ("別表", "manual://m1/rules.md#L1", "it"),
        ("届出の期限は？", "manual://wide/119.md#L1", "40 matching sections beyond the best, or"),
    ):
        told = why_not(workspace, query, ref)
        assert (told["rank"], told["stage"], told["reason"]) == (None, None, "not_nominated")
        assert told["explanation"].endswith(f" {why} {little}")


def test_why_not_names_the_gate_that_dropped_a_weak_match(workspace: Path) -> None:
    query = "年次有給休暇と申し込みと結婚と電池"
    told = why_not(workspace, query, "odd/leave.md#L4", "--require", "zebra")
    assert (told["stage"], told["reason"]) == ("fuser required-terms", "weak_match")


@pytest.mark.slow
def test_why_not_names_the_stage_that_ended_the_ranking(workspace: Path) -> None:
    found = fumishirube("find", "届出の期限は？", "--manual", "wide", "--json", cwd=workspace).json
    unread = fumishirube("coverage", found["traces"]["wide"], "--json", cwd=workspace).json[
        "unread"
    ]
    reasons = {}
    for row in unread[:3] + unread[-3:]:
        told = why_not(workspace, "届出の期限は？", f"wide/{row['path']}#L1", "--manual", "wide")
        assert told["rank"] is None
        reasons[told["reason"]] = told["stage"]
        assert told["reason"] == row["reason"]
    assert set(reasons) <= {"pool_full", "dynamic_cutoff"}
    assert set(reasons.values()) <= {"refiner exploration", "refiner cutoff"}


def test_why_not_tells_of_a_limit_and_of_an_earlier_search(
    server: Fumishirube, workspace: Path
) -> None:
    asked = {"query": "対象", "manual_id": "m1", "required_terms": ["対象"]}
    first = server.ok("manual_find", **asked, budget={"max_candidates": 1})
    then = {"only_unscanned_from_trace_id": first["trace_id"]}
    second = server.ok("manual_find", **asked, **then)
    trace_appears(workspace, first["trace_id"])
    trace_appears(workspace, second["trace_id"])

    def explained(trace_id: str, line: int) -> Any:
        words = ("coverage", trace_id, "--why-not", f"manual://m1/rules.md#L{line}", "--json")
        return fumishirube(*words, cwd=workspace).json

    cut = explained(first["trace_id"], 3)
    assert (cut["stage"], cut["reason"]) == ("refiner cutoff", "candidate_cap")
    assert explained(second["trace_id"], 1)["reason"] == "excluded_by_trace"
    assert explained(second["trace_id"], 3)["rank"] == 1


def test_why_not_knows_files_that_were_not_searched(workspace: Path) -> None:
    told = why_not(workspace, "休暇", "odd/目次.md#L1")
    assert told["reason"] == "navigation_file"


@pytest.mark.parametrize(
    ("ref", "code", "said"),
    [
        ("manual://nope/rules.md#L1", 1, "no manual"),
        ("manual://m1/rule.md#L1", 1, "did you mean 'rules.md'?"),
        ("manual:", 2, "expected manual://ID/PATH#L10"),
    ],
)
def test_why_not_refuses_what_is_no_section(
    workspace: Path, ref: str, code: int, said: str
) -> None:
    done = fumishirube("find", "対象", "--why-not", ref, cwd=workspace)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_the_account_of_a_search_in_documents_says_that_it_counted_only_its_hits(
    tmp_path: Path,
) -> None:
    documents(tmp_path, {"a.md": "# A\n\n対象。\n"})
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    fumishirube("docs", "search", "対象", cwd=tmp_path)
    (trace,) = (tmp_path / ".fumishirube" / "traces").glob("*.json")
    told = fumishirube("coverage", trace.stem, "--explain", cwd=tmp_path).out
    assert "covers" not in told
    assert "required term 対象: in at least 1 section\n" in told
    assert "at least 1 matched; 1 returned" in told
    assert "further sections may match: they were not counted" in told


@pytest.mark.parametrize("counting", [True, False])
def test_the_account_of_a_search_of_a_plugin_says_whether_it_was_counted(
    tmp_path: Path, counting: bool
) -> None:
    workspace = write(tmp_path, {"m/a.md": "# A\n\n対象と別の語。\n"})
    query = Query("対象", ("別の語",), cache=False, counting=counting)
    fields = {"title": "", "headings": "", "path": "a.md", "body": "対象と別の語。"}
    own = SequenceCorpus([Passage("a.md", 1, 1, "", (), 1, "", fields)], manual_id="own")
    with closing(opened(workspace)) as application:
        context = application.contexts["manual"]
        found = [context.find("m", query), context.search(own, 1, query)]
    for one in found:
        told = fumishirube("coverage", one.trace.id, cwd=workspace).out
        assert ("further sections may match: they were not counted" in told) is not counting
        assert ("nothing that matched is unread" in told) is counting
