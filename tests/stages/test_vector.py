"""Vector by hand: the best sections by cosine, ten a document, and the scores of documents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from linked_corpus import WrittenLinks

from fumishirube import IndexMatch, Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.document_scores import (
    MAX_CANDIDATES,
    PER_DOCUMENT,
    DocumentScores,
    by_document,
    candidate_sections,
    document_scores,
    document_weights,
    unscored,
)
from fumishirube_stages.scorers.vector import Vector


def match(path: str, line: int, estimate: float) -> IndexMatch:
    return IndexMatch(passage(path, line, body="x"), estimate)


def test_each_section_scores_its_cosine() -> None:
    corpus = WrittenLinks(similar=[match("a.md", 1, 0.9), match("b.md", 3, 0.5)])
    query = Query("red", within=frozenset({"a.md"}))
    hits = [*Vector().score(query, corpus, {})]
    assert [(hit.passage.key, hit.score) for hit in hits] == [
        (("a.md", 1), 0.9),
        (("b.md", 3), 0.5),
    ]
    assert corpus.nearest_of == [("red", MAX_CANDIDATES, frozenset({"a.md"}))]


def test_a_run_with_terms_has_only_sections_that_contain_them() -> None:
    sections = [passage("a.md", 1, body="red door"), passage("b.md", 1, body="red")]
    corpus = WrittenLinks(similar=[IndexMatch(section, 0.5) for section in sections])
    hits = [*Vector().score(Query("red", must=("door", "red")), corpus, {})]
    assert [hit.passage.path for hit in hits] == ["a.md"]


def test_a_document_scores_by_its_best_section_and_the_mean_of_its_best_three() -> None:
    """0.8 of the best and 0.2 of the mean; a document of one section scores that."""
    lines = enumerate([0.5, 0.9, 0.1, 0.7], 1)
    several = [match("a.md", line, value) for line, value in lines]
    corpus = WrittenLinks(similar=[*several, match("b.md", 1, 0.4), match("c.md", 1, 0.6)])
    corpus.similar = [*corpus.similar, match("c.md", 2, 0.2)]
    query = Query("red")
    [*Vector().score(query, corpus, {})]
    scores = document_scores(query).by_scorer["vector"]
    assert scores["a.md"] == pytest.approx(0.8 * 0.9 + 0.2 * (0.9 + 0.7 + 0.5) / 3)
    assert scores["b.md"] == 0.4
    assert scores["c.md"] == pytest.approx(0.8 * 0.6 + 0.2 * (0.6 + 0.2) / 2)


def test_without_vectors_or_links_there_is_nothing() -> None:
    for corpus in (WrittenLinks(similar=[match("a.md", 1, 1)], vectors=False), MemoryCorpus()):
        query = Query("red")
        assert [*Vector().score(query, corpus, {})] == []
        assert document_scores(query).by_scorer == {}


def test_candidates_are_200_and_ten_of_a_document() -> None:
    assert (MAX_CANDIDATES, PER_DOCUMENT) == (200, 10)
    rows = [match(f"{n:02}.md", line, 1.0) for n in range(25) for line in range(1, 13)]
    chosen = candidate_sections(rows)
    assert len(chosen) == 200
    assert [row.passage.key for row in chosen[:11]] == [
        *(("00.md", line) for line in range(1, 11)),
        ("01.md", 1),
    ]
    assert len(candidate_sections(iter(rows[:12]))) == 10


def test_no_more_sections_are_read_than_are_chosen() -> None:
    def rows() -> object:
        for number in range(MAX_CANDIDATES):
            yield match(f"{number}.md", 1, 1.0)
        raise AssertionError("one too many")

    assert len(candidate_sections(rows())) == MAX_CANDIDATES  # type: ignore[arg-type]


def test_the_sections_of_a_document_are_listed_best_first() -> None:
    rows = [match("a.md", 1, 0.2), match("b.md", 1, 0.5), match("a.md", 2, 0.7)]
    assert by_document(rows) == {"a.md": [0.7, 0.2], "b.md": [0.5]}


def test_each_run_of_a_search_has_its_scores_and_all_have_the_weights() -> None:
    query = Query("red")
    document_scores(query).by_scorer["vector"] = {"a.md": 1.0}
    document_weights(query).weigh = lambda _: (1.0, 0.0, 0.0)
    assert document_scores(replace(query, limit=5)).by_scorer == {"vector": {"a.md": 1.0}}
    for other in ({"text": "blue"}, {"must": ("sea",)}, {"required": ("sea",)}):
        run = replace(query, **other)  # type: ignore[arg-type]
        assert document_scores(run) == DocumentScores()
        assert document_weights(run).weigh
    assert document_scores(Query("red")) == DocumentScores()
    assert document_weights(Query("red")).weigh is None


def test_what_no_configured_scorer_computes_is_unscored() -> None:
    assert unscored({"scorers": [Vector(), object()]}, ["graph", "vector"]) == ["graph"]
    assert unscored({"scorers": []}, ["vector"]) == ["vector"]


def test_it_generates_candidates() -> None:
    assert Vector.generates is True
