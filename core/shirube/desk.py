"""What a surface may use: the manuals of its root, its pipeline, and the traces."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import JsonValue

from shirube.adaptive import Statistics
from shirube.background import Background
from shirube.cache import Kept, Looked, Question, Scope, SearchCache
from shirube.errors import ConfigError, Forbidden
from shirube.indexing import Indexed, State
from shirube.library import FIELDS, Library, Manual
from shirube.model import Hit, Progress, Query, Ranking, Span, Trace
from shirube.paths import Root
from shirube.pipeline import Named, Pipeline, failures
from shirube.stages import Corpus, Fields, Index, Loader, Opening, Scorer, Tokenizer
from shirube.surfaces import Finding, Surface
from shirube.trace import TraceStore, new_trace_id
from shirube.verdict import Cached, Thresholds, Verdict

RESERVED_MANUALS = ("manuals",)
"""Folder names that cannot be manuals: a tool uses the word as the id of the root."""


@dataclass(frozen=True)
class Furnished:
    """A surface and its stages, as the configuration chose them: by shelf, in order."""

    name: str
    surface: Surface
    stages: Mapping[str, Sequence[Named[Any]]]

    @property
    def indexed(self) -> bool:
        """Whether there is an index to search; other surfaces read their files themselves."""
        return bool(self.stages["indexes"])

    @property
    def fingerprint(self) -> str:
        """What an index depends on: loaders, tokenizer and index, with their settings."""
        return "-".join(
            named.stage.fingerprint
            for shelf in ("loaders", "tokenizers", "indexes")
            for named in self.stages[shelf]
        )

    @cached_property
    def pipeline(self) -> str:
        """What an answer depends on: the surface's name, and every stage with its settings."""
        uses = [
            f"{shelf} {named.name} {named.stage.fingerprint}"
            for shelf, stages in self.stages.items()
            for named in stages
        ]
        return hashlib.sha256("\n".join([self.name, *uses]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Shared:
    """What the desks of one application have in common.

    ``cached`` says whether a query that does not say so itself may be answered from the cache;
    ``versions`` names the plugins that offer the stages.
    """

    state: Root
    traces: TraceStore
    cache: SearchCache
    statistics: Statistics
    observe: Callable[[Trace], None]
    folder: Callable[[str], Path]
    cached: bool = True
    versions: str = ""
    strict: bool = False


class WorkDesk:
    """The desk of one surface, with everything on it; see :class:`shirube.Desk`."""

    def __init__(self, furnished: Furnished, root: Root, shared: Shared) -> None:
        stages = furnished.stages
        self.root = root
        self._furnished = furnished
        self._shared = shared
        self._library = Library(root, [n.stage for n in stages["loaders"]], RESERVED_MANUALS)
        self._running = ExitStack()
        scorers = [self._opened(named) for named in stages["scorers"]]
        self._pipeline = Pipeline(scorers, stages["fusers"], stages["refiners"], shared.strict)
        self._indexed: dict[str, Indexed] = {}
        self._background: Background | None = None
        self._lock = Lock()

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted."""
        return self._library.manuals()

    def passed_over(self) -> Sequence[tuple[str, str]]:
        """Return the folders of the root that are no manuals, each with the reason."""
        return self._library.passed_over() if self._furnished.stages["loaders"] else ()

    def manual(self, manual_id: str) -> Manual:
        """Return one manual."""
        return self._library.manual(manual_id)

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> Finding:
        """Bring the manual's index up to date, ask cache or pipeline, and keep the trace."""
        with self._background.call() if self._background else nullcontext():
            return self._find(manual_id, query, progress)

    def _find(self, manual_id: str, query: Query, progress: Progress | None) -> Finding:
        state = self.prepare(manual_id, query, progress)
        asked = _Asked(manual_id, query, state, self._shared.statistics.thresholds)
        began = time.perf_counter()
        question = self._question(asked)
        looked = self._shared.cache.look_up(question) if question else Looked("bypass")
        if looked.kept:
            saved = round(max(0.0, looked.kept.ms - _since(began)), 3)
            trace = asked.trace(looked.kept.search, Cached(looked.mode, looked.score, saved))
            finding = Finding(trace, partial(_read_again, trace.search, state.corpus))
        else:
            ranking, span = self._pipeline.search(query, state.corpus)
            trace = asked.trace(span, Cached(looked.mode, looked.score))
            finding = Finding(trace, lambda: ranking)
            if question and not trace.degraded and not _ran_out(span):
                self._shared.cache.keep(question, Kept(trace.id, span, _since(began)))
        self._shared.traces.put(trace)
        self._shared.observe(trace)
        return finding

    def loaders(self) -> Sequence[Loader]:
        """Return the pipeline's loaders, in order."""
        return [named.stage for named in self._furnished.stages["loaders"]]

    def scorer(self, name: str) -> Scorer:
        """Return a scorer of the pipeline, running, by its name there."""
        for named in self._pipeline.scorers:
            if named.name == name:
                return named.stage
        raise ConfigError(
            f"pipelines.{self._furnished.name}.scorers: one called {name!r} is needed; add "
            f"{{use: {name}}}, or another one with 'as: {name}'"
        )

    def folder(self, name: str) -> Root:
        """Return one of the configuration's folders, or the workspace."""
        return Root(self._shared.folder(name))

    def conclude(self, trace_id: str, verdict: Verdict) -> None:
        """Tell the cache and the statistics what came of a search."""
        self._shared.cache.judge(trace_id, verdict)
        self._shared.statistics.conclude(trace_id, verdict)

    def annotate(self, trace: Trace, name: str, value: JsonValue) -> Trace:
        """Keep a trace with a value of the surface's own, and return it."""
        return self._shared.traces.annotate(trace, name, value)

    def prepare(self, manual_id: str, query: Query, progress: Progress | None = None) -> State:
        """Bring one manual's index up to date, and tell how it stands."""
        manual = self._library.manual(manual_id)
        with self._lock:
            if manual.id not in self._indexed:
                self._indexed[manual.id] = self._open(manual)
            indexed = self._indexed[manual.id]
        state = indexed.bring_up_to_date(query.budget, progress, query.text)
        if state.unfinished and self._background:
            self._background.take_up(indexed)
        return state

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Watch large manuals, and index in the background what calls have no time for."""
        self._library.follow(on=True)
        with closing(Background()) as self._background:
            yield
        self._background = None
        self._library.follow(on=False)

    def trace(self, trace_id: str) -> Trace:
        """Return a kept trace."""
        return self._shared.traces.get(trace_id)

    def close(self) -> None:
        """Close the indexes that were opened."""
        for indexed in self._indexed.values():
            indexed.close()
        self._indexed.clear()
        self._running.close()

    def _opened(self, named: Named[Any]) -> Named[Scorer]:
        """Return a scorer in its running form, which ends with the desk."""
        if isinstance(named.stage, Opening):
            return Named(named.name, self._running.enter_context(named.stage.open()))
        return named

    def _question(self, asked: _Asked) -> Question | None:
        """Return the query as the cache knows it, or nothing when it is not to be asked."""
        query, state = asked.query, asked.state
        if query.exclude or not (self._shared.cached if query.cache is None else query.cache):
            return None
        scope = Scope(
            manual_id=state.corpus.manual_id,
            corpus=state.fingerprint,
            pipeline=self._furnished.pipeline + self._shared.versions,
            thresholds=asked.thresholds,
            terms=frozenset(query.required),
            must=frozenset(query.must),
            limit=query.limit,
            milliseconds=query.budget.milliseconds,
        )
        return Question.of(scope, query.text)

    def _open(self, manual: Manual) -> Indexed:
        index: Index = self._only("indexes")
        tokenizer: Tokenizer = self._only("tokenizers")
        try:
            folder = self._shared.state.make(f"index/{manual.id}/{self._furnished.fingerprint}")
        except Forbidden as error:
            raise Forbidden(
                "the state folder (.shirube) cannot be written; make it writable, or name another "
                "one with SHIRUBE_STATE_ROOT"
            ) from error
        return Indexed(manual, index.open(folder, Fields(FIELDS, tokenizer)))

    def _only(self, shelf: str) -> Any:
        stages = self._furnished.stages[shelf]
        if not stages:
            raise ConfigError(f"pipelines.{self._furnished.name}: searching needs one of {shelf}")
        return stages[0].stage


@dataclass(frozen=True)
class _Asked:
    """One find: what was asked, of which state of the manual, under which thresholds."""

    manual_id: str
    query: Query
    state: State
    thresholds: Thresholds

    def trace(self, search: Span, cached: Cached) -> Trace:
        """Return the record of a search that answers it."""
        query, state = self.query, self.state
        reasons = [state.degraded] if state.degraded else []
        return Trace(
            id=new_trace_id(),
            manual_id=self.manual_id,
            text=query.text,
            required=query.required,
            created=time.time(),
            search=search,
            files=state.files,
            sections=state.corpus.size,
            skipped=state.skipped,
            aside=state.aside,
            excluded=query.exclude,
            degraded="; ".join([*reasons, *failures(search)]) or None,
            cache=cached,
            thresholds=self.thresholds,
        )


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _ran_out(span: Span) -> bool:
    """Tell whether a stage had no time left: with more, the answer would be another."""
    return bool(span.notes.get("time_budget")) or any(map(_ran_out, span.children))


def _read_again(search: Span, corpus: Corpus) -> Ranking:
    """Return the ranking that a search ended in, with its passages from the index."""
    paths = {row.path for row in search.rows}
    passages = {passage.key: passage for path in paths for passage in corpus.page(path)}
    hits = (
        Hit(passages[key], row.score, row.marks, row.coverage, row.matched, row.signals)
        for row in search.rows
        if (key := (row.path, row.start_line)) in passages
    )
    return Ranking(tuple(hits), search.left_out, search.notes)
