"""The worker processes of a scorer: started when needed, ended when they overrun or idle."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from typing import Any

from fumishirube_stages.scorers import worker
from fumishirube_stages.scorers.patterns import Pattern

IDLE_SECONDS = 60.0
_GRACE = 0.1


class WorkerLost(Exception):
    """The worker did not answer in time, or died of what it was asked, and has been ended."""


class Worker:
    """One process. A process that overran answers nothing any more."""

    def __init__(self, until: float) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own file, and no word of the caller's
            [sys.executable, "-I", str(Path(worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.usable = True
        self._answer(until)

    def takes(self, pattern: Pattern, patience: float, until: float) -> bool:
        """Hand over a pattern; return whether it is one.

        Raises:
            Overrun: when finding that out took too long or too much memory.
        """
        request = {
            "pattern": pattern.python,
            "flags": pattern.flags,
            "patience": patience,
            "deadline": max(until - monotonic(), 0) + 1,
        }
        return bool(self._ask(b"p" + json.dumps(request).encode(), until))

    def search(self, text: bytes, until: float) -> tuple[int, int] | None:
        """Return where the pattern first matches in a text.

        Raises:
            Overrun: when the search took too long.
            TimeoutError: the same, but the worker goes on.
        """
        answer = self._ask(b"t" + text, until + _GRACE)
        if answer == "late":
            raise TimeoutError
        return None if answer is None else (answer[0], answer[1])

    @property
    def lives(self) -> bool:
        """Whether the process is there; one that idles may have been ended from outside."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process."""
        self.usable = False
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _ask(self, frame: bytes, until: float) -> Any:
        return self._answer(until, worker.HEAD.pack(len(frame)) + frame)

    def _answer(self, until: float, frame: bytes = b"") -> Any:
        """Send a frame and wait for the answer; the process is killed when it does not come."""
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        timer = Timer(max(0.0, until - monotonic()), self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            sink.write(frame)
            sink.flush()
            head = source.read(worker.HEAD.size)
            data = (
                source.read(worker.HEAD.unpack(head)[0]) if len(head) == worker.HEAD.size else b""
            )
        except OSError:
            data = b""
        finally:
            timer.cancel()
        if not data:
            self.end()
            raise WorkerLost
        return json.loads(data)


class WorkerPool:
    """At most so many processes at once. Who finds none free waits, up to a deadline."""

    def __init__(self, most: int) -> None:
        self._free = BoundedSemaphore(most)
        self._idle: list[tuple[Worker, Timer]] = []
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def borrow(self, until: float) -> Iterator[Worker | None]:
        """Give a worker, or ``None`` when none is free or ready in time."""
        if not self._free.acquire(timeout=max(0.0, until - monotonic())):
            yield None
            return
        try:
            borrowed = self._taken(until)
            try:
                yield borrowed
            except BaseException:
                if borrowed is not None:
                    borrowed.end()
                raise
            if borrowed is not None and borrowed.usable:
                self._put_back(borrowed)
        finally:
            self._free.release()

    def close(self) -> None:
        """End all processes that idle, and keep none from now on."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for member, timer in idle:
            timer.cancel()
            member.end()

    def _taken(self, until: float) -> Worker | None:
        while (member := self._last_used()) is not None:
            if member.lives:
                return member
            member.end()
        with suppress(WorkerLost):
            return Worker(until)
        return None

    def _last_used(self) -> Worker | None:
        with self._lock:
            if not self._idle:
                return None
            member, timer = self._idle.pop()
        timer.cancel()
        return member

    def _put_back(self, member: Worker) -> None:
        timer = Timer(IDLE_SECONDS, self._retire, (member,))
        timer.daemon = True
        with self._lock:
            if not self._closed:
                self._idle.append((member, timer))
                timer.start()
                return
        member.end()

    def _retire(self, member: Worker) -> None:
        with self._lock:
            waiting = [entry for entry in self._idle if entry[0] is member]
            self._idle = [entry for entry in self._idle if entry[0] is not member]
        if waiting:
            member.end()
