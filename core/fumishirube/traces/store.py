"""The store of recent traces: in memory, in files, and in an archive that several servers share."""

from __future__ import annotations

import logging
import time
import uuid
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import JsonValue

from fumishirube.disk.roots import Root
from fumishirube.errors import NotFound
from fumishirube.traces.files import (
    TraceFiles,
    decode_trace,
    encode_trace,
    is_trace_id,
    recent_trace,
)
from fumishirube.traces.records import Trace

_log = logging.getLogger("fumishirube")

# --- writing ----------------------------------------------------------------------------------

_QUIET = 0.03
"""Seconds without a search before traces are written."""
_LATEST = 2.0
"""Seconds after which they are written in any case."""
_MANY = 32
"""Waiting traces, of 150 KB each, after which they are written in any case."""
_PAUSE = 0.01
"""Seconds between two writes while searches run, so that each delays another search."""
_TIDY_SECONDS = 10.0
"""Seconds between two looks at all files: each takes as long as writing one of them."""
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
        self._tidy_at = 0.0

    def write(self, trace: Trace) -> None:
        """Write a trace soon."""
        self._waiting.put(trace)
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
        return [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]

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
        now = time.monotonic()
        if now >= self._tidy_at or failure is not None or self._closing.is_set():
            self._files.tidy()
            self._tidy_at = now + _TIDY_SECONDS

    def _pack(self, stored: StoredTrace, trace: Trace, encoded: bytes) -> None:
        """Pack the oldest of those that are whole, when this one makes too many."""
        self._whole.append((stored, trace, zlib.compress(encoded, _FAST)))
        if len(self._whole) > _WHOLE:
            oldest, former, packed = self._whole.popleft()
            oldest.pack(former, packed)


# --- reading ----------------------------------------------------------------------------------

_SHORTEST, _LONGEST = 8, 32
"""Characters of an id that a person must type at least, and of a whole one."""
_HEX = frozenset("0123456789abcdef")


def new_trace_id() -> str:
    """Return 32 random lower-case hexadecimal digits."""
    return uuid.uuid4().hex


class TraceArchive(Protocol):
    """Traces of all servers as JSON. A ``scope`` is a text of ASCII letters and digits, or empty.

    Nothing is found by the id alone: the scope is that of a person with some rights.
    """

    def put(self, scope: str, trace_id: str, created: float, encode: Callable[[], bytes]) -> None:
        """Store a trace soon, beside the call; replace an earlier one of the same id."""
        ...

    def get(self, scope: str, trace_id: str) -> bytes | None:
        """Return a trace, or ``None`` if it is unknown.

        Raises:
            Forbidden: when the archive does not answer.
        """
        ...

    def close(self) -> None:
        """Write what waits, within some seconds."""
        ...


@runtime_checkable
class ArchivesTraces(Protocol):
    """An index that also has an archive of traces."""

    def open_archive(self, seconds: float) -> TraceArchive:
        """Return the archive, which drops traces some time after these seconds."""
        ...


class ScopedArchive(NamedTuple):
    """The part of an archive that one store of traces may see."""

    archive: TraceArchive
    scope: str = ""

    def put(self, trace: Trace) -> None:
        """Store a trace soon."""
        self.archive.put(self.scope, trace.id, trace.created, lambda: encode_trace(trace))

    def get(self, trace_id: str, seconds: float) -> Trace | None:
        """Return a trace that is not older than some seconds, or ``None``."""
        if len(trace_id) != _LONGEST or not _HEX.issuperset(trace_id):
            return None
        data = self.archive.get(self.scope, trace_id)
        return None if data is None else recent_trace(data, trace_id, seconds)


class TraceStore:
    """Stores the newest traces in memory; reading one does not extend its life.

    With a folder, a background thread writes them there too, and packs all but the newest in
    memory; traces of other processes are read from there. ``elsewhere`` asks processes of the same
    server, which may not have written theirs. The ``archive`` has those of other servers.
    """

    elsewhere: Callable[[str], bytes | None] | None = None
    archive: ScopedArchive | None = None

    def __init__(self, limit: int, seconds: float, folder: Root | None = None) -> None:
        self._limit = limit
        self._seconds = seconds
        self._files = TraceFiles(folder, limit, seconds) if folder else None
        self._dropped: set[str] = set()
        self._writer = (
            TraceWriter(self._files, self._stored, self._dropped) if self._files else None
        )
        self._traces: OrderedDict[str, StoredTrace] = OrderedDict()
        self._lock = Lock()

    def put(self, trace: Trace, *, written: bool = True) -> StoredTrace:
        """Store a trace, in a file too if ``written``; drop the oldest beyond the limit."""
        stored = StoredTrace(trace)
        with self._lock:
            self._traces[trace.id] = stored
            self._expire()
        if written:
            self._write(trace)
        return stored

    def annotate(self, trace: Trace, name: str, value: JsonValue) -> Trace:
        """Return a trace with a value added under a name; replace a stored trace.

        Values that others added meanwhile stay, even under this name.

        Raises:
            ValueError: when this trace already has a value of this name.
        """
        if name in trace.annotations:
            raise ValueError(f"the trace is annotated with {name!r} already")

        def annotated(newest: Trace) -> Trace:
            if name in newest.annotations:
                return newest
            return replace(newest, annotations={**newest.annotations, name: value})

        return self.change(trace, annotated)

    def change(self, trace: Trace, change: Callable[[Trace], Trace]) -> Trace:
        """Return a changed trace; replace a stored trace, with all that others added meanwhile."""
        with self._lock:
            known = self._traces.get(trace.id)
            newest = known.trace if known else trace
            changed = change(newest)
            if known is None or changed is newest:
                return changed
            known.replace(changed)
        self._write(changed)
        return changed

    def _write(self, trace: Trace) -> None:
        if self._writer:
            self._writer.write(trace)
        if self.archive:
            self.archive.put(trace)

    def get(self, trace_id: str) -> Trace:
        """Return a trace.

        Raises:
            NotFound: when it is unknown or has expired.
            Forbidden: when only the archive could know it, and does not answer.
        """
        stored = self._in_memory(trace_id)
        trace = stored.trace if stored else None
        if trace is None and trace_id not in self._dropped:
            trace = (self._files and self._files.read(trace_id)) or self._of_peers(trace_id)
            if trace is None and self.archive:
                trace = self.archive.get(trace_id, self._seconds)
        if trace is None:
            # Only well-formed ids are repeated in the error: anything else may be a path.
            shown_id = trace_id[:64] if trace_id.replace("-", "").isalnum() else None
            raise NotFound("trace is unknown or expired", trace_id=shown_id)
        return trace

    def encoded(self, trace_id: str) -> bytes | None:
        """Return a trace in memory as JSON, or ``None``."""
        stored = self._in_memory(trace_id)
        return encode_trace(stored.trace) if stored else None

    def _in_memory(self, trace_id: str) -> StoredTrace | None:
        with self._lock:
            self._expire()
            return self._traces.get(trace_id)

    def _of_peers(self, trace_id: str) -> Trace | None:
        if self.elsewhere is None or not is_trace_id(trace_id):
            return None
        data = self.elsewhere(trace_id[:64])
        return None if data is None else recent_trace(data, trace_id, self._seconds)

    def named(self, word: str) -> Trace:
        """Return a trace by its id, or by a beginning of it that no other id has.

        Only people may shorten ids: a client gets whole ones, and could guess those of others.

        Raises:
            NotFound: when it is unknown, has expired, or is one of several.
        """
        shortened = _SHORTEST <= len(word) < _LONGEST and is_trace_id(word)
        if not shortened:
            return self.get(word)
        with self._lock:
            self._expire()
            ids = {trace_id for trace_id in self._traces if trace_id.startswith(word)}
        ids |= set(self._files.ids(word) if self._files else ())
        if len(ids) > 1:
            raise NotFound(f"{len(ids)} traces begin so; give more of the id", trace_id=word)
        return self.get(ids.pop() if ids else word)

    def take_over(self, other: TraceStore) -> None:
        """Copy the traces of another store's memory, up to the limit."""
        with other._lock:
            known = {**other._traces}
        with self._lock:
            self._traces = OrderedDict({**known, **self._traces})
            self._expire()

    def all_traces(self) -> tuple[Sequence[Trace], Sequence[str]]:
        """Return all traces, newest first, and the names of unreadable files.

        Traces of other processes are included.
        """
        with self._lock:
            self._expire()
            known = dict(self._traces)
        by_id = {trace_id: stored.trace for trace_id, stored in known.items()}
        damaged = []
        for name, trace in self._files.all(by_id) if self._files else ():
            if trace is None:
                damaged.append(name)
            else:
                by_id[trace.id] = trace
        traces = sorted(by_id.values(), key=lambda trace: trace.created, reverse=True)
        return traces, sorted(damaged)

    def tidy(self) -> None:
        """Delete the files beyond the limits, which may have been higher in a former process."""
        if self._files:
            self._files.tidy()

    def close(self) -> None:
        """Write all pending traces."""
        if self._writer:
            self._writer.close()

    def _stored(self, trace: Trace) -> StoredTrace | None:
        """Return where a trace is stored, unless it is gone, or there is a newer version."""
        stored = self._traces.get(trace.id)
        return stored if stored and stored.whole is trace else None

    def _expire(self) -> None:
        oldest = time.time() - self._seconds
        while self._traces:
            first = next(iter(self._traces.values()))
            if len(self._traces) <= self._limit and first.created >= oldest:
                return
            self._traces.popitem(last=False)
            if self._files:
                self._dropped.add(first.id)  # the writer thread removes its file
