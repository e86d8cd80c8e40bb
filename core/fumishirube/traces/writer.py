"""Traces on their way into files and out of memory: all but the newest are packed when written."""

from __future__ import annotations

import logging
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread

from fumishirube.traces.files import TraceFiles, decode_trace
from fumishirube.traces.records import Trace

_log = logging.getLogger("fumishirube")

_QUIET = 0.03
"""Seconds without a search before traces are written."""
_LATEST = 2.0
"""Seconds after which they are written in any case."""
_MANY = 32
"""Waiting traces, of 150 KB each, after which they are written in any case."""
_PAUSE = 0.01
"""Seconds between two writes while searches run, so that each delays another search."""
_JOIN_SECONDS = 5.0
"""Seconds that closing waits for the writer."""
_WHOLE = 8
"""The newest traces, which are likely to be read next, stay whole in memory."""
_FAST = 1
"""The level of compression: a higher one takes longer than the search has to spare."""


class StoredTrace:
    """A trace that a store and the cache share; reading a packed one takes 3 ms."""

    def __init__(self, trace: Trace) -> None:
        self.id = trace.id
        self.created = trace.created
        self.whole: Trace | None = trace
        """The trace, unless it is packed."""
        self._packed = b""
        self._lock = Lock()

    @property
    def trace(self) -> Trace:
        """The trace; equal to the former one, but another object, if it is packed."""
        with self._lock:
            whole, packed = self.whole, self._packed
        return decode_trace(zlib.decompress(packed)) if whole is None else whole

    def replace(self, trace: Trace) -> None:
        """Store a newer version of the trace."""
        with self._lock:
            self.whole = trace

    def pack(self, trace: Trace, packed: bytes) -> None:
        """Drop the whole trace for its packed form, unless a newer version is stored."""
        with self._lock:
            if self.whole is trace:
                self.whole, self._packed = None, packed


class TraceWriter:
    """Writes traces one after the other while no search runs."""

    def __init__(
        self, files: TraceFiles, stored: Callable[[Trace], StoredTrace | None], dropped: set[str]
    ) -> None:
        self._files = files
        self._stored = stored
        self._dropped = dropped
        self._waiting: SimpleQueue[Trace | None] = SimpleQueue()
        self._closing = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._whole: deque[tuple[StoredTrace, Trace, bytes]] = deque()

    def write(self, trace: Trace) -> None:
        """Write a trace soon."""
        self._waiting.put(trace)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = Thread(target=self._run, name="fumishirube traces", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Write all that waits."""
        self._closing.set()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._write_all(self._collected())
        self._write_all(self._arrived())

    def _collected(self) -> list[Trace | None]:
        """Wait for a trace, and then until none comes for a moment, up to a limit."""
        collected = [self._waiting.get()]
        latest = time.monotonic() + _LATEST
        while len(collected) < _MANY and time.monotonic() < latest:
            if self._closing.wait(_QUIET):
                break
            more = self._arrived()
            if not more:
                break
            collected += more
        return collected

    def _arrived(self) -> list[Trace | None]:
        """Return the traces so far; waiting for each would wake this thread every time."""
        arrived: list[Trace | None] = []
        with suppress(Empty):
            while True:
                arrived.append(self._waiting.get_nowait())
        return arrived

    def _write_all(self, traces: Sequence[Trace | None]) -> None:
        """Write all stored traces, with pauses while more are waiting; then remove what is old.

        What fails prevents nothing else: on a full disk the removal makes room for the next ones.
        """
        failure = None
        for trace in traces:
            if trace is not None and (stored := self._stored(trace)):
                try:
                    self._pack(stored, trace, self._files.write(trace))
                except Exception as error:
                    failure = error
                if not self._waiting.empty():
                    self._closing.wait(_PAUSE)
        if failure is not None:
            _log.warning("a trace could not be written", exc_info=failure)
        for trace_id in self._dropped.copy():
            self._files.remove(trace_id)
            self._dropped.discard(trace_id)
        self._files.tidy()

    def _pack(self, stored: StoredTrace, trace: Trace, encoded: bytes) -> None:
        """Pack the oldest of those that are whole, when this one makes too many."""
        self._whole.append((stored, trace, zlib.compress(encoded, _FAST)))
        if len(self._whole) > _WHOLE:
            oldest, former, packed = self._whole.popleft()
            oldest.pack(former, packed)
