"""The graph of claims: only on request, word for word, and never a part of the ranking."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manuals import RULES, ask, full, fumishirube, opened, trace_appears, write
from stdio import Fumishirube
from torture import examples

from fumishirube import NotFound
from fumishirube.host.application import Application
from fumishirube.traces.store import TraceStore, new_trace_id
from fumishirube_manual.sentences import FACETS, denies, facet_of, sentences
from fumishirube_stages.indexes.tantivy_index.corpus import TantivyCorpus

GRAPH = ["claims", "evidences", "edges", "facets"]
RULE = "会員は図書室を利用できる。"
DENIAL = "会員は図書室を利用できない。"
LIBRARY: dict[str, str | bytes] = {
    "m1/rules.md": RULES,
    "lib/use.md": f"# 利用\n{RULE}開館は九時である。\n\n- 会員とは登録した人をいう。\n- 手順1\n",
    "lib/again.md": f"# 再掲\n{RULE}\n",
    "lib/closed.md": f"# 休室\n{DENIAL}\n",
    "lib/fees.md": "# 料金\n会員の料金は別表を参照。\n",
    "lib/long.md": "# 長い\n" + "会員の図書室は" * 40 + "広い。\n",
    "lib/table.md": "# 表\n```\n会員は図書室で走る。\n```\n| 会員 | 図書室 |\n| --- | --- |\n",
    "lib/data.json": '{"会員": "図書室を利用できる。"}\n',
    "terms/a.md": "# 申請の定義\n申請は届け。\n# 例外\nただし申請を除く。\n# 窓口\n申請する。\n",
}
SEARCH: dict[str, Any] = {
    "query": "会員は図書室を利用できるか",
    "manual_id": "lib",
    "required_terms": ["図書室"],
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(write(tmp_path_factory.mktemp("claims"), LIBRARY))
    yield application
    application.close()


def graph(application: Application, **changes: Any) -> Any:
    return full(application, **{**SEARCH, "include_claim_graph": True, **changes})["claim_graph"]


def claim_of(drawn: Any, text: str) -> Any:
    (claim,) = [one for one in drawn["claims"] if one["text"] == text]
    return claim


def relations(drawn: Any, text: str) -> list[tuple[str, str]]:
    """Return each relation of a claim, and the file it leads to."""
    paths = {one["evidence_id"]: one["ref"]["path"] for one in drawn["evidences"]}
    claim_id = claim_of(drawn, text)["claim_id"]
    edges = [one for one in drawn["edges"] if one["from_claim_id"] == claim_id]
    return sorted((one["relation"], paths[one["to_evidence_id"]]) for one in edges)


# --- when there is one ----------------------------------------------------------------------


def test_it_is_drawn_only_when_it_is_asked_for(application: Application) -> None:
    for wanted in ({}, {"include_claim_graph": False}, {"include_claim_graph": None}):
        answer = full(application, **SEARCH, use_cache=False, **wanted)
        assert "claim_graph" not in answer
        for kind in GRAPH[:3]:
            page = ask(application, "manual_hits", trace_id=answer["trace_id"], kind=kind)
            assert (page["total"], page["items"]) == (0, [])


def test_it_stands_between_what_was_applied_and_the_summary(application: Application) -> None:
    answer = full(application, **SEARCH, include_claim_graph=True)
    assert [*answer] == ["trace_id", "applied", "claim_graph", "summary", "next_actions"]
    drawn = answer["claim_graph"]
    assert [*drawn] == GRAPH
    claim, evidence, edge, facet = (drawn[name][0] for name in GRAPH)
    assert [*claim] == ["claim_id", "facet", "text", "status", "confidence"]
    assert [*evidence] == ["evidence_id", "ref", "signals", "score", "snippet_digest"]
    assert [*evidence["ref"]] == ["target", "manual_id", "path", "start_line"]
    assert [*edge] == ["from_claim_id", "to_evidence_id", "relation", "confidence"]
    counts = ["claim_count", "supported_count", "conflicted_count", "unresolved_count"]
    assert [*facet] == ["facet", *counts, "coverage_status"]


def test_a_setting_leaves_it_empty(tmp_path: Path) -> None:
    forbidding = opened(write(tmp_path, LIBRARY), MANUAL_FIND_CLAIM_GRAPH_ENABLED="false")
    try:
        answer = full(forbidding, **SEARCH, include_claim_graph=True)
        assert answer["claim_graph"] == {name: [] for name in GRAPH}
        assert answer["summary"]["candidates"] > 0
        page = ask(forbidding, "manual_hits", trace_id=answer["trace_id"], kind="claims")
        assert page["total"] == 0
    finally:
        forbidding.close()


def test_it_changes_nothing_else_and_is_never_answered_from_the_cache(
    application: Application,
) -> None:
    full(application, **SEARCH)  # the cache would know the answer now
    without = full(application, **SEARCH, use_cache=False)
    with_it = full(application, **SEARCH, include_claim_graph=True, use_cache=True)
    assert with_it["applied"]["sem_cache_mode"] == "bypass"
    for key in ("applied", "summary"):
        assert with_it[key] == without[key]
    pages = [
        ask(application, "manual_hits", trace_id=one["trace_id"], kind="integrated_top")["items"]
        for one in (without, with_it)
    ]
    assert pages[0] == pages[1] != []


# --- what it says ---------------------------------------------------------------------------


def test_what_two_sections_say_is_one_claim_that_both_bear_out(application: Application) -> None:
    drawn = graph(application)
    found = relations(drawn, RULE)
    assert ("supports", "use.md") in found
    assert ("supports", "again.md") in found


def test_who_is_contradicted_is_in_conflict(application: Application) -> None:
    drawn = graph(application)
    assert ("contradicts", "closed.md") in relations(drawn, RULE)
    assert claim_of(drawn, RULE)["status"] == "conflicted"
    assert claim_of(drawn, DENIAL)["status"] == "conflicted"


def test_what_points_elsewhere_is_unresolved(application: Application) -> None:
    drawn = graph(application, query="会員の料金", required_terms=["料金"])
    text = "会員の料金は別表を参照。"
    assert relations(drawn, text) == [("requires_followup", "fees.md")]
    assert claim_of(drawn, text)["status"] == "unresolved"


def test_no_claim_is_long_or_comes_from_code_tables_or_json(application: Application) -> None:
    drawn = graph(application, query="会員 図書室 走る", budget={"max_candidates": 50})
    texts = [one["text"] for one in drawn["claims"]]
    assert texts
    assert all(len(text) <= 200 for text in texts)
    assert not any("走る" in text or "|" in text or "{" in text for text in texts)


def test_a_definition_is_one(application: Application) -> None:
    claim = claim_of(graph(application, query="会員とは"), "会員とは登録した人をいう。")
    assert (claim["facet"], claim["claim_id"]) == ("definition", "claim:definition:1")


@pytest.mark.parametrize(
    ("query", "signals"),
    [
        ("申請とは何か", {1: {"definition_title"}, 3: set(), 5: set()}),
        ("申請の例外", {1: set(), 3: {"exceptions"}, 5: set()}),
        ("申請の窓口", {1: set(), 3: set(), 5: set()}),
    ],
)
def test_what_a_query_asks_for_is_a_signal_of_the_hits_that_have_it(
    application: Application, query: str, signals: dict[int, set[str]]
) -> None:
    asked = {"query": query, "manual_id": "terms", "required_terms": ["申請"]}
    trace_id = full(application, **asked)["trace_id"]
    rows = ask(application, "manual_hits", trace_id=trace_id, kind="fusion_debug")["items"]
    refs = [row["ref"] for row in rows]
    of_content = {"definition_title", "exceptions"}
    assert {ref["start_line"]: of_content & {*ref["signals"]} for ref in refs} == signals


def test_no_file_is_read_for_the_signals_of_its_hits(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(TantivyCorpus, "page", lambda _, path: read.append(path) or ())
    asked = {"query": "申請の例外", "manual_id": "terms", "required_terms": ["申請"]}
    trace_id = full(application, **asked, use_cache=False)["trace_id"]
    rows = ask(application, "manual_hits", trace_id=trace_id, kind="fusion_debug")["items"]
    assert any("exceptions" in row["ref"]["signals"] for row in rows)
    assert read == []


@pytest.mark.parametrize(
    ("sentence", "title", "facet"),
    [
        ("保証金とは預け金をいう。", "", "definition"),
        ("休むことはならぬ。", "", "unknown"),
        ("A hub means a shared office.", "", "definition"),
        ("ただし、休日は除く。", "対象", "exceptions"),
        ("この場合は対象外です。", "", "exceptions"),
        ("Visitors are admitted unless the hall is full.", "", "exceptions"),
        ("次の要件を満たす。", "", "eligibility"),
        ("Part-time staff are eligible.", "", "eligibility"),
        ("まず電源を切る。", "", "procedure"),
        ("Then close the lid.", "", "procedure"),
        ("The new model is lighter than the old one.", "", "compare"),
        ("甲は乙と異なる。", "", "compare"),
        ("受付で書く。", "申込みの手順", "procedure"),
        ("空は青い。", "空", "unknown"),
        ("The thenar is a muscle.", "", "unknown"),
    ],
)
def test_cues_tell_the_facet(sentence: str, title: str, facet: str) -> None:
    assert facet_of(sentence.casefold(), title) == facet


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("利用できない。", True),
        ("申請しなければならない。", False),
        ("少なくとも三日前", False),
        ("雨かもしれない。", False),
        ("持込みは禁止", True),
        ("it does not start", True),
        ("it doesn't start", True),
        ("not only here", False),
        ("no later than noon", False),
        ("a notable north", False),
    ],
)
def test_denials_are_told_from_duties(sentence: str, denied: bool) -> None:
    assert denies(sentence) is denied


LONG_LINE = "この行は紙の幅いっぱいに書かれており次の行へ"
LONG_WORDS = "this line is as long as lines are where people wrap"


def test_sentences_stand_as_they_are() -> None:
    text = (
        f"第1節　題\n一つ目。二つ目！\n{LONG_LINE}\n続く。\n\n"
        f"* {LONG_WORDS}\n  them. And e.g. this one.\n"
        "1. 「はい。」と言う\n（２）二番\n> quoted. Twice? Yes\n---\n"
        "項目　　値\n"
        "Version 1.5 is here.\n~~~\ncode. Here.\n~~~\nend"
    )
    assert [*sentences(text)] == [
        "第1節　題",
        "一つ目。",
        "二つ目！",
        f"{LONG_LINE}\n続く。",
        f"{LONG_WORDS}\n  them.",
        "And e.g. this one.",
        "「はい。」",
        "と言う",
        "二番",
        "quoted.",
        "Twice?",
        "Yes",
        "Version 1.5 is here.",
        "end",
    ]


@given(st.text(alphabet="あい。！.?A b\n-*>|`~1#「」", max_size=80))
def test_sentences_stand_in_the_text_in_order(text: str) -> None:
    place = 0
    for one in sentences(text):
        place = text.index(one, place) + len(one)
        assert one == one.strip() != ""


# --- laws -----------------------------------------------------------------------------------

_PIECES = [
    RULE,
    DENIAL,
    "ただし休室日は除く。",
    "会員とは登録者をいう。",
    "まず申し込む。",
    "別表を参照。",
]
_SECTION = st.lists(st.sampled_from([*_PIECES, "\n", "\n\n- ", "図書室は静かだ。"]), max_size=6)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_SECTION.map("".join), min_size=1, max_size=6), st.sampled_from(_PIECES))
def test_the_laws_of_the_graph(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[str], query: str
) -> None:
    texts = {f"{n}.md": f"# 節{n}\n{body}\n" for n, body in enumerate(bodies)}
    files: dict[str, str | bytes] = {f"lib/{name}": text for name, text in texts.items()}
    application = opened(write(tmp_path_factory.mktemp("laws"), files))
    try:
        asked = {"query": query, "manual_id": "lib", "required_terms": ["会員"]}
        answer = full(application, **asked, include_claim_graph=True)
        drawn = answer["claim_graph"]
        assert full(application, **asked, include_claim_graph=True)["claim_graph"] == drawn
        _obeys(drawn, texts)
    finally:
        application.close()


def _obeys(drawn: Any, texts: dict[str, str]) -> None:
    claims = {one["claim_id"]: one for one in drawn["claims"]}
    evidence = {one["evidence_id"]: one for one in drawn["evidences"]}
    assert [*evidence] == [f"ev:{n}" for n in range(1, len(evidence) + 1)]
    assert [one["facet"] for one in drawn["facets"]] == [*FACETS]
    expected = []
    for row in drawn["facets"]:
        expected += [f"claim:{row['facet']}:{n}" for n in range(1, row["claim_count"] + 1)]
        statuses = [one["status"] for one in claims.values() if one["facet"] == row["facet"]]
        assert len(statuses) == row["claim_count"] <= 3
        for status in ("supported", "conflicted", "unresolved"):
            assert row[f"{status}_count"] == statuses.count(status)
        covered = row["supported_count"] == row["claim_count"]
        some = "covered" if covered else "partial"
        assert row["coverage_status"] == (some if statuses else "missing")
    assert [*claims] == expected
    for one in evidence.values():
        text = texts[one["ref"]["path"]]
        assert one["snippet_digest"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    for claim in claims.values():
        edges = [one for one in drawn["edges"] if one["from_claim_id"] == claim["claim_id"]]
        paths = {evidence[one["to_evidence_id"]]["ref"]["path"] for one in edges}
        assert any(claim["text"] in texts[path] for path in paths)
        known = {one["relation"] for one in edges}
        status = "conflicted" if "contradicts" in known else "supported"
        assert claim["status"] == (status if "supports" in known else "unresolved")
    for edge in drawn["edges"]:
        assert edge["from_claim_id"] in claims
        assert 0.6 <= edge["confidence"] <= 1


# --- where it is kept -----------------------------------------------------------------------


def test_a_client_pages_it_and_its_answer_stays_as_it_is(tmp_path: Path) -> None:
    workspace = write(tmp_path, LIBRARY)
    with Fumishirube(workspace) as server:
        server.ok("manual_ls")
        plain = server.ok("manual_find", **SEARCH, use_cache=False)
        answer = server.ok("manual_find", **SEARCH, include_claim_graph=True)
        assert [*answer] == [*plain]
        assert answer["inline_hits"]["items"] == plain["inline_hits"]["items"]
        trace_id = answer["trace_id"]
        found = {kind: server.ok("manual_hits", trace_id=trace_id, kind=kind) for kind in GRAPH[:3]}
        assert all(page["total"] == len(page["items"]) > 0 for page in found.values())
        second = server.ok("manual_hits", trace_id=trace_id, kind="claims", offset=1, limit=1)
        assert second["items"] == found["claims"]["items"][1:2]
        digests = [one["snippet_digest"] for one in found["evidences"]["items"]]
        assert all(re.fullmatch(r"[0-9a-f]{16}", digest) for digest in digests)
    trace_appears(workspace, trace_id)
    elsewhere = fumishirube(
        "call",
        "--json",
        "manual_hits",
        json.dumps({"trace_id": trace_id, "kind": "edges"}),
        cwd=workspace,
    )
    assert elsewhere.json["items"] == found["edges"]["items"]


def test_the_command_line_gives_it(tmp_path: Path) -> None:
    workspace = write(tmp_path, LIBRARY)
    words = ("find", SEARCH["query"], "--manual", "lib", "--require", "図書室", "--full")
    assert "claim_graph" not in fumishirube(*words, cwd=workspace).json
    drawn = fumishirube(*words, "--claims", cwd=workspace).json["claim_graph"]
    assert claim_of(drawn, RULE)["status"] == "conflicted"


def test_a_section_that_has_changed_since_is_no_evidence(tmp_path: Path) -> None:
    application = opened(write(tmp_path, LIBRARY))
    try:
        answer = full(application, **SEARCH, include_claim_graph=True)
        write(tmp_path, {"lib/use.md": "# 利用\n何もない。\n"})
        page = ask(application, "manual_hits", trace_id=answer["trace_id"], kind="claims")
        assert page["items"] == answer["claim_graph"]["claims"]
        assert "use.md" not in str(graph(application)["evidences"])
    finally:
        application.close()


def test_an_annotation_lives_as_long_as_its_trace(application: Application) -> None:
    trace_id = full(application, **SEARCH)["trace_id"]
    trace = application.traces.get(trace_id)
    noted = application.traces.annotate(trace, "mine", {"a": [1]})
    assert noted.annotations == {**trace.annotations, "mine": {"a": [1]}}
    assert application.traces.get(trace_id) == noted
    with pytest.raises(ValueError, match="mine"):
        application.traces.annotate(noted, "mine", None)
    store = TraceStore(limit=1, seconds=60)
    gone = application.traces.get(trace_id)
    assert store.annotate(gone, "late", 1).annotations["late"] == 1
    with pytest.raises(NotFound):
        store.get(new_trace_id())
