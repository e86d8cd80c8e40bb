"""The SurfaceContext: the manuals of a root, its pipeline, and the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import JsonValue

from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.budget import Budget
from fumishirube.disk.roots import Root
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.library import ForgetsManuals, Library, OutlyingFolders, stored_manuals
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.engine.recoverable_index import IndexState, RecoverableIndex, joined_reasons
from fumishirube.engine.stage_calls import AbandonedWork
from fumishirube.engine.unions import JoinedProgress, united_state
from fumishirube.errors import ConfigError, FumishirubeError, IndexDamaged, NotFound, ToolError
from fumishirube.host.finder import Finder
from fumishirube.host.guarded_offers import unlisted_by, unread_by
from fumishirube.host.guarded_results import GuardedScorer
from fumishirube.host.indexes import IndexFolders, OpenIndexes, manual_vectors, surface_vectors
from fumishirube.host.loaders import remembering_loaders, unread_files
from fumishirube.host.plugin_guard import DamagedAgain
from fumishirube.host.surfaces import ConfiguredSurface, RunningStages, SharedServices
from fumishirube.host.watched_updates import WatchedUpdates
from fumishirube.model import UnreadFiles
from fumishirube.query import Query
from fumishirube.stages import Fields, Loader, OpenIndex, Scorer, Tokenizer
from fumishirube.surfaces import SearchResult
from fumishirube.tools.definitions import Progress
from fumishirube.traces.records import SearchAssessment, Trace

if TYPE_CHECKING:
    from fumishirube.engine.background import BackgroundIndexer
    from fumishirube.engine.vectors.section_vectors import StoredVectors
    from fumishirube.text.file_texts import ManualTexts
    from fumishirube.text.readings import Reading

T = TypeVar("T")

SERVED_SECONDS = 3.0
"""The most seconds that a call to a server updates an index; it answers from what is there then."""

RESERVED_MANUALS = ("manuals", EVERY_MANUAL)
"""Folder names that cannot be manuals: as ids, they mean the root, and all manuals."""


class PipelineContext:
    """The :class:`fumishirube.SurfaceContext` of a surface with a pipeline.

    A context of a part of the root shares the stages, manuals and indexes of the ``whole``. Some
    methods are those of its library, of its finder, and of the store of traces.
    """

    def __init__(
        self,
        configured: ConfiguredSurface,
        root: Root,
        shared: SharedServices,
        whole: PipelineContext | None = None,
    ) -> None:
        with ExitStack() as opening:
            stages = whole.stages if whole else configured.running(opening, shared.guarded)
            self._running = opening.pop_all()
        self.root = root
        self._configured = configured
        self.stages: RunningStages = stages
        self._shared = shared
        self._whole = whole
        state, own = shared.state, shared.own
        outlying = OutlyingFolders(own.folders if configured.reads_manuals else {}, root, own.state)
        self.index_loaders: Sequence[Loader] = (
            whole.index_loaders if whole else remembering_loaders(configured, stages, state)
        )
        self.library: Library = Library(
            root,
            self.index_loaders,
            RESERVED_MANUALS,
            outlying,
            whole.library if whole else None,
            stored_manuals(configured.indexes, self._fields, self.indexed_of),
        )
        searching = (stages.scorers, stages.fusers, stages.refiners)
        self._pipeline = Pipeline(*searching, shared.loaded.config.strict, shared.guarded.at_work)
        self._finder = Finder(configured, shared, self._pipeline, self.prepare, self._watched)
        self.manuals, self.manual = self.library.manuals, self.library.manual
        self.loose_files, self.search = self.library.loose_files, self._finder.search
        traces, self.folder = shared.memory.traces, shared.root
        self.trace, self.annotate = traces.get, traces.annotate
        self.index_folders = IndexFolders(
            state, configured.index_fingerprint, outlying, self.library.is_outlying
        )
        open_vectors = partial(manual_vectors, configured, stages, self.index_folders.make)
        self.indexes: OpenIndexes = (
            whole.indexes if whole else OpenIndexes(self.library, self._open_index, open_vectors)
        )
        updating: Sequence[NamedStage[Any]]
        updating = (*stages.loaders, *stages.tokenizers, *stages.embedders, *stages.indexes)
        self.updates: WatchedUpdates | None = (
            whole.updates if whole else shared.guarded.updates(updating)
        )
        self._background: BackgroundIndexer | None = None
        self._surface_values: dict[str, Any] = {}
        self._lock = RLock()

    def unread_files(self, manual_id: str) -> Sequence[UnreadFiles]:
        """Count the files of a manual that no loader reads, by suffix, with a loader that would."""
        paths = self.manual(manual_id).unread()
        return unread_files(paths, self._configured) if paths else ()

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> SearchResult:
        """Update the manual's index, answer from the cache or the pipeline, and store the trace."""
        with self._call():
            if "synonyms" in self._configured.searched:
                query = self._shared.loaded.glossary.applied(query)
            result = self._finder.find(manual_id, query, progress)
            return replace(result, extended=partial(self._extended, query.budget))

    def texts(
        self,
        manual_id: str,
        readings: Sequence[Reading],
        budget: Budget,
        progress: Progress | None = None,
        below: str = "",
    ) -> ManualTexts:
        """Update the manual's index, and return the files that may match."""
        from fumishirube.engine.manual_texts import manual_texts  # noqa: PLC0415 - no find needs it

        with self._call():
            query = Query(" ".join(reading.text for reading in readings), budget=budget)
            state = self.prepare(manual_id, query, progress)
            manual = self.manual(manual_id)
            texts = partial(manual_texts, manual, state, readings, self.tokenizer(), budget, below)
            return self._watched(texts, budget)

    def loaders(self) -> Sequence[Loader]:
        """Return the pipeline's loaders, in order."""
        return [named.stage for named in self.stages.loaders]

    def tokenizer(self) -> Tokenizer | None:
        """Return the pipeline's tokenizer, if it has one."""
        return next((named.stage for named in self.stages.tokenizers), None)

    def scorer(self, name: str, settings: Mapping[str, JsonValue] | None = None) -> Scorer:
        """Return a running scorer of the pipeline by its name, or open a new one."""
        if settings is not None:
            chosen = self._shared.stage("scorers", name, settings)
            begun = self._shared.guarded.running("scorers", chosen, self._running)
            return GuardedScorer.of(begun.stage)
        for named in self._pipeline.scorers:
            if named.name == name:
                return GuardedScorer.of(named.stage)
        raise ConfigError(
            f"one called {name!r} is needed; add {{use: {name}}}, or another one with 'as: {name}'",
            at=f"pipelines.{self._configured.pipeline_name}.scorers",
        )

    def vectors(self, embedder: str | None = None) -> StoredVectors:
        """Return stored vectors of the pipeline's embedder, or of the named one."""
        chosen = self._shared.stage("embedders", embedder, {}) if embedder else None
        return surface_vectors(self._configured, self.stages, self._shared, self._running, chosen)

    def claimed_files(self) -> ManualFolder:
        """Return the files of the whole root that loaders claim."""
        return ManualFolder(self._configured.name, self.root, self.loaders())

    def store(self, name: str) -> RecoverableIndex:
        """Open an index of the surface's own."""
        return RecoverableIndex(partial(self._open_index, self._own(name)))

    def stored(self, name: str) -> bool:
        """Tell whether such an index exists."""
        return self.index_folders.exists(self._own(name))

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return the surface's object of this name; make it on first use."""
        with self._lock:
            if name not in self._surface_values:
                self._surface_values[name] = make()
            value: T = self._surface_values[name]
            return value

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Pass the assessment of a search on to the cache and the statistics."""
        memory = self._shared.memory
        memory.cache.judge(trace_id, assessment)
        memory.statistics.conclude(self._configured.surface, trace_id, assessment)

    def _extended(self, budget: Budget, trace: Trace, extend: Callable[[Trace], Trace]) -> Trace:
        """Extend a trace within the time of its call."""
        try:
            return self._watched(partial(extend, trace), budget)
        except AbandonedWork as error:
            reason = f"{error}; the answer lacks what needs it"
            return self._shared.memory.traces.change(
                trace, lambda now: replace(now, degraded=joined_reasons(now.degraded, reason))
            )

    def _watched(self, work: Callable[[], T], budget: Budget) -> T:
        return self.updates.run(work, budget) if self.updates else work()

    def prepare(
        self,
        manual_id: str,
        query: Query,
        progress: Progress | None = None,
        *,
        vectors: bool = False,
    ) -> IndexState:
        """Update the index of one manual, or of several, and perhaps vectors; return its state."""
        if manual_id != EVERY_MANUAL and "/" not in manual_id:
            return self._prepare(manual_id, query, progress, vectors=vectors)
        joined = JoinedProgress(progress) if progress else None
        states: dict[str, IndexState] = {}
        failed: dict[str, FumishirubeError] = {}
        for name in self.manuals() if manual_id == EVERY_MANUAL else manual_id.split("/"):
            try:
                states[name] = self._prepare(name, query, joined, vectors=vectors)
            except (ToolError, IndexDamaged, DamagedAgain, AbandonedWork) as error:
                failed[name] = error
            if joined:
                joined.finish_manual()
        if states:
            return united_state(manual_id, states, failed)
        raise next(iter(failed.values()), NotFound("there are no manuals"))

    def _prepare(
        self, manual_id: str, query: Query, progress: Progress | None, *, vectors: bool
    ) -> IndexState:
        background = self.indexer()
        update = partial(self._update, manual_id, query, progress, vectors=vectors)
        try:
            indexed, state = self._watched(update, query.budget)
        except AbandonedWork as error:
            opened = self.indexes.opened(manual_id)  # waits for nothing
            if opened is None or not opened.committed:
                raise
            indexed, state = opened, opened.last_state(f"{error}; this is the state before")
        if missing := [*self._missing(manual_id, indexed, state)]:
            degraded = joined_reasons(state.degraded, *missing)
            state = state._replace(degraded=degraded, incomplete=True)
        if vectors:
            try:
                state = self._watched(partial(indexed.with_vectors, state), query.budget)
            except AbandonedWork as error:
                reason = f"words alone decide: {error}"
                state = state._replace(degraded=joined_reasons(state.degraded, reason))
        if background and state.unembedded:
            background.take_up(indexed)
        return state

    def _missing(self, manual_id: str, indexed: FolderIndex, state: IndexState) -> Iterator[str]:
        """Yield what loaders did not list or read, or not yet."""
        loaders = [*zip(self.stages.loaders, self.index_loaders, strict=True)]
        yield from unlisted_by(self.loaders(), indexed.manual.root)
        yield from unread_by(state.skipped, indexed.claimed, loaders)
        if state.slow:
            yield from self._shared.guarded.slow_files(manual_id, state.slow, loaders)

    def _update(
        self, manual_id: str, query: Query, progress: Progress | None, *, vectors: bool
    ) -> tuple[FolderIndex, IndexState]:
        """Update the index of one manual, and perhaps vectors, unless that is done beside calls."""
        indexed, background = self.indexed_of(manual_id), self.indexer()
        # What remains after some seconds is indexed beside the calls.
        budget = query.budget.within(SERVED_SECONDS) if background else query.budget
        delay = self.updates.delay if self.updates else None
        with self._shared.guarded.damaged_again(self._configured.indexes):
            state = indexed.bring_up_to_date(budget, progress, query.text, delay=delay)
        if background:
            background.follow_up(indexed, state)  # here, because the call may have left this behind
        elif vectors:
            indexed.embed(query.budget, progress)
        return indexed, state

    def indexer(self) -> BackgroundIndexer | None:
        """Return what updates indexes in the background, while tools are served."""
        return self._whole.indexer() if self._whole else self._background

    def _call(self) -> AbstractContextManager[None]:
        """Delay background indexing while the body runs."""
        background = self.indexer()
        return background.call() if background else nullcontext()

    def forget_missing(self) -> Sequence[str]:
        """Delete the manuals whose folders are gone from an index for several machines.

        Return their ids. Nothing is deleted while there is no manual at all: the folder of manuals
        may be that of a disk that is not mounted.
        """
        index, present = self._only("indexes", self.stages.indexes), self.manuals()
        if not present or not isinstance(index, ForgetsManuals):
            return ()
        return index.forget_manuals(self._shared.state, present, self._fields())

    def rebuild(self, manual_id: str, progress: Progress | None = None) -> IndexState | None:
        """Index a manual anew while its index answers; ``None`` if that index cannot."""
        state = self.indexed_of(manual_id).rebuild(progress)
        if state is not None:
            self.index_folders.remove_others(manual_id)
        return state

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Watch large manuals, and update indexes in the background, while the body runs."""
        if self._whole is not None:  # which does that
            yield
            return
        from fumishirube.engine.background import BackgroundIndexer  # noqa: PLC0415 - only servers

        self.library.follow(on=True)
        watched = [self.updates.run_in_background] if self.updates else []
        try:
            with closing(BackgroundIndexer(self._shared.leads, *watched)) as self._background:
                if self._configured.of_manuals:
                    self._background.begin(self.manuals, self.indexed_of)
                yield
        finally:
            self._background = None
            self.library.follow(on=False)

    def close(self) -> None:
        """Close the open indexes and the objects of the surface."""
        for value in self._surface_values.values():
            if callable(close := getattr(value, "close", None)):
                close()
        self._surface_values.clear()
        if self._whole is None:
            self.indexes.close()
        self.index_folders.close()
        self._running.close()

    def indexed_of(self, manual_id: str) -> FolderIndex:
        """Return a manual with its index, which is opened on first use."""
        return self.indexes.of(self.library.manual(manual_id))

    def _open_index(self, name: str) -> OpenIndex:
        index = self._only("indexes", self.stages.indexes)
        return index.open(self.index_folders.make(name), self._fields())

    def _fields(self) -> Fields:
        return Fields(FIELDS, self._only("tokenizers", self.stages.tokenizers))

    def _own(self, name: str) -> str:
        return f"{self._configured.name}{self._shared.view}/{name}"

    def _only(self, kind_name: str, stages: Sequence[NamedStage[T]]) -> T:
        if not stages:
            where = f"pipelines.{self._configured.pipeline_name}"
            raise ConfigError(f"searching needs one of {kind_name}", at=where)
        return stages[0].stage
