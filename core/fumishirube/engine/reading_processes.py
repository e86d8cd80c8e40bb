"""Processes that read the files of a large update, while this one writes the index."""

from __future__ import annotations

import logging
import marshal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from threading import Condition, Thread, Timer
from typing import Any, NamedTuple

from fumishirube.engine.file_readers import ReadTask
from fumishirube.parsing.idle_processes import WorkerProcess

_log = logging.getLogger("fumishirube")

_BEGUN = 2
"""The requests that a process has at a time, so that it never waits for the next."""
_MOST_ANSWERS = 4
"""The most answers that wait in memory, of about half a megabyte each."""
_MOST_SECONDS = 10.0
"""Seconds after which a process that does not answer is ended; its files are read in this one,
where a slow loader delays no others."""
_REST_SECONDS = 5.0
"""Seconds between two turns of an update."""
_WAIT_SECONDS = 0.05


class ReadAnswer(NamedTuple):
    """The answer to a task: for each file its record and sections; ``None`` where it failed."""

    task: ReadTask
    files: Sequence[Any]


class _ReadingProcess(WorkerProcess):
    def __init__(self, setup: bytes) -> None:
        super().__init__("fumishirube.engine.reading_worker:serve", setup)
        self._begun = 0
        self._since = 0.0

    def ready(self) -> bool:
        """Wait until the process has started, and has imported what it needs."""
        return self.channel.receive() is not None and self.channel.receive() is not None

    @property
    def overdue(self) -> bool:
        """Whether the earliest request takes very long."""
        return self._begun > 0 and time.monotonic() - self._since > _MOST_SECONDS

    def begin(self, task: ReadTask) -> None:
        """Send a request."""
        if not self._begun:
            self._since = time.monotonic()
        self._begun += 1
        self.channel.send(task.request)

    def answer(self) -> Any:
        """Return the answer to the earliest request, or ``None`` if the process is gone."""
        data = self.channel.receive()
        self._since = time.monotonic()
        self._begun -= 1
        loads = marshal.loads  # from our own process
        return None if data is None else [row and loads(row) for row in loads(data)]

    def stop(self) -> None:
        """Let the process end, whatever it does; the thread that waits for it closes the pipes."""
        self._process.kill()


class ReadingProcesses:
    """Processes that read files; a thread for each of them waits for its answers."""

    def __init__(self, setup: bytes, number: int) -> None:
        self.setup = setup
        self.ready = False
        """Whether any process answers, or all are lost."""
        self._tasks: Iterator[ReadTask] = iter(())
        self._task: ReadTask | None = None
        self._answers: deque[ReadAnswer] = deque()
        self._begun = 0
        self._closed = False
        self._changed = Condition()
        self._processes: list[_ReadingProcess] = []
        self._timer: Timer | None = None
        for _ in range(number):
            try:
                self._processes.append(_ReadingProcess(setup))
            except OSError:
                if not self._processes:
                    raise
        self._live = len(self._processes)
        for process in self._processes:
            Thread(
                target=self._follow, args=(process,), name="fumishirube reading", daemon=True
            ).start()

    @property
    def lives(self) -> bool:
        """Whether any process answers or starts."""
        return not self._closed and self._live > 0

    @property
    def busy(self) -> bool:
        """Whether there are tasks or answers."""
        with self._changed:
            return bool(self._task or self._begun or self._answers)

    def give(self, tasks: Iterator[ReadTask]) -> None:
        """Begin with tasks, the first first; they are made when they are needed."""
        with self._changed:
            if self._timer is not None:
                self._timer.cancel()
            self._tasks = tasks
            self._next()
            if not self._live:
                self._return_all()
            self._changed.notify_all()

    def take_back(self) -> ReadTask | None:
        """Return the next task that no process has begun."""
        with self._changed:
            return self._next() if self._task else None

    def withdraw(self) -> None:
        """Drop the tasks that no process has begun."""
        with self._changed:
            self._tasks, self._task = iter(()), None

    def _next(self) -> ReadTask | None:
        """Return the next task, and make the one after it."""
        task, self._task = self._task, next(self._tasks, None)
        return task

    def answer(self, *, wait: bool) -> ReadAnswer | None:
        """Return an answer, or ``None`` if there is none now, or after a short wait."""
        with self._changed:
            if not self._answers and wait:
                self._changed.wait(_WAIT_SECONDS)
            if self._answers:
                self._changed.notify_all()
                return self._answers.popleft()
        for process in self._processes:
            if process.overdue:
                process.stop()
        return None

    def rest(self) -> None:
        """End the processes in some seconds, unless there are tasks before."""
        with self._changed:
            self._timer = Timer(_REST_SECONDS, self.close)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """End the processes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            if self._timer is not None:
                self._timer.cancel()
        for process in self._processes:
            process.stop()

    def _follow(self, process: _ReadingProcess) -> None:
        begun: deque[ReadTask] = deque()
        try:
            if process.ready():
                with self._changed:
                    self.ready = True
                    self._changed.notify_all()
                while self._begin(process, begun) and (files := process.answer()) is not None:
                    self._put(ReadAnswer(begun.popleft(), files))
        finally:
            self._lose(begun)
            process.end()

    def _begin(self, process: _ReadingProcess, begun: deque[ReadTask]) -> bool:
        """Begin with tasks, so that the process has two; wait if it has none."""
        with self._changed:
            if not begun:
                self._changed.wait_for(lambda: self._next_due or self._closed)
            added: list[ReadTask] = []
            while len(begun) + len(added) < _BEGUN and self._next_due and not self._closed:
                task = self._next()
                assert task
                added.append(task)
                self._begun += 1
        for task in added:
            process.begin(task)
        begun.extend(added)
        return bool(begun)

    @property
    def _next_due(self) -> bool:
        return self._task is not None and len(self._answers) < _MOST_ANSWERS

    def _put(self, answer: ReadAnswer) -> None:
        with self._changed:
            self._begun -= 1
            self._answers.append(answer)
            self._changed.notify_all()

    def _lose(self, begun: Sequence[ReadTask]) -> None:
        """Return the tasks of a process that is gone; those of all, if it is the last."""
        with self._changed:
            if not self._closed:
                _log.warning("a process that reads files has ended; its files are read here")
            self._live -= 1
            self._begun -= len(begun)
            self._answers.extend(_lost(task) for task in begun)
            if not self._live:
                self.ready = True
                self._return_all()
            self._changed.notify_all()

    def _return_all(self) -> None:
        while task := self._next():
            self._answers.append(_lost(task))


def _lost(task: ReadTask) -> ReadAnswer:
    return ReadAnswer(task, [None] * len(task.files))
