"""The end of a result by hand: the rule is ours, and stands in the docstring of the refiner."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fumishirube import Hit, LeftOut, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.refiners.cutoff import Cutoff

PINNED, TOP = frozenset({"pinned"}), frozenset({"pinned_top"})


def hit(
    line: int, score: float, coverage: float = 0.0, labels: frozenset[str] = frozenset()
) -> Hit:
    return Hit(passage("a", line, body="x"), score, labels, coverage)


def refined(
    *hits: Hit, stage: Cutoff | None = None, limit: int | None = None
) -> tuple[list[tuple[int, float]], list[tuple[int | None, str]]]:
    before = LeftOut("b", 1, "before")
    ranking = (stage or Cutoff()).refine(
        Ranking(hits, (before,)), Query("x", limit=limit), MemoryCorpus()
    )
    assert ranking.left_out[0] == before
    left = [(row.start_line, row.reason) for row in ranking.left_out[1:]]
    return [(row.passage.start_line, row.score) for row in ranking.hits], left


def lines(*hits: Hit, stage: Cutoff | None = None, limit: int | None = None) -> list[int]:
    return [line for line, _ in refined(*hits, stage=stage, limit=limit)[0]]


def test_the_first_weak_hit_past_five_ends_the_result() -> None:
    # Weak is under 2.5 of a top score of 10, covering less than half; 2 at the fifth place stays.
    hits = [hit(1, 10.0), *(hit(n, 2.0) for n in range(2, 6))]
    assert lines(*hits, hit(6, 2.0), hit(7, 2.0)) == [1, 2, 3, 4, 5]
    assert refined(*hits, hit(6, 2.0))[1] == [(6, "dynamic_cutoff")]


def test_at_a_quarter_of_the_top_score_or_half_of_the_concepts_no_hit_is_weak() -> None:
    hits = [hit(1, 10.0), *(hit(n, 9.0) for n in range(2, 6))]
    rows = (hit(6, 2.5), hit(7, 2.4, 0.5), hit(8, 2.4, 0.49), hit(9, 2.4, 1.0))
    assert lines(*hits, *rows) == [1, 2, 3, 4, 5, 6, 7]
    assert refined(*hits, *rows)[1] == [(8, "dynamic_cutoff"), (9, "dynamic_cutoff")]


def test_a_pinned_hit_stays_past_the_end() -> None:
    hits = [hit(1, 10.0), *(hit(n, 2.0) for n in range(2, 7)), hit(7, 1.0, labels=PINNED)]
    assert refined(*hits) == (
        [(1, 10.0), (2, 2.0), (3, 2.0), (4, 2.0), (5, 2.0), (7, 1.0)],
        [(6, "dynamic_cutoff")],
    )


def test_no_more_than_the_limit_even_of_pinned_hits() -> None:
    hits = [hit(n, 10.0, labels=PINNED) for n in range(1, 53)]
    shown, left = refined(*hits)
    assert [line for line, _ in shown] == list(range(1, 51))
    assert left == [(51, "candidate_cap"), (52, "candidate_cap")]
    assert lines(*hits, stage=Cutoff(limit=3)) == [1, 2, 3]
    assert lines(*hits[:3], stage=Cutoff(limit=3)) == [1, 2, 3]


def test_a_pinned_hit_past_the_limit_takes_the_place_of_the_last_other_one() -> None:
    rows = [hit(1, 3.0), hit(2, 2.0), hit(3, 1.0, labels=PINNED)]
    assert refined(*rows, stage=Cutoff(limit=2)) == ([(1, 3.0), (3, 1.0)], [(2, "candidate_cap")])
    weak = [hit(1, 9.0), *(hit(n, 1.0) for n in range(2, 5)), hit(5, 0.5, labels=PINNED)]
    assert refined(*weak, stage=Cutoff(limit=2, sure=3)) == (
        [(1, 9.0), (5, 0.5)],
        [(2, "candidate_cap"), (3, "candidate_cap"), (4, "dynamic_cutoff")],
    )


@given(
    labels=st.lists(st.sampled_from([frozenset[str](), PINNED]), max_size=12),
    limit=st.integers(1, 12),
    sure=st.integers(1, 12),
    coverage=st.floats(0, 1),
)
def test_every_hit_is_returned_or_left_out_and_pinned_ones_stay_within_the_limit(
    labels: list[frozenset[str]], limit: int, sure: int, coverage: float
) -> None:
    rows = [hit(n, 20.0 / n, coverage, labels=label) for n, label in enumerate(labels, 1)]
    stage = Cutoff(limit=limit, sure=sure)
    shown, left = refined(*rows, stage=stage)
    assert sorted([line for line, _ in shown] + [line for line, _ in left if line]) == [
        *range(1, len(rows) + 1)
    ]
    assert len(shown) <= limit
    pinned = [n for n, label in enumerate(labels, 1) if label]
    assert {*pinned[:limit]} <= {line for line, _ in shown}


def test_the_caller_gets_a_prefix_and_hears_of_the_rest() -> None:
    hits = [hit(1, 10.0), *(hit(n, 2.0) for n in range(2, 7))]
    assert refined(*hits, limit=3) == (
        [(1, 10.0), (2, 2.0), (3, 2.0)],
        [(4, "candidate_cap"), (5, "candidate_cap"), (6, "dynamic_cutoff")],
    )
    assert refined(*hits[:3], limit=9)[1] == []


def test_the_settings_are_the_numbers_of_the_rule() -> None:
    stage = Cutoff(sure=1, score_share=0.5, coverage=0.8)
    rows = [hit(1, 10.0), hit(2, 5.0), hit(3, 4.9, 0.8), hit(4, 4.9, 0.79)]
    assert lines(*rows, stage=stage) == [1, 2, 3]


def test_the_best_of_a_side_moves_among_the_first_and_scores_still_fall() -> None:
    # The fifth makes way, and comes sixth; its score and those of others follow the order.
    hits = [hit(n, 11.0 - n) for n in range(1, 7)]
    assert refined(*hits, hit(7, 4.0, labels=TOP))[0] == [
        (1, 10.0),
        (2, 9.0),
        (3, 8.0),
        (4, 7.0),
        (7, 6.0),
        (5, 6.0),
        (6, 5.0),
    ]


def test_two_sides_take_the_place_of_two_but_never_of_the_first_or_of_another_side() -> None:
    hits = [hit(1, 10.0), hit(2, 9.0, labels=TOP), *(hit(n, 11.0 - n) for n in range(3, 7))]
    late = (hit(7, 4.0, labels=TOP), hit(8, 3.0, labels=TOP))
    assert lines(*hits, *late) == [1, 2, 3, 7, 8, 4, 5, 6]
    assert lines(hit(1, 3.0), hit(2, 2.0, labels=TOP), stage=Cutoff(sure=1)) == [1, 2]
    assert lines(hit(1, 3.0), hit(2, 2.0), hit(3, 1.0, labels=TOP), stage=Cutoff(sure=2)) == [
        1,
        3,
        2,
    ]


def test_the_best_hits_of_all_wordings_come_before_the_second_ones() -> None:
    second = frozenset({*TOP, "second"})
    hits = [hit(1, 10.0, labels=TOP), hit(2, 9.0), hit(3, 8.0, labels=second)]
    assert lines(*hits, hit(4, 7.0, labels=TOP), hit(5, 6.0), stage=Cutoff(sure=2)) == [
        1,
        4,
        3,
        2,
        5,
    ]


def test_a_side_among_the_first_already_moves_nothing() -> None:
    hits = [hit(n, 11.0 - n) for n in range(1, 5)]
    assert refined(*hits, hit(5, 1.0, labels=TOP))[0][-1] == (5, 1.0)
    assert lines(*hits, hit(5, 6.0, labels=TOP), hit(6, 5.0)) == [1, 2, 3, 4, 5, 6]


def test_the_side_of_a_comparison_stays_when_another_one_is_lifted() -> None:
    stage = Cutoff(sure=3)
    hits = [hit(1, 10.0), hit(2, 9.0), hit(3, 8.0, labels=TOP), hit(4, 7.0, labels=TOP)]
    assert lines(*hits, stage=stage) == [1, 3, 4, 2]


def test_scores_below_one_are_raised_to_the_next_best_only() -> None:
    stage = Cutoff(sure=2)
    hits = [hit(1, 0.5), hit(2, 0.4), hit(3, 0.3, labels=TOP)]
    assert refined(*hits, stage=stage)[0] == [(1, 0.5), (3, 0.4), (2, 0.4)]


def test_a_pinned_hit_is_returned_once() -> None:
    pinned = hit(2, 9.0, labels=PINNED)
    assert lines(hit(1, 10.0, 1.0), pinned, hit(3, 8.0, 1.0)) == [1, 2, 3]
    weak = [hit(number, 0.1) for number in range(3, 8)]
    assert lines(hit(1, 10.0), pinned, *weak, stage=Cutoff(sure=2)) == [1, 2]
