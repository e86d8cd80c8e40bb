"""Metrics and paired comparisons, against figures made by hand."""

from __future__ import annotations

import math

import pytest
from evaluation_runs import case
from hypothesis import given
from hypothesis import strategies as st

from fumishirube_eval import metrics
from fumishirube_eval.metrics import CaseResult, integration_status, percentile, summary
from fumishirube_eval.paired import compare, interval, sign_flip_p

# --- metrics --------------------------------------------------------------------------------

RANKING = ["b", "a", "a", "c", "d"]
RIGHT = {"a", "d", "z"}
GAIN = [1 / math.log2(rank + 1) for rank in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("name", "k", "expected"),
    [
        ("hit_rate", 1, 0),
        ("hit_rate", 2, 1),
        ("recall", 1, 0),
        ("recall", 4, 1 / 3),
        ("recall", 5, 2 / 3),
        ("mrr", 1, 0),
        ("mrr", 5, 1 / 2),
        ("precision", 3, 1 / 3),
        ("precision", 5, 2 / 5),
        ("precision", 10, 2 / 10),
        ("ndcg", 1, 0),
        ("ndcg", 3, GAIN[1] / sum(GAIN[:3])),
        ("ndcg", 5, (GAIN[1] + GAIN[4]) / sum(GAIN[:3])),
    ],
)
def test_a_metric_is_what_it_is_by_hand(name: str, k: int, expected: float) -> None:
    assert getattr(metrics, name)(RANKING, RIGHT, k) == pytest.approx(expected)


def test_precision_has_a_ceiling_and_a_form_without_k() -> None:
    assert [metrics.precision_ceiling(RIGHT, k) for k in (1, 3, 5)] == [1, 1, 3 / 5]
    assert metrics.precision_retrieved(RANKING, RIGHT) == 2 / 4
    assert metrics.precision_retrieved([], RIGHT) == 0


def test_a_percentile_is_the_value_with_the_number_rounded_up() -> None:
    assert [percentile(range(1, n + 1), 95) for n in (1, 2, 19, 20, 21, 40, 100)] == [
        *(1, 2, 19, 19, 20, 38, 95)
    ]
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([], 95) == 0


rankings = st.lists(st.sampled_from("abcdefgh"), max_size=12)
rights = st.sets(st.sampled_from("abcdefgh"), min_size=1)
NAMES = ("hit_rate", "recall", "mrr", "ndcg", "precision")


@given(rankings, rights, st.integers(1, 15))
def test_metrics_lie_between_0_and_1(ranking: list[str], right: set[str], k: int) -> None:
    for name in NAMES:
        assert 0 <= getattr(metrics, name)(ranking, right, k) <= 1 + 1e-12
    assert metrics.precision(ranking, right, k) <= metrics.precision_ceiling(right, k)
    assert metrics.recall(ranking, right, k) <= metrics.recall_ceiling(right, k)
    best = [*right, *ranking]
    assert metrics.recall(best, right, k) == metrics.recall_ceiling(right, k)
    assert 0 <= metrics.precision_retrieved(ranking, right) <= 1


@given(rankings, rights, st.integers(1, 15))
def test_more_rows_never_find_less(ranking: list[str], right: set[str], k: int) -> None:
    for name in ("hit_rate", "recall", "mrr"):
        of = getattr(metrics, name)
        assert of(ranking, right, k) <= of(ranking, right, k + 1)


@given(rankings, rights, st.integers(1, 15))
def test_what_stands_below_k_does_not_matter(ranking: list[str], right: set[str], k: int) -> None:
    shuffled = [*ranking[:k], *reversed(ranking[k:])]
    for name in NAMES:
        of = getattr(metrics, name)
        assert of(shuffled, right, k) == of(ranking[:k], right, k) == of(ranking, right, k)


@given(rankings, rights, st.integers(1, 15), st.permutations("abcdefgh"))
def test_names_do_not_matter(ranking: list[str], right: set[str], k: int, other: str) -> None:
    renamed = dict(zip("abcdefgh", other, strict=True))
    for name in NAMES:
        of = getattr(metrics, name)
        anew = of([renamed[one] for one in ranking], {renamed[one] for one in right}, k)
        assert anew == of(ranking, right, k)


@given(rankings.flatmap(st.permutations), rights)
def test_order_matters_only_where_it_should(ranking: list[str], right: set[str]) -> None:
    ordered, whole = sorted(ranking), len(ranking) or 1
    for name in ("hit_rate", "recall", "precision"):
        of = getattr(metrics, name)
        assert of(ranking, right, whole) == of(ordered, right, whole)
    assert metrics.precision_retrieved(ranking, right) == metrics.precision_retrieved(
        ordered, right
    )


def test_a_set_of_cases_comes_to_its_means() -> None:
    found = CaseResult(
        case(expected_lines=(("a.md", 7),), expected_paths=("a.md", "b.md")),
        ranking=(("x.md", 1), ("a.md", 3), ("a.md", 7)),
        returned=4,
        latency_ms=10,
        tokens=100,
        gaps=1,
    )
    failed = CaseResult(case(), latency_ms=30, tokens=20, error="not_found")
    figures = summary([found, failed], 5)
    expected = {
        "hit_rate@5": 1 / 2,
        "recall@5": 1 / 4,
        "mrr@5": 1 / 4,
        "ndcg@5": GAIN[1] / sum(GAIN[:2]) / 2,
        "precision@5": 1 / 10,
        "precision_norm@5": (1 / 10) / (3 / 10),
        "precision@retrieved": 1 / 4,
        "page_hit@5": 1 / 2,
        "page_mrr@5": 1 / 4,
        "sec_hit@5": 1,
        "sec_mrr@5": 1 / 3,
        "gap_rate": 1 / 2,
        "conflict_rate": 0,
        "needs_followup_rate": 1 / 2,
        "blocked_rate": 0,
        "error_rate": 1 / 2,
        "forbidden_hit_rate": 0,
        "tokens_per_query": 60,
        "p50_latency_ms": 10,
        "p95_latency_ms": 30,
    }
    assert figures == pytest.approx(expected)
    assert list(figures) == list(expected)


def test_page_ranks_count_files_and_mrr_counts_rows() -> None:
    one = CaseResult(case(), ranking=(("x.md", 1), ("x.md", 2), ("a.md", 1)), returned=3)
    figures = summary([one], 2)
    assert (figures["mrr@2"], figures["page_mrr@2"]) == (0, 1 / 2)


def test_the_status_of_a_result_follows_from_what_it_says() -> None:
    assert integration_status(CaseResult(case(), error="not_found")) is None
    assert integration_status(CaseResult(case())) == "blocked"
    assert integration_status(CaseResult(case(), returned=1)) == "ready"
    for more in ({"gaps": 1}, {"conflicts": 1}, {"unscored": True}):
        assert integration_status(CaseResult(case(), returned=1, **more)) == "needs_followup"


def test_a_forbidden_file_counts_wherever_it_stands() -> None:
    rows = tuple((f"{n}.md", 1) for n in range(50))
    one = CaseResult(case(forbidden_paths=("49.md",)), ranking=rows, returned=50)
    assert summary([one], 5)["forbidden_hit_rate"] == 1


def test_what_the_cache_did_is_told_where_searches_tell_it() -> None:
    told = [("miss", 0.0), ("exact", 30.0), ("exact", 10.0), ("bypass", 0.0)]
    figures = summary([CaseResult(case(), cache=mode, saved_ms=ms) for mode, ms in told], 5)
    assert figures["sem_cache_exact_rate"] == 1 / 2
    assert figures["sem_cache_semantic_rate"] == 0
    assert (figures["sem_cache_saved_ms"], figures["sem_cache_saved_ms_per_query"]) == (40, 10)


# --- paired ---------------------------------------------------------------------------------

figures = st.lists(st.tuples(*[st.floats(0, 1, width=16)] * 2), min_size=1, max_size=30)


@given(figures)
def test_exchanging_the_two_gives_the_negative(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    one, other = compare(ours, theirs), compare(theirs, ours)
    assert (one.difference, one.low, one.high) == (-other.difference, -other.high, -other.low)
    assert one.p == other.p
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)


@given(figures)
def test_a_comparison_is_in_order(pairs: list[tuple[float, float]]) -> None:
    one = compare(*zip(*pairs, strict=True))
    assert one.low <= one.high
    assert 0 < one.p <= 1
    assert one.wins + one.losses + one.ties == len(pairs)


def test_nothing_differs_between_a_configuration_and_itself() -> None:
    same = [0.0, 1.0, 0.5] * 40
    one = compare(same, same)
    assert (one.difference, one.low, one.high, one.p) == (0, 0, 0, 1)
    assert (one.wins, one.losses, one.ties) == (0, 0, 120)


def test_less_is_better_where_it_is() -> None:
    one = compare([10, 10, 10], [20, 20, 5], more_is_better=False)
    assert (one.difference, one.wins, one.losses) == (-5, 2, 1)


def test_few_signs_are_flipped_in_every_way() -> None:
    assert sign_flip_p([1, 1, 1]) == 2 / 8
    assert sign_flip_p([1, 1, 1, 0, 0]) == 2 / 8
    assert sign_flip_p([3, -1]) == 1
    assert sign_flip_p([0.1] * 10) == 2 / 1024


def test_many_signs_come_near_to_every_way() -> None:
    offset_maps = sum(math.comb(20, heads) for heads in range(21) if abs(2 * heads - 20) >= 10)
    assert sign_flip_p([1.0] * 15 + [-1.0] * 5) == pytest.approx(offset_maps / 2**20, abs=0.01)
    assert sign_flip_p([1.0] * 40) < 0.001


def test_the_interval_is_about_as_wide_as_theory_says() -> None:
    low, high = interval([1.0] * 40 + [0.0] * 360)
    deviation = math.sqrt(0.1 * 0.9 / 400)
    assert low == pytest.approx(0.1 - 1.96 * deviation, abs=0.004)
    assert high == pytest.approx(0.1 + 1.96 * deviation, abs=0.004)
    assert interval([0.25] * 7) == (0.25, 0.25)
