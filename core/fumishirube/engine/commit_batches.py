"""Changed files on their way into an index: what a commit takes, and what is reported of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain

from fumishirube.engine.file_loads import PATIENCE_SECONDS, FileLoad, FileLoads
from fumishirube.engine.indexed_files import IndexedPage
from fumishirube.engine.recoverable_index import RecoverableIndex
from fumishirube.engine.update_loads import UpdateLoads
from fumishirube.parsing.loading import PagesRead
from fumishirube.stages import FileContents
from fumishirube.tools.definitions import Progress

_FIRST_COMMIT, _LAST_COMMIT = 1.5, 6.0
"""Seconds that an update reads before its first commit. They double with every commit, up to the
second value.

Searches see only committed files, but many small commits cost more than a few large ones.
"""


class CommitBatches:
    """Changed files on their way into the index, in batches of one commit each."""

    def __init__(
        self,
        manual_id: str,
        loads: FileLoads,
        coming: UpdateLoads,
        total: int,
        progress: Progress | None,
    ) -> None:
        self._loads = loads
        self._coming = coming
        self._message = f"indexing {manual_id}"
        self._progress = progress
        self._total = total
        self._done = 0
        self._pages_read: Sequence[tuple[str, PagesRead]] = []
        self._seconds = _FIRST_COMMIT
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
        while self.left and (load := self._coming.next(self._waited)) is not None:
            yield self._loads.page(load)
            if load.took >= PATIENCE_SECONDS:
                self._taken.append(load)
            self._done += 1
            self._report()
            if time.monotonic() >= until or self._coming.late:
                return

    def _waited(self) -> None:
        """Report pages that were read meanwhile."""
        if (pages_read := self._coming.pages_read) != self._pages_read:
            self._pages_read = pages_read
            self._report()

    def _report(self) -> None:
        """Report the files that are done, and the pages of those that are being read."""
        if self._progress is None:
            return
        done, message = float(self._done), self._message
        for number, (path, (read, total)) in enumerate(self._coming.pages_read):
            done += read / total if total else 0.0
            if number == 0:
                message += f": {path}, page {read} of {total}"
        self._progress(min(done, self._total), self._total, message)
