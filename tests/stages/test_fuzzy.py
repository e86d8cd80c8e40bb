"""Near spellings by hand: rapidfuzz's partial ratio, as a gain from a least likeness on."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from fumishirube import Budget, Cancelled, Hit, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.fuzzy import Fuzzy


def refined(
    query: Query, *rows: tuple[str, str, float], stage: Fuzzy | None = None
) -> list[tuple[int, float]]:
    hits = tuple(
        Hit(passage("a.md", line, title, body), score)
        for line, (title, body, score) in enumerate(rows, 1)
    )
    ranking = (stage or Fuzzy()).refine(Ranking(hits), query, MemoryCorpus())
    return [(hit.passage.start_line, hit.score) for hit in ranking.hits]


def test_a_section_that_holds_the_query_gains_a_fifth_and_a_near_one_its_likeness() -> None:
    # 9 of 10 characters of either side are the same: 2 * 9 / 20.
    near = "- abcdefghix -"
    assert fuzz.partial_ratio("abcdefghij", near) / 100 == pytest.approx(2 * 9 / 20)
    assert refined(Query("abcdefghij"), ("", "- abcdefghij -", 2.0), ("", near, 1.0)) == [
        (1, pytest.approx(2.0 * (1 + 0.2 * 1.0))),
        (2, pytest.approx(1.0 * (1 + 0.2 * 0.9))),
    ]


def test_below_the_least_likeness_nothing_is_gained_and_at_it_all() -> None:
    near, query = "- abcdefghix -", Query("abcdefghij")
    assert refined(query, ("", near, 1.0), stage=Fuzzy(least=0.9)) == [(1, pytest.approx(1.18))]
    assert refined(query, ("", near, 1.0), stage=Fuzzy(least=0.91)) == [(1, 1.0)]
    assert refined(query, ("", "- vwxyz -", 1.0)) == [(1, 1.0)]
    assert Fuzzy().least == 0.7


def test_a_gain_may_change_the_order() -> None:
    assert [line for line, _ in refined(Query("red"), ("", "zzz", 1.0), ("", "red", 0.9))] == [2, 1]


def test_the_title_counts_like_the_body() -> None:
    assert refined(Query("red"), ("red", "zzz", 1.0)) == [(1, pytest.approx(1.2))]
    assert refined(Query("red"), ("zzz", "red", 1.0)) == [(1, pytest.approx(1.2))]


def test_required_terms_stand_for_the_query_and_the_likest_counts() -> None:
    query = Query("zzz", required=("QQQ", "RED"))
    assert refined(query, ("", "red", 1.0)) == [(1, pytest.approx(1.2))]
    assert refined(Query("red", required=("qqq",)), ("", "red", 1.0)) == [(1, 1.0)]


def test_the_weight_is_the_number_of_the_formula() -> None:
    assert refined(Query("red"), ("", "red", 2.0), stage=Fuzzy(weight=0.5)) == [(1, 3.0)]


def test_of_a_long_query_the_first_two_hundred_characters_are_compared() -> None:
    first = "".join(f"{number:04}" for number in range(50))
    assert refined(Query(f"{first}{'x' * 800}"), ("", first, 1.0)) == [(1, pytest.approx(1.2))]
    long = Query("zzz", required=(f"{first}{'x' * 800}",))
    assert refined(long, ("", first, 1.0)) == [(1, pytest.approx(1.2))]


def test_a_cancelled_search_compares_nothing() -> None:
    budget = Budget()
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        refined(Query("red", budget=budget), ("", "red", 1.0))
