"""Which changed files are loaded next, here or in other processes, and which one is done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

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
from fumishirube.engine.stage_calls import GRACE_SECONDS
from fumishirube.parsing.loading import PagesRead
from fumishirube.stages import ClaimedFile
from fumishirube.text.folding import fold

_TOGETHER = 16
"""A thread is woken once for so many files."""
_LOOK = 0.05
"""Seconds between two checks of the clock and of a cancellation."""


class UpdateLoads:
    """The loads of one update: those that run here, and the files that wait.

    Other processes read files for ``reading``, if they are started.
    """

    def __init__(
        self,
        loads: FileLoads,
        changed: Sequence[ClaimedFile],
        budget: Budget,
        reading: ReadUpdate | None = None,
    ) -> None:
        self._loads = loads
        self._budget = budget
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

    @property
    def pages_read(self) -> Sequence[tuple[str, PagesRead]]:
        """The files that are being read here page by page, and how far."""
        return [(load.path, load.pages_read) for load in self._running if load.pages_read]

    @property
    def late(self) -> bool:
        """Whether the time is over, and no other process reads."""
        return self._budget.late and self._reading is None

    def next(self, waited: Callable[[], None]) -> FileLoad | None:
        """Return a load that is done, or ``None`` if the time is over before one is.

        ``waited`` is called after each short wait.
        """
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
            if self._reading is None or not self._is_idle:
                self._running[-1].done.wait(_LOOK)
            waited()

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
