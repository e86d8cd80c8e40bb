"""A pool of worker processes: started on demand, ended on overrun or when idle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Timer
from time import monotonic
from typing import Any, Literal

from fumishirube.parsing import IdleProcesses, WorkerProcess
from fumishirube_stages.pattern_worker import LIMITS_ITSELF
from fumishirube_stages.scorers.pattern_search.patterns import Pattern

_GRACE = 0.1

TextSpans = Sequence[tuple[int, int]] | Literal["late"]
"""The spans of the matches in a text, or that its search took too long."""


class WorkerLost(Exception):
    """The worker did not answer in time, or crashed, and was ended."""


class Worker(WorkerProcess):
    """A worker process. After an overrun it must not be used again."""

    def __init__(self, until: float) -> None:
        super().__init__("fumishirube_stages.pattern_worker:serve")
        self.usable = True
        self._taken: tuple[Pattern, float] | None = None
        self._answer(until)  # Python has started,
        self._answer(until)  # and has imported the function

    def takes(self, pattern: Pattern, patience: float, until: float) -> bool:
        """Send a pattern, unless it was the last one; return whether it is valid.

        Raises:
            WorkerLost: when compiling it took too much time or memory.
        """
        if self._taken == (pattern, patience):
            return True
        self._taken = None
        request = {
            "pattern": pattern.python,
            "flags": pattern.flags,
            "patience": patience,
            "by_line": pattern.by_line,
            "deadline": max(until - monotonic(), 0) + 1,
        }
        valid = bool(self._request(json.dumps(request).encode(), until))
        self._taken = (pattern, patience) if valid else None
        return valid

    def search(self, texts: Sequence[str], most: int | None, until: float) -> Sequence[TextSpans]:
        """Return for each text the spans of its first ``most`` matches, or ``late``.

        Raises:
            WorkerLost: when the searches together were not finished in time.
        """
        seconds = max(_GRACE, until + _GRACE - monotonic())
        request = json.dumps({"texts": texts, "most": most, "seconds": seconds}, ensure_ascii=False)
        # Most searches are short, and to start a thread for each would take longer.
        limit = None if LIMITS_ITSELF else until + _GRACE
        frame = request.encode("utf-8", "surrogatepass")
        answers: Sequence[TextSpans] = self._request(frame, limit)
        return answers

    def end(self) -> None:
        """End the process."""
        self.usable = False
        super().end()

    def _request(self, request: bytes, until: float | None) -> Any:
        self.channel.send(request)
        return json.loads(self._answer(until))

    def _answer(self, until: float | None) -> bytes:
        """Wait for an answer; kill the process when it is late."""
        with self._killed_at(until):
            data = self.channel.receive()
        if data is None:
            self.end()
            raise WorkerLost
        return data

    @contextmanager
    def _killed_at(self, until: float | None) -> Iterator[None]:
        """Kill the process if the body is not over by then; ``None``: it ends itself in time."""
        if until is None:
            yield
            return
        timer = Timer(max(0.0, until - monotonic()), self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class WorkerPool:
    """A limited number of processes; a caller waits for a free one up to a deadline."""

    def __init__(self, most: int) -> None:
        self._free = BoundedSemaphore(most)
        self._idle = IdleProcesses[Worker]()

    @contextmanager
    def borrow(self, until: float) -> Iterator[Worker | None]:
        """Yield a worker, or ``None`` when none is free or ready in time."""
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
                self._idle.put_back(borrowed)
        finally:
            self._free.release()

    def close(self) -> None:
        """End all idle processes, and start no more."""
        self._idle.close()

    def _taken(self, until: float) -> Worker | None:
        with suppress(WorkerLost):
            return self._idle.take() or Worker(until)
        return None
