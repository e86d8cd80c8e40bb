"""The full answer of a search: every key, every status, and what to do next."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import RULES, ask, full, fumishirube, opened, write

from fumishirube.host.application import Application
from fumishirube_manual.full_answer import is_exhaustive

APPLIED = [
    "manual_id",
    "requested_expand_scope",
    "expand_scope",
    "required_terms_source",
    "required_terms_decision_reason",
    "requested_required_terms",
    "required_terms",
    "required_terms_df_filtered",
    "required_terms_relaxed",
    "required_terms_relax_reason",
    "required_effect_status",
    "required_failure_reason",
    "required_strict_candidates",
    "required_filtered_candidates",
    "required_terms_match_stats",
    "required_terms_missing",
    "required_top_k",
    "required_top_hits",
    "selected_gate",
    "gate_selection_reason",
    "sem_cache_used",
    "sem_cache_hit",
    "sem_cache_mode",
    "sem_cache_score",
    "sem_cache_latency_saved_ms",
]
SUMMARY = [
    "scanned_files",
    "scanned_nodes",
    "candidates",
    "file_bias_ratio",
    "conflict_count",
    "gap_count",
    "integration_status",
]

COMMON = {f"common/{n:02}.md": f"# 章{n}\n会員は申請書を提出する。第{n}号。\n" for n in range(24)}
MANUALS: dict[str, str | bytes] = {
    "m1/rules.md": RULES,
    # 申請書 stands nearly everywhere; 印鑑 in two sections, one of which no query below names.
    **COMMON,
    "common/x.md": "# 印鑑\n印鑑を持参する。\n",
    "common/y.md": "# その他\n認印でもよい。\n",
    "common/z.md": "# 別紙\n印鑑証明は不要である。\n",
    "common/w.md": "# 付録\n白紙である。\n",
    # 振込手数料 stands only in a heading without a text of its own.
    "headings/a.md": "# 振込手数料\n## 通則\n年金は毎月支払う。\n## 例外\n年金は停止できる。\n",
    # Eight sections are all about the question, and one that is not holds the required term.
    **{
        f"fallback/{n}.md": f"# 年金の支払日{n}\n年金の支払日は毎月{n}日である。\n"
        for n in range(1, 9)
    },
    "fallback/z.md": "# 雑則\n" + "細目は別に定める。" * 400 + "押印は要らない。\n",
    "many/one.md": "".join(f"# 節{n}\n時刻表の第{n}便。\n" for n in range(12)),
    "many/two.md": "# 別\n時刻表の付録。\n",
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    workspace = write(tmp_path_factory.mktemp("full"), MANUALS)
    application = opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    yield application
    application.close()


def answered(application: Application, query: str, manual: str, *terms: str, **more: Any) -> Any:
    more.setdefault("use_cache", False)
    return full(application, query=query, manual_id=manual, required_terms=[*terms], **more)


def applied(application: Application, query: str, manual: str, *terms: str) -> Any:
    return answered(application, query, manual, *terms)["applied"]


# --- the shape ------------------------------------------------------------------------------


def test_the_answer_has_every_key_and_no_other(application: Application) -> None:
    answer = answered(application, "対象外になる場合は？", "m1", "対象外")
    assert [*answer] == ["trace_id", "applied", "summary", "next_actions"]
    assert [*answer["applied"]] == APPLIED
    assert [*answer["summary"]] == SUMMARY
    assert all([*one] == ["type", "confidence", "params"] for one in answer["next_actions"])


def test_what_was_applied_is_told(application: Application) -> None:
    answer = answered(application, "対象外になる場合は？", "m1", " 対象外 ", expand_scope=True)
    assert answer["applied"] == {
        "manual_id": "m1",
        "requested_expand_scope": True,
        "expand_scope": False,
        "required_terms_source": "user",
        "required_terms_decision_reason": "provided_by_caller",
        "requested_required_terms": ["対象外"],
        "required_terms": ["対象外"],
        "required_terms_df_filtered": [],
        "required_terms_relaxed": False,
        "required_terms_relax_reason": None,
        "required_effect_status": "required_effective",
        "required_failure_reason": None,
        "required_strict_candidates": 1,
        "required_filtered_candidates": 1,
        "required_terms_match_stats": [
            {"term": "対象外", "matched_docs": 1, "matched_doc_ratio": 0.3333}
        ],
        "required_terms_missing": [],
        "required_top_k": 2,
        "required_top_hits": 1,
        "selected_gate": "g_req",
        "gate_selection_reason": "rrf_fusion_with_required_gate",
        "sem_cache_used": False,
        "sem_cache_hit": False,
        "sem_cache_mode": "bypass",
        "sem_cache_score": None,
        "sem_cache_latency_saved_ms": None,
    }
    assert answer["summary"] == {
        "scanned_files": 1,
        "scanned_nodes": 3,
        "candidates": 2,
        "file_bias_ratio": 1.0,
        "conflict_count": 0,
        "gap_count": answer["summary"]["gap_count"],
        "integration_status": answer["summary"]["integration_status"],
    }


def test_the_numbers_are_those_of_the_compact_answer_and_of_its_pages(
    application: Application,
) -> None:
    for query, manual, term in [("年金", "headings", "年金"), ("zebra", "m1", "zebra")]:
        answer = answered(application, query, manual, term)
        compact = ask(
            application,
            "manual_find",
            query=query,
            manual_id=manual,
            required_terms=[term],
            use_cache=False,
        )
        summary = answer["summary"]
        assert compact["candidates"] == summary["candidates"]
        assert compact["status"] == answer["applied"]["required_effect_status"]
        assert compact["coverage"]["scanned"]["sections"] == summary["scanned_nodes"]
        for kind, key in (("gaps", "gap_count"), ("conflicts", "conflict_count")):
            page = ask(application, "manual_hits", trace_id=answer["trace_id"], kind=kind)
            assert page["total"] == summary[key]


def test_the_command_line_gives_the_same_answer(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"m1/rules.md": RULES})
    words = ("find", "対象外になる場合は？", "--manual", "m1", "--require", "対象外", "--full")
    done = fumishirube(*words, cwd=workspace)
    assert (done.code, done.err) == (0, "")
    assert [*done.json["applied"]] == APPLIED
    assert done.json["applied"]["required_effect_status"] == "required_effective"
    arguments = json.dumps({"trace_id": done.json["trace_id"], "kind": "integrated_top"})
    page = fumishirube("call", "--json", "manual_hits", arguments, cwd=workspace).json
    assert page["total"] == done.json["summary"]["candidates"] == 2


def test_the_command_line_picks_terms_as_any_find_does(tmp_path: Path) -> None:
    workspace = write(tmp_path, {"m1/rules.md": RULES})
    plain = fumishirube("find", "対象外になる場合は？", "--json", cwd=workspace).json
    done = fumishirube("find", "対象外になる場合は？", "--full", cwd=workspace)
    chosen = done.json["applied"]["requested_required_terms"]
    assert chosen == plain["terms"]["m1"] != []
    assert done.err == f"picked terms: {', '.join(chosen)}; name others with --require TERM\n"
    nothing = fumishirube("find", "zebra quagga", "--full", cwd=workspace).json["applied"]
    assert nothing["required_terms_missing"] == ["zebra", "quagga"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--full"], "one manual"),
        (["--claims"], "needs --full"),
        (["--full", "--require", "a", "--explain"], "--explain"),
        (["--full", "--require", "a", "--open"], "--open"),
        (["--full", "--require", "a", "--limit", "5"], "--limit"),
        (["--full", "--require", "a", "--manual", "m1", "--manual", "m2"], "one manual"),
    ],
)
def test_the_command_line_says_what_a_full_answer_needs(
    tmp_path: Path, words: list[str], told: str
) -> None:
    workspace = write(tmp_path, {"m1/rules.md": RULES, "m2/rules.md": RULES})
    done = fumishirube("find", "対象", *words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_the_command_line_takes_every_argument(tmp_path: Path) -> None:
    files = {f"m1/{n}.md": f"# {n}\n対象外になる場合がある。\n" for n in range(6)}
    workspace = write(tmp_path, files)
    words = ("find", "対象外になる場合", "--manual", "m1", "--require", "対象外", "--full")

    def full(*more: str) -> dict[str, Any]:
        done = fumishirube(*words, *more, cwd=workspace)
        assert (done.code, done.err) == (0, "")
        return dict(done.json)

    first = full("--max-candidates", "2", "--time-ms", "30000", "--no-cache")
    assert first["summary"]["candidates"] == 2
    assert first["applied"]["sem_cache_mode"] == "bypass"
    rest = full("--only-unscanned", first["trace_id"], "--cache")
    assert rest["summary"]["candidates"] == 4


@pytest.mark.parametrize("option", [["--time-ms", "5"], ["--no-cache"], ["--only-unscanned", "x"]])
def test_arguments_of_a_full_answer_are_refused_elsewhere(
    tmp_path: Path, option: list[str]
) -> None:
    done = fumishirube("find", "対象", *option, cwd=write(tmp_path, {"m1/rules.md": RULES}))
    assert done.code == 2
    assert "needs --full" in done.err


def test_a_program_gets_the_same_answer_as_the_guide_says(tmp_path: Path) -> None:
    write(tmp_path, {"handbook/a.md": "# Leave\nLeave is 20 days long.\n"})
    guide = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
    code = guide.partition("<!-- in process -->")[2].split("```python\n")[1].split("```")[0]
    code = code.replace("/PATH/TO/my-documents", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert "'candidates': 1" in done.stdout


# --- every status ---------------------------------------------------------------------------


def test_effective(application: Application) -> None:
    told = applied(application, "対象外になる場合は？", "m1", "対象外")
    assert told["required_effect_status"] == "required_effective"
    assert told["required_failure_reason"] is None


def test_none_of_the_terms_stands_in_the_manual(application: Application) -> None:
    told = applied(application, "対象", "m1", "zebra", "quagga")
    assert told["required_effect_status"] == "required_none_matched"
    reason = "required_terms_not_found_in_manual_scope:zebra,quagga"
    assert told["required_failure_reason"] == reason
    assert told["required_terms_missing"] == ["zebra", "quagga"]
    assert told["required_terms"] == ["zebra", "quagga"]
    assert (told["required_top_hits"], told["required_strict_candidates"]) == (0, 0)
    assert told["selected_gate"] == "g0"
    assert told["gate_selection_reason"] == "required_gate_empty_fallback_to_g0"
    assert told["required_terms_relaxed"] is True
    assert told["required_terms_relax_reason"] == "zero_candidates_with_required_terms"


def test_one_of_the_terms_stands_nowhere(application: Application) -> None:
    told = applied(application, "対象", "m1", "対象外", "zebra")
    assert told["required_effect_status"] == "term_dropped_or_weakened"
    reason = "some_required_terms_not_found_in_manual_scope:zebra"
    assert told["required_failure_reason"] == reason
    assert told["selected_gate"] == "g_req"
    assert told["required_terms_relaxed"] is False


def test_the_term_stands_in_headings_only(application: Application) -> None:
    told = applied(application, "年金は毎月支払う", "headings", "振込手数料振込")
    assert told["required_failure_reason"].startswith("required_terms_not_found")
    heading = applied(application, "第1便の時刻表", "headings", "振込手数料")
    assert heading["required_effect_status"] == "required_effective"  # children are found by it
    assert heading["required_terms_match_stats"][0]["matched_docs"] == 3


def test_no_candidate_holds_the_term_though_it_stands_there(application: Application) -> None:
    write(
        application.loaded.workspace,
        {"bare/a.md": "# 年金\n年金は毎月支払う。\n年金の額。\n# 付録\n"},
    )
    told = applied(application, "年金は毎月支払う", "bare", "付録")
    assert told["required_effect_status"] == "required_none_matched"
    reason = "required_terms_zero_candidates_in_manual_scope"
    assert told["required_failure_reason"] == reason
    assert told["required_terms_relaxed"] is True
    nothing = applied(application, "zebra", "bare", "付録")
    assert nothing["required_effect_status"] == "required_none_matched"
    assert nothing["required_failure_reason"] == "no_candidates_across_g0_and_greq"


def test_a_term_that_stands_everywhere_is_dropped_and_the_other_weaker(
    application: Application,
) -> None:
    told = applied(application, "申請書と印鑑", "common", "申請書", "印鑑")
    assert told["required_terms"] == ["印鑑"]
    assert told["required_terms_df_filtered"] == [
        {
            "term": "申請書",
            "doc_freq": 24,
            "doc_freq_ratio": 0.8571,
            "reason": "too_common",
            "dropped": True,
        }
    ]
    assert told["required_effect_status"] == "term_dropped_or_weakened"
    reason = "filtered_required_weaker_than_strict_after_df_guard"
    assert told["required_failure_reason"] == reason
    assert told["required_filtered_candidates"] < told["required_strict_candidates"]


def test_nothing_is_left_of_the_terms(application: Application) -> None:
    told = applied(application, "申請書を提出する", "common", "申請書")
    assert told["required_terms"] == []
    assert told["required_effect_status"] == "term_dropped_or_weakened"
    assert told["required_failure_reason"] == "filtered_required_zero_after_df_guard"
    assert told["gate_selection_reason"] == "required_terms_dropped_by_df_guard"
    assert (told["selected_gate"], told["required_terms_relaxed"]) == ("g0", False)


def test_the_term_stands_too_low(application: Application) -> None:
    told = applied(application, "年金の支払日は毎月何日か", "fallback", "押印")
    assert told["required_effect_status"] == "required_fallback"
    assert told["required_failure_reason"] == "required_terms_not_in_top_5"
    assert (told["required_top_k"], told["required_top_hits"]) == (5, 0)
    assert told["required_strict_candidates"] >= 1


def test_a_rare_term_is_kept_and_told(application: Application, tmp_path: Path) -> None:
    files = {f"rare/{n}.md": f"# 章{n}\n会員は届ける。\n" for n in range(60)}
    write(application.loaded.workspace, {**files, "rare/x.md": "# 印\n印鑑を押す。\n"})
    told = applied(application, "印鑑", "rare", "印鑑")
    (row,) = told["required_terms_df_filtered"]
    assert (row["reason"], row["dropped"], row["doc_freq"]) == ("too_rare", False, 1)
    assert told["required_terms"] == ["印鑑"]


# --- the summary ----------------------------------------------------------------------------


def test_blocked_ready_and_followup(application: Application) -> None:
    assert _integration(answered(application, "zebra", "m1", "zebra")) == "blocked"
    ready = answered(application, "年金の支払日は毎月1日である", "fallback", "年金")
    assert _integration(ready) == "ready"
    assert ready["summary"]["gap_count"] == 0
    missing = answered(application, "年金の支払日", "fallback", "年金", "zebra")
    assert _integration(missing) == "needs_followup"
    few = answered(application, "年金の支払日", "fallback", "年金", budget={"max_candidates": 1})
    assert _integration(few) == "needs_followup"


def _integration(answer: Any) -> str:
    return str(answer["summary"]["integration_status"])


def test_bias_is_that_of_all_rows_whatever_the_limit(application: Application) -> None:
    ratios = {
        answered(application, "時刻表", "many", "時刻表", budget={"max_candidates": most})[
            "summary"
        ]["file_bias_ratio"]
        for most in (1, 3, 200)
    }
    assert ratios == {round(12 / 13, 4)}


def test_the_cache_is_told(application: Application) -> None:
    modes = []
    for use_cache in (True, True, False):
        told = answered(application, "別表を参照", "m1", "別表", use_cache=use_cache)["applied"]
        modes.append((told["sem_cache_mode"], told["sem_cache_used"], told["sem_cache_hit"]))
    assert modes == [("miss", True, False), ("exact", True, True), ("bypass", False, False)]


# --- what to do next ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "例外を網羅的に教えて",
        "規程をすべて参照してから答えて",
        "対象外の条件を全て列挙",
        "漏れなく確認したい",
        "List all exceptions",
        "Read everything about batteries",
        "Give me an exhaustive overview",
        "show every mention of the allowance",
    ],
)
def test_a_query_that_asks_for_everything(query: str) -> None:
    assert is_exhaustive(query)


@pytest.mark.parametrize(
    "query",
    [
        "対象外になる場合は？",
        "全身麻酔の手術",
        "すべての会員が対象か",
        "Who may claim the allowance?",
        "What if all sensors fail?",
        "overall limits",
        "",
    ],
)
def test_a_query_that_does_not(query: str) -> None:
    assert not is_exhaustive(query)


def test_whoever_asks_for_everything_is_sent_to_read_it(application: Application) -> None:
    answer = answered(application, "対象外の場合を網羅的に", "m1", "対象外")
    (action,) = answer["next_actions"]
    assert action["type"] == "manual_scan"
    assert action["params"] == {"manual_id": "m1", "path": "rules.md", "start_line": 3}
    assert ask(application, "manual_scan", **action["params"])["text"]
    nothing = answered(application, "zebra を網羅的に", "m1", "zebra")["next_actions"][0]
    assert nothing["params"] == {"manual_id": "m1", "path": "rules.md"}


def test_others_are_sent_to_the_hits(application: Application) -> None:
    answer = answered(application, "対象外になる場合は？", "m1", "対象外")
    (action,) = answer["next_actions"]
    assert action["type"] == "manual_hits"
    assert 0 <= action["confidence"] <= 1
    page = ask(application, "manual_hits", **action["params"])
    assert (page["kind"], page["total"]) == ("integrated_top", answer["summary"]["candidates"])


def test_a_search_whose_terms_failed_is_asked_again(application: Application) -> None:
    answer = answered(application, "対象外になる場合は？", "m1", "対照外")
    first, again = answer["next_actions"]
    assert (first["type"], again["type"]) == ("manual_hits", "manual_find")
    assert again["params"]["required_terms"][0] == "対象外"
    better = full(application, **again["params"])
    assert better["applied"]["required_effect_status"] == "required_effective"


def test_there_is_no_third_try_when_the_second_brought_nothing(application: Application) -> None:
    first = answered(application, "対象", "m1", "zebra")
    assert [one["type"] for one in first["next_actions"]] == ["manual_hits", "manual_find"]
    follow = {"only_unscanned_from_trace_id": first["trace_id"]}
    second = answered(application, "対象", "m1", "zebra", **follow)
    assert second["summary"]["candidates"] == 0
    assert [one["type"] for one in second["next_actions"]] == ["manual_hits"]


def test_every_proposed_call_is_one_that_the_tools_take(application: Application) -> None:
    for query, manual, term in [
        ("zebra", "m1", "zebra"),
        ("すべて列挙して 年金", "headings", "年金"),
        ("年金の支払日", "fallback", "押印"),
        ("・", "m1", "・・"),
    ]:
        for action in answered(application, query, manual, term)["next_actions"]:
            if action["params"] is not None:
                ask(application, action["type"], **action["params"])
