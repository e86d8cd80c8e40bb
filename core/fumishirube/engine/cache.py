"""Cached answers, valid while manual, pipeline and thresholds are unchanged."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import mul
from threading import Lock
from typing import NamedTuple

from fumishirube.query import Query
from fumishirube.stages import Embedder
from fumishirube.traces.records import CacheMode, SearchAssessment, Thresholds
from fumishirube.traces.store import StoredTrace

_log = logging.getLogger("fumishirube")

UNLIMITED = -1
"""Disables a guard."""

_VECTORS = 16
"""Vectors cached between a query and its answer."""


class CacheScope(NamedTuple):
    """Everything that determines an answer, except the text of the query."""

    manual_id: str
    corpus: str
    pipeline: str
    thresholds: Thresholds
    milliseconds: int | None
    query: tuple[tuple[str, Hashable], ...]


class CacheKey(NamedTuple):
    """The cache's key of a query: its scope, and its text in normal form.

    ``written`` are its texts as written, if a stage may tell these from others of the same form.
    """

    scope: CacheScope
    text: str
    written: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, query: Query, manual_id: str, corpus: str, pipeline: str, thresholds: Thresholds
    ) -> CacheKey:
        """Return the key of a query; its time budget is part of it."""
        text, rest = query.key()
        milliseconds = query.budget.milliseconds
        scope = CacheScope(manual_id, corpus, pipeline, thresholds, milliseconds, rest)
        return cls(scope, text)


class CachedSearch(NamedTuple):
    """The trace of a search, and its duration in milliseconds."""

    stored: StoredTrace
    ms: float


class CacheLookup(NamedTuple):
    """The result of a lookup; ``cached_search`` is set for a hit."""

    mode: CacheMode
    cached_search: CachedSearch | None = None
    score: float | None = None


@dataclass
class _CacheEntry:
    cached_search: CachedSearch
    vector: Sequence[float]
    expires: float
    assessment: SearchAssessment | None = None


class CacheGuards(NamedTuple):
    """The most gaps and conflicts of a cached answer; with more, the search is repeated."""

    gaps: int = UNLIMITED
    conflicts: int = UNLIMITED

    def let(self, assessment: SearchAssessment | None) -> bool:
        """Tell whether an answer may be used; one without an assessment may."""
        if assessment is None:
            return True
        numbers = (assessment.gaps, self.gaps), (assessment.conflicts, self.conflicts)
        return all(most == UNLIMITED or number <= most for number, most in numbers)


class SearchCache:
    """Caches the most recently used searches in memory, each for a limited time.

    Without an embedder, or with one whose vectors have no dimensions, only an equal query is a hit;
    otherwise one of the same scope that is similar enough is too. The embedder is running; its
    ``resources`` are released with the cache.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        *,
        keep: int,
        seconds: float,
        similarity: float,
        guards: CacheGuards,
        resources: ExitStack | None = None,
    ) -> None:
        self._resources = resources or ExitStack()
        self._embedded = lru_cache(_VECTORS)(partial(_embedded, embedder))
        self._keep = keep
        self._seconds = seconds
        self._similarity = similarity
        self._guards = guards
        self._entries: OrderedDict[CacheKey, _CacheEntry] = OrderedDict()
        self._questions: dict[str, CacheKey] = {}
        self._lock = Lock()

    def look_up(self, question: CacheKey) -> CacheLookup:
        """Return the cached answer to an equal query, or else to the most similar."""
        with self._lock:
            surveyed = self._exact(question)
        if surveyed.mode != "miss":
            return surveyed
        vector = self._vector(question.text)
        if not vector:
            return surveyed
        with self._lock:
            return self._similar(question.scope, vector)

    def keep(self, question: CacheKey, search: CachedSearch) -> None:
        """Cache a search; drop the least recently used ones beyond the limit."""
        entry = _CacheEntry(search, self._vector(question.text), self._now() + self._seconds)
        with self._lock:
            self._drop(question)
            self._entries[question] = entry
            self._questions[search.stored.id] = question
            while len(self._entries) > self._keep:
                self._drop(next(iter(self._entries)))

    def judge(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Store the assessment of a cached search."""
        with self._lock:
            question = self._questions.get(trace_id)
            if question is not None:
                self._entries[question].assessment = assessment

    def _exact(self, question: CacheKey) -> CacheLookup:
        entry = self._entries.get(question)
        if entry is None or entry.expires <= self._now():
            self._drop(question)
            return CacheLookup("miss")
        return self._hit("exact", question, entry, None)

    def _similar(self, scope: CacheScope, vector: Sequence[float]) -> CacheLookup:
        now = self._now()
        best = max(
            (
                (_cosine(vector, entry.vector), question)
                for question, entry in self._entries.items()
                if question.scope == scope and entry.expires > now
            ),
            key=lambda pair: pair[0],
            default=None,
        )
        if best is None or best[0] < self._similarity:
            return CacheLookup("miss")
        score, question = best
        return self._hit("semantic", question, self._entries[question], score)

    def _hit(
        self, mode: CacheMode, question: CacheKey, entry: _CacheEntry, score: float | None
    ) -> CacheLookup:
        if not self._guards.let(entry.assessment):
            return CacheLookup("guard_revalidate", None, score)
        self._entries.move_to_end(question)
        return CacheLookup(mode, entry.cached_search, score)

    def _drop(self, question: CacheKey) -> None:
        entry = self._entries.pop(question, None)
        if entry is not None:
            self._questions.pop(entry.cached_search.stored.id, None)

    def close(self) -> None:
        """Release the embedder's resources."""
        self._resources.close()

    def _vector(self, text: str) -> Sequence[float]:
        """Return the vector of a text; empty if the embedder fails."""
        try:
            return self._embedded(text)
        except Exception:
            _log.exception("the cache's embedder failed; only the same questions are hits")
            return ()

    @staticmethod
    def _now() -> float:
        return time.monotonic()


def _embedded(embedder: Embedder | None, text: str) -> Sequence[float]:
    return () if embedder is None else tuple(embedder.embed([text], "query")[0])


def _cosine(vector: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors of unit length, at most 1."""
    if len(vector) != len(other):
        return 0.0
    dot: float = sum(map(mul, vector, other))
    return min(1.0, round(dot, 6))
