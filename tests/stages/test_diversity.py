"""Diversity by hand: greedy, each further hit of a file loses a step, as the docstring says."""

from __future__ import annotations

from fumishirube import Hit, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.diversity import Diversity

QUERY, CORPUS = Query("x"), MemoryCorpus()


def hit(path: str, line: int, score: float, coverage: float = 0.7) -> Hit:
    return Hit(passage(path, line, body="x"), score, coverage=coverage)


OTHER = hit("z", 1, 0.0)
"""A hit of another file, at the end."""


def refined(*hits: Hit, stage: Diversity | None = None) -> list[tuple[str, int, float]]:
    ranking = (stage or Diversity()).refine(Ranking(hits), QUERY, CORPUS)
    return [(*row.passage.key, round(row.score, 9)) for row in ranking.hits]


def test_each_further_hit_of_a_file_loses_a_step() -> None:
    # The step is 0.35, which is more than 5 % of the top score 2.0.
    hits = (hit("a", 1, 2.0), hit("a", 2, 1.9), hit("a", 3, 1.8), hit("b", 1, 1.6))
    assert refined(*hits) == [
        ("a", 1, 2.0),
        ("b", 1, 1.6),
        ("a", 2, 1.55),
        ("a", 3, 1.1),
    ]


def test_the_step_is_a_share_of_the_top_score_if_that_is_more() -> None:
    # 5 % of 20 is 1.0; of the first hit's score, not of the second's.
    hits = (hit("a", 1, 20.0), hit("a", 2, 10.0), OTHER)
    assert refined(*hits) == [("a", 1, 20.0), ("a", 2, 9.0), ("z", 1, 0.0)]


def test_no_score_falls_below_zero() -> None:
    hits = (hit("a", 1, 0.3), hit("a", 2, 0.2), OTHER)
    assert refined(*hits) == [("a", 1, 0.3), ("a", 2, 0.0), ("z", 1, 0.0)]


def test_the_hits_of_one_file_keep_their_scores() -> None:
    hits = (hit("a", 1, 2.0), hit("a", 2, 1.9, 1.0), hit("a", 3, 0.1))
    assert refined(*hits) == [("a", 1, 2.0), ("a", 2, 1.9), ("a", 3, 0.1)]


def test_a_hit_that_covers_all_does_not_fall_below_one_that_covers_less_than_half() -> None:
    # 3.0 - 0.35 would fall below 2.9 and 2.8, of which only 2.9 covers less than half.
    hits = (hit("a", 1, 4.0), hit("a", 2, 3.0, 1.0), hit("b", 1, 2.9, 0.49), hit("c", 1, 2.8, 0.5))
    assert refined(*hits) == [("a", 1, 4.0), ("a", 2, 2.9), ("b", 1, 2.9), ("c", 1, 2.8)]


def test_the_best_of_those_that_cover_less_than_half_is_the_bound() -> None:
    hits = (
        hit("a", 1, 4.0),
        hit("a", 2, 3.0, 1.0),
        hit("b", 1, 2.9, 0.1),
        hit("c", 1, 1.0, 0.1),
    )
    assert refined(*hits)[1:] == [("a", 2, 2.9), ("b", 1, 2.9), ("c", 1, 1.0)]


def test_one_that_covers_half_bounds_nothing() -> None:
    hits = (hit("a", 1, 4.0), hit("a", 2, 3.0, 1.0), hit("b", 1, 2.9, 0.5))
    assert refined(*hits) == [("a", 1, 4.0), ("b", 1, 2.9), ("a", 2, 2.65)]


def test_the_bound_lifts_no_hit_over_its_own_score() -> None:
    hits = (hit("b", 1, 5.0, 0.1), hit("a", 1, 4.0), hit("a", 2, 3.0, 1.0))
    assert refined(*hits) == [("b", 1, 5.0), ("a", 1, 4.0), ("a", 2, 3.0)]


def test_only_hits_that_cover_all_are_kept_from_falling() -> None:
    hits = (hit("c", 1, 5.0, 1.0), hit("a", 1, 4.0), hit("a", 2, 3.0, 0.99), hit("b", 1, 2.9, 0.1))
    assert refined(*hits) == [("c", 1, 5.0), ("a", 1, 4.0), ("b", 1, 2.9), ("a", 2, 2.65)]


def test_full_hits_fall_like_others_without_weak_ones() -> None:
    full = (hit("a", 1, 2.0, 1.0), hit("a", 2, 1.0, 1.0), OTHER)
    assert refined(*full)[:2] == [("a", 1, 2.0), ("a", 2, 0.65)]
    weakless = (hit("a", 1, 2.0, 1.0), hit("a", 2, 0.3, 1.0), OTHER)
    assert refined(*weakless)[:2] == [("a", 1, 2.0), ("a", 2, 0.0)]


def test_nothing_stays_the_same_nothing() -> None:
    ranking = Ranking(diagnostics={"before": 1})
    assert Diversity().refine(ranking, QUERY, CORPUS) is ranking


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    rows = (hit("a", 1, 10.0), hit("a", 2, 9.0), OTHER)
    assert refined(*rows, stage=Diversity(step=2.0, share=0.1))[1] == ("a", 2, 7.0)
    assert refined(*rows, stage=Diversity(step=2.0, share=0.5))[1] == ("a", 2, 4.0)
