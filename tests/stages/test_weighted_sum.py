"""The weighted sum by hand: the rule is ours, and stands in the docstring of the fuser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from fumishirube import Fuser, Hit, Outcome, Query, Ranking, Run
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.traces.records import Span
from fumishirube_stages.document_scores import document_scores, document_weights
from fumishirube_stages.fusers.alternatives import Alternatives
from fumishirube_stages.fusers.decompose import Decompose
from fumishirube_stages.fusers.weighted_sum import WeightedSum
from fumishirube_stages.scorers.fulltext import Fulltext
from fumishirube_stages.scorers.graph import Graph
from fumishirube_stages.scorers.plain import Plain
from fumishirube_stages.scorers.vector import Vector

CORPUS = MemoryCorpus()
PARTS = {
    "vector": {"a": 0.5, "b": 1.0},
    "graph": {"a": 1.0, "b": 0.5},
    "fulltext": {"a": 1.0},
}


def hit(path: str, line: int, **signals: float) -> Hit:
    return Hit(passage(path, line, body="x"), 0.0, signals=signals)


def fused(stage: WeightedSum, parts: dict[str, dict[str, float]], *hits: Hit) -> Ranking:
    query = Query("x")
    (run,) = stage.plan(query, CORPUS)
    assert (run.name, run.query) == ("all", query)
    for name, values in parts.items():
        document_scores(query).by_scorer[name] = values
        own = {row.passage.key: row.signals[name] for row in hits if name in row.signals}
        document_scores(query).sections[name] = own
    ranking = Ranking(hits, diagnostics={"before": 1})
    return stage.fuse(query, [Outcome(run, ranking)], CORPUS)


def rows(ranking: Ranking) -> list[tuple[str, int, float]]:
    return [(*row.passage.key, row.score) for row in ranking.hits]


def test_the_worked_example_with_text() -> None:
    # 0.7 vectors; of the 0.3 left 0.3 is text, 0.09, and links have 0.21.
    ranking = fused(WeightedSum(), PARTS, hit("a", 1), hit("b", 1))
    assert rows(ranking) == [
        ("b", 1, round(0.7 * 1.0 + 0.21 * 0.5, 6)),
        ("a", 1, round(0.7 * 0.5 + 0.21 * 1.0 + 0.09 * 1.0, 6)),
    ]
    assert ranking.diagnostics == {"before": 1, "search_type": "hybrid"}


@pytest.mark.parametrize("texts", [{}, {"fulltext": {}}])
def test_without_text_links_have_all_that_vectors_leave(
    texts: dict[str, dict[str, float]],
) -> None:
    parts = {"vector": PARTS["vector"], "graph": PARTS["graph"], **texts}
    assert rows(fused(WeightedSum(), parts, hit("a", 1), hit("b", 1))) == [
        ("b", 1, 0.85),
        ("a", 1, 0.65),
    ]


def test_without_vectors_text_alone_decides() -> None:
    parts = {"graph": {"b": 1.0}, "fulltext": {"a": 0.4, "b": 0.3}}
    ranking = fused(WeightedSum(), parts, hit("b", 1), hit("a", 1))
    assert rows(ranking) == [("a", 1, 0.4), ("b", 1, 0.3)]
    assert ranking.diagnostics["search_type"] == "fulltext_fallback"


def test_without_vectors_a_section_has_its_text_alone() -> None:
    parts = {"graph": {"a": 1.0}, "fulltext": {"a": 0.4}}
    ranking = fused(WeightedSum(), parts, hit("a", 1, graph=1.0, fulltext=0.5))
    assert ranking.hits[0].signals["section"] == 0.5


def test_explicit_weights_replace_the_rule() -> None:
    assert WeightedSum.model_validate({}) == WeightedSum()
    weights = {"vector": 0.2, "graph": 0.3, "fulltext": 0.5}
    assert rows(fused(WeightedSum(weights=weights), PARTS, hit("a", 1), hit("b", 1))) == [
        ("a", 1, 0.9),
        ("b", 1, 0.35),
    ]


def test_the_settings_are_the_numbers_of_the_rule() -> None:
    # 0.4, and half of 0.6 each for the others.
    stage = WeightedSum(alpha=0.4, fulltext_share=0.5)
    assert rows(fused(stage, PARTS, hit("a", 1), hit("b", 1))) == [("a", 1, 0.8), ("b", 1, 0.55)]


def test_the_sections_of_a_document_stand_together_by_what_they_score_themselves() -> None:
    ranking = fused(
        WeightedSum(),
        PARTS,
        hit("a", 1, vector=0.5),
        hit("b", 3, vector=0.1),
        hit("a", 2, vector=0.5, fulltext=1.0),
        hit("b", 2, vector=0.1),
        hit("b", 5, vector=1.0, fulltext=0.5),
    )
    assert [row.passage.key for row in ranking.hits] == [
        ("b", 5),
        ("b", 2),
        ("b", 3),
        ("a", 2),
        ("a", 1),
    ]
    assert ranking.hits[0].signals == {
        "vector": 1.0,
        "graph": 0.5,
        "fulltext": 0.0,
        "section": round(0.7 + 0.09 * 0.5, 6),
        "matched": 0.5,
    }
    assert ranking.hits[1].signals["section"] == 0.07
    assert ranking.hits[1].signals["matched"] == 0.0
    assert {row.score for row in ranking.hits[:3]} == {0.805}


def test_equal_documents_are_in_the_order_of_their_paths() -> None:
    parts = {"fulltext": {"a": 0.5, "b": 0.5}}
    ranking = fused(WeightedSum(), parts, hit("b", 1, fulltext=1.0), hit("a", 1))
    assert [row.passage.path for row in ranking.hits] == ["a", "b"]


def test_scores_are_rounded_to_six_places() -> None:
    parts = {"fulltext": {"a": 0.12345678}}
    ranking = fused(WeightedSum(), parts, hit("a", 1, fulltext=0.12345678), hit("c", 1))
    assert rows(ranking) == [("a", 1, 0.123457), ("c", 1, 0.0)]
    assert ranking.hits[0].signals["section"] == 0.123457


def test_when_no_scorer_said_anything_the_ranking_stays_as_it_is() -> None:
    query, ranking = Query("x"), Ranking((hit("a", 1),))
    assert WeightedSum().fuse(query, [Outcome(Run("all", query), ranking)], CORPUS) is ranking


def test_weights_are_of_the_three_and_sum_to_one() -> None:
    with pytest.raises(ValidationError, match="name vector, graph, fulltext, each once"):
        WeightedSum(weights={"vector": 0.5, "graph": 0.5})
    with pytest.raises(ValidationError, match="they must sum to 1"):
        WeightedSum(weights={"vector": 0.5, "graph": 0.5, "fulltext": 0.1})
    nearly = {"vector": 0.5, "graph": 0.4999995, "fulltext": 0.0}
    assert WeightedSum(weights=nearly).weights == nearly
    assert WeightedSum(weights=None).weights is None


def test_it_needs_a_scorer_that_it_sums_and_each_that_it_weighs() -> None:
    none = "none of the scorers that it sums is configured"
    assert WeightedSum().lacking({"scorers": []}) == none
    assert WeightedSum().lacking({"scorers": [Fulltext()]}) is None
    assert WeightedSum().lacking({"scorers": [Vector(), Graph(), Fulltext()]}) is None
    weighed = WeightedSum(weights={"vector": 0.5, "graph": 0.5, "fulltext": 0.0})
    missing = "its weights count on the scorer {!r}, which is not configured"
    assert weighed.lacking({"scorers": [Fulltext()]}) == missing.format("vector")
    assert weighed.lacking({"scorers": [Vector()]}) == missing.format("graph")
    assert weighed.lacking({"scorers": [Vector(), Graph()]}) is None
    assert weighed.lacking({"scorers": []}) == missing.format("vector")


def test_its_weights_reach_the_scorers_of_the_search() -> None:
    query = Query("x")
    WeightedSum(alpha=0.5, fulltext_share=0.5).plan(query, CORPUS)
    weigh = document_weights(query).weigh
    assert weigh(True) == (0.5, 0.25, 0.25)
    assert weigh(False) == (0.5, 0.5, 0.0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_are_from_nothing_to_all(share: float) -> None:
    assert WeightedSum(alpha=share, fulltext_share=share).alpha == share
    for wrong in (-0.5, 1.5):
        with pytest.raises(ValidationError):
            WeightedSum(alpha=wrong)
    even = {"vector": 1.0, "graph": 0.0, "fulltext": 0.0}
    assert WeightedSum.model_validate({"weights": even}).weights == even


def test_a_section_without_signals_has_nothing_of_its_own() -> None:
    ranking = fused(WeightedSum(), PARTS, hit("a", 1), hit("a", 2, vector=0.5, fulltext=1.0))
    assert [row.signals["section"] for row in ranking.hits] == [round(0.35 + 0.09, 6), 0.0]


def test_without_vectors_links_count_nothing() -> None:
    parts = {"graph": {"a": 1.0}, "fulltext": {"a": 0.5, "b": 0.5}}
    assert rows(fused(WeightedSum(), parts, hit("b", 1), hit("a", 1))) == [
        ("a", 1, 0.5),
        ("b", 1, 0.5),
    ]


# --- in a pipeline ------------------------------------------------------------------------------

MANUAL = MemoryCorpus(
    [
        passage("a.md", body="alpha pump"),
        passage("b.md", 1, body="beta filter"),
        passage("b.md", 5, title="pump", body="beta"),
        *(passage(f"z{number}.md", body=f"water {number}") for number in range(9)),
    ]
)


def searched(text: str, *fusers: Fuser, name: str = "fulltext", **more: Any) -> Span:
    named = [NamedStage(type(fuser).__name__, fuser) for fuser in fusers]
    scorers = [NamedStage(name, Fulltext()), NamedStage("plain", Plain())]
    pipeline = Pipeline(scorers, named, ())
    return pipeline.run(Query(text, **more), MANUAL).span


def scored(span: Span) -> list[tuple[str, int, float, Mapping[str, float]]]:
    return [(row.path, row.start_line, row.score, row.signals) for row in span.rows]


@pytest.mark.parametrize("wording", ["beta filter", "beta filters", "ump", "nowhere"])
def test_each_wording_has_the_scores_of_its_own_run(wording: str) -> None:
    """Also of one of which full text finds nothing, such as a part of a word."""
    span = searched("alpha pump", Alternatives(), WeightedSum(), alternatives=(wording,))
    runs = {child.name: child for child in span.children if child.kind == "run"}
    assert scored(runs["query"]) == scored(searched("alpha pump", WeightedSum()))
    assert scored(runs["alternative-1"]) == scored(searched(wording, WeightedSum()))


def test_around_other_fusers_the_run_of_the_query_itself_counts() -> None:
    text = "the differences between alpha pump and beta filter"
    parts = {row.path: row.signals["fulltext"] for row in searched(text, WeightedSum()).rows}
    span = searched(text, WeightedSum(), Decompose())
    assert parts.keys() == {"a.md", "b.md"}
    assert {row.path: row.signals["fulltext"] for row in span.rows} == parts


def test_the_name_of_a_scorer_in_the_configuration_changes_nothing() -> None:
    rows = scored(searched("beta", WeightedSum()))
    assert scored(searched("beta", WeightedSum(), name="words")) == rows
    assert [signals["section"] for *_, signals in rows] == [1.0, 1.0]
