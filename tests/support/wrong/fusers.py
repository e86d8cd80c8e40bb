"""Fusers, each wrong in one way that their contract names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fumishirube import Budget, Corpus, Hit, LeftOut, Outcome, Query, Ranking, Run, Stage
from fumishirube.testing import FuserContract
from fumishirube.testing.samples import PASSAGES


class Places(Stage):
    """Runs the query and each required term; adds up what each place is worth."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        terms = dict.fromkeys(query.required)
        alone = [Run(f"term {t}", replace(query, text=t, required=()), 0.5) for t in terms]
        return [Run("query", query), *alone]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        best: dict[tuple[str, int], Hit] = {}
        left: dict[LeftOut, None] = {}
        for run, ranking in outcomes:
            left |= dict.fromkeys(ranking.left_out)
            for place, hit in enumerate(ranking.hits, start=1):
                before = best.get(hit.passage.key, hit.scored(0.0))
                best[hit.passage.key] = before.scored(before.score + run.weight / place)
        return Ranking(tuple(sorted(best.values(), key=Hit.sort_key)), tuple(left))


class TestPlaces(FuserContract):
    breaks = ()
    stage = Places()


class _Nameless(Places):
    """Gives its runs one name."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [replace(run, name="run") for run in super().plan(query, corpus)]


class TestNameless(FuserContract):
    breaks = ("test_a_plan_has_runs_with_names_of_their_own",)
    stage = _Nameless()


class _Planless(Places):
    """Plans nothing for an empty query."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return super().plan(query, corpus) if query.text else ()


class TestPlanless(FuserContract):
    # Without a run nothing is fused.
    breaks = (
        "test_a_plan_has_runs_with_names_of_their_own",
        "test_hits_left_out_by_runs_stay_left_out",
        "test_results_have_the_types_of_their_kind",
    )
    stage = _Planless()


class _Demanding(Places):
    """Plans with lists of terms."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        must: Any = [*query.must]
        runs = super().plan(query, corpus)
        return [replace(run, query=replace(run.query, must=must)) for run in runs]


class TestDemanding(FuserContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "a query has texts"
    stage = _Demanding()


class _Spanning(Places):
    """Makes matched spans a list."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        spans: Any = ["leave"]
        return fused._replace(hits=tuple(hit._replace(matched=spans) for hit in fused.hits))


class TestSpanning(FuserContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "matched spans are texts"
    stage = _Spanning()


class _Negative(Places):
    """Gives a weight below zero to a run that counts for nothing."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [*super().plan(query, corpus), Run("against", query, -1e-12)]


class TestNegative(FuserContract):
    breaks = ("test_weights_are_finite_and_not_negative",)
    stage = _Negative()


class _Timeless(Places):
    """Gives its runs all the time there is."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        runs = super().plan(query, corpus)
        return [replace(run, query=replace(run.query, budget=Budget())) for run in runs]


class TestTimeless(FuserContract):
    breaks = ("test_runs_share_the_budget_and_the_state_of_the_query",)
    stage = _Timeless()


class _Averaging(Places):
    """Divides by the number of sections."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [
            replace(r, weight=r.weight * (10 / corpus.size)) for r in super().plan(query, corpus)
        ]


class TestAveraging(FuserContract):
    breaks = ("test_an_empty_corpus_can_be_planned_for",)
    stage = _Averaging()


class _Consoling(Places):
    """Gives something when nothing was found."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused if fused.hits or not corpus.size else Ranking((Hit(PASSAGES[0], 1.0),))


class TestConsoling(FuserContract):
    # Runs may bring nothing in other tests as well.
    breaks = ("test_runs_without_hits_fuse_to_no_hits",)
    stage = _Consoling()


class _Sociable(Places):
    """Drops a hit that is by itself."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused if len(fused.hits) > 1 else fused._replace(hits=())


class TestSociable(FuserContract):
    breaks = ("test_a_single_hit_comes_through",)
    stage = _Sociable()


class _Contrary(Places):
    """Turns round what a single run brought."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        if len(outcomes) > 1 or len(fused.hits) != 10 or query.text != "password":
            return fused
        scores = [hit.score for hit in fused.hits]
        turned = [hit.scored(s) for hit, s in zip(fused.hits[::-1], scores, strict=True)]
        return fused._replace(hits=tuple(turned))


class TestContrary(FuserContract):
    breaks = ("test_runs_that_agree_keep_their_order", "test_an_order_of_all_runs_stays")
    stage = _Contrary()


class _Rewriting(Places):
    """Gives passages other titles."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        if len(outcomes) == 1:
            return fused
        hits = [hit._replace(passage=hit.passage._replace(title="!")) for hit in fused.hits]
        return fused._replace(hits=tuple(hits))


class TestRewriting(FuserContract):
    breaks = ("test_no_passage_is_invented_or_changed",)
    stage = _Rewriting()


class _Joining(Places):
    """Puts rankings one after the other, where two runs bring all of the manual."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        if len(outcomes) != 2 or fused.left_out or _same(outcomes):
            return fused
        last = fused.hits[-1:]
        return fused._replace(hits=(*fused.hits, *last))


def _same(outcomes: Sequence[Outcome]) -> bool:
    """Tell whether the second run brings the beginning of the first."""
    one, other = ([hit.passage.key for hit in o.ranking.hits] for o in outcomes)
    return one[: len(other)] == other or other[: len(one)] == one


class TestJoining(FuserContract):
    # The plan of the query with several terms is cut to two runs in one of these.
    breaks = ("test_no_passage_comes_twice", "test_a_plan_that_was_cut_short_is_fused")
    stage = _Joining()


class _Rising(Places):
    """Gives scores that say less about the better."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused._replace(hits=tuple(h.scored(n) for n, h in enumerate(fused.hits)))


class TestRising(FuserContract):
    breaks = ("test_scores_are_finite_and_never_rise",)
    stage = _Rising()


class _Signing(Places):
    """Writes into the hits that runs brought."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        for outcome in outcomes:
            for hit in outcome.ranking.hits:
                hit.signals["fused"] = 1.0  # type: ignore[index]
        return super().fuse(query, outcomes, corpus)


class TestSigning(FuserContract):
    breaks = ("test_the_outcomes_are_not_changed",)
    stage = _Signing()


class _Even(Places):
    """Repeats a hit of runs that bring unequal numbers."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        first = outcomes[0].ranking.hits
        return fused if first or not fused.hits else fused._replace(hits=fused.hits[:1] * 2)


class TestEven(FuserContract):
    breaks = ("test_runs_may_bring_different_numbers_of_hits",)
    stage = _Even()


class _Expecting(Places):
    """Repeats a hit where it expected more runs."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        planned = len(self.plan(query, corpus))
        return fused if len(outcomes) == planned else fused._replace(hits=fused.hits[:1] * 2)


class TestExpecting(FuserContract):
    breaks = ("test_a_plan_that_was_cut_short_is_fused",)
    stage = _Expecting()


class _Fickle(Places):
    """Does not keep to what every run prefers, where there are several."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        if len(outcomes) == 1 or not _same(outcomes[:2]) or len(fused.hits) < 3:
            return fused
        first, second, *rest = fused.hits
        hits = (second.scored(first.score), first.scored(second.score), *rest)
        return fused._replace(hits=hits)


class TestFickle(FuserContract):
    breaks = ("test_an_order_of_all_runs_stays",)
    stage = _Fickle()


class _Dropping(Places):
    """Drops the last of several runs, without a word."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused if len(outcomes) == 1 else fused._replace(hits=fused.hits[:-1])


class TestDropping(FuserContract):
    breaks = ("test_dropped_hits_are_left_out_by_name",)
    stage = _Dropping()


class _Forgetting(Places):
    """Forgets what runs left out."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        return super().fuse(query, outcomes, corpus)._replace(left_out=())


class TestForgetting(FuserContract):
    breaks = ("test_hits_left_out_by_runs_stay_left_out",)
    stage = _Forgetting()


class _Raising(Places):
    """Fails when time is up."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        if query.budget.spent:
            raise TimeoutError
        return super().fuse(query, outcomes, corpus)


class TestRaising(FuserContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Raising()


class _Overwhelmed(Places):
    """Turns round what is long."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused if len(fused.hits) < 100 else fused._replace(hits=fused.hits[::-1])


class TestOverwhelmed(FuserContract):
    breaks = ("test_large_rankings_are_fused",)
    stage = _Overwhelmed()


class _Overflowing(Places):
    """Drops what is long, without a word."""

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        fused = super().fuse(query, outcomes, corpus)
        return fused if len(fused.hits) < 100 else fused._replace(hits=())


class TestOverflowing(FuserContract):
    breaks = ("test_large_rankings_are_fused",)
    says = "are missing; add a LeftOut for each"
    stage = _Overflowing()
