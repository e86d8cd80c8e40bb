"""A find: answered from the cache or by the pipeline, and recorded as a trace."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus
from fumishirube.engine.cache import CachedSearch, CacheKey, CacheLookup
from fumishirube.engine.pipeline import Pipeline
from fumishirube.engine.rankings import restore_ranking
from fumishirube.engine.recoverable_index import IndexState, SearchExtent, joined_reasons
from fumishirube.engine.reports import report_for_query
from fumishirube.errors import IndexDamaged
from fumishirube.host.surfaces import ConfiguredSurface, SharedServices
from fumishirube.model import Ranking, SearchReport
from fumishirube.query import Query, SearchState
from fumishirube.surfaces import SearchResult
from fumishirube.tools.definitions import Progress
from fumishirube.traces.records import CacheOutcome, Origin, Span, Thresholds, Trace, failures
from fumishirube.traces.store import StoredTrace, new_trace_id

_log = logging.getLogger("fumishirube")


class Finder(NamedTuple):
    """Answers the queries of one surface; ``prepare`` brings indexes up to date for it.

    ``watched`` does work in an index within the time of a call.
    """

    configured: ConfiguredSurface
    shared: SharedServices
    pipeline: Pipeline
    prepare: Callable[..., IndexState]
    watched: Callable[[Callable[[], SearchExtent], Budget], SearchExtent]

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> SearchResult:
        """Update the manual's index, answer from the cache or the pipeline, and store the trace."""
        prepare = partial(self.prepare, manual_id, progress=progress, vectors=True)
        try:
            return self._find(manual_id, query, prepare(query))
        except IndexDamaged:
            # Diagnostics of the search in the damaged index are dropped.
            again = replace(query, state=SearchState())
            with self.shared.guarded.damaged_again(self.configured.indexes):
                return self._find(manual_id, again, prepare(again))

    def _find(self, manual_id: str, query: Query, state: IndexState) -> SearchResult:
        thresholds = self._thresholds()
        extent = self.watched(partial(SearchExtent.of, state, query.within), query.budget)
        record = partial(self._trace, manual_id, query, state, extent, thresholds)
        began = time.perf_counter()
        cache, key = self.shared.memory.cache, self.cache_key(query, state, thresholds)
        lookup = cache.look_up(key) if key else CacheLookup("bypass")
        if (known := lookup.cached_search) is not None:
            former = known.stored.trace
            saved = round(max(0.0, known.ms - _since(began)), 3)
            report = report_for_query(former.report, query)
            outcome = CacheOutcome(lookup.mode, lookup.score, saved)
            trace = record(former.search, report, outcome)
            self._store(trace)
            restored = partial(self._restored, trace, query, state)
            return SearchResult(trace, restored, state.corpus)
        ranking, span, report = self._run(query, state.corpus)
        took = _since(began)
        trace = record(span, report, CacheOutcome(lookup.mode, lookup.score))
        stored = self._store(trace)
        if key and query.counting and not trace.degraded and not report.out_of_time:
            cache.keep(key, CachedSearch(stored, took))
        return SearchResult(trace, lambda: ranking, state.corpus)

    def search(
        self, corpus: Corpus, files: int, query: Query, *, written: bool = True
    ) -> SearchResult:
        """Run the pipeline over a corpus of the surface's own, and store the trace."""
        ranking, span, report = self._run(query, corpus)
        state = IndexState(corpus, files, (), None, "")
        extent, thresholds = SearchExtent.of(state, None), self._thresholds()
        record = partial(self._trace, corpus.manual_id, query, state, extent, thresholds)
        trace = replace(record(span, report, CacheOutcome("bypass")), own=True)
        self._store(trace, written=written)
        return SearchResult(trace, lambda: ranking, corpus)

    def _run(self, query: Query, corpus: Corpus) -> tuple[Ranking, Span, SearchReport]:
        began = time.time()
        ranking, span, report, failed = self.pipeline.run(query, corpus)
        if failed:
            self.shared.guarded.note_failures(failed, began)
        return ranking, span, report

    def cache_key(self, query: Query, state: IndexState, thresholds: Thresholds) -> CacheKey | None:
        """Return the cache's key of a query, or ``None`` if the cache is not to be used."""
        cached = self.shared.loaded.config.cache.enabled if query.cache is None else query.cache
        if query.exclude or not cached:
            return None
        key = CacheKey.of(
            query,
            state.corpus.manual_id,
            state.fingerprint,
            self.configured.answer_fingerprint + self.configured.plugins.code,
            thresholds,
        )
        as_written = self.configured.reads_as_written
        return key._replace(written=(query.text, *query.alternatives)) if as_written else key

    def _trace(
        self,
        manual_id: str,
        query: Query,
        state: IndexState,
        extent: SearchExtent,
        thresholds: Thresholds,
        search: Span,
        report: SearchReport,
        outcome: CacheOutcome,
    ) -> Trace:
        return Trace(
            id=new_trace_id(),
            manual_id=manual_id,
            created=time.time(),
            search=search,
            files=extent.files,
            sections=extent.sections,
            skipped=extent.skipped,
            aside=extent.aside,
            degraded=joined_reasons(state.degraded, *failures(search), self._unsearched(query)),
            cache=outcome,
            thresholds=thresholds,
            origin=Origin(self.configured.recipe, state.fingerprint, query.recorded()),
            report=replace(report, incomplete=state.incomplete or bool(search.error)),
            manuals=state.manuals,
        )

    def _thresholds(self) -> Thresholds:
        return self.shared.memory.statistics.thresholds(self.configured.surface)

    def _unsearched(self, query: Query) -> str:
        """Say so if no fuser takes up the alternatives of a query."""
        if not query.alternatives or "alternatives" in self.configured.searched:
            return ""
        key = f"pipelines.{self.configured.pipeline_name}.fusers"
        return f"alternatives were not searched: no fuser in {key} takes them up"

    def _store(self, trace: Trace, *, written: bool = True) -> StoredTrace:
        stored = self.shared.memory.traces.put(trace, written=written)
        self.shared.memory.statistics.search_finished(self.configured.surface, trace)
        for name, observe in self.shared.observers:
            try:
                observe(trace)
            except KeyboardInterrupt:
                raise
            except BaseException:  # an observer that exits must not end the call
                _log.exception("observer %r failed", name)
        return stored

    def _restored(self, trace: Trace, query: Query, state: IndexState) -> Ranking:
        """Return the ranking of a cached answer; rebuild a damaged index first."""
        try:
            return restore_ranking(trace.search, state.corpus)
        except IndexDamaged:
            return restore_ranking(trace.search, self.prepare(trace.manual_id, query).corpus)


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
