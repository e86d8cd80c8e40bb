"""The fuser by hand: shares for similar sections, by how little the words cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from fumishirube_meaning import Meaning

from fumishirube import Hit, IndexMatch, Outcome, Passage, Query, Ranking, Run
from fumishirube.testing import FuserContract, MemoryCorpus, passage


class TestMeaning(FuserContract):
    stage = Meaning()


class SimilarCorpus(MemoryCorpus):
    """Passages in memory, with written similarities."""

    vectors = True

    def __init__(self, similar: Iterable[tuple[str, float]]) -> None:
        super().__init__([section(path) for path in "abcd"])
        self.similar = [IndexMatch(section(path), value) for path, value in similar]

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        assert (text, per_file) == ("red", None)
        return [m for m in self.similar if within is None or m.passage.path in within][:limit]


def section(path: str) -> Passage:
    return passage(path, 1, body=path)


def fused(
    hits: Sequence[tuple[str, float, float]],
    similar: Sequence[tuple[str, float]],
    query: Query | None = None,
    **settings: Any,
) -> list[tuple[str, float]]:
    query = query or Query("red")
    ranking = Ranking(tuple(Hit(section(p), score, coverage=c) for p, score, c in hits))
    outcomes = [Outcome(Run("words", query), ranking)]
    made = Meaning(**settings).fuse(query, outcomes, SimilarCorpus(similar))
    return [(hit.passage.path, round(hit.score, 6)) for hit in made.hits]


SIMILAR = [("b", 0.9), ("c", 0.7), ("d", 0.5)]


def test_without_words_meaning_has_its_full_weight() -> None:
    # The shares are 1, (0.7 - 0.5) / (0.9 - 0.5) = 0.5, and 0; the top score is 8.
    assert fused([("a", 8.0, 0.0)], SIMILAR) == [("a", 8.0), ("b", 8.0), ("c", 4.0)]
    assert fused([], SIMILAR) == [("b", 1.0), ("c", 0.5)]
    assert fused([("a", 0.0, 0.0)], SIMILAR) == [("a", 0.0)], "a hit stays one, whatever its score"


def test_the_weight_falls_with_the_coverage_of_the_best_hits() -> None:
    # 1 - 0.35 / 0.7 = 0.5 of the top score, 8, for the most similar section.
    hits = [("a", 8.0, 0.1), ("b", 6.0, 0.35)]
    assert fused(hits, SIMILAR) == [("b", 10.0), ("a", 8.0), ("c", 2.0)]
    assert fused(hits, SIMILAR, weight=2.0) == [("b", 14.0), ("a", 8.0), ("c", 4.0)]
    assert fused(hits, SIMILAR, examined=1)[0] == ("b", round(6 + 8 * (1 - 0.1 / 0.7), 6))


@pytest.mark.parametrize("coverage", [0.7, 1.0])
def test_words_that_stand_together_are_left_alone(coverage: float) -> None:
    assert fused([("a", 8.0, coverage)], SIMILAR) == [("a", 8.0)]
    assert fused([("a", 8.0, coverage)], []) == [("a", 8.0)]


def test_sections_that_the_query_excludes_do_not_come_in() -> None:
    query = Query("red", exclude=frozenset({("b", 1)}))
    assert fused([], SIMILAR, query) == [("c", 0.5)]
    assert fused([], SIMILAR, Query("red", within=frozenset({"c"}))) == [("c", 1.0)]


def test_a_query_with_alternatives_has_better_words() -> None:
    assert not Meaning().applies(Query("red", alternatives=("crimson",)))
    assert Meaning().applies(Query("red"))


def test_hits_say_that_meaning_found_them() -> None:
    outcomes = [Outcome(Run("words", Query("red")), Ranking())]
    best, _ = Meaning().fuse(Query("red"), outcomes, SimilarCorpus(SIMILAR)).hits
    assert best.labels == {"meaning"}
    assert best.signals == {"meaning": 0.9}
