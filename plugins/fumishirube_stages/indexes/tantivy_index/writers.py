"""The writer of a tantivy index: one among all processes, which goes on while it merges."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

import tantivy

from fumishirube import Budget, Forbidden
from fumishirube_stages.indexes.tantivy_index.files import CommittedFiles, write_problem

_log = logging.getLogger("fumishirube")

_RETRY_SECONDS = 0.02
_MERGE_SECONDS = 3.0
"""With less time left, segments are merged beside the calls."""
_MERGED = 8
"""The fewest segments that tantivy merges."""
_REUSE_SECONDS = 1.0
"""Seconds for which a writer that may be merging is kept for the next update. Other processes wait
longer for theirs."""
_CLOSE_SECONDS = 2.0


class Writers:
    """Gives an index its writer, and ends it when its segments are merged.

    A merge of a writer that is dropped runs on, and its result is thrown away: the next commit
    would begin the same merge again. So a writer that may be merging is kept, to be used again by
    the next update or to be ended by a thread.
    """

    def __init__(
        self, open_writer: Callable[[], tantivy.IndexWriter], files: CommittedFiles, folder: Path
    ) -> None:
        self._open_writer = open_writer
        self._files = files
        self._folder = folder
        self._merging: tantivy.IndexWriter | None = None
        self._updates = 0
        self._lock = Lock()
        self._closed = Event()

    def wait(self, budget: Budget, milliseconds: int) -> tuple[tantivy.IndexWriter | None, bool]:
        """Return the writer, and whether it is new; ``None`` if another one stays busy too long."""
        waiting = budget.part(milliseconds)
        while True:
            writer, is_new = self._take(), False
            if writer is None:
                writer, is_new = self._opened(), True
            if writer is not None or waiting.spent or budget.spent:
                return writer, is_new
            budget.check()
            time.sleep(_RETRY_SECONDS)

    def _take(self) -> tantivy.IndexWriter | None:
        if not self._lock.acquire(blocking=False):
            return None  # it is being ended
        try:
            writer, self._merging = self._merging, None
            self._updates += 1
            return writer
        finally:
            self._lock.release()

    def _opened(self) -> tantivy.IndexWriter | None:
        try:
            return self._open_writer()
        except ValueError as error:
            if "LockBusy" not in str(error):
                if problem := write_problem(error, self._folder):
                    raise Forbidden(problem) from error
                self._files.judge(error)
                raise
        return None

    def leave(self, writer: tantivy.IndexWriter, budget: Budget) -> None:
        """End a writer when its segments are merged; keep it while that takes too long."""
        is_hurried = budget.left is not None and budget.left <= _MERGE_SECONDS
        if is_hurried and self._files.segments >= _MERGED:
            args = (self._updates,)
            ending = Thread(target=self._end, args=args, name="fumishirube merging", daemon=True)
            with self._lock, suppress(RuntimeError):  # no thread: the next update merges
                ending.start()
                self._merging = writer
        else:
            with self._files.judging():
                writer.wait_merging_threads()

    def _end(self, update: int) -> None:
        """End the writer of an update some time later, unless another update has taken it."""
        if self._closed.wait(_REUSE_SECONDS):
            return
        with self._lock:
            if self._updates != update or self._merging is None:
                return
            writer, self._merging = self._merging, None
            try:
                writer.wait_merging_threads()
            except BaseException:  # a panic of an extension in Rust is no Exception
                _log.exception("segments of an index were not merged; the next update tries again")

    def close(self) -> None:
        """Drop a writer that is kept, and what it merges; wait shortly for one that is ending."""
        self._closed.set()
        if self._lock.acquire(timeout=_CLOSE_SECONDS):
            self._merging = None
            self._lock.release()
