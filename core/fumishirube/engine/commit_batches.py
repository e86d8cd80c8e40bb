"""Changed files on their way into an index: what a commit takes, and how long it waits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from fumishirube.budget import Budget
from fumishirube.engine.file_loads import (
    PATIENCE_SECONDS,
    FileLoad,
    FileLoads,
    busy_loaders,
    is_isolated,
    most_parsed,
)
from fumishirube.engine.file_readers import ReadUpdate
from fumishirube.engine.indexed_files import IndexedPage
from fumishirube.engine.recoverable_index import RecoverableIndex
from fumishirube.engine.stage_calls import GRACE_SECONDS
from fumishirube.parsing.loading import PagesRead
from fumishirube.stages import ClaimedFile, FileContents
from fumishirube.text.folding import fold
from fumishirube.tools.definitions import Progress

_FIRST_COMMIT, _LAST_COMMIT = 1.5, 6.0
"""Seconds that an update reads before its first commit. They double with every commit, up to the
second value.

Searches see only committed files, but many small commits cost more than a few large ones.
"""
_TOGETHER = 16
"""A thread is woken once for so many files."""
_LOOK = 0.05
"""Seconds between two checks of the clock and of a cancellation."""


class CommitBatches:
    """Changed files on their way into the index, in batches of one commit each."""

    def __init__(
        self,
        manual_id: str,
        loads: FileLoads,
        changed: Sequence[ClaimedFile],
        budget: Budget,
        progress: Progress | None,
        reading: ReadUpdate | None = None,
    ) -> None:
        self._manual_id = manual_id
        self._loads = loads
        self._budget = budget
        self._progress = progress
        self._total = len(changed)
        self._done = 0
        self._pages_read: list[PagesRead] = []
        self._seconds = _FIRST_COMMIT
        self._began = time.monotonic()
        self._wanted = {file.source.path: file for file in changed}
        self._running = [load for path in self._wanted if (load := loads.begun(path))]
        begun = {load.path for load in self._running}
        waiting = [file for path, file in self._wanted.items() if path not in begun]
        self._reading = reading
        self._waiting: deque[ClaimedFile] = deque()
        self._isolated: deque[ClaimedFile] = deque()
        self._queue(waiting if reading is None else reading.give(waiting))
        self._put_off: list[ClaimedFile] = []
        self._taken: list[FileLoad] = []

    @property
    def left(self) -> int:
        """The number of files that are not loaded yet."""
        return self._total - self._done

    def commit(
        self, index: RecoverableIndex, gone: Sequence[str], contents: FileContents | None = None
    ) -> bool:
        """Commit the next batch; return ``False`` if the time is over before a file is loaded.

        ``contents`` returns the files of a page, for an index that stores them.
        """
        pages = self._batch()
        first = next(pages, None)
        if first is not None or gone:
            index.sync(gone, chain([first], pages) if first is not None else (), contents)
        for load in self._taken:
            self._loads.forget(load)
        self._taken.clear()
        return first is not None

    def _batch(self) -> Iterator[IndexedPage]:
        """Yield pages until it is time to commit."""
        until = time.monotonic() + self._seconds
        self._seconds = min(2 * self._seconds, _LAST_COMMIT)
        while self.left and (load := self._next()) is not None:
            yield self._loads.page(load)
            if load.took >= PATIENCE_SECONDS:
                self._taken.append(load)
            self._done += 1
            self._report()
            if time.monotonic() >= until or (self._budget.late and self._reading is None):
                return

    def _next(self) -> FileLoad | None:
        """Return a load that is done, or ``None`` if the time is over before one is."""
        while True:
            if (load := self._next_elsewhere()) is not None:
                return load
            self._budget.check()
            if (load := self._next_here()) is not None:
                return load
            if not (self._running or self._waiting or self._isolated or self._put_off):
                if self._reading is None:
                    return None
                continue
            if self._loads.stuck or self._budget.late:
                self._take_back()
            if self._running and self._is_over():
                return None
            self._begin_isolated()
            if self._delays_none:
                self._begin_next()
            self._wait()

    def _wait(self) -> None:
        """Wait shortly for a running load, and report pages that were read meanwhile."""
        if self._reading is None or not self._is_idle:
            self._running[-1].done.wait(_LOOK)
        pages_read = [load.pages_read for load in self._running if load.pages_read]
        if pages_read != self._pages_read:
            self._pages_read = pages_read
            self._report()

    def _report(self) -> None:
        """Report the files that are done, and the pages of those that are being read."""
        if self._progress is None:
            return
        done, message = float(self._done), f"indexing {self._manual_id}"
        paged = [(load, load.pages_read) for load in self._running if load.pages_read]
        for load, (read, total) in paged:
            done += read / total if total else 0.0
            if load is paged[0][0]:
                message += f": {load.path}, page {read} of {total}"
        self._progress(min(done, self._total), self._total, message)

    def _next_elsewhere(self) -> FileLoad | None:
        """Return a load of another process; wait shortly if there is nothing to do here."""
        if self._reading is None:
            return None
        if self._budget.late:
            self._reading.withdraw()
        load = self._reading.next(wait=self._is_idle)
        self._queue(self._reading.returned())
        if load is None and not self._reading.busy:
            self._reading = None
        return load

    def _next_here(self) -> FileLoad | None:
        """Return a load of this process that is done, and is of the wanted version."""
        load = next((load for load in self._running if load.done.is_set()), None)
        if load is None:
            return None
        self._running.remove(load)
        put_off, self._put_off = self._put_off, []
        self._queue(put_off)  # its loader has time again
        wanted = self._wanted[load.path]
        if load.file == wanted:
            return load
        self._loads.forget(load)
        self._queue([wanted])
        return None

    def _queue(self, files: Iterable[ClaimedFile]) -> None:
        for file in files:
            (self._isolated if is_isolated(file) else self._waiting).append(file)

    @property
    def _is_idle(self) -> bool:
        """Whether this process has nothing to do but to wait for slow loads."""
        return self._delays_none and not self._waiting

    @property
    def _delays_none(self) -> bool:
        """Whether no running load keeps another file of this process waiting."""
        return all(load.isolated or load.seconds >= PATIENCE_SECONDS for load in self._running)

    def _take_back(self) -> None:
        """Take back the files that have not been begun."""
        dropped = self._loads.dismiss()
        self._running = [load for load in self._running if load not in dropped]
        self._waiting.extendleft(load.file for load in reversed(dropped))

    def _is_over(self) -> bool:
        """Whether this update stops waiting for the running loads.

        A call with a deadline does not wait for files that were slow before: an earlier call has
        reported them.
        """
        if self._reading is not None:
            return False  # other processes have files, or are being withdrawn
        if self._budget.late:
            return all(load.seconds > GRACE_SECONDS for load in self._running)
        slow = self._began - PATIENCE_SECONDS
        waiting = (
            self._waiting or self._isolated or any(load.began > slow for load in self._running)
        )
        return self._budget.deadline is not None and not waiting

    def _begin_isolated(self) -> None:
        """Begin files that other processes parse, one a core, and more beside slow ones."""
        loads = [load for load in self._running if load.isolated]
        while self._isolated and not (self._budget.late and self._running):
            running = [load for load in loads if not load.done.is_set()]
            quick = sum(load.seconds < PATIENCE_SECONDS for load in running)
            if max(quick, len(loads) - len(running)) >= most_parsed():
                return
            file = self._isolated.popleft()
            if id(file.loader) in busy_loaders(running):
                self._put_off.append(file)
                continue
            loads.append(self._loads.begin_beside(file))
            self._running.append(loads[-1])

    def _begin_next(self) -> None:
        """Begin the next files whose loaders are not busy."""
        busy = busy_loaders(self._running)
        files: list[ClaimedFile] = []
        while self._waiting and len(files) < (1 if self._budget.late else _TOGETHER):
            file = self._waiting.popleft()
            (self._put_off if id(file.loader) in busy else files).append(file)
        if files:
            self._running += self._loads.begin(files)


def wanted_first(changed: Sequence[ClaimedFile], terms: Sequence[str]) -> list[ClaimedFile]:
    """Sort files by the terms in their paths, most first: time may run out before the others."""
    several = {term for term in terms if len(term) > 1}

    def rank(file: ClaimedFile) -> int:
        path = fold(file.source.path)
        return -sum(term in path for term in several)

    return sorted(changed, key=rank)
