"""The contract of fusers."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fumishirube import Budget, Corpus, Fuser, LeftOut, Outcome, Passage, Query, Ranking
from fumishirube.engine.stage_results import checked_hits, checked_plan
from fumishirube.errors import Cancelled
from fumishirube.testing.contract import SearchContract
from fumishirube.testing.corpora import MemoryCorpus, passage, ranking
from fumishirube.testing.samples import PASSAGES, PLAIN_QUERY

_LARGE = 1_000
_SHOWN = 9
_ELSEWHERE = LeftOut("elsewhere.md", 3, "left out by a run")

Bringing = Callable[[int], Ranking]


class FuserContract(SearchContract[Fuser]):
    """A plan of named runs, and one ranking of their hits and no others."""

    protocol = Fuser

    def exercise(self, stage: Fuser, folder: Path) -> object:
        """Plan every query, and fuse rankings that differ from run to run."""
        corpus = self.corpus()
        return [
            (tuple(stage.plan(query, corpus)), _fused(stage, query, corpus, _turned))
            for query in self._queries()
        ]

    def test_results_have_the_types_of_their_kind(self) -> None:
        """A search refuses plans and rankings with queries, labels or reasons of other types."""
        corpus = self.corpus()
        for query in self._queries():
            checked_plan(self.make().plan(query, corpus))
            checked_hits(_fused(self.make(), query, corpus, _turned))

    def test_a_plan_has_runs_with_names_of_their_own(self) -> None:
        """Traces identify runs by name."""
        corpus = self.corpus()
        for query in self._queries():
            names = [run.name for run in self.make().plan(query, corpus)]
            assert names, f"{query.text!r}: no run, so there are never hits"
            assert all(names), f"{query.text!r}: a run without a name"
            assert len(names) == len(set(names)), f"{query.text!r}: names repeat in {names}"

    def test_weights_are_finite_and_not_negative(self) -> None:
        """A weight is the influence of a run."""
        corpus = self.corpus()
        for query in self._queries():
            for run in self.make().plan(query, corpus):
                assert math.isfinite(run.weight), f"{run.name}: {run.weight}"
                assert run.weight >= 0, f"{run.name}: {run.weight}"

    def test_runs_share_the_budget_and_the_state_of_the_query(self) -> None:
        """Otherwise a run does not stop when the caller leaves; use ``dataclasses.replace``."""
        corpus = self.corpus()
        for query in self._queries():
            for run in self.make().plan(query, corpus):
                assert run.query.budget is query.budget, f"{run.name} has a budget of its own"
                assert run.query.state is query.state, f"{run.name} has a state of its own"

    def test_an_empty_corpus_can_be_planned_for(self) -> None:
        """A manual without sections is no error."""
        for query in self._queries():
            fused = _fused(self.make(), query, MemoryCorpus(), lambda _at: Ranking())
            assert not fused.hits, f"{query.text!r}: hits without sections"

    def test_runs_without_hits_fuse_to_no_hits(self) -> None:
        """Runs without hits fuse to a ranking without hits."""
        for query, fused in self._rankings(lambda _at: Ranking()):
            assert not fused.hits, f"{query.text!r}: hits without sections"

    def test_a_single_hit_comes_through(self) -> None:
        """One passage, returned by every run, is the ranking."""
        only = PASSAGES[0]
        fused = _fused(self.make(), PLAIN_QUERY, self.corpus(), lambda _at: ranking([only]))
        assert [hit.passage for hit in fused.hits] == [only], "the only hit is lost"

    def test_runs_that_agree_keep_their_order(self) -> None:
        """If all runs, or the only one, return the same ranking, its order is the result."""
        fused = _fused(self.make(), PLAIN_QUERY, self.corpus(), lambda _at: ranking(PASSAGES))
        order = [hit.passage.key for hit in fused.hits]
        assert order == [item.key for item in PASSAGES], f"the order became {order}"

    def test_no_passage_is_invented_or_changed(self) -> None:
        """Every hit of the fused ranking is a hit of a run."""
        there = {item.key: item for item in PASSAGES}
        for query, fused in self._rankings(_turned):
            for hit in fused.hits:
                assert there.get(hit.passage.key) == hit.passage, f"{query.text!r}: {hit.passage}"

    def test_no_passage_comes_twice(self) -> None:
        """A passage that several runs return is one hit."""
        for query, fused in self._rankings(_turned):
            _keys(query, fused)

    def test_scores_are_finite_and_never_rise(self) -> None:
        """Best first."""
        for query, fused in self._rankings(_turned):
            scores = [hit.score for hit in fused.hits]
            assert all(map(math.isfinite, scores)), f"{query.text!r}: {scores}"
            assert scores == sorted(scores, reverse=True), f"{query.text!r}: {scores}"

    def test_the_outcomes_are_not_changed(self) -> None:
        """The trace records the outcomes as the runs returned them."""
        corpus = self.corpus()
        for query in self._queries():
            outcomes = _outcomes(self.make(), query, corpus, _turned)
            self.make().fuse(query, outcomes, corpus)
            assert outcomes == _outcomes(self.make(), query, corpus, _turned), f"{query.text!r}"

    def test_runs_may_bring_different_numbers_of_hits(self) -> None:
        """Runs may return many hits, few or none; none is added or doubled."""
        for query, fused in self._rankings(lambda at: ranking(PASSAGES[: at * 2])):
            _keys(query, fused)

    def test_a_plan_that_was_cut_short_is_fused(self) -> None:
        """When time runs out, only the first runs of the plan have an outcome."""
        there = {item.key for item in PASSAGES}
        corpus = self.corpus()
        for query in self._queries():
            outcomes = _outcomes(self.make(), query, corpus, _turned)
            for number in range(1, len(outcomes)):
                fused = self.make().fuse(query, outcomes[:number], corpus)
                invented = {*_keys(query, fused)} - there
                assert not invented, f"{query.text!r}: {invented} are invented"

    def test_an_order_of_all_runs_stays(self) -> None:
        """If each run returns the beginning of one order, the fused ranking has that order."""
        for query, fused in self._rankings(_shorter):
            order = [hit.passage.key for hit in fused.hits]
            expected = [item.key for item in PASSAGES if item.key in order]
            assert order == expected, f"{query.text!r}: the order became {order}"

    def test_dropped_hits_are_left_out_by_name(self) -> None:
        """Every dropped hit of a run has a reason in ``left_out``."""
        for query, fused in self._rankings(_turned):
            outcomes = _outcomes(self.make(), query, self.corpus(), _turned)
            brought = {hit.passage.key for outcome in outcomes for hit in outcome.ranking.hits}
            _check_accounted(query, fused, brought)

    def test_hits_left_out_by_runs_stay_left_out(self) -> None:
        """What all runs left out stays in ``left_out``, with its reason."""
        for query, fused in self._rankings(lambda at: _turned(at)._replace(left_out=(_ELSEWHERE,))):
            assert _ELSEWHERE in fused.left_out, f"{query.text!r}: {fused.left_out}"

    def test_a_spent_budget_is_no_error(self) -> None:
        """When time runs out, the hits so far are fused; a cancelled caller gets ``Cancelled``."""
        expired, aborted = Budget.of(0), Budget()
        aborted.cancelled.set()
        for query in self._queries():
            _fused(self.make(), replace(query, budget=expired), self.corpus(), _turned)
            with suppress(Cancelled):
                _fused(self.make(), replace(query, budget=aborted), self.corpus(), _turned)

    def test_large_rankings_are_fused(self) -> None:
        """A thousand hits a run are fused or left out, in their order if the runs agree."""
        many = [passage(f"{n % 50:02}.md", n + 1, body=f"password {n}") for n in range(_LARGE)]
        fused = _fused(self.make(), PLAIN_QUERY, MemoryCorpus(many), lambda _at: ranking(many))
        order = [hit.passage.key for hit in fused.hits]
        brought = [item.key for item in many]
        assert order == brought[: len(order)], "the order is lost"
        _check_accounted(PLAIN_QUERY, fused, {*brought})

    def _rankings(self, bringing: Bringing) -> list[tuple[Query, Ranking]]:
        """Return the fused ranking of each query, with what brings the ranking of each run."""
        corpus = self.corpus()
        return [(q, _fused(self.make(), q, corpus, bringing)) for q in self._queries()]


def _keys(query: Query, fused: Ranking) -> list[tuple[str, int]]:
    """Return the passages of a ranking, in order, each of which is in it once."""
    keys = [hit.passage.key for hit in fused.hits]
    assert len(keys) == len(set(keys)), f"{query.text!r}: a passage comes twice"
    return keys


def _check_accounted(query: Query, fused: Ranking, brought: set[tuple[str, int]]) -> None:
    there = {hit.passage.key for hit in fused.hits}
    named = {(left.path, left.start_line) for left in fused.left_out if left.reason.strip()}
    lost = sorted(brought - there - named)
    assert not lost, f"{query.text!r}: {lost[:_SHOWN]} are missing; add a LeftOut for each"


def _turned(at: int) -> Ranking:
    """Return a ranking that differs from run to run: the passages, rotated."""
    places = [(place + 3 * at) % len(PASSAGES) for place in range(len(PASSAGES))]
    turned: list[Passage] = [PASSAGES[place] for place in places]
    return ranking(turned[: len(turned) - at])


def _shorter(at: int) -> Ranking:
    """Return a ranking of one order, but shorter from run to run."""
    return ranking(PASSAGES[: max(1, len(PASSAGES) - at)])


def _outcomes(stage: Fuser, query: Query, corpus: Corpus, bringing: Bringing) -> list[Outcome]:
    plan = stage.plan(query, corpus)
    return [Outcome(run, bringing(at)) for at, run in enumerate(plan)]


def _fused(stage: Fuser, query: Query, corpus: Corpus, bringing: Bringing) -> Ranking:
    return stage.fuse(query, _outcomes(stage, query, corpus, bringing), corpus)
