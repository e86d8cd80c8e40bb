"""The documents of a folder: keeps an index in step with the files, one generation at a time."""

from __future__ import annotations

import gc
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from threading import Event, RLock
from typing import Any, NamedTuple

from fumishirube import (
    Budget,
    ClaimedFile,
    IndexedFile,
    OpenIndex,
    Passage,
    SurfaceContext,
    SurfaceIndex,
    ToolError,
)
from fumishirube.disk import Watch
from fumishirube.tools import EmbeddingCounts, SectionVectors
from fumishirube_graph.errors import JsonRpcInternalError, docs_missing
from fumishirube_graph.lock import holder
from fumishirube_graph.reader import DocumentReader, sha_of
from fumishirube_graph.records import Doc, Record
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Baselines

PATIENCE = 5.0
"""Seconds that a call waits for the first index."""
FRESH = 0.3
"""Seconds after a look at the folder in which no new one starts."""

_NAME = "docs"

_log = logging.getLogger("fumishirube")


class IndexChange(NamedTuple):
    """The result of one update of the index, in documents: skipped files are none."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    busy: bool = False

    @property
    def any(self) -> bool:
        """Whether anything changed."""
        return bool(self.added or self.updated or self.removed)


class FolderComparison(NamedTuple):
    """The paths to remove from the index, and the files to read."""

    gone: Sequence[str]
    changed: Sequence[ClaimedFile]


class Docs:
    """The documents below a context's root; updates from several threads run one after the other.

    A follower reads the index but never writes it. ``news`` is set after every change. ``marked``
    is true where the operating system reports changes of the folder.
    """

    def __init__(self, context: SurfaceContext, baseline_file: str) -> None:
        self.context = context
        self.follower = False
        self._baseline_file = baseline_file
        self._lock = RLock()
        self._index: SurfaceIndex | None = None
        self._newest: tuple[Mapping[str, IndexedFile], GraphSnapshot] | None = None
        self._docs: dict[str, tuple[IndexedFile, Doc]] = {}
        self._unwritten: Mapping[str, IndexedFile] = {}
        self._looked = -1.0
        self._rebuilt = ""
        self._first = Event()
        self.news = Event()
        self._watch = Watch(context.root.path)
        self.marked = False
        self._reader = DocumentReader(context)

    @property
    def root_name(self) -> str:
        """The documents' folder, relative to the workspace, with which callers may begin a path.

        If it is the workspace, or outside, it is the name alone, never an absolute path.
        """
        root, workspace = self.context.root.path, self.context.folder("workspace").path
        return root.relative_to(workspace).as_posix() if workspace in root.parents else root.name

    @property
    def present(self) -> bool:
        """Whether the folder exists, and neither it nor a folder above it was replaced by a link.

        Links from before the start are resolved in its path.
        """
        root = self.context.root
        return root.exists and Path(os.path.realpath(root.path)) == root.path

    def current(self, *, served: bool = False) -> GraphSnapshot:
        """Return the newest generation, after taking in changes on disk.

        Raises:
            JsonRpcInternalError: when there is no folder, or the first index is not ready in time.
        """
        if not self.present:
            raise docs_missing(self.root_name)
        if served:
            if not self._first.wait(PATIENCE):
                message = "the first index is still being made; try again soon"
                raise JsonRpcInternalError(message, reason="indexing")
            self._catch_up_at_call()
        elif self.follower:
            return self._followed()
        elif time.monotonic() - self._looked > FRESH:
            self.refresh()
            self.embed()
        return self._noting_recovery(self.view())

    def _noting_recovery(self, snapshot: GraphSnapshot) -> GraphSnapshot:
        """Add a warning to one answer after the index was rebuilt."""
        with self._lock:
            if not self._rebuilt:
                return snapshot
            noted = copy(snapshot)
            noted.behind = (self._rebuilt, *snapshot.behind)
            self._rebuilt = ""
            return noted

    def catch_up(self, *, at_call: bool = False) -> bool:
        """Look for changes, unless there can be none; return whether it looked.

        During a call, look only where the system reports changes: checking every file takes long.
        """
        with self._lock:
            if self._watch.quiet() or (at_call and not self.marked) or self.refresh().busy:
                return False
            self._watch.surveyed()
            self.marked = self._watch.quiet()
            return True

    def _catch_up_at_call(self) -> None:
        """Take in recent changes; when that fails, answer from the index as it was."""
        try:
            self.catch_up(at_call=True)
        except ToolError:
            raise
        except Exception:
            _log.exception("the documents could not be indexed")
            self.view().behind = ("the folder could not be indexed; this is the state before",)

    def _followed(self) -> GraphSnapshot:
        """Return what another process indexed, or index the folder while no process has."""
        with self._lock:
            if self._index is not None or self.context.stored(_NAME):
                snapshot = self.view()
                snapshot.behind = tuple(self._unfollowed())
                return self._noting_recovery(snapshot)
            claimed = self._claimed()
            comparison = self._compared(self._unwritten, claimed)
            if comparison.gone or comparison.changed:
                pages = {p: page for p, page in self._unwritten.items() if p in claimed}
                for file in comparison.changed:
                    path = file.source.path
                    pages[path] = self._reader.page(file, pages.get(path))
                self._unwritten = pages
            return self._viewed(self._unwritten)

    def _unfollowed(self) -> Iterator[str]:
        """Yield a warning with the number of changed files, when no process follows the folder."""
        if holder(self.context.folder("workspace").path) not in (None, os.getpid()):
            return
        comparison = self._compared(self._opened().pages(), self._claimed())
        if comparison.gone or comparison.changed:
            differing = len(comparison.gone) + len(comparison.changed)
            yield (
                "these answers are of an older index, and no server follows the folder: "
                f"{differing} {'file differs' if differing == 1 else 'files differ'}; "
                "run 'fumishirube docs index'"
            )

    def view(self) -> GraphSnapshot:
        """Return the newest committed generation, without looking at the folder."""
        if not self.present:
            raise docs_missing(self.root_name)
        with self._lock:
            index = self._opened()
            index.refresh()
            if index.rebuilt and not self.follower:
                self.refresh()
            self._take_note(index)
            return self._viewed(index.pages())

    def _take_note(self, index: SurfaceIndex) -> None:
        """Remember the warnings of the index for the next answer."""
        self._rebuilt, index.rebuilt = index.rebuilt or self._rebuilt, ""

    def _viewed(self, pages: Mapping[str, IndexedFile]) -> GraphSnapshot:
        if self._newest is None or self._newest[0] is not pages:
            with _uncollected():
                self._docs = dict(self._documents(pages))
                docs = {path: doc for path, (_, doc) in self._docs.items()}
                skipped = {p: page.skipped for p, page in sorted(pages.items()) if page.skipped}
                snapshot = GraphSnapshot(
                    _NAME, docs, self.vectors, skipped, self.context.tokenizer()
                )
                self._newest = (pages, snapshot)
        return self._newest[1]

    def refresh(self, *, full: bool = False, only: str | None = None) -> IndexChange:
        """Bring the index up to date with the folder, in one commit; wait for another writer.

        With ``only``, look at that file alone.
        """
        if not self.present:
            raise docs_missing(self.root_name)
        with self._lock:
            index = self._opened()
            began = time.monotonic()
            claimed = self._claimed()
            index.refresh()
            self._take_note(index)
            comparison = self._compared(index.pages(), claimed, full=full, only=only)
            change = IndexChange()
            if comparison.gone or comparison.changed:
                with index.writing(Budget()) as mine:
                    if not mine:
                        before = self._viewed(index.pages())
                        before.behind = ("another process is indexing; this is the state before",)
                        return change._replace(busy=True)
                    with _uncollected():
                        change = self._write(index, claimed, full=full, only=only)
            if change.any:
                self.news.set()
            self._looked = began if only is None else self._looked
            self._first.set()
            snapshot = self._viewed(index.pages())
            snapshot.behind = ()
            records = {path: doc.record for path, doc in snapshot.docs.items()}
            self.baselines.cover(records, claimed)
            return change._replace(unchanged=len(records) - change.added - change.updated)

    def _claimed(self) -> Mapping[str, ClaimedFile]:
        """Return the files that loaders claim now."""
        try:
            return self._reader.files.sweep()
        except ToolError as error:
            if self.present:
                raise
            raise docs_missing(self.root_name) from error  # it has just gone

    def _compared(
        self,
        pages: Mapping[str, IndexedFile],
        claimed: Mapping[str, ClaimedFile],
        *,
        full: bool = False,
        only: str | None = None,
    ) -> FolderComparison:
        """Compare the index with the folder; with ``full``, read every file again."""
        gone, changed = self._reader.files.changes(pages, claimed)
        changed = [*claimed.values()] if full else changed
        if only is not None:
            gone = [path for path in gone if path == only]
            changed = [file for file in changed if file.source.path == only]
        return FolderComparison(gone, changed)

    def _write(
        self, index: OpenIndex, claimed: Mapping[str, ClaimedFile], *, full: bool, only: str | None
    ) -> IndexChange:
        pages = index.pages()
        comparison = self._compared(pages, claimed, full=full, only=only)
        done = Counter(_change_of(sha_of(pages[path]), "") for path in comparison.gone)

        def read() -> Iterator[tuple[IndexedFile, Sequence[Passage]]]:
            # Lazily, so that the index adds one page while the next is read.
            for file in comparison.changed:
                before = pages.get(file.source.path)
                page = self._reader.page(file, before)
                done[_change_of(sha_of(before) if before else "", sha_of(page))] += 1
                yield page, ()

        index.sync(comparison.gone, read())
        return IndexChange(done["added"], done["updated"], done["removed"])

    def embed(
        self, go_on: Callable[[], bool] = lambda: True, vectors: SectionVectors | None = None
    ) -> EmbeddingCounts:
        """Make the missing vectors, by default those of the pipeline's embedder.

        A failure becomes a warning of the answers.
        """
        snapshot, vectors = self.view(), vectors or self.vectors
        return vectors.update(snapshot.stamps, snapshot.section_texts_of, go_on)

    @cached_property
    def vectors(self) -> SectionVectors:
        """The vectors of the pipeline's embedder."""
        return self.context.vectors()

    @property
    def embedder_name(self) -> str:
        """The name of the embedder; ``none`` for an embedder without dimensions."""
        gives = self.vectors.active or self.vectors.failure
        return self.vectors.name if gives else "none"

    def complete_vectors(self) -> SectionVectors:
        """Return the pipeline's vectors when complete; else those of the ``hashing`` embedder."""
        vectors = self.vectors if self.vectors.active else self._hashed
        self.embed(vectors=vectors)
        return vectors

    @cached_property
    def _hashed(self) -> SectionVectors:
        return self.context.vectors("hashing")

    @cached_property
    def baselines(self) -> Baselines:
        """The baselines of the documents' sources."""
        workspace, state = self.context.folder("workspace"), self.context.folder("state")
        return Baselines(workspace, state, self._baseline_file)

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            self._watch.close()
            if self._index is not None:
                self._index.close()
            self._index, self._newest = None, None

    # --- the index ---------------------------------------------------------------------------

    def _opened(self) -> SurfaceIndex:
        if self._index is None:
            self._index = self.context.store(_NAME)
        return self._index

    def _documents(
        self, pages: Mapping[str, IndexedFile]
    ) -> Iterator[tuple[str, tuple[IndexedFile, Doc]]]:
        """Yield one document a page; an unchanged page yields the same object as before."""
        for path, page in pages.items():
            if page.about is None:
                continue
            cached = self._docs.get(path)
            if cached is not None and cached[0].about is page.about:
                yield path, cached
            else:
                row: Any = page.about
                yield path, (page, Doc(path, Record.read(row)))


def _change_of(before: str, after: str) -> str:
    """Return what became of a document, from its hashes; a skipped file has none."""
    if before and after:
        return "updated" if before != after else "unchanged"
    return "added" if after else "removed" if before else "skipped"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector while many objects are made: it took half of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
