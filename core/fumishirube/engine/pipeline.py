"""One search: plan, score, fuse, refine. The runs inside it are the same shape at every depth."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Generic, Literal, NamedTuple, TypeVar

from fumishirube.errors import Cancelled
from fumishirube.model import Hit, LeftOut, Outcome, Passage, Query, Ranking, Run, Span, TraceRow
from fumishirube.stages import Corpus, Fuser, Refiner, Scorer

S = TypeVar("S")

_log = logging.getLogger("fumishirube")

SectionKey = tuple[str, int]
SpanKind = Literal["search", "run", "scorer", "fuser", "refiner"]


class NamedStage(NamedTuple, Generic[S]):
    """A stage under the name by which the configuration knows it."""

    name: str
    stage: S


@dataclass
class _Recorder:
    """Collects the spans of one search. A span is made when its work is done."""

    began: float = field(default_factory=time.perf_counter)
    children: list[list[Span]] = field(default_factory=lambda: [[]])
    written: dict[int, tuple[tuple[Hit, ...], tuple[TraceRow, ...]]] = field(default_factory=dict)

    def open(self) -> float:
        self.children.append([])
        return time.perf_counter()

    def close(
        self,
        kind: SpanKind,
        name: str,
        started: float,
        ranking: Ranking,
        *,
        weight: float = 1.0,
        error: str | None = None,
    ) -> Span:
        span = Span(
            name=name,
            kind=kind,
            started_ms=round((started - self.began) * 1000, 3),
            ms=round((time.perf_counter() - started) * 1000, 3),
            rows=() if kind == "scorer" else self._rows(ranking.hits),
            left_out=ranking.left_out,
            notes=ranking.notes,
            weight=weight,
            error=error,
            children=tuple(self.children.pop()),
        )
        self.children[-1].append(span)
        return span

    def _rows(self, hits: tuple[Hit, ...]) -> tuple[TraceRow, ...]:
        """Write down a ranking once, however many stages hand it on unchanged."""
        if id(hits) not in self.written:
            self.written[id(hits)] = (hits, tuple(_row(hit) for hit in hits))
        return self.written[id(hits)][1]


@dataclass(frozen=True)
class Pipeline:
    """The scorers, fusers (outermost first) and refiners of one surface, in order."""

    scorers: Sequence[NamedStage[Scorer]]
    fusers: Sequence[NamedStage[Fuser]]
    refiners: Sequence[NamedStage[Refiner]]
    strict: bool = False

    def search(self, query: Query, corpus: Corpus) -> tuple[Ranking, Span]:
        """Answer a query, and tell what each stage did.

        A scorer or refiner that fails is skipped, unless the pipeline is strict; its span says so.

        Raises:
            Cancelled: when the caller has gone.
        """
        recorder = _Recorder()
        started = recorder.open()
        ranking = self._fan_out(query, corpus, self.fusers, recorder)
        for refiner in self.refiners:
            ranking = self._refine(refiner, ranking, query, corpus, recorder)
        return ranking, recorder.close("search", "search", started, ranking)

    def _fan_out(
        self,
        query: Query,
        corpus: Corpus,
        fusers: Sequence[NamedStage[Fuser]],
        recorder: _Recorder,
    ) -> Ranking:
        query.budget.check()
        if not fusers:
            return self._score(query, corpus, recorder)
        (name, fuser), *inner = fusers
        outcomes: list[Outcome] = []
        cut = False
        for run in fuser.plan(query, corpus):
            cut = bool(outcomes) and query.budget.spent
            if cut:
                break
            outcomes.append(self._run(run, corpus, inner, recorder))
        started = recorder.open()
        ranking = fuser.fuse(query, outcomes, corpus)
        if cut:
            ranking = ranking._replace(notes={**ranking.notes, "time_budget": True})
        recorder.close("fuser", name, started, ranking)
        return ranking

    def _run(
        self, run: Run, corpus: Corpus, inner: Sequence[NamedStage[Fuser]], recorder: _Recorder
    ) -> Outcome:
        started = recorder.open()
        ranking = self._fan_out(run.query, corpus, inner, recorder)
        recorder.close("run", run.name, started, ranking, weight=run.weight)
        return Outcome(run, ranking)

    def _score(self, query: Query, corpus: Corpus, recorder: _Recorder) -> Ranking:
        candidates: dict[SectionKey, Passage] = {}
        hits: dict[SectionKey, Hit] = {}
        left_out: list[LeftOut] = []
        notes: dict[str, object] = {}
        # Who goes on from what the others found comes after them, in whatever order they are named.
        for name, scorer in sorted(
            self.scorers, key=lambda named: getattr(named.stage, "last", False)
        ):
            query.budget.check()
            if hits and query.budget.spent:
                notes["time_budget"] = True
                break
            started = recorder.open()
            try:
                ranking = _ranking(scorer.score(query, corpus, MappingProxyType(candidates)))
            except BaseException as error:
                self._survive(error, "scorer", name)
                recorder.close("scorer", name, started, Ranking(), error=_failed(name))
                continue
            generates = getattr(scorer, "nominates", False)
            _merge(name, _allowed(ranking.hits, query), candidates, hits, generates=generates)
            left_out += ranking.left_out
            notes |= ranking.notes
            recorder.close("scorer", name, started, ranking)
        positive = sorted((hit for hit in hits.values() if hit.score > 0), key=Hit.sort_key)
        return Ranking(tuple(positive), tuple(left_out), notes)  # type: ignore[arg-type]

    def _refine(
        self,
        refiner: NamedStage[Refiner],
        ranking: Ranking,
        query: Query,
        corpus: Corpus,
        recorder: _Recorder,
    ) -> Ranking:
        query.budget.check()
        started = recorder.open()
        error = None
        try:
            ranking = _ranking(refiner.stage.refine(ranking, query, corpus))
        except BaseException as failure:
            self._survive(failure, "refiner", refiner.name)
            error = _failed(refiner.name)
        recorder.close("refiner", refiner.name, started, ranking, error=error)
        return ranking

    def _survive(self, error: BaseException, kind: str, name: str) -> None:
        if self.strict or isinstance(error, (Cancelled, KeyboardInterrupt)):
            raise error
        _log.error("%s %r failed and was skipped", kind, name, exc_info=error)


def restore_ranking(search: Span, corpus: Corpus) -> Ranking:
    """Return the ranking that a search ended in, with its passages from the index."""
    paths = {row.path for row in search.rows}
    passages = {passage.key: passage for path in paths for passage in corpus.page(path)}
    hits = (
        Hit(passages[key], row.score, row.labels, row.coverage, row.matched, row.signals)
        for row in search.rows
        if (key := (row.path, row.start_line)) in passages
    )
    return Ranking(tuple(hits), search.left_out, search.notes)


def failures(span: Span) -> list[str]:
    """Return what failed anywhere below a span, in order, each once."""
    messages = [span.error] if span.error else []
    for child in span.children:
        messages += failures(child)
    return list(dict.fromkeys(messages))


def ran_out_of_time(span: Span) -> bool:
    """Tell whether a stage had no time left: with more, the answer would be another."""
    return bool(span.notes.get("time_budget")) or any(map(ran_out_of_time, span.children))


def _failed(name: str) -> str:
    return f"stage {name!r} failed and was skipped"


def _ranking(result: Ranking | Iterable[Hit]) -> Ranking:
    """Return what a stage gave as a ranking; a stage that gives something else has failed."""
    ranking = result if isinstance(result, Ranking) else Ranking(tuple(result))
    if not all(issubclass(kind, Hit) for kind in {*map(type, ranking.hits)}):
        raise TypeError("a scorer or refiner gives hits, and nothing else")
    return ranking


def _allowed(hits: Sequence[Hit], query: Query) -> Sequence[Hit]:
    """Return the hits that a run may return, whatever its scorers nominate."""
    within, exclude = query.within, query.exclude
    if within is not None:
        hits = [hit for hit in hits if hit.passage.path in within]
    return [hit for hit in hits if hit.passage.key not in exclude] if exclude else hits


def _merge(
    name: str,
    scored: Iterable[Hit],
    candidates: dict[SectionKey, Passage],
    hits: dict[SectionKey, Hit],
    *,
    generates: bool,
) -> None:
    for hit in scored:
        key = hit.passage.key
        before = hits.get(key)
        if before is None:
            if not generates and key not in candidates:
                continue
            candidates[key] = hit.passage
            passage, score, labels, coverage, matched, _, places = hit
            hits[key] = Hit(passage, score, labels, coverage, matched, {name: score}, places)
        else:
            hits[key] = Hit(
                before.passage,
                before.score + hit.score,
                before.labels | hit.labels if hit.labels else before.labels,
                max(before.coverage, hit.coverage),
                (*before.matched, *(m for m in hit.matched if m not in before.matched))
                if hit.matched
                else before.matched,
                {**before.signals, name: before.signals.get(name, 0.0) + hit.score},
                (*before.places, *hit.places) if hit.places else before.places,
            )


def _row(hit: Hit) -> TraceRow:
    passage, score, labels, coverage, matched, signals, _ = hit
    path, start, end, title, _, _, digest, _ = passage
    return TraceRow(
        path, start, end, title, digest, score, coverage, _once(labels), matched, signals
    )


@lru_cache(maxsize=1024)
def _once(labels: frozenset[str]) -> frozenset[str]:
    """Return the same object for the same marks: a hundred traces keep thousands of them."""
    return labels
