"""Refiners, each wrong in one way that their contract names."""

from __future__ import annotations

import math
from typing import Any

from fumishirube import Corpus, Hit, LeftOut, Query, Ranking, Stage
from fumishirube.testing import RefinerContract
from fumishirube.testing.samples import PASSAGES


class Backwards(Stage):
    """Puts the last first."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=ranking.hits[::-1])


class TestBackwards(RefinerContract):
    breaks = ()
    stage = Backwards()


class _Filling(Backwards):
    """Fills an empty ranking."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking if ranking.hits else Ranking((Hit(PASSAGES[0], 1.0),))


class TestFilling(RefinerContract):
    breaks = ("test_no_hits_stay_no_hits",)
    stage = _Filling()


class _Lonesome(Backwards):
    """Drops a hit that is by itself."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking if len(ranking.hits) > 1 else ranking._replace(hits=())


class TestLonesome(RefinerContract):
    breaks = ("test_a_single_hit_is_not_lost",)
    stage = _Lonesome()


class _Inventing(Backwards):
    """Gives a passage another title."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        hits = [hit._replace(passage=hit.passage._replace(title="!")) for hit in ranking.hits]
        return ranking._replace(hits=tuple(hits))


class TestInventing(RefinerContract):
    breaks = ("test_no_hit_is_invented",)
    stage = _Inventing()


class _Doubling(Backwards):
    """Repeats the first hit."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=(*ranking.hits[:1], *ranking.hits))


class _Listing(Backwards):
    """Lists a file as left out that the manual lacks."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        absent = LeftOut("absent.md", 1, "lost")
        return ranking._replace(left_out=(*ranking.left_out, absent))


class TestListing(RefinerContract):
    breaks = ("test_no_hit_is_invented",)
    stage = _Listing()


class TestDoubling(RefinerContract):
    breaks = ("test_no_hit_comes_twice",)
    stage = _Doubling()


class _Dropping(Backwards):
    """Drops the last of ten."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        keep = 9 if len(ranking.hits) == 10 and query.text == "password reset" else None
        return ranking._replace(hits=ranking.hits[:keep])


class TestDropping(RefinerContract):
    # The same ranking is refined when time is up.
    breaks = ("test_dropped_hits_are_left_out_by_name", "test_equal_scores_are_refined")
    breaks += ("test_a_spent_budget_is_no_error",)
    stage = _Dropping()


class _Reasonless(Backwards):
    """Drops hits without a reason."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        even = len({hit.score for hit in ranking.hits}) < len(ranking.hits)
        if even or not ranking.left_out or query.text != "有給休暇":
            return ranking
        last = ranking.hits[-1].passage
        left = LeftOut(last.path, last.start_line, "")
        return ranking._replace(hits=ranking.hits[:-1], left_out=(*ranking.left_out, left))


class TestReasonless(RefinerContract):
    breaks = ("test_dropped_hits_are_left_out_by_name", "test_a_spent_budget_is_no_error")
    stage = _Reasonless()


class _Amnesiac(Backwards):
    """Forgets what was left out."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(left_out=())


class TestAmnesiac(RefinerContract):
    breaks = ("test_hits_left_out_before_stay_left_out",)
    stage = _Amnesiac()


class _Noteless(Backwards):
    """Takes diagnostics of its own only."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(diagnostics={"mine": 1})


class TestNoteless(RefinerContract):
    breaks = ("test_diagnostics_of_earlier_stages_remain",)
    stage = _Noteless()


class _Infinite(Backwards):
    """Holds the first for infinitely good."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        hits = [hit.scored(math.inf) for hit in ranking.hits]
        return ranking._replace(hits=tuple(hits))


class TestInfinite(RefinerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "a score is not a finite number"
    stage = _Infinite()


class _Noticing(Backwards):
    """Adds a diagnostic that is no JSON."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        diagnostics: dict[str, Any] = {**ranking.diagnostics, "mine": frozenset({"a"})}
        return ranking._replace(diagnostics=diagnostics)


class TestNoticing(RefinerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "diagnostics are JSON"
    stage = _Noticing()


class _Labelling(Backwards):
    """Makes labels a set."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        labels: Any = {"last"}
        hits = [hit._replace(labels=labels | hit.labels) for hit in ranking.hits]
        return ranking._replace(hits=tuple(hits))


class TestLabelling(RefinerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "labels are a frozenset"
    stage = _Labelling()


class _Explaining(Backwards):
    """Gives reasons of several parts."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        reason: Any = ("low", 0.5)
        left = [LeftOut(*hit.passage.key, reason) for hit in ranking.hits[1:]]
        return ranking._replace(hits=ranking.hits[:1], left_out=(*ranking.left_out, *left))


class TestExplaining(RefinerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "what is left out has a reason"
    stage = _Explaining()


class _Noting(Backwards):
    """Writes into the diagnostics that it is given."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        if isinstance(ranking.diagnostics, dict):
            ranking.diagnostics["mine"] = 1
        return ranking._replace(diagnostics={**ranking.diagnostics})


class TestNoting(RefinerContract):
    breaks = ("test_the_ranking_is_not_changed",)
    stage = _Noting()


class _Modest(Backwards):
    """Does as it is asked, without a word."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        limit = query.limit if query.text == "休暇" else None
        return ranking._replace(hits=ranking.hits[:limit])


class TestModest(RefinerContract):
    breaks = ("test_any_limit_is_accepted",)
    stage = _Modest()


class _Ranging(Backwards):
    """Divides by the range of scores."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        scores = [hit.score for hit in ranking.hits]
        width = max(scores) - min(scores) if len(scores) > 1 and corpus.size == 10 else 1
        return ranking._replace(hits=tuple(hit.scored(hit.score / width) for hit in ranking.hits))


class TestRanging(RefinerContract):
    breaks = ("test_equal_scores_are_refined",)
    stage = _Ranging()


class _Hurried(Backwards):
    """Drops all when time is up."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=() if query.budget.spent else ranking.hits)


class TestHurried(RefinerContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Hurried()


class _Merging(Backwards):
    """Keeps one passage of each title."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        hits = {hit.passage.title: hit for hit in ranking.hits}
        return ranking._replace(hits=tuple(hits.values()))


class TestMerging(RefinerContract):
    breaks = ("test_similar_passages_stay_apart",)
    stage = _Merging()

    def test_a_large_ranking_is_refined(self) -> None:
        """Its passages have no titles: that is another matter."""


class _Bare(Backwards):
    """Makes hits anew."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=tuple(Hit(h.passage, h.score, h.labels) for h in ranking.hits))


class TestBare(RefinerContract):
    breaks = ("test_hits_keep_the_details_of_the_scorers",)
    stage = _Bare()


class _Overwhelmed(Backwards):
    """Drops what is past the hundredth."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=ranking.hits[:100])


class TestOverwhelmed(RefinerContract):
    breaks = ("test_a_large_ranking_is_refined",)
    stage = _Overwhelmed()
