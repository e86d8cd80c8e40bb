"""Scorers, each wrong in one way that their contract names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any, ClassVar

from fumishirube import Bool, Corpus, Hit, Holds, Passage, Query, Stage, Term
from fumishirube.errors import Cancelled
from fumishirube.testing import ScorerContract

Key = tuple[str, int]
Found = Mapping[Key, Passage]


class Terms(Stage):
    """Scores 1 for each passage that holds a term of the query."""

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        terms = Bool(should=tuple(Term(term) for term in corpus.terms(query.text)))
        clause = Bool(must=(terms, *map(Holds, query.must)))
        return [Hit(one.passage, 1.0) for one in corpus.search(clause, corpus.size)]


class TestTerms(ScorerContract):
    breaks = ()
    stage = Terms()


class _Changed(Terms):
    """Gives hits a value that they cannot have."""

    change: ClassVar[Mapping[str, Any]] = {}

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        return [hit._replace(**self.change) for hit in super().score(query, corpus, found)]


class _Labelling(_Changed):
    """Gives labels as a set."""

    change: ClassVar[Mapping[str, Any]] = {"labels": {"exact"}}


class TestLabelling(ScorerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "labels are a frozenset"
    stage = _Labelling()


class _Spanning(_Changed):
    """Gives matched spans as a list."""

    change: ClassVar[Mapping[str, Any]] = {"matched": ["leave"]}


class TestSpanning(ScorerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "matched spans are texts"
    stage = _Spanning()


class _Boasting(_Changed):
    """Scores more than a sum of scores can hold."""

    change: ClassVar[Mapping[str, Any]] = {"score": 1e101}


class TestBoasting(ScorerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "a score is too large a number"
    stage = _Boasting()


class _Signless(_Changed):
    """Gives nothing for signals."""

    change: ClassVar[Mapping[str, Any]] = {"signals": None}


class TestSignless(ScorerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "signals are a mapping"
    stage = _Signless()


class _Countless(_Changed):
    """Gives signals that are no numbers."""

    change: ClassVar[Mapping[str, Any]] = {"signals": {"terms": math.nan}}


class TestCountless(ScorerContract):
    breaks = ("test_results_have_the_types_of_their_kind",)
    says = "a signal is not a finite number"
    stage = _Countless()


class _Excessive(Terms):
    """Covers more than there is."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        return [hit._replace(coverage=1.5) for hit in super().score(query, corpus, found)]


class TestExcessive(ScorerContract):
    breaks = ("test_scores_are_finite_and_coverage_is_a_share",)
    stage = _Excessive()


class _Twice(Terms):
    """Gives what was found before a second time."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        hits = list(super().score(query, corpus, found))
        return [*hits, *(hit for hit in hits if hit.passage.key in found and corpus.size == 10)]


class TestTwice(ScorerContract):
    breaks = ("test_a_passage_is_scored_once",)
    stage = _Twice()


class _Rewriting(Terms):
    """Gives passages with other titles."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        for hit in super().score(query, corpus, found):
            yield hit._replace(passage=hit.passage._replace(title="better"))


class TestRewriting(ScorerContract):
    breaks = ("test_only_passages_of_the_corpus_are_scored",)
    stage = _Rewriting()


class _Slack(Terms):
    """Does not mind what a run demands."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        return super().score(replace(query, must=()), corpus, found)


class TestSlack(ScorerContract):
    breaks = ("test_generated_candidates_contain_every_must_term",)
    stage = _Slack()


class _Remembering(Terms):
    """Remembers what was asked last."""

    _asked: ClassVar[list[str]] = [""]

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        before = (self._asked[0], query.text)
        worth = 2.0 if before == ("API 制限 E-429", "password reset") else 1.0
        self._asked[0] = query.text
        return [hit.scored(worth) for hit in super().score(query, corpus, found)]


class TestRemembering(ScorerContract):
    breaks = ("test_the_order_of_searches_does_not_matter",)
    stage = _Remembering()


class _Stealthy(Terms):
    """Nominates, and does not say so."""

    generates: ClassVar[bool] = False


class TestStealthy(ScorerContract):
    breaks = ("test_candidates_are_generated_only_if_declared",)
    stage = _Stealthy()


class _Tiring(Terms):
    """Scores less when a search asks again."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        runs: list[int] = query.state.shared(list[int], "tiring")
        runs.append(1)
        return [hit.scored(1 / len(runs)) for hit in super().score(query, corpus, found)]


class TestTiring(ScorerContract):
    # One query that is asked twice is one search with two runs.
    breaks = ("test_shared_state_changes_no_result",)
    stage = _Tiring()


class _Eager(Terms):
    """Scores more what was found first."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        first = next(iter(found), None)
        for hit in super().score(query, corpus, found):
            yield hit.scored(2.0) if hit.passage.key == first else hit


class TestEager(ScorerContract):
    breaks = ("test_the_order_of_candidates_does_not_matter",)
    stage = _Eager()


class _Dividing(Terms):
    """Divides by the number of sections."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        share = 1 / corpus.size
        return [hit.scored(share) for hit in super().score(query, corpus, found)]


class TestDividing(ScorerContract):
    breaks = ("test_an_empty_corpus_has_no_hits",)
    stage = _Dividing()


class _Comparing(Terms):
    """Divides by the number of other sections."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        share = 1 / (corpus.size - 1) if corpus.size != 1 else inf
        return [hit.scored(share) for hit in super().score(query, corpus, found)]


class TestComparing(ScorerContract):
    breaks = ("test_a_single_passage_is_scored",)
    stage = _Comparing()


class _Overwhelmed(Terms):
    """Gives up when there is much."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        if corpus.size > 100:
            raise MemoryError
        return super().score(query, corpus, found)


class TestOverwhelmed(ScorerContract):
    breaks = ("test_a_large_corpus_is_scored",)
    stage = _Overwhelmed()


class _Raising(Terms):
    """Fails when time is up."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        if query.budget.spent:
            raise TimeoutError
        return super().score(query, corpus, found)


class TestRaising(ScorerContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Raising()


class _Leaving(Terms):
    """Says that the caller is gone when only time is up."""

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        if query.budget.spent:
            raise Cancelled
        return super().score(query, corpus, found)


class TestLeaving(ScorerContract):
    breaks = ("test_a_spent_budget_is_no_error",)
    stage = _Leaving()
