"""The contract of refiners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from fumishirube import Budget, Cancelled, Corpus, Hit, LeftOut, Query, Ranking, Refiner
from fumishirube.testing.contract import StageContract
from fumishirube.testing.corpora import MemoryCorpus, passage, ranking
from fumishirube.testing.samples import PASSAGES, QUERIES, afresh

_LARGE = 1_000
_BEFORE = LeftOut("elsewhere.md", 3, "left out before")


class RefinerContract(StageContract[Refiner]):
    """A refiner reorders or shortens: it adds nothing, and says what it drops."""

    verbs = Refiner
    queries: ClassVar[Sequence[Query]] = ()
    """Further queries to try, such as those that the refiner is meant for."""

    def corpus(self) -> Corpus:
        """Return the corpus searched; override it for a refiner that needs another one."""
        return MemoryCorpus(PASSAGES)

    def exercise(self, stage: Refiner, folder: Path) -> object:  # noqa: ARG002
        """Refine a ranking for every query."""
        return [stage.refine(_given(), query, self.corpus()) for query in self._queries()]

    def test_nothing_stays_nothing(self) -> None:
        """A ranking without hits has none afterwards."""
        for query in self._queries():
            assert not self.make().refine(Ranking(), query, MemoryCorpus()).hits, f"{query.text!r}"

    def test_a_single_hit_is_no_trouble(self) -> None:
        """One hit is kept, or named as left out."""
        given = ranking(PASSAGES[:1])
        for query in self._queries():
            _account(given, self.make().refine(given, query, self.corpus()))

    def test_no_hit_is_invented(self) -> None:
        """Every passage of the answer was in the ranking, and is as it was."""
        there = {one.key: one for one in PASSAGES}
        for query, refined in self._refined():
            for hit in refined.hits:
                assert there.get(hit.passage.key) == hit.passage, f"{query.text!r}: {hit.passage}"

    def test_no_hit_comes_twice(self) -> None:
        """A passage is one hit."""
        for query, refined in self._refined():
            keys = [hit.passage.key for hit in refined.hits]
            assert len(keys) == len(set(keys)), f"{query.text!r}: a passage comes twice"

    def test_what_is_dropped_is_named_as_left_out(self) -> None:
        """No hit vanishes without a word; the reason is not blank."""
        for _, refined in self._refined():
            _account(_given(), refined)

    def test_what_was_left_out_before_stays_named(self) -> None:
        """A refiner adds to the ranking it got: ``ranking._replace(hits=…, left_out=…)``."""
        for query, refined in self._refined():
            assert _BEFORE in refined.left_out, f"{query.text!r}: {refined.left_out}"

    def test_notes_taken_before_are_kept(self) -> None:
        """Notes of earlier stages reach the answer."""
        for query, refined in self._refined():
            assert refined.notes.get("before") == "noted", f"{query.text!r}: {refined.notes}"

    def test_scores_stay_finite(self) -> None:
        """Scores may change; they stay numbers."""
        for query, refined in self._refined():
            assert all(math.isfinite(hit.score) for hit in refined.hits), f"{query.text!r}"

    def test_the_ranking_given_is_not_changed(self) -> None:
        """It goes into the trace as it was."""
        for query in self._queries():
            given = _given()
            self.make().refine(given, query, self.corpus())
            assert given == _given(), f"{query.text!r}: the ranking given has changed"

    def test_any_limit_is_no_trouble(self) -> None:
        """A query may ask for one hit, or for more than there are."""
        for limit in (None, 1, 3, 10_000):
            refined = self.make().refine(_given(), Query("休暇", limit=limit), self.corpus())
            _account(_given(), refined)

    def test_equal_scores_are_no_trouble(self) -> None:
        """A ranking without differences is refined like any other."""
        given = Ranking(tuple(hit._replace(score=1.0) for hit in _given().hits))
        for query in self._queries():
            _account(given, self.make().refine(given, query, self.corpus()))

    def test_a_spent_budget_is_no_error(self) -> None:
        """When time is up it refines or leaves it; when the caller is gone, ``Cancelled``."""
        late, gone = Budget.of(0), Budget()
        gone.cancelled.set()
        for query in self._queries():
            hurried = replace(query, budget=late)
            _account(_given(), self.make().refine(_given(), hurried, self.corpus()))
            with suppress(Cancelled):
                self.make().refine(_given(), replace(query, budget=gone), self.corpus())

    def test_passages_alike_are_no_trouble(self) -> None:
        """Sections with the same words in many files are told apart by where they stand."""
        alike = [passage(f"{n}.md", 1, "休暇", "有給休暇") for n in range(9)]
        given = ranking(alike)
        for query in self._queries():
            _account(given, self.make().refine(given, query, MemoryCorpus(alike)))

    def test_hits_keep_what_scorers_found(self) -> None:
        """Coverage, matched spans and signals come out as they went in; marks are only added."""
        for query, refined in self._refined():
            given = {hit.passage.key: hit for hit in _given().hits}
            for hit in refined.hits:
                before = given[hit.passage.key]
                assert _found(hit) == _found(before), f"{query.text!r}: {hit}"
                assert hit.marks >= before.marks, f"{query.text!r}: {hit.marks}"

    def test_a_large_ranking_is_no_trouble(self) -> None:
        """A thousand hits are refined, and accounted for."""
        many = [passage(f"{n % 50}.md", n + 1, body=f"休暇 {n}") for n in range(_LARGE)]
        given = ranking(many)
        _account(given, self.make().refine(given, Query("休暇"), MemoryCorpus(many)))

    def _queries(self) -> list[Query]:
        return afresh([*self.queries, *QUERIES])

    def _refined(self) -> list[tuple[Query, Ranking]]:
        corpus = self.corpus()
        return [(q, self.make().refine(_given(), q, corpus)) for q in self._queries()]


def _given() -> Ranking:
    hits = tuple(
        hit._replace(marks=frozenset({"phrase"}), coverage=0.5, matched=("休",))
        for hit in ranking(PASSAGES).hits
    )
    return Ranking(hits, left_out=(_BEFORE,), notes={"before": "noted"})


def _found(hit: Hit) -> tuple[object, ...]:
    return hit.coverage, hit.matched, dict(hit.signals), hit.places


def _account(given: Ranking, refined: Ranking) -> None:
    """Assert that every hit given is either a hit still, or named as left out."""
    kept = {hit.passage.key for hit in refined.hits}
    named = {(left.path, left.start_line): left.reason for left in refined.left_out}
    for hit in given.hits:
        path, line = hit.passage.key
        if (path, line) not in kept:
            reason = named.get((path, line)) or named.get((path, None))
            assert reason, f"{path}:{line} is dropped without a word; add a LeftOut"
