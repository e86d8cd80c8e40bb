"""Files on their way into an index, loaded on threads so that no call waits for a slow loader."""

from __future__ import annotations

import contextvars
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Thread

from fumishirube.engine.indexed_files import IndexedPage, read_file
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.stage_calls import GRACE_SECONDS
from fumishirube.optional_attributes import ISOLATED
from fumishirube.parsing.loading import PagesRead, reporting_pages
from fumishirube.stages import ClaimedFile

PATIENCE_SECONDS = 1.0
"""Seconds of one load after which another file is begun beside it."""

_MOST_OF_LOADER = 2
"""The most files that one loader loads at the same time, unless it is isolated."""
_MOST_PARSED = 8
"""The most files of an isolated loader: with more, their indexing takes the longer time."""


class FileLoad:
    """One version of a file, loaded once; ``pages_read`` is what its parser reports meanwhile.

    An abandoned load runs on, and its result is used by a later update.
    """

    def __init__(self, file: ClaimedFile) -> None:
        self.file = file
        self.path = file.source.path
        self.isolated = is_isolated(file)
        self.done = Event()
        self.began = inf
        self.took = 0.0
        self.pages_read: PagesRead | None = None
        self.page: IndexedPage | None = None
        self.error: BaseException | None = None

    @classmethod
    def done_elsewhere(cls, file: ClaimedFile, page: IndexedPage) -> FileLoad:
        """Return a load that another process has done."""
        load = cls(file)
        load.page = page
        load.done.set()
        return load

    @property
    def running(self) -> bool:
        """Whether a thread is loading the file."""
        return self.began < inf and not self.done.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since a thread began to load the file."""
        return max(0.0, time.monotonic() - self.began)

    def run(self, manual: ManualFolder) -> None:
        """Load the file; an error is the result too."""
        self.began = time.monotonic()
        try:
            stamp = manual.stamp(self.file)
            with reporting_pages(self._report):
                self.page = read_file(lambda: manual.load(self.file), self.file.source.path, stamp)
        except BaseException as error:
            self.error = error
        finally:
            self.took = self.seconds
            self.done.set()

    def _report(self, pages: PagesRead) -> None:
        self.pages_read = pages


class _LoadThread:
    """A thread that loads one file after the other until it is dismissed."""

    def __init__(self, manual: ManualFolder) -> None:
        self._queue: SimpleQueue[FileLoad | None] = SimpleQueue()
        self.current: FileLoad | None = None
        context = contextvars.copy_context()
        run = partial(context.run, self._run, manual)
        Thread(target=run, name="fumishirube loading", daemon=True).start()

    def begin(self, loads: Sequence[FileLoad]) -> None:
        """Begin the first load; the others follow."""
        self.current = loads[0]
        loads[0].began = time.monotonic()
        for load in loads:
            self._queue.put(load)

    def dismiss(self) -> list[FileLoad]:
        """End the thread after the load that has begun; return those that have not."""
        queued: list[FileLoad] = []
        with suppress(Empty):
            while (load := self._queue.get_nowait()) is not None:
                queued.append(load)
        for load in queued:
            if load.running:
                self._queue.put(load)
        self._queue.put(None)
        return [load for load in queued if not load.running]

    def _run(self, manual: ManualFolder) -> None:
        while (load := self._queue.get()) is not None:
            self.current = load
            load.run(manual)
            del load  # its passages need not stay until the next one


class FileLoads:
    """The loads of one index that no update has committed yet; only one update at a time uses it.

    No file is loaded twice at the same time, and no slow load is lost with the update that began
    it.
    """

    def __init__(self, manual: ManualFolder) -> None:
        self._manual = manual
        self._loads: dict[str, FileLoad] = {}
        self.begun = self._loads.get
        self._thread: _LoadThread | None = None

    def begin(self, files: Sequence[ClaimedFile]) -> list[FileLoad]:
        """Begin to load some files, one after the other; none of them is being loaded."""
        if self._thread is None:
            self._thread = _LoadThread(self._manual)
        loads = [FileLoad(file) for file in files]
        self._loads.update((load.path, load) for load in loads)
        self._thread.begin(loads)
        return loads

    def begin_beside(self, file: ClaimedFile) -> FileLoad:
        """Begin to load a file on a thread of its own; it is not being loaded."""
        load = self._loads[file.source.path] = FileLoad(file)
        thread = _LoadThread(self._manual)
        thread.begin([load])
        thread.dismiss()
        return load

    def page(self, load: FileLoad) -> IndexedPage:
        """Return a result, or raise what the loader raised; a slow one stays until its commit."""
        if load.took < PATIENCE_SECONDS or load.page is None:
            self.forget(load)
        if load.page is None:
            raise load.error or RuntimeError("the file is not loaded yet")
        return load.page

    def forget(self, load: FileLoad) -> None:
        """Drop a load whose result is committed, or no longer wanted."""
        self._loads.pop(load.path, None)

    @property
    def stuck(self) -> bool:
        """Whether a slow load delays others."""
        load = self._thread.current if self._thread else None
        return load is not None and load.running and load.seconds >= PATIENCE_SECONDS

    def dismiss(self) -> list[FileLoad]:
        """End the thread after its load, and return the loads that it did not begin."""
        thread, self._thread = self._thread, None
        dropped = thread.dismiss() if thread else []
        for load in dropped:
            self.forget(load)
        return dropped

    def retain(self, changed: Sequence[ClaimedFile]) -> None:
        """Drop the results of files that need not be indexed any more."""
        if self._loads:
            paths = {file.source.path for file in changed}
            for path, load in self._loads.copy().items():
                if path not in paths and load.done.is_set():
                    self.forget(load)

    def slow(self) -> Iterator[FileLoad]:
        """Return what is still being loaded. Any thread may call this."""
        loads = self._loads.copy().values()
        return (load for load in loads if load.running and load.seconds > GRACE_SECONDS)

    def blocked(self, changed: Sequence[ClaimedFile]) -> bool:
        """Whether nothing can be taken or begun: each file waits for a slow load."""
        running = [load for load in self._loads.values() if load.running]
        if not running or any(load.seconds < PATIENCE_SECONDS for load in running):
            return False
        paths = {load.path for load in running}
        busy = busy_loaders(running)
        return all(file.source.path in paths or id(file.loader) in busy for file in changed)


def busy_loaders(running: Sequence[FileLoad]) -> frozenset[int]:
    """Return the identities of the loaders that load as many files as they may."""
    numbers = Counter(id(load.file.loader) for load in running)
    isolated = {id(load.file.loader) for load in running if load.isolated}
    return frozenset(
        loader
        for loader, number in numbers.items()
        if number >= _MOST_OF_LOADER and (loader not in isolated or number >= most_parsed())
    )


def is_isolated(file: ClaimedFile) -> bool:
    """Tell whether a file is parsed in another process, so that several are parsed at a time."""
    return ISOLATED.of(file.loader)


def most_parsed() -> int:
    """Return how many files isolated loaders parse at a time: one a core."""
    return min(cores(), _MOST_PARSED)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
