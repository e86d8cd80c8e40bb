"""The contract of refiners."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fumishirube import Budget, Corpus, Hit, LeftOut, Query, Ranking, Refiner
from fumishirube.engine.stage_results import checked_hits
from fumishirube.errors import Cancelled
from fumishirube.testing.contract import SearchContract
from fumishirube.testing.corpora import MemoryCorpus, passage, ranking
from fumishirube.testing.samples import PASSAGES

_LARGE = 1_000
_BEFORE = LeftOut("elsewhere.md", 3, "left out before")


class RefinerContract(SearchContract[Refiner]):
    """A refiner reorders or shortens: it adds no hits, and reports dropped ones."""

    protocol = Refiner

    def exercise(self, stage: Refiner, folder: Path) -> object:
        """Refine a ranking for every query."""
        return [stage.refine(_sample_ranking(), query, self.corpus()) for query in self._queries()]

    def test_results_have_the_types_of_their_kind(self) -> None:
        """A search refuses rankings with labels, reasons or diagnostics of other types."""
        for _, refined in self._refined():
            checked_hits(refined)

    def test_no_hits_stay_no_hits(self) -> None:
        """A ranking without hits stays without hits."""
        for query in self._queries():
            assert not self.make().refine(Ranking(), query, MemoryCorpus()).hits, f"{query.text!r}"

    def test_a_single_hit_is_not_lost(self) -> None:
        """One hit is returned, or reported as left out."""
        self._check_refined(ranking(PASSAGES[:1]), self.corpus())

    def test_no_hit_is_invented(self) -> None:
        """Every passage of the result was in the ranking, unchanged."""
        there = {item.key: item for item in PASSAGES}
        for query, refined in self._refined():
            for hit in refined.hits:
                assert there.get(hit.passage.key) == hit.passage, f"{query.text!r}: {hit.passage}"
            for out in refined.left_out:
                known = out == _BEFORE or any(
                    path == out.path and out.start_line in (None, line) for path, line in there
                )
                assert known, f"{query.text!r}: left out, but not in the ranking: {out}"

    def test_no_hit_comes_twice(self) -> None:
        """A passage is one hit."""
        for query, refined in self._refined():
            keys = [hit.passage.key for hit in refined.hits]
            assert len(keys) == len(set(keys)), f"{query.text!r}: a passage comes twice"

    def test_dropped_hits_are_left_out_by_name(self) -> None:
        """Every dropped hit has a reason in ``left_out``."""
        for _, refined in self._refined():
            _check_accounted(_sample_ranking(), refined)

    def test_hits_left_out_before_stay_left_out(self) -> None:
        """A refiner adds to the given ranking: ``ranking._replace(hits=…, left_out=…)``."""
        for query, refined in self._refined():
            assert _BEFORE in refined.left_out, f"{query.text!r}: {refined.left_out}"

    def test_diagnostics_of_earlier_stages_remain(self) -> None:
        """Diagnostics of earlier stages reach the answer."""
        for query, refined in self._refined():
            assert refined.diagnostics.get("before") == "noted", (
                f"{query.text!r}: {refined.diagnostics}"
            )

    def test_the_ranking_is_not_changed(self) -> None:
        """The trace records the ranking as it was."""
        for query in self._queries():
            before = _sample_ranking()
            self.make().refine(before, query, self.corpus())
            assert before == _sample_ranking(), f"{query.text!r}: the given ranking was changed"

    def test_any_limit_is_accepted(self) -> None:
        """A query may limit the hits to one, or to more than there are."""
        for limit in (None, 1, 3, 10_000):
            refined = self.make().refine(
                _sample_ranking(), Query("休暇", limit=limit), self.corpus()
            )
            _check_accounted(_sample_ranking(), refined)

    def test_equal_scores_are_refined(self) -> None:
        """A ranking with equal scores is refined like any other."""
        hits = tuple(hit._replace(score=1.0) for hit in _sample_ranking().hits)
        self._check_refined(Ranking(hits), self.corpus())

    def test_a_spent_budget_is_no_error(self) -> None:
        """When time runs out it refines or does not; a cancelled caller gets ``Cancelled``."""
        expired, aborted = Budget.of(0), Budget()
        aborted.cancelled.set()
        for query in self._queries():
            hurried = replace(query, budget=expired)
            _check_accounted(
                _sample_ranking(), self.make().refine(_sample_ranking(), hurried, self.corpus())
            )
            with suppress(Cancelled):
                self.make().refine(_sample_ranking(), replace(query, budget=aborted), self.corpus())

    def test_similar_passages_stay_apart(self) -> None:
        """Sections with the same words in many files are told apart by path and line."""
        alike = [passage(f"{n}.md", 1, "休暇", "有給休暇") for n in range(9)]
        self._check_refined(ranking(alike), MemoryCorpus(alike))

    def test_hits_keep_the_details_of_the_scorers(self) -> None:
        """Coverage, matched spans and signals are unchanged; marks are only added."""
        for query, refined in self._refined():
            by_key = {hit.passage.key: hit for hit in _sample_ranking().hits}
            for hit in refined.hits:
                before = by_key[hit.passage.key]
                assert _scorer_details(hit) == _scorer_details(before), f"{query.text!r}: {hit}"
                assert hit.labels >= before.labels, f"{query.text!r}: {hit.labels}"

    def test_a_large_ranking_is_refined(self) -> None:
        """A thousand hits are refined, and each is returned or left out."""
        many = [passage(f"{n % 50}.md", n + 1, body=f"休暇 {n}") for n in range(_LARGE)]
        before = ranking(many)
        _check_accounted(before, self.make().refine(before, Query("休暇"), MemoryCorpus(many)))

    def _check_refined(self, before: Ranking, corpus: Corpus) -> None:
        for query in self._queries():
            _check_accounted(before, self.make().refine(before, query, corpus))

    def _refined(self) -> list[tuple[Query, Ranking]]:
        corpus = self.corpus()
        return [(q, self.make().refine(_sample_ranking(), q, corpus)) for q in self._queries()]


def _sample_ranking() -> Ranking:
    hits = tuple(
        hit._replace(labels=frozenset({"phrase"}), coverage=0.5, matched=("休",))
        for hit in ranking(PASSAGES).hits
    )
    return Ranking(hits, left_out=(_BEFORE,), diagnostics={"before": "noted"})


def _scorer_details(hit: Hit) -> tuple[object, ...]:
    return hit.coverage, hit.matched, dict(hit.signals), hit.places


def _check_accounted(before: Ranking, refined: Ranking) -> None:
    """Assert that every given hit is either a hit still, or left out with a reason."""
    remaining = {hit.passage.key for hit in refined.hits}
    named = {(left.path, left.start_line): left.reason for left in refined.left_out}
    for hit in before.hits:
        path, line = hit.passage.key
        if (path, line) not in remaining:
            reason = named.get((path, line)) or named.get((path, None))
            assert reason, f"{path}:{line} is dropped without a reason; add a LeftOut"
