"""One search: plan, score, fuse, refine. Runs inside it have the same shape at every depth."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import current_thread, main_thread
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import rehearse
from fumishirube.engine.rankings import (
    OwnSections,
    allowed_hits,
    completed,
    covering_hits,
    limited,
    merge_by_rank,
    merge_hits,
)
from fumishirube.engine.reports import SearchCounts, continued, report_search, unsearched
from fumishirube.engine.stage_calls import AtWork, Overdue, Recorder, StageCall, within_deadline
from fumishirube.engine.stage_results import WrongResult, checked_plan, checked_ranking
from fumishirube.errors import Cancelled, IndexDamaged, PluginError
from fumishirube.model import Hit, LeftOut, Passage, Ranking, SearchReport
from fumishirube.optional_attributes import APPLIES, GENERATES, LAST
from fumishirube.query import Outcome, Query, Run, SearchState
from fumishirube.stages import Fuser, Refiner, Scorer
from fumishirube.traces.records import SectionKey, Span

S = TypeVar("S")
T = TypeVar("T")

_log = logging.getLogger("fumishirube")

_REHEARSAL = StageCall("index", "rehearsal", "the index")
_COUNTING = StageCall("report", "counts", "the count of further matches")


class NamedStage(NamedTuple, Generic[S]):
    """A stage, its name and coordinate in the configuration, and its plugin.

    What a ``trusted`` stage returns is not checked thoroughly: it is tested with the program.
    """

    name: str
    stage: S
    plugin: str = ""
    trusted: bool = False
    coordinate: str = ""

    def __str__(self) -> str:
        origin = f" of plugin {self.plugin!r}" if self.plugin else ""
        return f"stage {self.name!r}{origin}"

    def own(self, query: Query) -> Query:
        """Return the query for this stage: a plugin that changes it changes nobody else's."""
        return query if self.trusted else replace(query)


class StageFailure(NamedTuple):
    """A stage that failed in a search, and why."""

    stage: NamedStage[Any]
    problem: str


class PipelineResult(NamedTuple):
    """The result of a search: the ranking, the span of each stage, and the engine's counts.

    ``failed`` are the stages without which it was made.
    """

    ranking: Ranking
    span: Span
    report: SearchReport
    failed: Sequence[StageFailure] = ()


@dataclass(frozen=True)
class Pipeline:
    """The scorers, fusers (outermost first) and refiners of one surface, in order.

    ``at_work`` names what an abandoned stage calls on its thread, such as a tokenizer, if it does.
    """

    scorers: Sequence[NamedStage[Scorer]]
    fusers: Sequence[NamedStage[Fuser]]
    refiners: Sequence[NamedStage[Refiner]]
    strict: bool = False
    at_work: Callable[[StageCall, int], AtWork | None] | None = None

    def run(self, query: Query, corpus: Corpus) -> PipelineResult:
        """Answer a query, record each stage, and count what the answer reports.

        A scorer or refiner that fails is skipped, and the runs of a fuser that fails are merged by
        rank, unless the pipeline is strict; the stage's span says so. A stage that still runs after
        the deadline counts as failed: it is abandoned on its thread, and the search is repeated
        without it within the time for finishing. If it is the count of what matches and is not
        ranked, the ranking is returned with the counts so far.

        Raises:
            Cancelled: when the caller has gone.
            IndexDamaged: when the index cannot be read.
            PluginError: when the index of a plugin runs past the deadline.
        """
        if query.budget.deadline is None:
            return _Search(self, query, corpus, {}).run()
        abandoned: dict[StageCall, str] = {}
        while True:
            search = _Search(self, query, corpus, abandoned)
            try:
                return within_deadline(search.run, search.recorder.current, query.budget)
            except Overdue as overdue:
                search.recorder.abandoned = True
                message = f"{overdue.call} was abandoned after {overdue.seconds:.1f} s"
                if inner := self.at_work and self.at_work(overdue.call, search.recorder.thread):
                    message += f", while {inner.name} was at work"
                _log.error("%s: the time of the call was over", message)
                if self.strict:
                    raise TimeoutError(message) from overdue
                if inner and inner.is_index:  # every other stage would wait for it too
                    raise PluginError(message) from overdue
                if overdue.call == _COUNTING:
                    return search.uncounted(message)
                abandoned = {**abandoned, overdue.call: message}
                query = replace(query, state=SearchState())


class _Search:
    """One search by a pipeline, without the stages that were abandoned before."""

    def __init__(
        self, pipeline: Pipeline, query: Query, corpus: Corpus, abandoned: Mapping[StageCall, str]
    ) -> None:
        self.pipeline = pipeline
        # A scorer that starts from the candidates of others runs after them, wherever it is listed.
        self.scorers = sorted(pipeline.scorers, key=lambda named: comes_last(named.stage))
        self.query = query
        self.corpus = corpus
        self.abandoned = abandoned
        self.recorder = Recorder()
        self.counts = SearchCounts(out_of_time=bool(abandoned))
        self.failed: dict[StageCall, StageFailure] = {}
        self.began = time.monotonic()
        self._sections = OwnSections(corpus, self.counts.candidates)
        texts = (query.text, *query.alternatives, *(each.text for each in query.rewordings()))
        self._wordings = dict.fromkeys(texts if query.counting else ())
        self._ranked: tuple[Recorder, Ranking, Ranking]

    def run(self) -> PipelineResult:
        if _REHEARSAL not in self.abandoned:
            with self.recorder.calling(_REHEARSAL):
                rehearse(self.corpus, self._rehearsed)
        return self.answer()

    def _rehearsed(self, corpus: Corpus) -> PipelineResult:
        """Search without side effects: with a state of its own, and without logging failures."""
        query = replace(self.query, state=SearchState())
        pipeline = replace(self.pipeline, strict=True)
        return _Search(pipeline, query, corpus, self.abandoned).answer()

    def answer(self) -> PipelineResult:
        """Plan, score, fuse and refine."""
        recorder, query = self.recorder, self.query
        query.state.begin(query)
        recorder.open()
        merged = self._fan_out(query, self.pipeline.fusers)
        ranking = merged
        for refiner in self.pipeline.refiners:
            ranking = self._refine(refiner, ranking)
        ranking = limited(ranking, query)
        ranked = (recorder.copy(), merged)
        self._ranked = (*ranked, self._covering(ranking, ()))
        with recorder.calling(_COUNTING):
            ranking = self._covering(ranking, self._wordings)
            self._ranked = (*ranked, ranking)
            ranking = self._continued(merged, ranking)
            return self._result(recorder, merged, ranking)

    def uncounted(self, reason: str) -> PipelineResult:
        """Return the ranking without the report's counts, and the reason why it has none."""
        return self._result(*self._ranked, reason)

    def _result(
        self,
        recorder: Recorder,
        merged: Ranking,
        ranking: Ranking,
        uncounted: str | None = None,
    ) -> PipelineResult:
        """Close the span of the search, and report its counts; ``uncounted`` says why not all."""
        ranking = completed(ranking, self.counts.candidates)
        late, missing = self.counts.out_of_time, unsearched(self.corpus, self.began)
        error = uncounted or missing or None
        span = recorder.close("search", "search", ranking, out_of_time=late, error=error)
        results = (span, merged, ranking, self.counts)
        report = report_search(self.query, self.corpus, *results, counting=not uncounted)
        return PipelineResult(ranking, span, report, [*self.failed.values()])

    def _continued(self, merged: Ranking, ranking: Ranking) -> Ranking:
        """Add sure matches to a follow-up, or to a search that found nothing to refine.

        Stages return the best candidates, which may all be excluded in a follow-up. What matches
        is returned however short the time, also if the stage that finds it was abandoned, but not
        where the refiners dropped all of the ``merged`` hits, nor in a search without counting.
        """
        query, hits = self.query, ranking.hits
        if not query.counting or (merged.hits and not hits):
            return ranking
        enough = hits or not self.abandoned
        if (hits and not query.exclude) or (enough and query.budget.spent):
            return ranking
        return continued(ranking, query, self.corpus)

    def _covering(self, ranking: Ranking, texts: Iterable[str]) -> Ranking:
        """Count what hits cover of texts, unless all scorers are built in and have, or failed."""
        pipeline, counted = self.pipeline, any(hit.coverage for hit in ranking.hits)
        kinds = (pipeline.scorers, pipeline.fusers, pipeline.refiners)
        trusted = all(named.trusted for stages in kinds for named in stages)
        if trusted and (counted or self.failed):
            return ranking
        return ranking._replace(hits=covering_hits(ranking.hits, texts, self.corpus))

    def _fan_out(self, query: Query, fusers: Sequence[NamedStage[Fuser]]) -> Ranking:
        query.budget.check()
        fusers = self._applicable(fusers, query)
        if not fusers:
            return self._score(query)
        fuser, *inner = fusers
        planned = partial(fuser.stage.plan, fuser.own(query), self.corpus)
        checked = partial(checked_plan, trusted=fuser.trusted)
        plan, plan_error = self._attempt("fuser", fuser, lambda: checked(planned()))
        if plan and fuser.trusted and query.text in self._wordings:  # a plugin may ask for anything
            self._wordings |= dict.fromkeys(run.query.text for run in plan)
        outcomes: list[Outcome] = []
        cut = False
        for run in plan or (Run("query", query),):
            cut = query.budget.spent and any(outcome.ranking.hits for outcome in outcomes)
            if cut:
                self.counts.out_of_time = True
                break
            outcomes.append(self._run(run, inner))
        self.recorder.open()
        merged, error = None, plan_error
        if not plan_error:
            listed = (out for outcome in outcomes for out in outcome.ranking.left_out)
            fuse = partial(fuser.stage.fuse, fuser.own(query), outcomes, self.corpus)
            merged, error = self._ranking_of("fuser", fuser, fuse, listed)
        ranking = merge_by_rank(outcomes) if merged is None else merged
        self.counts.terms = ranking.terms or self.counts.terms
        self.recorder.close("fuser", fuser.name, ranking, error=error, out_of_time=cut)
        return ranking

    def _applicable(
        self, fusers: Sequence[NamedStage[Fuser]], query: Query
    ) -> Sequence[NamedStage[Fuser]]:
        """Return the fusers without the outermost ones that do not apply to a query, or fail."""
        for place, named in enumerate(fusers):
            applies: Callable[[Query], bool] | None = APPLIES.of(named.stage)
            if applies is None:
                return fusers[place:]
            applied, error = self._attempt("fuser", named, partial(applies, named.own(query)))
            if error:
                self.recorder.open()
                self.recorder.close("fuser", named.name, Ranking(), error=error)
            elif applied:
                return fusers[place:]
        return ()

    def _run(self, run: Run, inner: Sequence[NamedStage[Fuser]]) -> Outcome:
        self.recorder.open()
        ranking = self._fan_out(run.query, inner)
        self.recorder.close("run", run.name, ranking, weight=run.weight, must=run.query.must)
        return Outcome(run, ranking)

    def _score(self, query: Query) -> Ranking:
        candidates: dict[SectionKey, Passage] = {}
        hits: dict[SectionKey, Hit] = {}
        left_out: list[LeftOut] = []
        diagnostics: dict[str, JsonValue] = {}
        for scorer in self.scorers:
            query.budget.check()
            late = hits and query.budget.spent
            if late and _call("scorer", scorer) not in self.abandoned:
                self.counts.out_of_time = True
                continue
            self.recorder.open()
            known = MappingProxyType(candidates)
            score = partial(scorer.stage.score, scorer.own(query), self.corpus, known)
            ranking, error = self._ranking_of("scorer", scorer, score)
            self.recorder.close("scorer", scorer.name, ranking or Ranking(), error=error)
            if ranking is None:
                continue
            allowed = allowed_hits(allowed_hits(ranking.hits, query), self.query)
            if not generates(scorer.stage):
                allowed = [hit for hit in allowed if hit.passage.key in candidates]
            merge_hits(scorer.name, allowed, candidates, hits)
            left_out += ranking.left_out
            diagnostics |= ranking.diagnostics
            if self.counts.matched is None and query.is_whole:  # a part has another count
                self.counts.matched = ranking.matched
        positive = sorted((hit for hit in hits.values() if hit.score > 0), key=Hit.sort_key)
        self.counts.candidates.update((hit.passage.key, hit.passage) for hit in positive)
        return Ranking(tuple(positive), tuple(left_out), diagnostics)

    def _refine(self, refiner: NamedStage[Refiner], ranking: Ranking) -> Ranking:
        self.query.budget.check()
        self.recorder.open()
        refine = partial(refiner.stage.refine, ranking, refiner.own(self.query), self.corpus)
        refined, error = self._ranking_of("refiner", refiner, refine, ranking.left_out)
        refined = ranking if refined is None else refined
        allowed = allowed_hits(refined.hits, self.query)
        if len(allowed) < len(refined.hits):
            refined = refined._replace(hits=tuple(allowed))
        self.recorder.close("refiner", refiner.name, refined, error=error)
        return refined

    def _ranking_of(
        self,
        kind: str,
        named: NamedStage[Any],
        verb: Callable[[], Any],
        listed: Iterable[LeftOut] = (),
    ) -> tuple[Ranking | None, str | None]:
        """Call a stage that ranks; a plugin's ranking is limited to the manual's own sections."""

        def own() -> tuple[Ranking, str]:
            ranking = checked_ranking(verb(), trusted=named.trusted)
            if named.trusted:
                return ranking, ""
            ranking, problem = self._sections.of(ranking, listed)
            if problem and self.pipeline.strict:
                raise WrongResult(problem)
            return ranking, problem

        made, error = self._attempt(kind, named, own)
        if made is None or not made[1]:
            return (made and made[0]), error
        self.failed[_call(kind, named)] = StageFailure(named, made[1])
        return made[0], f"{named}: {made[1]}"

    def _attempt(
        self, kind: str, named: NamedStage[Any], verb: Callable[[], T]
    ) -> tuple[T | None, str | None]:
        """Call a stage; if it fails return nothing, and the message for its span."""
        call = _call(kind, named)
        if call in self.abandoned:
            self.failed[call] = StageFailure(named, self.abandoned[call])
            return None, self.abandoned[call]
        try:
            with self.recorder.calling(call):
                return verb(), None
        except BaseException as error:
            if self.pipeline.strict or self._passes(error):
                if isinstance(error, WrongResult):
                    raise PluginError(f"{named} failed: {error}") from error
                raise
            reason = str(error) if isinstance(error, WrongResult | PluginError) else ""
            innocent = named.trusted and isinstance(error, PluginError)
            skipped = f"{named} was skipped" if innocent else f"{named} failed and was skipped"
            # The guard of a plugin logs its faults, a few times; other runs may fail alike.
            level = logging.ERROR if named.trusted and not innocent else logging.DEBUG
            _log.log(level, "%s %s", kind, skipped, exc_info=call not in self.failed)
            self.failed[call] = StageFailure(named, reason or type(error).__name__)
            return None, f"{skipped}: {reason}" if reason else skipped

    def _passes(self, error: BaseException) -> bool:
        """Tell whether an error ends the search, whatever stage raises it.

        An interrupt reaches the main thread, and a cancellation has been requested.
        """
        if isinstance(error, KeyboardInterrupt):
            return current_thread() is main_thread()
        if isinstance(error, Cancelled):
            return self.recorder.abandoned or self.query.budget.cancelled.is_set()
        return isinstance(error, IndexDamaged)


def _call(kind: str, named: NamedStage[Any]) -> StageCall:
    return StageCall(kind, named.name, str(named))


def generates(scorer: object) -> bool:
    """Tell whether a scorer generates candidates."""
    return bool(GENERATES.of(scorer))


def comes_last(scorer: object) -> bool:
    """Tell whether a scorer needs the candidates of all others."""
    return bool(LAST.of(scorer))
