"""Traces in memory: the newest whole, the others as compressed JSON, a tenth of the size."""

from __future__ import annotations

import zlib
from threading import Lock

from fumishirube.traces.files import decode_trace
from fumishirube.traces.records import Trace

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


def pack(encoded: bytes) -> bytes:
    """Return the packed form of a trace that is encoded as JSON."""
    return zlib.compress(encoded, _FAST)
