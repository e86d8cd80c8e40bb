"""Reciprocal rank fusion by hand.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods" (SIGIR 2009): RRFscore(d) is the sum over the rankings of 1 / (k + rank of d),
with k = 60. Weights of rankings multiply their part.
"""

from __future__ import annotations

import pytest

from fumishirube import (
    Hit,
    LeftOut,
    Outcome,
    Query,
    Ranking,
    Run,
    Stage,
    fused_ranking,
    merge_rankings,
)
from fumishirube.agreed_names import RRF_K
from fumishirube.engine.rankings import merge_by_rank, united_hit
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.fused_scores import normal, top_score
from fumishirube_stages.fusers.alternatives import Alternatives
from fumishirube_stages.fusers.decompose import Decompose
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.fusers.rrf import Rrf

A, B, C, D = (passage(f"{name}.md", body=name) for name in "abcd")
QUERY = Query("x")
CORPUS = MemoryCorpus()


def outcome(*hits: Hit, weight: float = 1.0, name: str = "run") -> Outcome:
    return Outcome(Run(name, QUERY, weight), Ranking(hits))


def rows(hits: tuple[Hit, ...]) -> list[tuple[str, float]]:
    return [(hit.passage.path, round(hit.score, 12)) for hit in hits]


FIRST = outcome(Hit(A, 9.0), Hit(B, 8.0), Hit(C, 7.0))
SECOND = outcome(Hit(B, 0.3), Hit(D, 0.2), Hit(A, 0.1))


def test_the_worked_example_of_the_paper() -> None:
    # a: ranks 1 and 3; b: 2 and 1; c: 3; d: 2.
    expected = [
        ("b.md", round(1 / 62 + 1 / 61, 12)),
        ("a.md", round(1 / 61 + 1 / 63, 12)),
        ("d.md", round(1 / 62, 12)),
        ("c.md", round(1 / 63, 12)),
    ]
    assert rows(Rrf().fuse(QUERY, [FIRST, SECOND], CORPUS).hits) == expected
    assert rows(merge_by_rank([FIRST, SECOND]).hits) == expected
    assert Rrf().k == RRF_K == 60
    assert merge_rankings([FIRST, SECOND]) == merge_rankings([FIRST, SECOND], 60)


def test_another_k_and_weights_of_runs() -> None:
    # k = 1; the second run weighs 3: a 1/2 + 3/4, b 1/3 + 3/2, c 1/4, d 3/3.
    heavy = outcome(*SECOND.ranking.hits, weight=3.0)
    expected = [
        ("b.md", round(1 / 3 + 3 / 2, 12)),
        ("a.md", 1.25),
        ("d.md", 1.0),
        ("c.md", 0.25),
    ]
    assert rows(Rrf(k=1).fuse(QUERY, [FIRST, heavy], CORPUS).hits) == expected


@pytest.mark.parametrize(
    ("stage", "name"),
    [(Rrf, "k"), (Alternatives, "k"), (RequiredTerms, "k"), (Decompose, "rrf_k")],
)
def test_k_is_from_one_to_a_million(stage: type[Stage], name: str) -> None:
    for k in (1, 1_000_000):
        assert getattr(stage.model_validate({name: k}), name) == k
    for k in (0, 1_000_001, 10**400):
        with pytest.raises(ValueError, match="Input should be"):
            stage.model_validate({name: k})


def test_the_query_is_the_only_run_and_a_single_ranking_stays_as_it_is() -> None:
    (run,) = Rrf().plan(QUERY, CORPUS)
    assert (run.name, run.query, run.weight) == ("query", QUERY, 1.0)
    assert Rrf().fuse(QUERY, [FIRST], CORPUS) is FIRST.ranking
    assert merge_by_rank([FIRST]) is FIRST.ranking


def test_what_is_merged_keeps_the_best_score_that_a_run_gave() -> None:
    merged = merge_rankings([FIRST, SECOND], 60)
    assert [(m.hit.passage.path, m.best) for m in merged] == [
        ("b.md", 8.0),
        ("a.md", 9.0),
        ("d.md", 0.2),
        ("c.md", 7.0),
    ]
    turned = {m.hit.passage.path: m.best for m in merge_rankings([SECOND, FIRST], 60)}
    assert turned == {"b.md": 8.0, "a.md": 9.0, "d.md": 0.2, "c.md": 7.0}


def test_equal_ranks_are_ordered_by_score_then_by_path() -> None:
    merged = merge_rankings([outcome(Hit(B, 1.0)), outcome(Hit(A, 1.0)), outcome(Hit(C, 2.0))], 60)
    assert [m.hit.passage.path for m in merged] == ["c.md", "a.md", "b.md"]


def test_a_united_hit_is_the_better_one_with_the_details_of_both() -> None:
    low = Hit(A, 1.0, frozenset({"x"}), 0.9, ("p", "q"))
    high = Hit(A, 2.0, frozenset({"y"}), 0.4, ("q", "r"))
    for united in (united_hit(low, high), united_hit(high, low)):
        assert united == Hit(A, 2.0, frozenset({"x", "y"}), 0.9, ("q", "r", "p"))
    assert united_hit(low, low) is low


def test_a_united_hit_is_the_better_one_itself_when_the_other_adds_nothing() -> None:
    better = Hit(A, 2.0, frozenset({"x"}), 0.5, ("p",))
    assert united_hit(better, better._replace(score=1.0)) is better
    assert united_hit(better._replace(score=1.0), better) is better
    assert united_hit(better, better._replace(score=1.0, coverage=0.6)).coverage == 0.6
    marked = united_hit(better, better._replace(score=1.0, labels=frozenset({"y"})))
    assert marked.labels == {"x", "y"}
    found = united_hit(better, better._replace(score=1.0, matched=("q",)))
    assert found.matched == ("p", "q")


def test_of_equal_scores_the_first_is_united_with_the_second() -> None:
    first = Hit(A, 1.0, signals={"from": 1.0})
    second = Hit(A, 1.0, frozenset({"y"}), signals={"from": 2.0})
    assert united_hit(first, second).signals == {"from": 1.0}


def test_a_fused_ranking_is_ordered_and_names_what_no_run_brought() -> None:
    gone, late = LeftOut("d.md", 1, "late"), LeftOut("a.md", 1, "late")
    one = Outcome(Run("1", QUERY), Ranking((), (gone, late), {"who": "1", "one": 1}))
    two = Outcome(Run("2", QUERY), Ranking((), (gone,), {"who": "2", "two": 2}))
    fused = fused_ranking([Hit(B, 1.0), Hit(A, 2.0)], [one, two])
    assert rows(fused.hits) == [("a.md", 2.0), ("b.md", 1.0)]
    assert fused.left_out == (gone,)
    assert fused.diagnostics == {"who": "1", "one": 1, "two": 2}


def test_the_top_score_is_that_of_the_best_first_hit() -> None:
    several = Ranking((Hit(A, 2.0), Hit(B, 1.0)))
    assert top_score(several) == 2.0
    assert top_score(Ranking(), several, Ranking((Hit(B, 3.0),))) == 3.0
    assert top_score(Ranking()) == top_score() == 0.0


def test_a_share_of_the_top() -> None:
    assert normal(3.0, 4.0) == 0.75
    assert normal(3.0, 0.5) == 6.0
    assert normal(3.0, 0.0) == 0.0
    assert normal(3.0, -1.0) == 0.0
