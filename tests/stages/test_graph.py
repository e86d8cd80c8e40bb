"""Graph by hand: documents linked to the best ones score 1 / (1 + hops)."""

from __future__ import annotations

import pytest
from linked_corpus import WrittenLinks

from fumishirube import Neighbour, Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.document_scores import document_scores, document_weights
from fumishirube_stages.scorers.graph import Graph
from fumishirube_stages.scorers.vector import Vector

PAGES = [passage(f"{name}.md", line, body="x") for name in "abcdef" for line in (1, 5)]


def out(path: str, kind: str = "body") -> Neighbour:
    return Neighbour(path, kind, "outlink")  # type: ignore[arg-type]


# a - b - c - d, and a - e over a link of another kind
LINKS = {
    "a.md": [out("b.md"), out("e.md", "related")],
    "b.md": [out("c.md")],
    "c.md": [out("d.md")],
}


def scored(
    similar: dict[str, float] | None, stage: Graph | None = None, **query_fields: object
) -> dict[str, float]:
    """The scores by document, each at its first section, the same as were stored."""
    query = Query("x", **query_fields)  # type: ignore[arg-type]
    if similar is not None:
        document_scores(query).by_scorer["vector"] = similar
    hits = [*(stage or Graph()).score(query, WrittenLinks(PAGES, links=LINKS), {})]
    assert all(hit.passage.start_line == 1 for hit in hits)
    scores = {hit.passage.path: hit.score for hit in hits}
    assert (document_scores(query).by_scorer.get("graph") or {}) == scores
    return scores


def test_each_document_scores_one_over_one_and_its_hops() -> None:
    assert scored({"a.md": 1.0}) == {"a.md": 1.0, "b.md": 1 / 2, "e.md": 1 / 2, "c.md": 1 / 3}
    assert scored({"a.md": 1.0, "c.md": 0.5}) == {
        "a.md": 1.0,
        "c.md": 1.0,
        "b.md": 1 / 2,
        "d.md": 1 / 2,
        "e.md": 1 / 2,
    }


def test_the_depth_is_a_setting_and_a_search_may_change_it() -> None:
    assert scored({"a.md": 1.0}, Graph(depth=1)) == {"a.md": 1.0, "b.md": 0.5, "e.md": 0.5}
    deep = scored({"a.md": 1.0}, stage_arguments={"graph": {"depth": 3}})
    assert deep["d.md"] == 1 / 4
    assert Graph() == Graph(seeds=5, depth=2)
    for wrong in ({"seeds": 0}, {"depth": 0}, {"depth": 6}):
        with pytest.raises(ValueError, match="Input should be"):
            Graph.model_validate(wrong)
    Graph(seeds=1, depth=5)


def test_a_search_may_choose_the_kinds_of_links() -> None:
    kinds = {"graph": {"link_types": ["related"]}}
    assert scored({"a.md": 1.0}, stage_arguments=kinds) == {"a.md": 1.0, "e.md": 0.5}


def test_only_documents_of_the_scope_are_returned() -> None:
    assert scored({"a.md": 1.0}, within=frozenset({"c.md"})) == {"c.md": 1 / 3}


def test_a_document_without_sections_is_scored_and_is_no_hit() -> None:
    query = Query("x")
    document_scores(query).by_scorer["vector"] = {"a.md": 1.0}
    corpus = WrittenLinks(PAGES, links={"a.md": [out("empty.md")]})
    hits = [*Graph().score(query, corpus, {})]
    assert [hit.passage.path for hit in hits] == ["a.md"]
    assert document_scores(query).by_scorer["graph"] == {"a.md": 1.0, "empty.md": 0.5}


def test_it_starts_from_the_best_documents_by_vectors_and_full_text_together() -> None:
    """Half of each, unless a fuser weighs them; equal ones by path."""
    query = Query("x")
    document_scores(query).by_scorer["vector"] = {"a.md": 0.2, "b.md": 0.5, "f.md": 0.4}
    document_scores(query).by_scorer["fulltext"] = {"a.md": 0.4, "d.md": 0.55}
    corpus = WrittenLinks(PAGES)
    hits = [*Graph(seeds=2).score(query, corpus, {})]
    assert {hit.passage.path for hit in hits} == {"a.md", "d.md"}

    def weigh(any_text: bool) -> tuple[float, float, float]:
        assert any_text is True
        return 0.9, 0.0, 0.1

    document_weights(query).weigh = weigh
    hits = [*Graph(seeds=2).score(query, corpus, {})]
    assert {hit.passage.path for hit in hits} == {"b.md", "f.md"}


def test_of_equal_documents_the_first_by_path_is_a_start() -> None:
    assert scored({"c.md": 0.5, "b.md": 0.5}, Graph(seeds=1, depth=1)).keys() == {"b.md", "c.md"}
    assert scored({"c.md": 0.5, "b.md": 0.5}, Graph(seeds=1, depth=1))["b.md"] == 1.0


def test_without_vectors_or_links_there_is_nothing() -> None:
    assert scored(None) == {}
    query = Query("x")
    document_scores(query).by_scorer["vector"] = {"a.md": 1.0}
    assert [*Graph().score(query, MemoryCorpus(PAGES), {})] == []


def test_it_needs_a_scorer_of_vectors_and_comes_last() -> None:
    message = "it starts from what the scorer 'vector' finds, which is not configured"
    assert Graph().lacking({"scorers": [Graph()]}) == message
    assert Graph().lacking({"scorers": [Vector(), Graph()]}) is None
    assert Graph.generates is True
    assert Graph.last is True


@pytest.mark.parametrize(
    ("similar", "texts", "best"),
    [
        ({"a.md": 0.9, "b.md": 0.2}, {"c.md": 0.3}, "a.md"),
        ({"a.md": 0.9}, {"c.md": 0.5}, "a.md"),
        ({"a.md": 0.1}, {"c.md": 0.9}, "c.md"),
        ({"a.md": 0.1, "b.md": 0.8}, {"a.md": 0.8}, "a.md"),
    ],
)
def test_vectors_and_full_text_count_alike(
    similar: dict[str, float], texts: dict[str, float], best: str
) -> None:
    query = Query("x")
    document_scores(query).by_scorer["vector"] = similar
    document_scores(query).by_scorer["fulltext"] = texts
    (hit,) = Graph(seeds=1).score(query, WrittenLinks(PAGES), {})
    assert hit.passage.path == best
