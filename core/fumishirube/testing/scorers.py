"""The contract of scorers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from fumishirube import Budget, Corpus, Hit, Passage, Query, Ranking, Scorer
from fumishirube.engine.stage_results import checked_hits
from fumishirube.errors import Cancelled
from fumishirube.optional_attributes import GENERATES
from fumishirube.testing.answers import PassageKey
from fumishirube.testing.contract import SearchContract
from fumishirube.testing.corpora import MemoryCorpus, passage
from fumishirube.testing.samples import PASSAGES, with_new_state
from fumishirube.text import fold, occurs

NO_PASSAGES: Mapping[PassageKey, Passage] = MappingProxyType({})

_LARGE = 1_000


class ScorerContract(SearchContract[Scorer]):
    """Finite scores for existing passages; only a generating scorer adds candidates."""

    protocol = Scorer

    def exercise(self, stage: Scorer, folder: Path) -> object:
        """Score every query, without candidates and with all passages as candidates."""
        corpus = self.corpus()
        return [
            sorted(_scored(stage, query, corpus, candidates), key=Hit.sort_key)
            for query in self._queries()
            for candidates in (NO_PASSAGES, _by_key(PASSAGES))
        ]

    def test_results_have_the_types_of_their_kind(self) -> None:
        """A search refuses hits with labels, spans or signals of other types, and huge scores."""
        corpus = self.corpus()
        for query in self._queries():
            for candidates in (NO_PASSAGES, _by_key(PASSAGES)):
                checked_hits(self.make().score(query, corpus, candidates))

    def test_scores_are_finite_and_coverage_is_a_share(self) -> None:
        """Scores are added up, so a single NaN would spoil all of them."""
        for query, hit in self._hits():
            assert math.isfinite(hit.score), f"{query.text!r}: score {hit.score}"
            assert 0 <= hit.coverage <= 1, f"{query.text!r}: coverage {hit.coverage}"

    def test_a_passage_is_scored_once(self) -> None:
        """Two hits of one scorer for one passage would count twice."""
        corpus = self.corpus()
        for query in self._queries():
            hits = _scored(self.make(), query, corpus, _by_key(PASSAGES))
            keys = [hit.passage.key for hit in hits]
            assert len(keys) == len(set(keys)), f"{query.text!r}: a passage is scored twice"

    def test_only_passages_of_the_corpus_are_scored(self) -> None:
        """A scorer neither makes up passages nor changes them."""
        there = _by_key(PASSAGES)
        for query, hit in self._hits():
            assert there.get(hit.passage.key) == hit.passage, f"{query.text!r}: {hit.passage}"

    def test_generated_candidates_contain_every_must_term(self) -> None:
        """Every hit contains each term of ``query.must``, as the run requires."""
        if not GENERATES.of(self.make()):
            return
        corpus = self.corpus()
        for query in self._queries():
            for must in ((), ("有給休暇",), ("password", "link"), ("absent",)):
                narrowed = replace(query, must=(*query.must, *must))
                for hit in _scored(self.make(), narrowed, corpus, NO_PASSAGES):
                    lacking = [term for term in narrowed.must if not _contains(hit.passage, term)]
                    assert not lacking, f"{query.text!r}: {hit.passage.key} lacks {lacking}"

    def test_the_order_of_searches_does_not_matter(self) -> None:
        """Earlier searches do not change the result."""
        corpus, stage = self.corpus(), self.make()
        forwards = [_scored(stage, q, corpus, _by_key(PASSAGES)) for q in self._queries()]
        backwards = [_scored(stage, q, corpus, _by_key(PASSAGES)) for q in self._queries()[::-1]]
        for query, hits, again in zip(self._queries(), forwards, backwards[::-1], strict=True):
            assert _scores(hits) == _scores(again), f"{query.text!r}: earlier searches count"

    def test_candidates_are_generated_only_if_declared(self) -> None:
        """Without ``generates = True``, only candidates of earlier scorers are scored."""
        if GENERATES.of(self.make()):
            return
        corpus = self.corpus()
        some = _by_key(PASSAGES[::2])
        for query in self._queries():
            for candidates in (NO_PASSAGES, some):
                for hit in _scored(self.make(), query, corpus, candidates):
                    assert hit.passage.key in candidates, (
                        f"it adds {hit.passage.key}; set `generates: ClassVar[bool] = True`"
                    )

    def test_shared_state_changes_no_result(self) -> None:
        """Runs of one search share ``query.state``; it saves time and never changes answers."""
        corpus = self.corpus()
        for query in self._queries():
            shared = Query(query.text, query.required, query.must, query.limit)
            first = _scored(self.make(), shared, corpus, _by_key(PASSAGES))
            second = _scored(self.make(), shared, corpus, _by_key(PASSAGES))
            assert first == second, f"{query.text!r}: the second run of a search differs"

    def test_the_order_of_candidates_does_not_matter(self) -> None:
        """The mapping of candidates has no meaningful order."""
        corpus = self.corpus()
        for query in self._queries():
            forwards = _scored(self.make(), query, corpus, _by_key(PASSAGES))
            (again,) = with_new_state([query])
            backwards = _scored(self.make(), again, corpus, _by_key(PASSAGES[::-1]))
            assert _scores(forwards) == _scores(backwards), (
                f"{query.text!r}: the order changes the result"
            )

    def test_an_empty_corpus_has_no_hits(self) -> None:
        """A manual without sections is no error."""
        for query in self._queries():
            assert not _scored(self.make(), query, MemoryCorpus(), NO_PASSAGES), f"{query.text!r}"

    def test_a_single_passage_is_scored(self) -> None:
        """Statistics over one passage do not divide by zero."""
        only = PASSAGES[0]
        for query in self._queries():
            hits = _scored(self.make(), query, MemoryCorpus([only]), _by_key([only]))
            assert all(math.isfinite(hit.score) for hit in hits), f"{query.text!r}"

    def test_a_large_corpus_is_scored(self) -> None:
        """A thousand similar passages have finite scores, each one."""
        many = [passage(f"{n % 50}.md", n + 1, f"第{n}条", "有給休暇") for n in range(_LARGE)]
        hits = _scored(self.make(), Query("有給休暇"), MemoryCorpus(many), _by_key(many))
        once = len({hit.passage.key for hit in hits}) == len(hits)
        assert once, "of a thousand passages some are scored twice"

    def test_a_spent_budget_is_no_error(self) -> None:
        """When time runs out, hits so far are returned; a cancelled caller gets ``Cancelled``."""
        corpus = self.corpus()
        expired, aborted = Budget.of(0), Budget()
        aborted.cancelled.set()
        for query in self._queries():
            arguments = (query.text, query.required, query.must, query.limit)
            _scored(self.make(), Query(*arguments, budget=expired), corpus, _by_key(PASSAGES))
            with suppress(Cancelled):
                _scored(self.make(), Query(*arguments, budget=aborted), corpus, _by_key(PASSAGES))

    def _hits(self) -> Iterable[tuple[Query, Hit]]:
        corpus = self.corpus()
        for query in self._queries():
            for candidates in (NO_PASSAGES, _by_key(PASSAGES)):
                for hit in _scored(self.make(), query, corpus, candidates):
                    yield query, hit


def _by_key(passages: Iterable[Passage]) -> Mapping[PassageKey, Passage]:
    """Return candidates as the pipeline passes them: as a read-only mapping."""
    return MappingProxyType({item.key: item for item in passages})


def _scored(
    stage: Scorer, query: Query, corpus: Corpus, candidates: Mapping[PassageKey, Passage]
) -> tuple[Hit, ...]:
    scored = stage.score(query, corpus, candidates)
    return scored.hits if isinstance(scored, Ranking) else tuple(scored)


def _contains(item: Passage, term: str) -> bool:
    return any(occurs(text, fold(term)) for text in item.fields.values())


def _scores(hits: Iterable[Hit]) -> dict[PassageKey, float]:
    return {hit.passage.key: hit.score for hit in hits}
