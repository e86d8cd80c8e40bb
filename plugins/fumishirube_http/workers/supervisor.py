"""Starts worker processes, replaces those that end, and stops them all."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import signal
import socket
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import FrameType

from fumishirube.serving import ConfigInForce
from fumishirube_http.workers.places import WorkerPlace, worker_sockets
from fumishirube_http.workers.process import LEAD, WorkerStart, main

_log = logging.getLogger("fumishirube")

MOST = 64
"""The most workers."""
_STOP_SECONDS = 1.5
"""Seconds for workers to end after the requests in progress."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
"""Seconds before a worker is replaced; the pause doubles while workers end without serving."""
_NOT_SENT = ("run", "parser", "plugins", "peers", "wire")
"""Options that only this process uses."""


@dataclass
class _SupervisedWorker:
    """A worker process, and this process's end of their connection."""

    process: BaseProcess
    connection: Connection
    number: int
    serves: bool = False

    def send(self, message: str | frozenset[int]) -> None:
        with suppress(OSError):  # it has just ended
            self.connection.send(message)


class Supervisor:
    """Runs a number of workers that accept connections of one socket.

    The first worker that serves indexes ahead of the calls; if it ends, another one does.
    One that replaces another is begun with what a worker has last reloaded.
    Requests in progress have ``grace`` seconds to end.
    """

    def __init__(
        self,
        options: Namespace,
        begun: ConfigInForce,
        listening: socket.socket,
        count: int,
        grace: float,
    ) -> None:
        self._options = options
        self._grace = grace
        self._listening = listening
        self._sockets, self._places = worker_sockets(count)
        self._context = _context()
        self._workers: dict[int, _SupervisedWorker] = {}
        self._leader: _SupervisedWorker | None = None
        self._begun = self._in_force = begun
        self._unserved: frozenset[int] = frozenset()
        self._due: dict[int, float] = {}
        self._pause = _FIRST_PAUSE
        self._stopping = False

    def run(self, ready: Callable[[], None]) -> int:
        """Serve until SIGTERM or SIGINT; return the exit code.

        ``ready`` is called when all workers serve. If one ends before, all end with its exit code.
        """
        with self._signals() as signalled:
            try:
                for place in self._places:
                    self._start(place, first=not self._workers)
                    code = self._await_start(signalled)
                    if code is not None:
                        return code
                ready()
                while not self._stopping:
                    self._look(signalled)
            finally:
                self._stop()
        return 0

    def _start(self, place: WorkerPlace, *, first: bool) -> None:
        ours, theirs = self._context.Pipe()
        options = {k: v for k, v in vars(self._options).items() if k not in _NOT_SENT}
        same_plugins = self._in_force.inputs.same_plugins(self._begun.inputs)
        if self._context.get_start_method() == "fork" and same_plugins:
            options["plugins"] = self._options.plugins
        own = self._sockets[place.number - 1]
        start = WorkerStart(options, self._listening, own, place, theirs, first, self._in_force)
        name = f"fumishirube worker {place.number}"
        process = self._context.Process(  # type: ignore[attr-defined]  # every context has it
            target=main, args=(start,), name=name
        )
        process.start()
        theirs.close()
        worker = self._workers[place.number] = _SupervisedWorker(process, ours, place.number)
        worker.send(self._unserved)

    def _await_start(self, signalled: socket.socket) -> int | None:
        """Wait until the newest worker serves; return the exit code if the start has failed."""
        newest = self._workers[max(self._workers)]
        while not newest.serves and not self._stopping:
            self._look(signalled)
            if newest.number not in self._workers:
                return newest.process.exitcode or 1
        return 0 if self._stopping else None

    def _look(self, signalled: socket.socket) -> None:
        """Wait for a message, an end, a signal, or the time to replace a worker."""
        now = time.monotonic()
        next_start = min(self._due.values(), default=None)
        pause = None if next_start is None else max(0.0, next_start - now)
        workers = [*self._workers.values()]
        waited = [x for worker in workers for x in (worker.connection, worker.process.sentinel)]
        ready = wait([*waited, signalled], pause)
        if signalled in ready:
            signalled.recv(1)
        for worker in workers:
            if worker.connection in ready:
                self._receive(worker)
            if worker.process.sentinel in ready:
                self._replace_later(worker)
        self._replace_due()
        self._share_unserved()

    def _share_unserved(self) -> None:
        """Send all workers the numbers that none serves; name one that indexes ahead."""
        serving = [worker for worker in self._workers.values() if worker.serves]
        if self._leader is None and serving:
            self._leader = serving[0]
            self._leader.send(LEAD)
        numbers = {place.number for place in self._places}
        unserved = frozenset(numbers - {worker.number for worker in serving})
        if unserved != self._unserved:
            self._unserved = unserved
            for worker in self._workers.values():
                worker.send(unserved)

    def _receive(self, worker: _SupervisedWorker) -> None:
        with suppress(EOFError, OSError):  # it has just ended
            message = worker.connection.recv()
            if isinstance(message, ConfigInForce):
                self._in_force = message
            else:
                worker.serves = True

    def _replace_later(self, worker: _SupervisedWorker) -> None:
        """Forget a worker that has ended, and set the time of the next one with its number."""
        worker.process.join()
        worker.connection.close()
        del self._workers[worker.number]
        if self._leader is worker:
            self._leader = None
        self._pause = _FIRST_PAUSE if worker.serves else min(2 * self._pause, _LONGEST_PAUSE)
        self._due[worker.number] = time.monotonic() + self._pause
        if not self._stopping:
            code = worker.process.exitcode
            _log.warning("worker %d ended with code %s; it is replaced", worker.number, code)

    def _replace_due(self) -> None:
        for number in [n for n, due in self._due.items() if due <= time.monotonic()]:
            del self._due[number]
            if not self._stopping:
                self._start(self._places[number - 1], first=False)

    def _stop(self) -> None:
        workers = [*self._workers.values()]
        for worker in workers:
            worker.process.terminate()
        deadline = time.monotonic() + _STOP_SECONDS + self._grace
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()

    @contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """Yield a socket that becomes readable with each signal."""
        readable, writable = socket.socketpair()
        writable.setblocking(False)  # noqa: FBT003 - the standard library's
        signal.set_wakeup_fd(writable.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note_signal)
        try:
            yield readable
        finally:
            signal.set_wakeup_fd(-1)

    def _note_signal(self, _signal: int, _frame: FrameType | None) -> None:
        self._stopping = True


def _context() -> BaseContext:
    """Return how processes are started: forked where no other thread could hold a lock."""
    methods: Sequence[str] = multiprocessing.get_all_start_methods()
    chosen = "fork" if "fork" in methods and threading.active_count() == 1 else "spawn"
    gc.collect()
    gc.freeze()  # the workers share these pages until one of them changes
    return multiprocessing.get_context(chosen)
