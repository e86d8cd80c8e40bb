"""The index of one manual, which follows its files."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fumishirube.budget import Budget
from fumishirube.disk.stored import StoredFile
from fumishirube.documents import EMPTY_MAPPING, Document
from fumishirube.engine.corpus_views import CorpusWithout
from fumishirube.engine.file_loads import FileLoads
from fumishirube.engine.file_readers import FileReaders
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.owned_locks import OwnedLock, writing, writing_thread
from fumishirube.engine.recoverable_index import (
    CommitSummary,
    IndexState,
    RecoverableIndex,
    joined_reasons,
)
from fumishirube.errors import Forbidden, IndexDamaged
from fumishirube.model import LeftOut
from fumishirube.stages import ClaimedFile, IndexChanges, IndexedFile, OpenIndex
from fumishirube.tools.definitions import Progress

if TYPE_CHECKING:
    from fumishirube.engine.vectors.manual_vectors import ManualVectors

_log = logging.getLogger("fumishirube")

Delay: TypeAlias = Callable[[int | None, float], str | None]
"""Returns what has delayed a thread since a time: which stage for how many seconds, if any."""

_MOST_ATTEMPTS = 3
"""How often in a row a waiting process sees no commit of the writer, or updates find an index
damaged, before they give up: what is left is for the next call."""

_WAIT_SECONDS = 0.05
_CLOSE_SECONDS = 2.0
"""The most seconds for which the end of an update is waited for."""


class _FolderUpdate(NamedTuple):
    """An update: the claimed files, and of the call its time, its progress and its query.

    ``changes`` are those of the files since ``pages`` were committed, if they are known.
    """

    claimed: Mapping[str, ClaimedFile]
    budget: Budget
    progress: Progress | None = None
    wanted: str = ""
    delay: Delay | None = None
    pages: Mapping[str, IndexedFile] | None = None
    changes: IndexChanges = ([], [])


_BUSY = "another process is updating the index; this is the state before"


class FolderIndex:
    """A manual and its index. Calls from several threads update it one after the other.

    ``claimed`` are the files of the last update. The index is closed when nothing refers to this
    object any more, or by ``close``. With ``stores_files`` it gets the files too, if it can.
    """

    def __init__(
        self,
        manual: ManualFolder,
        open_index: Callable[[], OpenIndex],
        vectors: ManualVectors | None = None,
        *,
        stores_files: bool = False,
    ) -> None:
        self.manual = manual
        self._vectors = vectors
        self._stores_files = stores_files
        self._loads = FileLoads(manual)
        self._readers = FileReaders(manual)
        self._index = RecoverableIndex(open_index)
        self.read = self._index.read_file
        self._index.rebuilt = ""  # damage from before the start leaves no answer incomplete
        if vectors is not None:
            vectors.follow(self._index)
        self._lock = OwnedLock()
        pages = self._index.pages()
        manual.expect(len(pages))
        self._committed = (CommitSummary.of(pages), self._index.corpus(manual.id))
        self.claimed: Mapping[str, ClaimedFile] = EMPTY_MAPPING
        self._close = weakref.finalize(self, _close, self._index, self._readers)
        self._close.atexit = False

    def bring_up_to_date(
        self,
        budget: Budget,
        progress: Progress | None = None,
        wanted: str = "",
        *,
        reporting: bool = True,
        delay: Delay | None = None,
    ) -> IndexState:
        """Index what changed on disk, and return the resulting corpus.

        Only changed files are read, those whose names contain wanted terms first. If another call
        or process is writing, or the deadline passes, the last committed state is returned, and
        ``degraded`` says so; ``delay`` then returns what delays the thread of another call since
        before this one, if it knows. A missing or damaged index is rebuilt, which the next
        ``reporting`` call says.

        Raises:
            Cancelled: when the caller has gone; uncommitted work is dropped.
        """
        began = time.monotonic()
        with self._turn(budget) as mine:
            if mine:
                state = self._updated(budget, progress, wanted, delay)
            else:
                busy = _delayed(delay, self._lock.owner, began)
                state = self._state(self.manual.sweep(), busy)
        if not reporting:
            return state
        rebuilt, self._index.rebuilt = self._index.rebuilt, ""
        return state._replace(degraded=joined_reasons(rebuilt, state.degraded))

    @property
    def committed(self) -> bool:
        """Whether there are files in the last committed state, and which are left is known."""
        return self.claimed is not EMPTY_MAPPING and bool(self._committed[0].pages)

    def last_state(self, reason: str) -> IndexState:
        """Return the last committed state, for a call that leaves an update behind."""
        return self._state(self.claimed, reason)

    def embed(self, budget: Budget, progress: Progress | None = None) -> bool:
        """Embed sections without a vector; return whether the time was up before that was done.

        Raises:
            Cancelled: when the caller has gone; stored vectors remain.
        """
        if self._vectors is None:
            return False
        return self._vectors.embed(self._committed[0].pages, self._document, budget, progress)

    def _document(self, page: IndexedFile) -> Document | None:
        """Return the document of an indexed file, unless the file has changed since."""
        file = self.claimed.get(page.path)
        if file is None or not self.manual.is_current(page, file):
            return None
        return self.manual.load(file)

    def with_vectors(self, state: IndexState) -> IndexState:
        """Return a state whose corpus has the vectors of its sections, if they are made."""
        if self._vectors is None:
            return state
        missing = self._vectors.shortfall(state.pages)
        return state._replace(
            corpus=self._vectors.over(state.corpus, state.pages),
            degraded=joined_reasons(state.degraded, missing),
            unembedded=missing is not None,
        )

    def rebuild(self, progress: Progress | None = None) -> IndexState | None:
        """Rebuild the index while the old one answers; return ``None`` if it cannot do that."""
        budget = Budget()
        with self._turn(budget), self._index.rebuilding(budget) as mine:
            if mine is None:
                return None
            claimed = self.manual.sweep()
            degraded = self._update(_FolderUpdate(claimed, budget, progress)) if mine else _BUSY
        self._publish()
        return self._state(claimed, degraded)

    def _updated(
        self, budget: Budget, progress: Progress | None, wanted: str, delay: Delay | None
    ) -> IndexState:
        if self.manual.stored:  # its files are those of the last commit
            self._refresh()
        self.claimed = self.manual.sweep()  # now, for calls that leave the update behind
        update = _FolderUpdate(self.claimed, budget, progress, wanted, delay=delay)
        try:
            return self._refreshed(update)
        except IndexDamaged as error:  # damaged after the refresh; reopen it and try again
            _log.warning("an index turned out to be damaged: %s", error)
            return self._refreshed(update)

    def _refresh(self) -> None:
        """Take in the commits of other processes."""
        self._index.refresh()
        self._publish()

    def _refreshed(self, update: _FolderUpdate) -> IndexState:
        self._refresh()
        claimed = update.claimed
        degraded, pages = None, self._index.pages()
        gone, changed = ([], []) if self.manual.stored else self.manual.changes(pages, claimed)
        self._loads.retain(changed)
        if gone or changed:
            try:
                if gone or self._may_load(changed, update.budget):
                    known = update._replace(pages=pages, changes=(gone, changed))
                    degraded = self._update_alone(known)
                else:
                    degraded = self._late(len(changed), claimed)
            except Forbidden as error:  # the last commit can still be searched
                self._refresh()
                return self._state(claimed, f"{error}; this is the state before")
        if not degraded:
            self._index.check()
        # An index that is lost again before it is complete would be rebuilt without end.
        goes_on = degraded is not None and self._index.reopened < _MOST_ATTEMPTS
        return self._state(claimed, degraded)._replace(unfinished=goes_on)

    def _may_load(self, changed: Sequence[ClaimedFile], budget: Budget) -> bool:
        """Wait while each file waits for a slow load; a call with a deadline does not wait."""
        while self._loads.blocked(changed):
            if budget.deadline is not None or budget.late:
                return False
            budget.check()
            time.sleep(_WAIT_SECONDS)
        return True

    @contextmanager
    def _turn(self, budget: Budget) -> Iterator[bool]:
        """Wait until no other call is updating; yield ``False`` if the deadline comes first."""
        mine = self._lock.acquire(seconds=0)
        while not mine and not budget.late:
            budget.check()
            left = _WAIT_SECONDS if budget.left is None else min(_WAIT_SECONDS, budget.left)
            mine = self._lock.acquire(seconds=left)
        try:
            yield mine
        finally:
            if mine:
                self._lock.release()

    def _publish(self) -> None:
        """Make the last commit the state that calls return."""
        pages = self._index.pages()
        summary, _ = self._committed
        if summary.pages is not pages:
            summary = CommitSummary.of(pages, summary)
            self.manual.forget_documents()
        self._committed = (summary, self._index.corpus(self.manual.id))

    def _state(self, claimed: Mapping[str, ClaimedFile], degraded: str | None) -> IndexState:
        summary, corpus = self._committed
        if degraded and (gone := summary.pages.keys() - claimed.keys()):
            # A deleted or excluded file is not found even while the index cannot be updated.
            present = {path: page for path, page in summary.pages.items() if path in claimed}
            summary, corpus = (
                CommitSummary.of(present, summary),
                CorpusWithout(corpus, tuple(sorted(gone))),
            )
        pages, skipped, headings, fingerprint, _ = summary
        self.claimed, files = claimed, len(pages)
        if degraded:
            waiting = [LeftOut(path, None, "time_budget") for path in claimed if path not in pages]
            skipped = tuple(sorted((*skipped, *waiting)))
            files += len(waiting)
        aside = self.manual.aside()._replace(headings=headings)
        slow = tuple(load for load in self._loads.slow() if load.path in claimed)
        state = IndexState(corpus, files, skipped, degraded, fingerprint, aside)
        return state._replace(slow=slow, pages=pages, incomplete=bool(degraded))

    def files(self) -> Mapping[str, StoredFile]:
        """Return the files that the index stores, of the last commit of any process."""
        if self._lock.acquire(seconds=0):  # else a call refreshes it, perhaps this one
            try:
                self._refresh()
            finally:
                self._lock.release()
        return self._index.files()

    def close(self) -> None:
        """Close the index after a running update, or with the process if that does not end."""
        if self._lock.acquire(seconds=_CLOSE_SECONDS):
            try:
                self._close()
            finally:
                self._lock.release()

    def _update_alone(self, update: _FolderUpdate) -> str | None:
        """Update as the only writer, or wait for another one as long as it commits new files."""
        known, attempts, began = -1, _MOST_ATTEMPTS, time.monotonic()
        while True:
            with self._index.writing(update.budget) as mine:
                if mine:
                    with writing(self.manual.root.path):
                        return self._update(update)
            self._refresh()
            pages = self._index.pages()
            attempts = attempts - 1 if len(pages) == known else _MOST_ATTEMPTS
            if update.budget.late or not attempts or update.claimed.keys() <= pages.keys():
                owner = writing_thread(self.manual.root.path)
                return _delayed(update.delay, owner, began) if owner else _BUSY
            known = len(pages)

    def _update(self, update: _FolderUpdate) -> str | None:
        # Only for changed files.
        from fumishirube.engine.commit_batches import CommitBatches  # noqa: PLC0415 - as said
        from fumishirube.engine.update_loads import UpdateLoads, wanted_first  # noqa: PLC0415 - as said

        claimed, budget = update.claimed, update.budget
        self._publish()  # another process may have been faster
        pages, gone, changed = self._index.pages(), *update.changes
        if pages is not update.pages:
            gone, changed = self.manual.changes(pages, claimed)
        if budget.deadline is not None:
            terms = self._index.corpus(self.manual.id).terms(update.wanted)
            changed = wanted_first(changed, terms)
        contents = partial(_contents, self.manual, claimed) if self._stores_files else None
        with self._readers.reading(changed, self._index.preparation, budget) as elsewhere:
            coming = UpdateLoads(self._loads, changed, budget, elsewhere)
            reading = CommitBatches(
                self.manual.id, self._loads, coming, len(changed), update.progress
            )
            try:
                while gone or reading.left:
                    read = reading.commit(self._index, gone, contents)
                    self._publish()
                    gone = []
                    if reading.left and (budget.late or not read):
                        return self._late(reading.left, claimed)
            finally:
                self._loads.dismiss()
        return None

    def _late(self, left: int, claimed: Mapping[str, ClaimedFile]) -> str:
        return (
            f"time ran out while indexing: {left} changed files are not in yet "
            f"({len(self._index.pages())} of {len(claimed)} files are)"
        )


def _delayed(delay: Delay | None, owner: int | None, began: float) -> str:
    """Return why a call that began then has the state before: a thread is updating the index."""
    stage = delay and delay(owner, began)
    return f"{stage or 'another call is updating the index'}; this is the state before"


def _contents(
    manual: ManualFolder, claimed: Mapping[str, ClaimedFile], page: IndexedFile
) -> Sequence[tuple[StoredFile, bytes]]:
    return [
        (StoredFile(entry.path, entry.size, entry.modified_ns, sha256(data).hexdigest()), data)
        for entry, data in manual.contents(claimed[page.path], claimed.keys())
    ]


def _close(index: RecoverableIndex, readers: FileReaders) -> None:
    readers.close()
    index.close()
