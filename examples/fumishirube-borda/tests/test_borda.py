from __future__ import annotations

from dataclasses import replace

from fumishirube_borda import Borda

from fumishirube import Outcome, Query, Run
from fumishirube.testing import FuserContract, MemoryCorpus, passage, ranking

A, B, C = (passage(f"{name}.md", body=name) for name in "abc")
CORPUS = MemoryCorpus([A, B, C])


class TestBorda(FuserContract):
    stage = Borda()


class TestBordaWithOtherWeights(FuserContract):
    stage = Borda(query_weight=0.1, term_weight=2.5)


def test_each_required_term_is_a_run_of_its_own() -> None:
    plan = Borda().plan(Query("休暇の例外", required=("休暇", "例外", "休暇")), CORPUS)
    assert [(run.name, run.query.text, run.weight) for run in plan] == [
        ("query", "休暇の例外", 1.0),
        ("term 休暇", "休暇", 0.5),
        ("term 例外", "例外", 0.5),
    ]


def test_places_count_and_scores_do_not() -> None:
    query = Query("a")
    strong = ranking([A, B, C])
    strong = strong._replace(hits=tuple(h._replace(score=h.score * 1000) for h in strong.hits))
    outcomes = [
        Outcome(Run("one", query), strong),
        Outcome(Run("two", query), ranking([C, B])),
        Outcome(Run("three", query), ranking([B])),
    ]
    fused = Borda().fuse(query, outcomes, CORPUS)
    assert [(h.passage.path, h.score) for h in fused.hits] == [
        ("b.md", 7.0),
        ("c.md", 4.0),
        ("a.md", 3.0),
    ]


def test_a_weight_multiplies_the_points_of_a_run() -> None:
    query = Query("a")
    heavy = [
        Outcome(Run("one", query), ranking([A, B])),
        Outcome(Run("two", replace(query, text="b"), weight=3.0), ranking([B, A])),
    ]
    fused = Borda().fuse(query, heavy, CORPUS)
    assert [(h.passage.path, h.score) for h in fused.hits] == [("b.md", 7.0), ("a.md", 5.0)]
