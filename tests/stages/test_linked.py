"""Links among hits by hand: what their texts say of the query, as the docstring tells."""

from __future__ import annotations

from math import log

import pytest

from fumishirube import Hit, Passage, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.linked import Linked

REST = [passage(f"rest/{number}.md", body="zzz") for number in range(8)]
LOT = passage("guide/lot.md", body="gates and fees")
OTHER = passage("guide/other.md", body="cars everywhere")


def refined(
    *scored: tuple[Passage, float], text: str = "visitor parking", stage: Linked | None = None
) -> dict[tuple[str, int], float]:
    corpus = MemoryCorpus([*(item for item, _ in scored), *REST])
    hits = tuple(Hit(item, score) for item, score in scored)
    ranking = (stage or Linked()).refine(Ranking(hits), Query(text), corpus)
    assert [h.sort_key() for h in ranking.hits] == sorted(h.sort_key() for h in ranking.hits)
    return {hit.passage.key: hit.score for hit in ranking.hits}


def gain(link: str, path: str = "guide/start.md", target: str = "guide/parking.md") -> float:
    """Return what a page gains by a link in a hit, which is far enough above it."""
    source = passage(path, body=f"all about the visitor parking: {link}.")
    page = passage(target, body="gates and fees")
    return refined((source, 10.0), (page, 1.0))[target, 1] - 1.0


def test_the_worked_example() -> None:
    start = passage("guide/start.md", body="a visitor asks [cheap car parking places](lot.md)")
    scores = refined((start, 10.0), (OTHER, 3.0), (LOT, 1.0))
    # Of eleven sections one has visitor and one parking, so that each is half of the rarity.
    assert scores == {
        ("guide/start.md", 1): 10.0,
        ("guide/lot.md", 1): pytest.approx(1.0 + 10.0 * 0.5 * (1 / 4) ** 2),
        ("guide/other.md", 1): 3.0,
    }


def test_terms_count_by_their_rarity() -> None:
    start = passage("guide/start.md", body="[parking](lot.md) for a visitor")
    other = passage("guide/other.md", body="a visitor waits")
    once, twice = log(1 + 10.5 / 1.5), log(1 + 9.5 / 2.5)
    scores = refined((start, 10.0), (other, 3.0), (LOT, 1.0))
    assert scores["guide/lot.md", 1] == pytest.approx(1.0 + 10.0 * once / (once + twice))


def test_each_page_that_links_counts_once() -> None:
    one = passage("one.md", body="a visitor: [parking](guide/lot.md), [parking](guide/lot)")
    again = passage("one.md", 9, body="[visitor](guide/lot.md)")
    two = passage("two.md", body="[parking](guide/lot.md)")
    first = refined((one, 10.0), (again, 9.0), (LOT, 1.0))["guide/lot.md", 1]
    both = refined((one, 10.0), (two, 9.0), (LOT, 1.0), text="parking")
    assert first < 1.0 + 10.0 * 0.7
    # Two links that say all would add 20.
    assert both["guide/lot.md", 1] == pytest.approx(0.999 * 10.0)


def test_what_pages_say_adds_up() -> None:
    one = passage("one.md", body="a [visitor, whom others await here](guide/lot.md)")
    two = passage("two.md", body="for [cheap car parking places](guide/lot.md)")
    scores = refined((one, 10.0), (two, 9.0), (LOT, 1.0))
    expected = 10.0 * 0.5 * 2 * (1 / 4) ** 2
    assert scores["guide/lot.md", 1] == pytest.approx(1.0 + expected)


def test_a_page_does_not_pass_the_hits_that_link_to_it() -> None:
    start = passage("guide/start.md", body="[visitor parking](lot.md)")
    scores = refined((OTHER, 10.0), (start, 6.0), (LOT, 1.0))
    assert scores["guide/lot.md", 1] == pytest.approx(0.999 * 6.0)
    assert refined((LOT, 10.0), (start, 6.0))["guide/lot.md", 1] == 10.0


def test_the_best_hit_of_the_page_is_raised_alone() -> None:
    start = passage("guide/start.md", body="[visitor parking](lot.md#fees)")
    fees = passage("guide/lot.md", 30, body="fees for cars")
    scores = refined((start, 10.0), (fees, 2.0), (LOT, 1.0))
    assert scores["guide/lot.md", 30] == pytest.approx(9.99)
    assert scores["guide/lot.md", 1] == 1.0


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[parking](parking.md)", "guide/parking.md"),
        ("[parking](./parking.md#fees)", "guide/parking.md"),
        ("[parking](../guide/parking.html?x=1)", "guide/parking.md"),
        ('[parking](parking.md "A title")', "guide/parking.md"),
        ("[`parking`](parking)", "guide/parking.md"),
        ("[parking](/guide/parking)", "guide/parking.md"),
        ("[parking](/site/guide/parking.html)", "guide/parking.md"),
        ("[parking](/parking/)", "docs/guide/parking/index.md"),
        ("[parking](../parking/)", "parking/README.md"),
        ("[parking](v2.0)", "guide/v2.0.md"),
        ("[parking](%E9%A7%90%E8%BB%8A.md)", "guide/駐車.md"),
        ("[parking](<駐車.md>)", "guide/駐車.md"),
    ],
)
def test_the_places_of_links(link: str, target: str) -> None:
    assert gain(link, target=target) > 0


@pytest.mark.parametrize(
    "link",
    [
        "[parking](https://example.com/guide/parking.md)",
        "[parking](other.md)",
        "[parking](/king.md)",
        "[parking](/other/parking.md)",
        "[parking](../parking.md)",
        "[gates](parking.md)",
        "[](parking.md)",
        "[parking](#parking)",
        "parking (parking.md)",
        "[parking] (parking.md)",
    ],
)
def test_what_says_nothing_of_the_page(link: str) -> None:
    assert gain(link) == 0


def test_a_page_says_nothing_of_itself() -> None:
    start = passage("guide/start.md", body="a visitor: [cheap car parking places](lot.md)")
    lot = passage("guide/lot.md", body="gates, and [parking](lot.md)")
    alone = refined((start, 10.0), (passage("guide/lot.md", body="gates, and parking"), 1.0))
    assert refined((start, 10.0), (lot, 1.0)) == alone


def test_an_end_that_two_pages_have_is_neither() -> None:
    start = passage("start.md", body="visitor [parking](/parking)")
    one, two = (passage(f"{folder}/parking.md", body="gates") for folder in "ab")
    assert refined((start, 10.0), (one, 2.0), (two, 1.0)) == {
        ("start.md", 1): 10.0,
        ("a/parking.md", 1): 2.0,
        ("b/parking.md", 1): 1.0,
    }


def test_an_index_at_the_root_is_a_page_of_its_own() -> None:
    start = passage("start.md", body="a visitor: [parking](readme.md)")
    index, readme = (passage(f"{name}.md", body="gates") for name in ("index", "readme"))
    scores = refined((start, 10.0), (index, 2.0), (readme, 1.0))
    assert scores["index.md", 1] == 2.0
    assert scores["readme.md", 1] > 1.0


def test_its_settings_by_default() -> None:
    assert Linked().model_dump() == {"weight": 1.0, "depth": 20}


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    start = passage("guide/start.md", body="a visitor: [parking](lot.md)")
    for weight in (0.0, 0.4):
        scores = refined((start, 10.0), (LOT, 1.0), stage=Linked(weight=weight))
        assert scores["guide/lot.md", 1] == pytest.approx(1.0 + weight * 10.0 / 2)
    late = ((OTHER, 12.0), (start, 10.0), (LOT, 1.0))
    assert refined(*late, stage=Linked(depth=1))["guide/lot.md", 1] == 1.0
    assert refined(*late, stage=Linked(depth=2))["guide/lot.md", 1] > 1.0


def test_a_query_without_concepts_changes_nothing() -> None:
    start = passage("guide/start.md", body="[the](lot.md)")
    assert refined((start, 10.0), (LOT, 1.0), text="の")["guide/lot.md", 1] == 1.0
