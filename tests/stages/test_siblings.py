"""Siblings by hand: a share of what the other hits of a file scored, as the docstring says."""

from __future__ import annotations

import pytest

from fumishirube import Hit, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.siblings import Siblings


def refined(
    *scores: tuple[str, float], stage: Siblings | None = None, text: str = "x"
) -> list[tuple[str, int, float]]:
    hits = tuple(
        Hit(passage(path, line, body="x"), score) for line, (path, score) in enumerate(scores, 1)
    )
    ranking = (stage or Siblings()).refine(Ranking(hits), Query(text), MemoryCorpus())
    return [(*hit.passage.key, hit.score) for hit in ranking.hits]


def test_the_worked_example() -> None:
    # a's evidence is 8 + 4 / 2 + 2 / 4 = 10.5; each hit gains a quarter of what exceeds it.
    assert refined(("a", 8.0), ("b", 7.0), ("a", 4.0), ("a", 2.0)) == [
        ("a", 1, pytest.approx(8 + 2.5 / 4)),
        ("b", 2, 7.0),
        ("a", 3, pytest.approx(4 + 6.5 / 4)),
        ("a", 4, pytest.approx(2 + 8.5 / 4)),
    ]


def test_siblings_lift_a_hit_over_a_lonely_one() -> None:
    # 6 + (6 + 5 / 2 - 6) / 4 = 6.625 passes 6.5; 5 + (8.5 - 5) / 4 = 5.875 does not.
    assert refined(("b", 6.5), ("a", 6.0), ("a", 5.0)) == [
        ("a", 2, 6.625),
        ("b", 1, 6.5),
        ("a", 3, 5.875),
    ]


def test_evidence_below_a_hit_takes_nothing_from_it() -> None:
    # Evidence 4 - 2 / 2 = 3 is less than 4, and 5 more than -2.
    assert refined(("a", 4.0), ("a", -2.0)) == [("a", 1, 4.0), ("a", 2, -2 + 5 / 4)]


def test_a_gain_below_one_counts() -> None:
    assert refined(("a", 1.0), ("a", 0.5)) == [("a", 1, 1.0625), ("a", 2, 0.6875)]


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    # 3 + 0.2 * 2 = 3.4 and half of what exceeds each.
    assert refined(("a", 3.0), ("a", 2.0), stage=Siblings(weight=0.5, decay=0.2)) == [
        ("a", 1, pytest.approx(3.2)),
        ("a", 2, pytest.approx(2.7)),
    ]


@pytest.mark.parametrize(
    ("concepts", "weight"), [(0, 0.25), (4, 0.25), (5, 0.3125), (6, 0.375), (8, 0.5), (20, 0.5)]
)
def test_the_share_grows_with_the_number_of_concepts(concepts: int, weight: float) -> None:
    # 0.25 up to four concepts, 0.5 from eight on; the evidence exceeds the second hit by 6.
    text = " ".join(f"word{number}" for number in range(concepts))
    assert refined(("a", 8.0), ("a", 4.0), text=text) == [
        ("a", 1, 8 + 2 * weight),
        ("a", 2, 4 + 6 * weight),
    ]


def test_the_numbers_of_concepts_may_be_the_same() -> None:
    stage = Siblings(weight=0.0, long_weight=1.0, few_concepts=2, many_concepts=2)
    assert refined(("a", 2.0), ("a", 2.0), text="one two", stage=stage)[0][2] == 2
    assert refined(("a", 2.0), ("a", 2.0), text="one two three", stage=stage)[0][2] == 3


def test_fewer_many_concepts_than_few_ones_are_one_more_than_these() -> None:
    stage = Siblings(weight=0.0, long_weight=1.0, few_concepts=2, many_concepts=1)
    assert refined(("a", 2.0), ("a", 2.0), text="one two", stage=stage)[0][2] == 2
    assert refined(("a", 2.0), ("a", 2.0), text="one two three", stage=stage)[0][2] == 3
