"""What an answer claims is counted by the engine: the same whatever stages rank."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from manuals import write

from fumishirube import (
    Call,
    Clause,
    Corpus,
    Count,
    CoverageReport,
    Fuser,
    Hit,
    Holds,
    MatchCount,
    Passage,
    Query,
    Ranking,
    SequenceCorpus,
    Stage,
)
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.text.synonyms import Synonyms
from fumishirube.tools.calls import call_tool
from fumishirube_manual.diagnosis import answerable

ROOT = Path(__file__).parents[2]
FILES = {
    f"m1/{n:02}.md": f"# 第{n}条 旅費\n旅費規程の日当は{n}千円。\n# 例外\n入院の給付は別。\n"
    for n in range(1, 9)
}
SWAPS: Mapping[str, str] = {
    "default": "",
    "rrf": "fusers: [{use: rrf}]",
    "none": "fusers: []",
    "decompose": "fusers: [{use: decompose}]",
    "renamed": "fusers: [{use: required-terms, as: gates}, {use: decompose, as: sides}]",
    "phrase": "fusers: []\n    scorers: [{use: lexical, as: words}, {use: phrase, as: exact}]",
    "alone": "fusers: [{use: rrf}]\n    scorers: [{use: lexical}]",
    "plain": "fusers: []\n    scorers: [{use: plain}]",
    "bare": "fusers: []\n    refiners: []",
    "borda": "fusers: [{use: rrf, as: borda}]",
}


def borda() -> Fuser:
    """Return the fuser of the example that the README shows."""
    source = ROOT / "examples/fumishirube-borda/src/fumishirube_borda/__init__.py"
    spec = importlib.util.spec_from_file_location("fumishirube_borda", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    fuser: Fuser = module.Borda()
    return fuser


class Silent(Stage):
    """Drops all but the first hit without a word."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return Ranking(ranking.hits[:1])


class Claiming(Stage):
    """Claims of all sections that they cover the query, with words that none has; or nothing."""

    generates: ClassVar[bool] = True
    coverage: float = 0.0
    matched: tuple[str, ...] = ()

    def score(self, query: Query, corpus: Corpus, candidates: object) -> Iterable[Hit]:
        found = [match.passage for match in corpus.search(Holds("日当"), 99)]
        return [Hit(p, 9.0, coverage=self.coverage, matched=self.matched) for p in found]


class Lower(Stage):
    """Gives the hits scores below 0, in the same order."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=tuple(hit.scored(hit.score - 1000) for hit in ranking.hits))


def swap(application: Application, kind: str, *stages: NamedStage[Any]) -> None:
    application.contexts["manual"]._pipeline.__dict__[kind] = [*stages]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


@pytest.fixture(params=SWAPS)
def application(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Application]:
    yaml = SWAPS[request.param]
    (workspace / "fumishirube.yaml").write_text(
        f"pipelines:\n  manual:\n    {yaml}\n" if yaml else "", encoding="utf-8"
    )
    opened = open_application(workspace, strangers=False, environ={})
    if request.param == "borda":
        swap(opened, "fusers", NamedStage("borda", borda()))
    yield opened
    opened.close()


def find(application: Application, *terms: str, **more: Any) -> Any:
    arguments = {"query": "旅費の日当", "manual_id": "m1", "required_terms": [*terms], **more}
    return json.loads(json.dumps(call_tool(application.commands["manual_find"], arguments, Call())))


def test_a_term_that_stands_nowhere_matches_nothing(application: Application) -> None:
    applied = find(application, "旅費規定")["applied"]
    assert applied["required_effect_status"] == "required_none_matched"
    assert applied["required_failure_reason"] == (
        "required_terms_not_found_in_manual_scope:旅費規定"
    )
    assert applied["required_terms_missing"] == ["旅費規定"]
    assert applied["required_terms_match_stats"] == [
        {"term": "旅費規定", "matched_docs": 0, "matched_doc_ratio": 0.0}
    ]


def test_what_follows_from_the_manual_does_not_depend_on_stages(application: Application) -> None:
    answer = find(application, "旅費規定", "入院")
    report = application.traces.get(answer["trace_id"]).report
    assert [(row.term, row.sections) for row in report.terms] == [("旅費規定", 0), ("入院", 8)]
    assert "旅費規程" in report.terms[0].near
    assert report.terms[1].near == ()
    assert report.missing == ("旅費規定",)
    assert report.sections == 16
    assert answer["applied"]["required_effect_status"] == "term_dropped_or_weakened"
    summary = answer["summary"]
    assert (summary["scanned_files"], summary["scanned_nodes"]) == (8, 16)


@pytest.mark.many_cases
@pytest.mark.parametrize("limit", [1, 3, 200])
def test_what_matched_is_returned_or_left_out(application: Application, limit: int) -> None:
    answer = find(application, "旅費", budget={"max_candidates": limit})
    trace = application.traces.get(answer["trace_id"])
    report, account = trace.report, CoverageReport.of(trace)
    assert report.returned == len(trace.search.rows) == answer["summary"]["candidates"] <= limit
    assert report.matched == report.returned + sum(report.left_out.values())
    assert account.matched == account.returned + account.unranked + sum(
        out.start_line is not None for out in account.unread
    )
    holding = [rank for rank, row in enumerate(trace.search.rows, 1) if "旅費" in row.title]
    assert [*report.holding] == holding
    assert [(term.term, term.returned) for term in report.terms] == [("旅費", len(holding))]


def test_what_a_stage_drops_without_a_word_is_left_out(workspace: Path) -> None:
    opened = open_application(workspace, strangers=False, environ={})
    try:
        whole = find(opened, "旅費")
        total = opened.traces.get(whole["trace_id"]).report
        swap(opened, "refiners", NamedStage("silent", Silent()))
        report = opened.traces.get(find(opened, "旅費", use_cache=False)["trace_id"]).report
    finally:
        opened.close()
    assert (report.returned, total.returned > 1) == (1, True)
    assert report.matched >= total.matched
    assert report.left_out["not_returned"] >= total.returned - 1


def test_what_hits_cover_is_counted_whatever_stages_say(workspace: Path) -> None:
    told = []
    with closing(open_application(workspace, strangers=False, environ={})) as opened:

        def note() -> None:
            for query in ("旅費規程の日当", "人工衛星の軌道と燃料と日当"):
                find = opened.contexts["manual"].find
                trace = find("m1", Query(query, required=("日当",), cache=False)).trace
                matched = {span for row in trace.search.rows for span in row.matched}
                told.append((query, answerable(trace) == "yes", matched))

        note()
        swap(opened, "refiners", NamedStage("lower", Lower()))
        note()
        for claiming in (Claiming(), Claiming(coverage=1.0, matched=("石油", "人工衛星"))):
            swap(opened, "scorers", NamedStage("claiming", claiming))
            note()
    first, second = told[:2]
    assert (first[1], second[1]) == (True, False)
    assert second[2] == {"日当"}
    assert told == [first, second] * 4


def test_the_first_of_the_sure_matches_does_not_depend_on_how_many_are_wanted(
    tmp_path: Path,
) -> None:
    """The stages find nothing; the index would put the section that repeats one word first."""
    long = "休暇を述べる。" + "規程の本文を続ける。" * 30 + "賃金。"
    files = {"m/a.md": f"# a\n{'休暇。' * 4}\n", "m/b.md": f"# b\n{long}\n"}
    files |= {f"m/z{n}.md": f"# z{n}\n別の頁{n}。\n" for n in range(6)}
    yaml = "pipelines: {manual: {scorers: [plain], fusers: []}}"
    (write(tmp_path, files) / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
    with closing(open_application(tmp_path, strangers=False, environ={})) as opened:
        find = opened.contexts["manual"].find
        rankings = [find("m", Query("休暇 賃金", limit=most)).ranking for most in (1, 2)]
    assert [[hit.passage.path for hit in r.hits] for r in rankings] == [["b.md"], ["b.md", "a.md"]]


class Uncountable(SequenceCorpus):
    """A corpus in which a count would take too long."""

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        raise AssertionError(f"{clause} was counted up to {cap}: {searched}")


class FirstPage(Stage):
    """Returns all sections of one file."""

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, candidates: Mapping[Any, Any]) -> list[Hit]:
        return [Hit(passage, 1.0) for passage in corpus.page("a.md")]


@pytest.mark.parametrize("text", ["旅費", "zzz"])
def test_a_search_without_counting_has_the_hits_of_its_stages_and_counts_those(text: str) -> None:
    fields = {"title": "", "headings": "", "path": "a.md", "body": "旅費規程"}
    corpus = Uncountable([Passage("a.md", n, n, "", (), 1, "", fields) for n in (1, 2)])
    pipeline = Pipeline([NamedStage("first", FirstPage(), trusted=True)], (), ())
    result = pipeline.run(Query(text, (text,), counting=False), corpus)
    assert [hit.passage.start_line for hit in result.ranking.hits] == [1, 2]
    assert {hit.coverage for hit in result.ranking.hits} == {0.0}
    assert result.report.at_least
    assert [(row.term, row.sections) for row in result.report.terms] == (
        [(text, 2)] if text == "旅費" else []
    )
    with pytest.raises(AssertionError, match="was counted"):
        pipeline.run(Query(text, (text,)), corpus)


class FirstOfAll(FirstPage):
    """Returns one section, and says how many match."""

    def score(self, query: Query, corpus: Corpus, candidates: Mapping[Any, Any]) -> Ranking:
        (first, *_) = corpus.page("a.md")
        return Ranking((Hit(first, 1.0),), matched=MatchCount(corpus.size))


def test_a_number_of_matches_that_a_stage_counted_stays_exact_above_10000() -> None:
    fields = {"title": "", "headings": "", "path": "a.md", "body": "旅費"}
    corpus = SequenceCorpus([Passage("a.md", n, n, "", (), 1, "", fields) for n in range(10_002)])
    pipeline = Pipeline([NamedStage("first", FirstOfAll(), trusted=True)], (), ())
    report = pipeline.run(Query("旅費", limit=1), corpus).report
    assert (report.matched, report.at_least) == (10_002, False)
    assert report.left_out["unranked"] == 10_001


def test_each_of_the_terms_that_share_a_synonym_is_counted_in_a_hit_with_it() -> None:
    fields = {"title": "", "headings": "", "path": "a.md", "body": "乗用車"}
    corpus = SequenceCorpus([Passage("a.md", 1, 1, "", (), 1, "", fields)])
    pipeline = Pipeline([NamedStage("first", FirstPage(), trusted=True)], (), ())
    meanings = tuple(Synonyms(word, ("乗用車",)) for word in ("自動車", "マイカー"))
    for counting in (True, False):
        query = Query(
            "自動車 マイカー", ("自動車", "マイカー"), synonyms=meanings, counting=counting
        )
        terms = pipeline.run(query, corpus).report.terms
        assert [(row.term, row.sections, row.returned) for row in terms] == [
            ("自動車", 1, 1),
            ("マイカー", 1, 1),
        ]
