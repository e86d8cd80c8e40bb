"""Which files of an update other processes read."""

from __future__ import annotations

import logging
import marshal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from fumishirube.budget import Budget
from fumishirube.engine.file_loads import FileLoad, cores
from fumishirube.engine.manual_folder import ManualFolder
from fumishirube.engine.stage_calls import GRACE_SECONDS
from fumishirube.model import Passage
from fumishirube.stages import ClaimedFile, IndexedFile, Loader

if TYPE_CHECKING:
    from fumishirube.engine.reading_processes import ReadAnswer, ReadingProcesses

_log = logging.getLogger("fumishirube")

_START_SECONDS = 1.0
"""Calls with less time start no processes."""
LARGE = 2_000_000
"""Bytes of changed files from which starting processes is worth its time, about a second."""
MOST_PROCESSES = 3
"""More do not help: one process writes, which takes a third of the time."""
_SEVERAL = 2
_TASK_BYTES = 65_536
_OVERHEAD = 40
_REQUEST_BYTES = 3_500
"""The most bytes of a request: a pipe takes it, though the other side is busy writing."""


class ReadTask(NamedTuple):
    """Files that one request names."""

    files: Sequence[ClaimedFile]
    request: bytes


class FileReaders:
    """The processes for one manual: started for a large update, and ended soon after it."""

    def __init__(self, manual: ManualFolder) -> None:
        self._manual = manual
        self._processes: ReadingProcesses | None = None

    @contextmanager
    def reading(
        self,
        changed: Sequence[ClaimedFile],
        prepare: Callable[[Passage], object] | None,
        budget: Budget,
    ) -> Iterator[ReadUpdate | None]:
        """Yield processes to read changed files; ``None`` if their start takes longer."""
        hurried = budget.left is not None and budget.left < _START_SECONDS
        begun = None if hurried else self._begun(changed, prepare)
        try:
            yield begun
        except BaseException:
            self.close()
            raise
        if begun is not None and self._processes is not None and begun.withdrawn:
            self._processes.rest()  # the next turn goes on
        else:
            self.close()

    def _begun(
        self, changed: Sequence[ClaimedFile], prepare: Callable[[Passage], object] | None
    ) -> ReadUpdate | None:
        number = min(cores(), MOST_PROCESSES)
        if number < _SEVERAL or sum(file.size for file in changed) < LARGE:
            return None
        loaders = [loader for loader in self._manual.loaders if _portable(loader)]
        numbers = {id(loader): number for number, loader in enumerate(loaders)}
        readable = sum(file.size for file in changed if id(file.loader) in numbers)
        if readable < LARGE or not _portable(self._manual.root):
            return None
        if prepare is not None and not _portable(prepare):
            _log.info("the tokenizer or the index cannot be sent to other processes")
            prepare = None
        processes = self._started(loaders, prepare, number)
        if processes is None:
            return None
        return ReadUpdate(processes, self._manual, numbers, prepared=prepare is not None)

    def _started(
        self, loaders: Sequence[Loader], prepare: Callable[[Passage], object] | None, number: int
    ) -> ReadingProcesses | None:
        # Most processes never start others.
        import pickle  # noqa: PLC0415 - as said

        from fumishirube.engine.reading_processes import ReadingProcesses  # noqa: PLC0415 - as said
        from fumishirube.engine.reading_worker import ReadingSetup  # noqa: PLC0415 - as said

        setup = ReadingSetup(self._manual.root, loaders, prepare)
        data, processes = pickle.dumps(setup), self._processes
        if processes is None or not processes.lives or processes.setup != data:
            self.close()
            try:
                self._processes = processes = ReadingProcesses(data, number)
            except OSError as error:
                _log.info("no other process can be started; this one reads all files: %s", error)
                return None
        return processes

    def close(self) -> None:
        """End the processes."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None


class ReadUpdate:
    """One update by several processes; ``loaders`` are the numbers by which they know loaders."""

    def __init__(
        self,
        processes: ReadingProcesses,
        manual: ManualFolder,
        loaders: Mapping[int, int],
        *,
        prepared: bool,
    ) -> None:
        self._processes = processes
        self._manual = manual
        self._loaders = loaders
        self._prepared = prepared
        self._loads: deque[FileLoad] = deque()
        self._returned: list[ClaimedFile] = []
        self._withdrawn = 0.0

    @property
    def withdrawn(self) -> bool:
        """Whether time ran out, and every answer has come."""
        return self._withdrawn > 0 and not self.busy

    @property
    def busy(self) -> bool:
        """Whether another load may follow."""
        return bool(self._loads) or self._processes.busy

    def give(self, files: Iterable[ClaimedFile]) -> list[ClaimedFile]:
        """Let other processes read files; return those that they cannot read."""
        own: list[ClaimedFile] = []
        theirs: list[ClaimedFile] = []
        for file in files:
            readable = id(file.loader) in self._loaders and _name_bytes(file) <= _REQUEST_BYTES
            (theirs if readable else own).append(file)
        self._processes.give(self._tasks(theirs))
        return own

    def _tasks(self, files: Iterable[ClaimedFile]) -> Iterator[ReadTask]:
        together: list[ClaimedFile] = []
        size = named = 0
        for file in files:
            size, named = size + file.size, named + _name_bytes(file)
            if together and (size > _TASK_BYTES or named > _REQUEST_BYTES):
                yield self._task(together)
                together, size, named = [], file.size, _name_bytes(file)
            together.append(file)
        if together:
            yield self._task(together)

    def _task(self, files: Sequence[ClaimedFile]) -> ReadTask:
        rows = [
            (
                self._loaders[id(file.loader)],
                file.source.path,
                tuple(file.source.governed_by),
                self._manual.stamp(file),
            )
            for file in files
        ]
        return ReadTask(files, marshal.dumps(rows))

    def next(self, *, wait: bool) -> FileLoad | None:
        """Return a load, or ``None`` if there is none now, or after a short wait."""
        if not self._loads:
            answer = self._processes.answer(wait=wait and self._processes.ready)
            if answer is not None:
                self._take(answer)
            elif wait and not self._processes.ready and (task := self._processes.take_back()):
                self._returned += task.files  # while they start
        return self._loads.popleft() if self._loads else None

    def returned(self) -> list[ClaimedFile]:
        """Return the files that this process has to read after all."""
        files, self._returned = self._returned, []
        return files

    def withdraw(self) -> None:
        """Drop the files that no process has begun; stop if a process has one for long."""
        self._processes.withdraw()
        self._withdrawn = self._withdrawn or time.monotonic()
        if time.monotonic() - self._withdrawn > GRACE_SECONDS:
            self._processes.close()

    def _take(self, answer: ReadAnswer) -> None:
        for file, row in zip(answer.task.files, answer.files, strict=True):
            if row is None:
                self._returned.append(file)
                continue
            record, rows = row
            sections = rows if self._prepared else [Passage(*each) for each in rows]
            self._loads.append(FileLoad.done_elsewhere(file, (IndexedFile(*record), sections)))
            report = getattr(file.loader, "loaded_elsewhere", None)
            if report is not None:
                report(self._manual.root, file.source)


def _name_bytes(file: ClaimedFile) -> int:
    """Return at least the bytes of a file in a request."""
    paths = (file.source.path, *file.source.governed_by)
    return sum(len(path.encode()) + _OVERHEAD for path in paths) + len(file.stamp) + _OVERHEAD


def _portable(thing: object) -> bool:
    """Tell whether other processes can receive a stage: an open one may hold what they lack."""
    import pickle  # noqa: PLC0415 - as above

    try:
        pickle.dumps(thing)
    except Exception:  # plugins raise anything
        return False
    return True
