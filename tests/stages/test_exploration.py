"""The pool by hand: the rule is ours, and stands in the docstring of the refiner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Hit, LeftOut, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.exploration import Exploration

Rows = list[tuple[str, int, float, bool]]


def hit(path: str, line: int, score: float, *labels: str) -> Hit:
    return Hit(passage(path, line, body="x"), score, frozenset(labels))


def refined(stage: Exploration, *hits: Hit) -> tuple[Rows, list[tuple[str, int | None, str]]]:
    before = LeftOut("b", 1, "before")
    ranking = stage.refine(Ranking(hits, (before,)), Query("x"), MemoryCorpus())
    assert ranking.left_out[0] == before
    shown = [(*row.passage.key, row.score, "exploration" in row.labels) for row in ranking.hits]
    return shown, [(row.path, row.start_line, row.reason) for row in ranking.left_out[1:]]


def file(path: str, number: int, top: float = 100.0) -> list[Hit]:
    return [hit(path, line, top - line) for line in range(1, number + 1)]


def test_the_best_of_each_file_enter_first_and_others_while_there_is_room() -> None:
    stage = Exploration(places=None, pool=3, per_file=1, enabled=False)
    shown, left = refined(stage, *file("a", 3), hit("b", 1, 5.0))
    assert shown == [("a", 1, 99.0, False), ("a", 2, 98.0, False), ("b", 1, 5.0, False)]
    assert left == [("a", 3, "per_file_cap")]


def test_eight_of_a_file_and_fifty_in_all() -> None:
    off = Exploration(places=None, enabled=False)
    shown, left = refined(off, *file("a", 9), *(hit(f"f{n}", 1, 50.0 - n) for n in range(42)))
    assert ("a", 9, 91.0, False) not in shown
    assert len(shown) == 50
    assert left == [("a", 9, "per_file_cap")]
    assert len(refined(off, *file("a", 9), hit("b", 1, 1.0))[0]) == 10


def test_what_the_pool_has_no_room_for_is_explored_at_35_percent() -> None:
    # The quota: the larger of 2 and a fifth of the pool, 50 * 0.2 = 10.
    shown, left = refined(
        Exploration(places=None), *(hit(f"f{n:02}", 1, 100.0 - n) for n in range(62))
    )
    assert [row for row in shown if row[3]] == [
        (f"f{n}", 1, (100.0 - n) * 0.35, True) for n in range(50, 60)
    ]
    assert left == [("f60", 1, "pool_full"), ("f61", 1, "pool_full")]


def test_the_quota_is_the_share_of_the_pool_rounded_up_or_the_least() -> None:
    rows = [hit(f"f{n}", 1, 9.0 - n) for n in range(9)]
    for stage, quota in (
        (Exploration(places=None, pool=3), 2),
        (Exploration(places=None, pool=3, least=0), 1),
        (Exploration(places=None, pool=3, least=0, ratio=0.5), 2),
        (Exploration(places=None, pool=3, least=4), 4),
        (Exploration(places=None, pool=3, enabled=False), 0),
    ):
        shown, left = refined(stage, *rows)
        assert sum(explored for *_, explored in shown) == quota
        assert len(left) == 9 - 3 - quota


def test_the_best_outside_are_explored_whichever_cap_kept_them_out() -> None:
    stage = Exploration(places=None, pool=2, per_file=1, least=1, score_scale=0.5, ratio=0)
    rows = (hit("a", 1, 9.0), hit("a", 2, 8.0), hit("b", 1, 7.0), hit("c", 1, 6.0))
    assert refined(stage, *rows) == (
        [("a", 1, 9.0, False), ("b", 1, 7.0, False), ("a", 2, 4.0, True)],
        [("c", 1, "pool_full")],
    )
    assert refined(stage.model_copy(update={"least": 0}), *rows)[1] == [
        ("a", 2, "per_file_cap"),
        ("c", 1, "pool_full"),
    ]


def test_an_explored_hit_takes_the_place_of_its_score() -> None:
    stage = Exploration(places=None, pool=1, least=1, score_scale=0.9)
    shown, _ = refined(stage, hit("a", 1, 1.0, "pinned"), hit("b", 1, 9.0))
    assert shown == [("b", 1, 8.1, True), ("a", 1, 1.0, False)]


def test_a_pinned_hit_enters_whatever_its_file_has() -> None:
    stage = Exploration(places=None, pool=2, per_file=1, enabled=False)
    rows = (hit("a", 1, 9.0), hit("a", 2, 8.0), hit("a", 3, 7.0, "pinned"))
    assert [row[1] for row in refined(stage, *rows)[0]] == [1, 3]


@pytest.mark.parametrize("label", ["pinned", "pinned_top"])
def test_a_pinned_hit_enters_whatever_ranks_above_it(label: str) -> None:
    rows = [hit(f"f{n:02}", 1, 100.0 - n) for n in range(61)] + [hit("last", 1, 1.0, label)]
    shown, left = refined(Exploration(), *rows)
    assert ("last", 1, 1.0, False) in shown
    assert len(shown) == 50
    assert [row[0] for row in shown if row[3]] == [f"f{n}" for n in range(39, 49)]
    assert [row[0] for row in left] == [f"f{n}" for n in range(49, 61)]


def test_of_fifty_places_exploration_takes_its_share() -> None:
    rows = [hit(f"f{n:02}", 1, 100.0 - n) for n in range(62)]
    shown, left = refined(Exploration(), *rows)
    assert [row[0] for row in shown] == [f"f{n:02}" for n in range(50)]
    assert [row[0] for row in shown if row[3]] == [f"f{n}" for n in range(40, 50)]
    assert left == [(f"f{n}", 1, "pool_full") for n in range(50, 62)]
    # Who does not explore, or has room for all, has the places for the best.
    assert not any(row[3] for row in refined(Exploration(enabled=False), *rows)[0])
    assert not any(row[3] for row in refined(Exploration(), *rows[:50])[0])


def test_a_full_pool_takes_no_further_hits_of_a_file() -> None:
    stage = Exploration(places=None, pool=1, per_file=1, enabled=False)
    shown, left = refined(stage, *file("a", 3), hit("b", 1, 5.0))
    assert shown == [("a", 1, 99.0, False)]
    assert left == [("a", 2, "per_file_cap"), ("a", 3, "per_file_cap"), ("b", 1, "pool_full")]


def test_the_pool_has_one_place_at_least() -> None:
    assert Exploration(places=2, pool=9, least=5)._sizes(10) == (1, 1)
    assert Exploration(places=7, pool=9, least=5)._sizes(10) == (2, 5)
    assert Exploration() == Exploration(per_file=8)


@given(
    number=st.integers(0, 30),
    least=st.integers(0, 30),
    ratio=st.floats(0, 1),
    pool=st.integers(1, 30),
    places=st.integers(1, 20),
)
def test_more_hits_than_places_never_take_more(
    number: int, least: int, ratio: float, pool: int, places: int
) -> None:
    stage = Exploration(least=least, ratio=ratio, pool=pool, places=places)
    shown, left = refined(stage, *(hit(f"f{n}", 1, 100.0 - n) for n in range(number)))
    assert len(shown) + len(left) == number
    assert len(shown) <= places
    assert not shown or shown[0][:3] == ("f0", 1, 100.0)
